"""Reading and writing single files so that a kill, a full disk or a hostile link loses nothing.

Everything written goes into a temporary file of the same folder, is flushed to the disk, and takes its name in one
step. A name once taken is never overwritten by a new file. No path leads through a symbolic link.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lerim.errors import BoundaryError, MemoryError_, NotFoundError

_TEMPORARY = re.compile(r"\.lerim-[0-9a-f]{16}\.tmp")
_STALE_SECONDS = 600
_WRITE_TODO = "Free some space or make the folder writable, then try again; nothing was changed."


def inside(anchor: Path, path: Path) -> Path:
    """`path`, if it lies in `anchor` and no part of it below the anchor is a symbolic link. Raises BoundaryError."""
    todo = "Replace the link by a real file or folder."
    try:
        relative = path.relative_to(anchor)
        real = Path(os.path.realpath(anchor))
        leads_to = Path(os.path.realpath(path))
    except (ValueError, OSError) as error:
        raise BoundaryError("This path leads outside the memory folder.", where=str(path), todo=todo) from error
    if ".." in relative.parts or leads_to != real / relative:
        raise BoundaryError("This path leads through a symbolic link.", where=str(path), todo=todo)
    return path


def spelled(path: str | Path) -> str:
    """A path as text that any file or answer can hold: bytes in it that are no UTF-8 become `?`."""
    return str(path).encode("utf-8", "replace").decode()


def text_hash(text: str) -> str:
    """The hash by which a file is recognised: 16 hex digits of SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_text(path: Path, limit: int) -> str:
    """A regular file's text, at most `limit` bytes, line ends untouched. Raises MemoryError_ (NotFoundError)."""
    try:
        # O_NONBLOCK: a named pipe planted under this name must not hang us
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY)
        try:
            state = os.fstat(handle)
            if not stat.S_ISREG(state.st_mode):
                raise MemoryError_("This is not a regular file.", where=str(path), todo="Move it away.")
            if state.st_size > limit:
                raise MemoryError_(f"The file is larger than {limit // 1024} kB.", where=str(path), todo="Shorten it.")
            data = os.read(handle, state.st_size + 1)  # room for what is there, not for the limit
            while len(data) != state.st_size and (more := os.read(handle, limit + 1 - len(data))):
                data += more  # it grew meanwhile
        finally:
            os.close(handle)
        return data.decode("utf-8")
    except FileNotFoundError as error:
        raise NotFoundError("The file is gone.", where=str(path), todo="Look at the list again.") from error
    except UnicodeDecodeError as error:
        raise MemoryError_("The file is not UTF-8 text.", where=str(path), todo="Save it as UTF-8.") from error
    except OSError as error:
        raise MemoryError_(
            f"The file cannot be read: {error.strerror}.", where=str(path), todo="Look at it."
        ) from error


_BINARY = getattr(os, "O_BINARY", 0)


def create(path: Path, text: str, mode: int = 0o666, *, flushed: bool = True, beside: Path | None = None) -> bool:
    """Write a new file; False, and nothing done, where the name is taken. Raises MemoryError_ with no file left.

    Without `flushed` a power cut can leave it empty: for what can be made again. `beside`: a folder of the same disk
    for the temporary file, where few files are written into the same one: what a killed writer left is removed by the
    next that writes there.
    """
    with _temporary(path, text, mode, flushed, beside) as temporary:
        try:
            if sys.platform == "win32":
                temporary.rename(path)  # fails there if the name is taken
                return True
            try:
                os.link(temporary, path)
            except FileExistsError:
                return False
            except OSError:  # a file system without hard links
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
                temporary.replace(path)
        except FileExistsError:
            return False
        if flushed:
            _sync_folder(path.parent)
    return True


def replace(path: Path, text: str, mode: int = 0o666, *, flushed: bool = True, beside: Path | None = None) -> None:
    """Write a file whole, in place of what may be there, keeping its permissions; `flushed` and `beside` as in
    `create`. Raises MemoryError_."""
    with contextlib.suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
    with _temporary(path, text, mode, flushed, beside) as temporary:
        temporary.replace(path)
        if flushed:
            _sync_folder(path.parent)


def remove(path: Path) -> None:
    """Remove a file; nothing happens where it is gone. Raises MemoryError_."""
    try:
        path.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        todo = "Make the folder writable, then try again."
        raise MemoryError_(f"The file cannot be removed: {error.strerror}.", where=str(path), todo=todo) from error


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and its parents. Raises MemoryError_."""
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise MemoryError_(f"Cannot make this folder: {error.strerror}.", where=str(path), todo=_WRITE_TODO) from error


@contextlib.contextmanager
def _temporary(path: Path, text: str, mode: int, flushed: bool, beside: Path | None) -> Iterator[Path]:
    """A temporary file beside `path`, gone afterwards whatever happened; its OSErrors become MemoryError_."""
    folder = beside or path.parent
    temporary = folder / f".lerim-{secrets.token_hex(8)}.tmp"
    try:
        _remove_stale(folder)
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            if flushed:
                file.flush()
                os.fsync(file.fileno())
        yield temporary
    except OSError as error:
        raise MemoryError_(f"Cannot write: {error.strerror}.", where=str(path), todo=_WRITE_TODO) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _remove_stale(folder: Path) -> None:
    """Remove what a killed writer left in this folder."""
    with os.scandir(folder) as entries:
        stale = [entry for entry in entries if entry.name[0] == "." and _TEMPORARY.fullmatch(entry.name)]
    for entry in stale:
        with contextlib.suppress(OSError):
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                Path(entry.path).unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_absent(path: Path | str) -> bool:
    """Whether nothing at all, not even a broken link, has this name."""
    return not os.path.lexists(path)
