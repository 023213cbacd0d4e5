"""A folder kept open, so that all operations happen in exactly that folder.

A path that was checked can lead elsewhere a moment later, if someone replaces a folder with a symbolic link. Where
the system allows it, folders are therefore opened one by one without following links, and files are opened, renamed
and removed relative to the open folder. Elsewhere (Windows) a path is checked just before it is used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import BoundaryError

_HAS_DIR_FD = {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd and hasattr(
    os, "O_NOFOLLOW"
)
_NO_FOLLOW_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_TODO = "Replace the link with a regular file or folder."


@dataclass(frozen=True, slots=True)
class Directory:
    """An open folder. Every method takes the name of a file in it and raises OSError."""

    path: Path
    handle: int | None
    """The open folder; None if the system only works with paths."""

    def os_path(self, name: str) -> str:
        """Returns the path to pass to functions of `os` together with `dir_fd=self.handle`."""
        return name if self.handle is not None else str(self.path / name)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Opens a file. Raises BoundaryError if it is a symbolic link."""
        try:
            return os.open(self.os_path(name), flags | _NO_FOLLOW_FLAGS, mode, dir_fd=self.handle)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _make_link_error(self.path / name) from error
            raise

    def read_file(self, name: str) -> bytes:
        """Returns the content of a file."""
        # O_NONBLOCK: opening a named pipe with this name must not block
        with os.fdopen(self.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            return file.read()

    def stat(self, name: str) -> os.stat_result:
        """Returns the status of a file; for a link, that of the link itself."""
        return os.stat(self.os_path(name), dir_fd=self.handle, follow_symlinks=False)

    def list_names(self) -> list[str]:
        """Returns the names of all entries."""
        with os.scandir(self.path if self.handle is None else self.handle) as entries:
            return [entry.name for entry in entries]

    def read_change_time(self) -> int:
        """Returns when an entry was last added or removed, in nanoseconds."""
        return (self.path.stat() if self.handle is None else os.fstat(self.handle)).st_mtime_ns

    def unlink(self, name: str) -> None:
        """Removes a file."""
        os.unlink(self.os_path(name), dir_fd=self.handle)

    def rename(self, name: str, new: str, into: Directory | None = None) -> None:
        """Renames a file, replacing any file with the new name. `into` is the folder of the new name, if it is a
        different one."""
        into = into or self
        os.replace(self.os_path(name), into.os_path(new), src_dir_fd=self.handle, dst_dir_fd=into.handle)

    def link(self, name: str, new: str, into: Directory | None = None) -> None:
        """Adds a second name to a file; it must be free. `into` is as in `rename`."""
        into = into or self
        os.link(self.os_path(name), into.os_path(new), src_dir_fd=self.handle, dst_dir_fd=into.handle)

    def flush(self) -> None:
        """Makes renames survive a power cut, if the system supports that."""
        if self.handle is not None:
            with contextlib.suppress(OSError):
                os.fsync(self.handle)


@contextlib.contextmanager
def open_directory(folder: Path, anchor: Path | None = None, make: int | None = None) -> Iterator[Directory]:
    """Opens a folder; with `make`, a mode, it and its parents are created if missing.

    `anchor` is a parent folder that may itself be reached through links; no folder below it may be a link. Without an
    anchor, links are followed in the whole path. Raises BoundaryError, OSError.
    """
    if not _HAS_DIR_FD:
        if anchor is not None:
            resolve_inside(anchor, folder)
        if make is not None:
            folder.mkdir(mode=make, parents=True, exist_ok=True)
        yield Directory(folder, None)
        return
    handle = _open_below_anchor(folder, anchor, make)
    try:
        yield Directory(folder, handle)
    finally:
        os.close(handle)


def resolve_inside(anchor: Path, path: Path) -> Path:
    """Returns `path` if it is inside `anchor` and no part of it below the anchor is a symbolic link.

    Raises BoundaryError. The result only holds at the time of the call; read and write through `open_directory`
    afterwards.
    """
    try:
        relative = path.relative_to(anchor)
        real = Path(os.path.realpath(anchor))
        leads_to = Path(os.path.realpath(path))
    except (ValueError, OSError) as error:
        raise _make_outside_error(path) from error
    if ".." in relative.parts or leads_to != real / relative:
        raise _make_link_error(path)
    return path


def _open_below_anchor(folder: Path, anchor: Path | None, make: int | None) -> int:
    if anchor is None:
        if make is not None:
            folder.mkdir(mode=make, parents=True, exist_ok=True)
        return os.open(folder, _FOLDER_FLAGS)
    try:
        parts = folder.relative_to(anchor).parts
    except ValueError as error:
        raise _make_outside_error(folder) from error
    if ".." in parts:
        raise _make_outside_error(folder)
    handle = os.open(anchor, _FOLDER_FLAGS)
    for part in parts:
        try:
            inner = _open_child(handle, part, make)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(handle, part):
                raise _make_link_error(folder) from error
            raise
        finally:
            os.close(handle)
        handle = inner
    return handle


def _open_child(handle: int, name: str, make: int | None) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS | _NO_FOLLOW_FLAGS, dir_fd=handle)
    except FileNotFoundError:
        if make is None:
            raise
    with contextlib.suppress(FileExistsError):  # another process created it meanwhile
        os.mkdir(name, make, dir_fd=handle)
    return os.open(name, _FOLDER_FLAGS | _NO_FOLLOW_FLAGS, dir_fd=handle)


def _is_link(handle: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _make_outside_error(path: Path) -> BoundaryError:
    return BoundaryError("This path leads outside the memory folder.", where=str(path), todo=_TODO)


def _make_link_error(path: Path) -> BoundaryError:
    return BoundaryError("This path leads through a symbolic link.", where=str(path), todo=_TODO)
