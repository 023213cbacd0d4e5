"""Which agents' sessions are read, and from where: `platforms.json` in the person's home, made by `lerim connect`.

Without it every agent whose store lies in its usual place is read. It holds only what the person said otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import filelock
import msgspec

from lerim.errors import SettingsError, reason_of
from lerim.paths import Home
from lerim.registry import private_folder, replace
from lerim.sessions.model import NAMES, Platform
from lerim.sessions.readers import READERS, ROOTS
from lerim.sessions.regular import buffered, contents

FILE = "platforms.json"
_TODO = "Mend the file, or delete it to read every agent again."
_WAIT = 10.0
_IN_A_FILE: tuple[Platform, ...] = ("opencode",)
"""Agents whose store may be named as the database itself."""
_DATABASE = b"SQLite format 3\0"
"""How it begins; one that is empty so far keeps all in its `-wal`."""

_Objects = dict[str, msgspec.Raw]


class Choice(msgspec.Struct, frozen=True):
    """What the person said of one agent: not to read it, or where its store lies ('' in its usual places)."""

    connected: bool = True
    path: str = ""


def choices(home: Home) -> dict[Platform, Choice]:
    """What was said of each agent; those nothing was said of are not in it.

    Raises SettingsError for a file that cannot be read: nobody knows then what was not to be read.
    """
    return _load(home).choices


def roots_of(environ: Mapping[str, str], home: Home) -> dict[Platform, list[Path]]:
    """Where the store of each agent that is read may lie, links resolved, each place once. Raises SettingsError."""
    said = choices(home)
    return {platform: places(platform, said, environ) for platform in READERS if said.get(platform, _USUAL).connected}


def places(platform: Platform, said: Mapping[Platform, Choice], environ: Mapping[str, str]) -> list[Path]:
    """Where the store of one agent may lie, read or not."""
    own = said.get(platform, _USUAL).path
    if own and not Path(own).is_absolute():
        return []  # from where it is relative nobody knows; `connect` takes absolute paths alone
    named = (own,) if own else ROOTS[platform](environ)
    return [Path(path) for path in dict.fromkeys(os.path.realpath(one) for one in named)]


def removed(home: Home) -> frozenset[Platform]:
    """The agents that are not to be read. Raises SettingsError."""
    return frozenset(platform for platform, said in choices(home).items() if not said.connected)


def connect(home: Home, platform: Platform, path: Path | None = None) -> None:
    """Reads an agent's sessions from now on: at `path`, or in its usual places.

    Raises SettingsError where `path` is no place for a store, or the choice cannot be kept.
    """
    if path is not None:
        _check(platform, path)
    _change(home, platform, lambda said: Choice(True, str(path or "")))


def remove(home: Home, platform: Platform) -> bool:
    """Reads no more sessions of an agent; False where none were read. Raises SettingsError."""
    before = choices(home).get(platform, _USUAL)
    _change(home, platform, lambda said: Choice(False, said.path))
    return before.connected


_USUAL = Choice()


def _check(platform: Platform, path: Path) -> None:
    if not path.is_absolute():
        todo = f"Give the whole path, such as {Path.home() / path}."
        raise SettingsError("The place of a store must be an absolute path.", where=str(path), todo=todo)
    try:
        path.lstat()
        if path.is_dir():
            with os.scandir(path):
                return
        with buffered(path) as file:
            head = file.read(len(_DATABASE))
    except OSError as error:
        todo = f"Name the folder (or database) in which {NAMES[platform]} keeps its sessions."
        message = f"There is no store that could be read here: {reason_of(error)}."
        raise SettingsError(message, where=str(path), todo=todo) from error
    if platform not in _IN_A_FILE or head not in (_DATABASE, b""):
        what = "folder or database" if platform in _IN_A_FILE else "folder"
        todo = f"Name the {what} in which {NAMES[platform]} keeps its sessions."
        raise SettingsError(f"Nothing of {NAMES[platform]} can be in this file.", where=str(path), todo=todo)


class _File(msgspec.Struct):
    """The file as it stands: every key of it, every agent's entry, and of those the known ones as they are meant."""

    keys: _Objects
    agents: dict[str, _Objects]
    choices: dict[Platform, Choice]


def _load(home: Home) -> _File:
    path = home.root / FILE
    try:
        keys = msgspec.json.decode(contents(path), type=_Objects)
        agents = msgspec.json.decode(keys.get("platforms", msgspec.Raw(b"{}")), type=dict[str, _Objects])
        said = {
            platform: msgspec.json.decode(msgspec.json.encode(agents[platform]), type=Choice)
            for platform in NAMES
            if platform in agents
        }
    except FileNotFoundError:
        return _File({}, {}, {})
    except OSError as error:
        message = f"What is said of the agents cannot be read: {reason_of(error)}."
        raise SettingsError(message, where=str(path), todo="Make the file readable, or delete it.") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise SettingsError(f"This file is broken: {error}.", where=str(path), todo=_TODO) from error
    return _File(keys, agents, said)


def _change(home: Home, platform: Platform, change: Callable[[Choice], Choice]) -> None:
    """Keeps what is now said of an agent; all else that the file holds stays, also what this version does not know."""
    path = home.root / FILE
    try:
        with _alone(home):
            file = _load(home)
            said = change(file.choices.get(platform, _USUAL))
            entry = file.agents.setdefault(platform, {})
            entry["connected"] = _raw(said.connected)
            entry.pop("path", None)
            if said.path:
                entry["path"] = _raw(said.path)
            keys = {"version": _raw(1)} | file.keys | {"platforms": _raw(file.agents)}
            replace(path, msgspec.json.format(msgspec.json.encode(keys)) + b"\n")
    except (OSError, UnicodeError) as error:
        message = f"What is said of the agents could not be kept: {error}."
        todo = "Make the folder writable and the path plain text, or set LERIM_HOME to another folder."
        raise SettingsError(message, where=str(path), todo=todo) from error


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    private_folder(home, home.root)
    with filelock.FileLock(home.root / f"{FILE}.lock", timeout=_WAIT, mode=0o600):
        yield
