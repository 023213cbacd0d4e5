"""Changing values in the person's settings file: its other bytes stay as they are, comments and order included."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from lerim.errors import LerimError, SettingsError, StaleError, reason_of
from lerim.memory import files
from lerim.paths import Home
from lerim.registry import private_folder
from lerim.setting import Value

MAX_BYTES = 256_000
_TRIES = 5
_TODO = "Change the file in an editor; `lerim config show` says what holds."
_KEY = r"[ \t]*(?:{0}|\"{0}\"|'{0}')[ \t]*=[ \t]*"


def change(home: Home, table: str, values: Mapping[str, Value]) -> None:
    """Sets values of one table (`roles.extract`) in `~/.lerim/config.toml`, which is made where there is none.

    Raises SettingsError, with the file as it was, where it cannot be read or written, or is not written so that a value
    can be changed by its line.
    """
    path = Path(os.path.realpath(home.config))  # where the file is a link, what it leads to is changed
    try:
        for _ in range(_TRIES):
            with contextlib.suppress(StaleError):  # the person saved it meanwhile: what it says now is changed
                return _change(home, path, table, values)
        raise ValueError("it is being changed by somebody else again and again")
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"The file is no TOML: {error}.", where=str(path), todo="Correct it first.") from error
    except OSError as error:
        raise SettingsError(f"The file cannot be written: {reason_of(error)}.", where=str(path), todo=_TODO) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"The file was left as it is: {error}.", where=str(path), todo=_TODO) from error
    except SettingsError:
        raise
    except LerimError as error:
        raise SettingsError(error.message, where=str(path), todo=error.todo) from error


def _change(home: Home, path: Path, table: str, values: Mapping[str, Value]) -> None:
    text = files.read_text(path, MAX_BYTES) if path.exists() else None
    changed = with_values(text or "", table, values)
    if changed == (text or ""):
        return
    private_folder(home, home.root)
    if text is not None:
        files.replace(path, changed, 0o600, before=text)
    elif not files.create(path, changed, 0o600):
        message = f"{path.name} was made by somebody else meanwhile."
        raise StaleError(message, where=str(path), todo="Look at what it says now, then try again.")


def with_values(text: str, table: str, values: Mapping[str, Value]) -> str:
    """The text of a TOML file with these values in a table; of the rest no byte differs.

    Raises TOMLDecodeError for what is no TOML, ValueError where the change cannot be made line by line.
    """
    for name, value in values.items():
        text = _with_value(text, table, name, value)
    return text


def _with_value(text: str, table: str, name: str, value: Value) -> str:
    before = tomllib.loads(text)
    wanted = _set(before, table.split("."), name, list(value) if isinstance(value, tuple) else value)
    if wanted == before:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True) if "\r" not in text.replace("\r\n", "") else [text]
    written = f"{name} = {_toml(value)}"
    for changed in _tries(lines, table, name, written, end):
        # Whatever the lines seemed to be, only what parses to the wanted settings is taken.
        try:
            if tomllib.loads(changed) == wanted:
                return changed
        except tomllib.TOMLDecodeError:
            continue
    raise ValueError(f"[{table}] is written in a way in which {name} cannot be changed by its line")


def _tries(lines: list[str], table: str, name: str, written: str, end: str) -> list[str]:
    """Texts that may be the changed one: the value's lines replaced, a line more in its table, its table more."""
    tries: list[str] = []
    heading = re.compile(rf"[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\][ \t]*(?:#.*)?$")
    key = re.compile(_KEY.format(re.escape(name)))
    for at, line in enumerate(lines):
        if key.match(line):
            for last in range(at + 1, min(at + 40, len(lines)) + 1):
                comment = _comment(lines[last - 1])
                tries.append("".join([*lines[:at], f"{written}{comment}{end}", *lines[last:]]))
    for at, line in enumerate(lines):
        if heading.match(line.rstrip("\r\n")):
            head = line if line.endswith("\n") else line + end
            tries.append("".join([*lines[:at], head, f"{written}{end}", *lines[at + 1 :]]))
    whole = "".join(lines)
    between = "" if not whole else end if whole.endswith("\n") else end * 2
    tries.append(f"{whole}{between}[{table}]{end}{written}{end}")
    return tries


def _comment(line: str) -> str:
    """What a line says behind its value, kept: only a plain value has something behind it that is surely a comment."""
    found = re.fullmatch(r"[^\"'#\[\]]*=[ \t]*(?:\"[^\"\\]*\"|'[^']*'|[\w.+-]+)([ \t]*#[^\r\n]*)\r?\n?", line)
    return found[1] if found else ""


def _set(before: dict[str, object], path: list[str], name: str, value: object) -> dict[str, object]:
    if not path:
        return {**before, name: value}
    inner = before.get(path[0], {})
    if not isinstance(inner, dict):
        raise ValueError(f"{path[0]} is no table")
    return {**before, path[0]: _set(inner, path[1:], name, value)}


def _toml(value: Value) -> str:
    """JSON's strings and lists of them are TOML's, too, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
