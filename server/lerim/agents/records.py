"""Records what was installed where: `integrations.json` in Lerim's home, and the texts that files had before.

A record is written before its file is changed, so that a process that dies in between leaves nothing unknown: the
file has either its earlier text or a text that is in the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import filelock
import msgspec

from lerim.agents.model import AgentName, InstallLevel
from lerim.errors import BusyError, SettingsError, error_reason
from lerim.files import hash_text, read_regular_file
from lerim.paths import Home
from lerim.project import make_private_folder, replace_private_file

FILE_NAME = "integrations.json"
_LOCK_SECONDS = 10.0
MAX_AFTER = 8
"""Maximum number of texts of one file that are remembered as written by Lerim."""
_TODO = "Correct the file, or delete it: Lerim's entries are then recognised by their names."


class InstalledFile(msgspec.Struct, frozen=True):
    """One file that Lerim changed.

    `before` is the hash of the text that it had before, '' for no file, and `backup` a copy of that text. `after`
    has the hashes of the texts that Lerim wrote, the latest last; `folders` were made for the file; `at` is when it
    was changed, in seconds since 1970.
    """

    level: InstallLevel
    agents: tuple[AgentName, ...]
    before: str
    after: tuple[str, ...]
    backup: str = ""
    folders: tuple[str, ...] = ()
    at: float = 0.0


class _Records(msgspec.Struct, frozen=True):
    version: int = 1
    files: dict[str, InstalledFile] = {}


def load_records(home: Home) -> dict[str, InstalledFile]:
    """Returns the changed files by path. Raises SettingsError if they cannot be read."""
    path = home.root / FILE_NAME
    try:
        return msgspec.json.decode(read_regular_file(path), type=_Records).files
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        message = f"What was installed for agents cannot be read: {error_reason(error)}."
        raise SettingsError(message, where=str(path), todo="Make the file readable.") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise SettingsError(f"This file is damaged: {error}.", where=str(path), todo=_TODO) from error


def save_records(home: Home, files: Mapping[str, InstalledFile]) -> None:
    """Saves the changed files. Raises SettingsError."""
    path = home.root / FILE_NAME
    try:
        make_private_folder(home, home.root)
        replace_private_file(path, msgspec.json.format(msgspec.json.encode(_Records(files=dict(files)))) + b"\n")
    except (OSError, UnicodeError) as error:
        raise _make_save_error(path, error) from error


@contextmanager
def hold_records(home: Home) -> Iterator[None]:
    """Keeps other processes from changing agents' files while the block runs. Raises BusyError, SettingsError."""
    path = home.root / f"{FILE_NAME}.lock"
    lock = filelock.FileLock(path, timeout=_LOCK_SECONDS, thread_local=False, mode=0o600)
    try:
        make_private_folder(home, home.root)
        lock.acquire()
    except filelock.Timeout as error:
        message = "Another process is changing the agents' files."
        raise BusyError(message, where=str(home.root), todo="Try again when it is done.") from error
    except OSError as error:
        raise _make_save_error(path, error) from error
    try:
        yield
    finally:
        lock.release()


def write_backup(home: Home, folder_name: str, name: str, text: str) -> str:
    """Saves a text as `backups/<folder_name>/<hash>-<name>` and returns that path. Raises SettingsError."""
    path = home.root / "backups" / folder_name / f"{hash_text(text)}-{name}"
    try:
        make_private_folder(home, path.parent)
        replace_private_file(path, text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise _make_save_error(path, error) from error
    return str(path)


def load_backup(record: InstalledFile) -> str | None:
    """Returns the text a file had before it was changed; None if there was no file or the copy is gone or damaged."""
    if not record.backup:
        return None
    try:
        text = read_regular_file(Path(record.backup)).decode("utf-8", "surrogatepass")
    except (OSError, UnicodeError):
        return None
    return text if hash_text(text) == record.before else None


def has_backup(record: InstalledFile) -> bool:
    """Returns whether the earlier state of the file is known: either its text, or that it did not exist."""
    return not record.before or load_backup(record) is not None


def _make_save_error(path: Path, error: Exception) -> SettingsError:
    message = f"What is installed for agents cannot be saved: {error_reason(error)}."
    todo = "Free some space or make the folder writable, then try again; no agent's file was changed."
    return SettingsError(message, where=str(path), todo=todo)
