"""A folder held open, so that what is done in it happens in that very folder.

A path that was checked can lead elsewhere a moment later, when somebody puts a symbolic link in place of a folder.
Where the system allows it, folders are therefore opened one after the other without following links, and files are
opened, renamed and removed relative to the open folder. Elsewhere (Windows) a path is checked just before it is used.
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

_BY_HANDLE = {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.link} <= os.supports_dir_fd and hasattr(
    os, "O_NOFOLLOW"
)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_TODO = "Replace the link with a regular file or folder."


@dataclass(frozen=True, slots=True)
class Directory:
    """An open folder. Every method takes the name of a file in it and raises OSError."""

    path: Path
    handle: int | None
    """The open folder; None where the system works with paths only."""

    def name(self, name: str) -> str:
        """What the functions of `os` take together with `dir_fd=self.handle`."""
        return name if self.handle is not None else str(self.path / name)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Opens a file. Raises BoundaryError where it is a symbolic link."""
        try:
            return os.open(self.name(name), flags | _NO_LINKS, mode, dir_fd=self.handle)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _through_a_link(self.path / name) from error
            raise

    def read(self, name: str) -> bytes:
        """The content of a file."""
        # O_NONBLOCK: a named pipe under this name must not make us wait
        with os.fdopen(self.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            return file.read()

    def stat(self, name: str) -> os.stat_result:
        """The state of a file, of a link the link's own."""
        return os.stat(self.name(name), dir_fd=self.handle, follow_symlinks=False)

    def names(self) -> list[str]:
        """The names of all entries."""
        with os.scandir(self.path if self.handle is None else self.handle) as entries:
            return [entry.name for entry in entries]

    def changed(self) -> int:
        """When an entry came or went last, in nanoseconds."""
        return (self.path.stat() if self.handle is None else os.fstat(self.handle)).st_mtime_ns

    def unlink(self, name: str) -> None:
        """Removes a file."""
        os.unlink(self.name(name), dir_fd=self.handle)

    def rename(self, name: str, new: str, into: Directory | None = None) -> None:
        """Renames a file, replacing what has the new name. `into` is the folder of the new name, if another."""
        into = into or self
        os.replace(self.name(name), into.name(new), src_dir_fd=self.handle, dst_dir_fd=into.handle)

    def link(self, name: str, new: str, into: Directory | None = None) -> None:
        """Gives a file a second name, which must be free. `into` as in `rename`."""
        into = into or self
        os.link(self.name(name), into.name(new), src_dir_fd=self.handle, dst_dir_fd=into.handle)

    def flush(self) -> None:
        """Makes a rename last through a power cut, where the system can."""
        if self.handle is not None:
            with contextlib.suppress(OSError):
                os.fsync(self.handle)


@contextlib.contextmanager
def open_directory(folder: Path, anchor: Path | None = None, make: int | None = None) -> Iterator[Directory]:
    """Opens a folder; with `make`, a mode, it and the folders above it are made where they are missing.

    `anchor` is a folder above it that may itself be reached through links; nothing below it may be one. Without an
    anchor the whole path is followed. Raises BoundaryError, OSError.
    """
    if not _BY_HANDLE:
        if anchor is not None:
            resolve_inside(anchor, folder)
        if make is not None:
            folder.mkdir(mode=make, parents=True, exist_ok=True)
        yield Directory(folder, None)
        return
    handle = _opened(folder, anchor, make)
    try:
        yield Directory(folder, handle)
    finally:
        os.close(handle)


def resolve_inside(anchor: Path, path: Path) -> Path:
    """`path`, if it lies in `anchor` and no part of it below the anchor is a symbolic link. Raises BoundaryError.

    This says how it is now. What is read or written afterwards goes through `open_directory`.
    """
    try:
        relative = path.relative_to(anchor)
        real = Path(os.path.realpath(anchor))
        leads_to = Path(os.path.realpath(path))
    except (ValueError, OSError) as error:
        raise _outside(path) from error
    if ".." in relative.parts or leads_to != real / relative:
        raise _through_a_link(path)
    return path


def _opened(folder: Path, anchor: Path | None, make: int | None) -> int:
    if anchor is None:
        if make is not None:
            folder.mkdir(mode=make, parents=True, exist_ok=True)
        return os.open(folder, _FOLDER)
    try:
        parts = folder.relative_to(anchor).parts
    except ValueError as error:
        raise _outside(folder) from error
    if ".." in parts:
        raise _outside(folder)
    handle = os.open(anchor, _FOLDER)
    for part in parts:
        try:
            inner = _child(handle, part, make)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(handle, part):
                raise _through_a_link(folder) from error
            raise
        finally:
            os.close(handle)
        handle = inner
    return handle


def _child(handle: int, name: str, make: int | None) -> int:
    try:
        return os.open(name, _FOLDER | _NO_LINKS, dir_fd=handle)
    except FileNotFoundError:
        if make is None:
            raise
    with contextlib.suppress(FileExistsError):  # another process made it meanwhile
        os.mkdir(name, make, dir_fd=handle)
    return os.open(name, _FOLDER | _NO_LINKS, dir_fd=handle)


def _is_link(handle: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _outside(path: Path) -> BoundaryError:
    return BoundaryError("This path leads outside the memory folder.", where=str(path), todo=_TODO)


def _through_a_link(path: Path) -> BoundaryError:
    return BoundaryError("This path leads through a symbolic link.", where=str(path), todo=_TODO)
