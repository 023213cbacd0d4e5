"""Where an index is on disk, how it is recognised as ours, and the lock that lets one process at a time write it.

An index file is opened only if this installation made it: its device, inode and a nonce are noted in the private
folder. The note is removed while the index is written, so that neither a kill nor a file brought by a repository can
lead to a damaged or foreign index: a new one is made instead. For the same reason there is no journal on disk, so that
a planted one is never used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from lerim import files, sqlite
from lerim.errors import LerimError, MemoryError_, error_reason
from lerim.project import folder

_WAIT_SECONDS = 2
_SETTINGS = ("journal_mode = MEMORY", "synchronous = OFF", "cache_size = -4000")


class _Note(msgspec.Struct, frozen=True):
    """What identifies an index as ours."""

    device: int
    inode: int
    nonce: str
    folder: str


@dataclass(frozen=True, slots=True)
class IndexLocation:
    """Where an index is: its file, the folder below which no symbolic link is followed, and the private folder."""

    path: Path
    anchor: Path
    private: Path

    @property
    def note_path(self) -> Path:
        """The file that says this index is ours."""
        return self.private / f"index-{self.path.stem}.json"

    def nonce(self) -> str:
        """Returns the nonce that our index contains; "" if none is noted."""
        note = self._read_note()
        return note.nonce if note is not None else ""

    def is_ours(self, folder: Path, nonce: str) -> bool:
        """Returns whether the file is the index of `folder` that we made; with a `nonce`, whether it is that very
        one."""
        note = self._read_note()
        if note is None or note.folder != str(folder) or (nonce and note.nonce != nonce):
            return False
        try:
            state = self.path.lstat()
        except OSError:
            return False
        return (state.st_dev, state.st_ino) == (note.device, note.inode) and not self.path.is_symlink()

    def write_note(self, folder: Path, nonce: str) -> None:
        """Notes that the file is ours. Raises OSError, MemoryError_."""
        state = self.path.lstat()
        note = _Note(state.st_dev, state.st_ino, nonce, str(folder))
        files.replace_file(self.note_path, msgspec.json.encode(note).decode(), 0o600)

    def keep_out_of_git(self) -> None:
        """Gives `.lerim/` its `.gitignore` if this is the index of a repository: a clone has memories and no such file.
        Raises MemoryError_, BoundaryError."""
        state = self.path.parent.parent
        if state.parent == self.anchor:
            folder.make_lerim_folder(state)

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Holds a lock so that only one process opens or writes an index. Raises MemoryError_."""
        files.make_folder(self.private, 0o700)
        try:
            with FileLock(self.private / "index.lock", timeout=_WAIT_SECONDS, mode=0o600):
                yield
        except Timeout as error:
            message = "Another process is writing the index."
            raise MemoryError_(message, where=str(self.path), todo="Try again.") from error
        except OSError as error:
            raise unusable_index_error(error, self) from error

    def _read_note(self) -> _Note | None:
        try:
            return msgspec.json.decode(files.read_text(self.note_path, 4096), type=_Note)
        except (LerimError, msgspec.MsgspecError):
            return None


def connect_index(path: Path | None) -> sqlite3.Connection:
    """Returns a connection to an index at `path`, or in memory. Raises sqlite3.Error."""
    return sqlite.connect(path, wait=_WAIT_SECONDS, any_thread=True, settings=_SETTINGS)


def unusable_index_error(error: Exception, location: IndexLocation | None) -> MemoryError_:
    """Returns the error that reports an unusable index. A damaged one counts as foreign from then on."""
    where = str(location.path) if location else "memory"
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    todo = "Try again." if code == sqlite3.SQLITE_BUSY else "Make its folder writable."
    if location and code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        todo = "A new one is made next time."
        with suppress(OSError):
            location.note_path.unlink(missing_ok=True)
    return MemoryError_(f"The index cannot be used: {error_reason(error)}.", where=where, todo=todo)
