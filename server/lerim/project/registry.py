"""The projects this installation knows: one small file each under `~/.lerim/projects/<key>/project.json`.

The files are written atomically and readable only by the person. Nothing here touches a repository.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec

from lerim.errors import Problem, ProjectError, error_reason
from lerim.files import open_directory, read_regular_file, temporary_file
from lerim.paths import Home

ENTRY_FILE = "project.json"
NO_COMMIT = "-"
_KEY = re.compile(r"[0-9a-f]{16}")


class ProjectEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The stored data of one project. `root` is its main worktree (any worktree for a bare repository), `first_commit`
    the oldest commit without a parent: "" if it was not looked for yet, `NO_COMMIT` if it was not found in time."""

    version: int = 1
    key: str
    name: str
    root: str
    common_dir: str
    remote: str = ""
    aliases: tuple[str, ...] = ()
    first_commit: str = ""


def read_entry(home: Home, key: str) -> ProjectEntry | None:
    """Returns the entry of one project, or None if it was never added. Raises ProjectError for a broken file."""
    path = home.project(key) / ENTRY_FILE
    try:
        entry = msgspec.convert(json.loads(read_regular_file(path)), ProjectEntry)
    except (FileNotFoundError, NotADirectoryError):
        return None  # a home that cannot be created is reported when something is written to it
    except OSError as error:
        todo = "Make the folder readable for you, or set LERIM_HOME to another one."
        message = f"The project's entry cannot be read: {error_reason(error)}."
        raise ProjectError(message, where=str(path), todo=todo) from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        todo = "Delete it and add the project again with `lerim project add`."
        raise ProjectError(f"The project's entry cannot be read: {error}.", where=str(path), todo=todo) from error
    return entry if entry.key == key else None


def list_entries(home: Home) -> tuple[list[ProjectEntry], list[Problem]]:
    """Returns every known project by key; a broken entry becomes a problem and does not affect the others."""
    found: list[ProjectEntry] = []
    problems: list[Problem] = []
    try:
        names = sorted(folder.name for folder in (home.root / "projects").iterdir())
    except FileNotFoundError:
        return found, problems
    except OSError as error:
        return found, [Problem("registry-unreadable", str(home.root / "projects"), f"{error_reason(error)}.")]
    for name in names:
        if not _KEY.fullmatch(name):
            continue
        try:
            entry = read_entry(home, name)
        except ProjectError as error:
            problems.append(error.problem(code="registry-broken"))
        else:
            found.extend([entry] if entry else [])
    return found, problems


def write_entry(home: Home, entry: ProjectEntry) -> None:
    """Saves `entry`, replacing any entry with the same key. Raises ProjectError if it cannot be written."""
    folder = home.project(entry.key)
    try:
        make_private_folder(home, folder)
        replace_private_file(folder / ENTRY_FILE, json.dumps(msgspec.structs.asdict(entry), indent=2).encode() + b"\n")
    except OSError as error:
        todo = "Make the folder writable, or set LERIM_HOME to another one."
        raise ProjectError(
            f"The project could not be saved: {error_reason(error)}.", where=str(folder), todo=todo
        ) from error


def remove_entry(home: Home, key: str) -> bool:
    """Deletes the entry with its aliases, but no other data of the project; returns False if there was none."""
    try:
        (home.project(key) / ENTRY_FILE).unlink()
    except FileNotFoundError:
        return False
    return True


def make_private_folder(home: Home, folder: Path) -> None:
    """Creates `folder` and its parents up to the home, readable only by the person, and a `.gitignore` that makes git
    ignore the home, which may be in a repository of the person's dotfiles. Raises OSError."""
    folders = [folder, *(parent for parent in folder.parents if parent == home.root or home.root in parent.parents)]
    for part in reversed(folders):
        part.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        handle = os.open(home.root / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as ignore:
            ignore.write("*\n")


def replace_private_file(path: Path, data: bytes, *, flush: bool = True) -> None:
    """Writes a file atomically, readable only by the person. Raises OSError and leaves the old file unchanged."""
    with open_directory(path.parent) as folder, temporary_file(folder, data, 0o600, flush) as temporary:
        folder.rename(temporary, path.name)
