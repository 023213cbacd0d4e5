"""Changing values in the person's settings file: its comments, its order and all other values stay."""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from lerim import files
from lerim.config.schema import SettingValue
from lerim.errors import LerimError, SettingsError, StaleError, reason_of
from lerim.paths import Home
from lerim.project import make_private_folder

MAX_BYTES = 256_000
_TRIES = 5
_TODO = "Change the file in an editor; `lerim config show` shows the settings in effect."


def change(home: Home, table: str, values: Mapping[str, SettingValue]) -> None:
    """Set values of one table (`roles.extract`) in `~/.lerim/config.toml`, which is made where there is none.

    Raises SettingsError, with the file as it was, where it cannot be read, written or changed.
    """
    path = Path(os.path.realpath(home.config))  # where the file is a link, what it leads to is changed
    try:
        for _ in range(_TRIES):
            with contextlib.suppress(StaleError):  # the person saved it meanwhile: what it says now is changed
                return _change(home, path, table, values)
        raise ValueError("another program keeps changing it")
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"The file is not valid TOML: {error}.", where=str(path), todo="Correct it first."
        ) from error
    except OSError as error:
        raise SettingsError(f"The file cannot be written: {reason_of(error)}.", where=str(path), todo=_TODO) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"The file was not changed: {error}.", where=str(path), todo=_TODO) from error
    except SettingsError:
        raise
    except LerimError as error:
        raise SettingsError(error.message, where=str(path), todo=error.todo) from error


def _change(home: Home, path: Path, table: str, values: Mapping[str, SettingValue]) -> None:
    text = files.read_text(path, MAX_BYTES) if path.exists() else None
    changed = with_values(text or "", table, values)
    if changed == (text or ""):
        return
    make_private_folder(home, home.root)
    if text is not None:
        files.replace_file(path, changed, 0o600, before=text)
    elif not files.create_file(path, changed, 0o600):
        message = f"{path.name} was created by another program in the meantime."
        raise StaleError(message, where=str(path), todo="Check its content, then try again.")


def with_values(text: str, table: str, values: Mapping[str, SettingValue]) -> str:
    """The text of a TOML file with these values in a table, which is made where there is none; its comments, its order
    and all other values stay.

    Raises TOMLDecodeError for what is not TOML, ValueError where the file cannot be changed without losing something.
    """
    import tomlkit  # needed only to write, and slow to import
    from tomlkit.exceptions import TOMLKitError

    new = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    wanted = tomllib.loads(text)
    settings = _table(wanted, table, dict)
    if settings.items() >= new.items():
        return text
    settings.update(new)
    crlf = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    source = text.replace("\r\n", "\n") if crlf else text
    try:
        document = tomlkit.parse(source)
        if (again := tomlkit.dumps(document)) != source:
            pairs = enumerate(zip(source.split("\n"), again.split("\n"), strict=False), 1)
            line = next((number for number, (old, other) in pairs if old != other), 1)
            raise ValueError(f"line {line} would not be preserved")
        _table(document, table, tomlkit.table).update(new)
        changed = tomlkit.dumps(document)
        kept = tomllib.loads(changed) == wanted
    except (TOMLKitError, tomllib.TOMLDecodeError):
        kept = False
    if not kept:
        raise ValueError(f"[{table}] is written in a way in which {' and '.join(new)} cannot be changed")
    return changed.replace("\n", "\r\n") if crlf else changed


def _table(document: MutableMapping[str, Any], path: str, make: Callable[[], object]) -> MutableMapping[str, Any]:
    """The table of this path, made where there is none. Raises ValueError where something else has its name."""
    for name in path.split("."):
        if name not in document:
            document[name] = make()
        document = document[name]
        if not isinstance(document, dict):
            raise ValueError(f"{name} is not a table")
    return document
