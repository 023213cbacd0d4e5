"""Reads and writes single files so that a kill, a full disk or a malicious link loses nothing.

Everything is written to a temporary file in the same folder, flushed to disk, and renamed in one step. A new file never
overwrites an existing one, and with `before` a file is replaced or removed only if it still has that content. With an
`anchor`, no part of the path below that folder may be a symbolic link, not even one created while we work
(`directory.py`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from lerim.errors import BoundaryError, MemoryError_, NotFoundError, StaleError, error_reason
from lerim.files.directory import Directory, open_directory
from lerim.files.exchange import remove_if_unchanged, replace_if_unchanged
from lerim.files.leftovers import temporary_file

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)  # so that opening a named pipe planted here does not block
_WRITE_TODO = "Free some space or make the folder writable, then try again; nothing was changed."


def path_to_text(path: str | Path) -> str:
    """Returns a path as text that any file or response can contain: bytes that are not UTF-8 become `?`."""
    return str(path).encode("utf-8", "replace").decode()


def hash_text(text: str) -> str:
    """Returns the hash that identifies a file's content: 16 hex digits of SHA-256. Windows line ends do not change
    it, because git may check a file out with or without them."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_text(path: Path, limit: int, anchor: Path | None = None) -> str:
    """Returns a regular file's text, at most `limit` bytes, line ends unchanged. Raises MemoryError_ (NotFoundError if
    gone)."""
    try:
        with open_directory(path.parent, anchor) as folder:
            handle = folder.open(path.name, _READ_FLAGS)
        try:
            state = os.fstat(handle)
            if not stat.S_ISREG(state.st_mode):
                raise MemoryError_("This is not a regular file.", where=str(path), todo="Move it away.")
            data = b"" if state.st_size > limit else os.read(handle, state.st_size + 1)  # one more byte shows growth
            while 0 < len(data) != state.st_size and (more := os.read(handle, limit + 1 - len(data))):
                data += more  # it grew meanwhile
            if max(state.st_size, len(data)) > limit:
                raise MemoryError_(f"The file is larger than {limit // 1024} kB.", where=str(path), todo="Shorten it.")
        finally:
            os.close(handle)
        return data.decode("utf-8")
    except BoundaryError:
        if anchor is not None:
            raise
        message = "This is a symbolic link and was not read."
        raise MemoryError_(message, where=str(path), todo="Replace it with a regular file.") from None
    except FileNotFoundError as error:
        raise NotFoundError("The file is gone.", where=str(path), todo="List the files again.") from error
    except UnicodeDecodeError as error:
        raise MemoryError_("The file is not UTF-8 text.", where=str(path), todo="Save it as UTF-8.") from error
    except OSError as error:
        raise MemoryError_(
            f"The file cannot be read: {error_reason(error)}.", where=str(path), todo="Check its permissions."
        ) from error


def create_file(
    path: Path,
    text: str,
    mode: int = 0o666,
    *,
    anchor: Path | None = None,
    flush: bool = True,
    temporary_folder: Path | None = None,
) -> bool:
    """Writes a new file; returns False and does nothing if the name is taken.

    Raises MemoryError_ and leaves no file behind. Without `flush`, a power cut can leave the file empty; use that for
    files that can be created again. `temporary_folder` is a folder on the same disk for the temporary file, for
    target folders that are rarely written to: the leftovers of a killed writer are removed by the next write that uses
    the same `temporary_folder`.
    """
    with (
        _convert_errors(path),
        open_directory(path.parent, anchor) as folder,
        _open_temporary_folder(folder, temporary_folder, anchor) as staging,
    ):
        with temporary_file(staging, _encode_text(text), mode, flush) as temporary:
            try:
                if sys.platform == "win32":
                    (staging.path / temporary).rename(path)  # fails on Windows if the name is taken
                    return True
                try:
                    staging.link(temporary, path.name, folder)
                except FileExistsError:
                    return False
                except OSError:  # a file system without hard links
                    os.close(folder.open(path.name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
                    staging.rename(temporary, path.name, folder)
            except FileExistsError:
                return False
        if flush:
            folder.flush()
    return True


def replace_file(
    path: Path,
    text: str,
    mode: int = 0o666,
    *,
    anchor: Path | None = None,
    before: str | None = None,
    flush: bool = True,
    temporary_folder: Path | None = None,
) -> None:
    """Writes a whole file, replacing an existing one and keeping its permissions.

    `flush` and `temporary_folder` are as in `create_file`. With `before`, only a file that still has that content is
    replaced; otherwise raises StaleError. Raises MemoryError_.
    """
    with (
        _convert_errors(path),
        open_directory(path.parent, anchor) as folder,
        _open_temporary_folder(folder, temporary_folder, anchor) as staging,
    ):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(folder.stat(path.name).st_mode)
        data = _encode_text(text)
        with temporary_file(staging, data, mode, flush) as temporary:
            if before is None:
                staging.rename(temporary, path.name, folder)
            elif not replace_if_unchanged(folder, path.name, staging, temporary, _encode_text(before), data):
                raise _make_stale_error(path)
        if flush:
            folder.flush()


def remove_file(path: Path, *, anchor: Path | None = None, before: str | None = None) -> None:
    """Removes a file; does nothing if it is gone. With `before`, raises StaleError unless the file still has that
    content. Raises MemoryError_."""
    with _convert_errors(path, "The file cannot be removed", "Make the folder writable, then try again."):
        try:
            with open_directory(path.parent, anchor) as folder:
                if before is None:
                    folder.unlink(path.name)
                elif not remove_if_unchanged(folder, path.name, _encode_text(before)):
                    raise _make_stale_error(path)
                folder.flush()
        except FileNotFoundError:
            if before is not None:
                raise _make_stale_error(path) from None


def make_folder(path: Path, mode: int = 0o777, *, anchor: Path | None = None) -> None:
    """Creates a folder and its parents. Raises MemoryError_, BoundaryError."""
    with _convert_errors(path, "This folder cannot be created"), open_directory(path, anchor, make=mode):
        pass


def is_absent(path: Path | str) -> bool:
    """Returns whether nothing, not even a broken link, has this name."""
    return not os.path.lexists(path)


def path_exists(path: Path) -> bool:
    """Returns whether the path exists; False if the system rejects it, for example as too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _convert_errors(path: Path, failure: str = "The file cannot be written", todo: str = _WRITE_TODO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MemoryError_(f"{failure}: {error_reason(error)}.", where=str(path), todo=todo) from error


def _open_temporary_folder(
    folder: Directory, other: Path | None, anchor: Path | None
) -> contextlib.AbstractContextManager[Directory]:
    return contextlib.nullcontext(folder) if other is None else open_directory(other, anchor)


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _make_stale_error(path: Path) -> StaleError:
    todo = "Check its content, then try again."
    message = f"{path.name} was changed or removed in the meantime; nothing was overwritten."
    return StaleError(message, where=str(path), todo=todo)
