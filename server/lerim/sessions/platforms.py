"""The agents whose sessions are read, and the places they are read from: `platforms.json` in the home folder, written
by `lerim connect`.

Without the file, every agent whose store is in its usual place is read. The file contains only the choices that
differ from this default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import filelock
import msgspec

from lerim.errors import SettingsError, error_reason
from lerim.files import open_buffered, read_regular_file
from lerim.paths import Home
from lerim.project import make_private_folder, replace_private_file
from lerim.sessions.model import PLATFORM_NAMES, Platform
from lerim.sessions.readers import PLATFORM_READERS, ROOT_FINDERS

PLATFORMS_FILE = "platforms.json"
_TODO = "Correct the file, or delete it to connect every agent again."
_LOCK_SECONDS = 10.0
_SQLITE_HEADER = b"SQLite format 3\0"
"""The first bytes of a SQLite file. A new database may still be empty, with all of its data in the `-wal`."""


class PlatformChoice(msgspec.Struct, frozen=True):
    """The person's choice for one agent: whether to read it, and where its store is ('' for the usual places)."""

    connected: bool = True
    path: str = ""


def load_platform_choices(home: Home) -> dict[Platform, PlatformChoice]:
    """Returns the choice for each agent that has one.

    Raises SettingsError if the file cannot be read, because it is then unknown which agents must not be read.
    """
    return _load_file(home).choices


def find_platform_roots(environ: Mapping[str, str], home: Home) -> dict[Platform, list[Path]]:
    """Returns the places where the store of each connected agent may be: links resolved, no duplicates. Raises
    SettingsError."""
    choices = load_platform_choices(home)
    return {
        platform: find_store_places(platform, choices, environ)
        for platform in PLATFORM_READERS
        if choices.get(platform, _DEFAULT_CHOICE).connected
    }


def find_store_places(
    platform: Platform, choices: Mapping[Platform, PlatformChoice], environ: Mapping[str, str]
) -> list[Path]:
    """Returns the places where the store of one agent may be, whether or not the agent is connected."""
    chosen_path = choices.get(platform, _DEFAULT_CHOICE).path
    if chosen_path and not Path(chosen_path).is_absolute():
        return []  # relative to an unknown folder; `connect_platform` accepts absolute paths only
    paths = (chosen_path,) if chosen_path else ROOT_FINDERS[platform](environ)
    return [Path(path) for path in dict.fromkeys(os.path.realpath(one) for one in paths)]


def list_removed_platforms(home: Home) -> frozenset[Platform]:
    """Returns the agents that must not be read. Raises SettingsError."""
    return frozenset(platform for platform, choice in load_platform_choices(home).items() if not choice.connected)


def connect_platform(home: Home, platform: Platform, path: Path | None = None) -> None:
    """Connects an agent: its sessions are read from now on, at `path` or in its usual places.

    Raises SettingsError if `path` cannot be a store or the choice cannot be saved.
    """
    if path is not None:
        _check_store_path(platform, path)
    _change_choice(home, platform, lambda choice: PlatformChoice(True, str(path or "")))


def remove_platform(home: Home, platform: Platform) -> bool:
    """Disconnects an agent. Returns False if it was not connected. Raises SettingsError."""
    before = load_platform_choices(home).get(platform, _DEFAULT_CHOICE)
    _change_choice(home, platform, lambda choice: PlatformChoice(False, choice.path))
    return before.connected


_DEFAULT_CHOICE = PlatformChoice()


def _check_store_path(platform: Platform, path: Path) -> None:
    if not path.is_absolute():
        todo = f"Give the whole path, such as {Path.home() / path}."
        raise SettingsError("The path of a store must be absolute.", where=str(path), todo=todo)
    may_be_file = platform == "opencode"  # the path may also be that of its database
    what = "folder or database" if may_be_file else "folder"
    todo = f"Name the {what} in which {PLATFORM_NAMES[platform]} keeps its sessions."
    try:
        path.lstat()
        if path.is_dir():
            with os.scandir(path):
                return
        with open_buffered(path) as file:
            head = file.read(len(_SQLITE_HEADER))
    except OSError as error:
        message = f"No store can be read here: {error_reason(error)}."
        raise SettingsError(message, where=str(path), todo=todo) from error
    if not may_be_file or head not in (_SQLITE_HEADER, b""):
        raise SettingsError(f"This file is not a store of {PLATFORM_NAMES[platform]}.", where=str(path), todo=todo)


class _PlatformsFile(msgspec.Struct):
    """The parsed file: all of its keys, the entry of every agent, and the decoded choices of the agents known here."""

    keys: dict[str, object]
    agents: dict[str, dict[str, object]]
    choices: dict[Platform, PlatformChoice]


def _load_file(home: Home) -> _PlatformsFile:
    path = home.root / PLATFORMS_FILE
    try:
        keys = msgspec.json.decode(read_regular_file(path), type=dict[str, object])
        agents = msgspec.convert(keys.get("platforms", {}), dict[str, dict[str, object]])
        choices = {one: msgspec.convert(agents[one], PlatformChoice) for one in PLATFORM_NAMES if one in agents}
    except FileNotFoundError:
        return _PlatformsFile({}, {}, {})
    except OSError as error:
        message = f"The list of agents cannot be read: {error_reason(error)}."
        raise SettingsError(message, where=str(path), todo="Make the file readable, or delete it.") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise SettingsError(f"This file is damaged: {error}.", where=str(path), todo=_TODO) from error
    return _PlatformsFile(keys, agents, choices)


def _change_choice(home: Home, platform: Platform, change: Callable[[PlatformChoice], PlatformChoice]) -> None:
    """Changes the choice for one agent; everything else in the file is kept, including what this version does not
    know."""
    path = home.root / PLATFORMS_FILE
    try:
        make_private_folder(home, home.root)
        with filelock.FileLock(home.root / f"{PLATFORMS_FILE}.lock", timeout=_LOCK_SECONDS, mode=0o600):
            file = _load_file(home)
            choice = change(file.choices.get(platform, _DEFAULT_CHOICE))
            entry = file.agents.setdefault(platform, {})
            entry["connected"] = choice.connected
            entry.pop("path", None)
            if choice.path:
                entry["path"] = choice.path
            keys = {"version": 1} | file.keys | {"platforms": file.agents}
            replace_private_file(path, msgspec.json.format(msgspec.json.encode(keys)) + b"\n")
    except (OSError, UnicodeError) as error:
        message = f"The list of agents could not be saved: {error}."
        todo = "Make the folder writable and the path plain text, or set LERIM_HOME to another folder."
        raise SettingsError(message, where=str(path), todo=todo) from error
