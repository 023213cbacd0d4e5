"""Changes values in the person's settings file, keeping its comments, its order and all other values."""

from __future__ import annotations

import contextlib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lerim import files
from lerim.config import load
from lerim.config.layers import MOST_BYTES
from lerim.config.schema import SettingValue
from lerim.errors import LerimError, SettingsError, StaleError, error_reason
from lerim.paths import Home
from lerim.project import make_private_folder

EXTRACT_TABLE = "roles.extract"
TomlValue = SettingValue | Sequence[str]
_MOST_TRIES = 5
_TODO = "Change the file in an editor; `lerim config show` shows the settings in effect."


def write_model_choice(home: Home, provider: str, model: str, base_url: str) -> None:
    """Writes to the person's own file which model reads sessions. Raises SettingsError."""
    model_values = {"model": model, "base_url": base_url}
    before = load.load_settings({}, home)[0]  # only the person's file
    values: dict[str, SettingValue] = {"provider": provider}
    has_faults = bool(before.faults["extract"])  # the file may contain an invalid value, which is not in `before`
    for name, value in model_values.items():
        if value or has_faults or before.values[f"{EXTRACT_TABLE}.{name}"]:
            values[name] = value
    if has_faults or (before.roles["extract"].fallback_models and before.roles["extract"].provider != provider):
        values["fallback_models"] = ()
    change_settings(home, EXTRACT_TABLE, values)


def change_settings(home: Home, table: str, values: Mapping[str, SettingValue]) -> None:
    """Sets values of one table (`roles.extract`) in `~/.lerim/config.toml`, creating the file if needed.

    Raises SettingsError and leaves the file unchanged if it cannot be read, written or changed.
    """
    path = Path(os.path.realpath(home.config))  # if the file is a link, its target is changed
    try:
        for _ in range(_MOST_TRIES):
            with contextlib.suppress(StaleError):  # the person saved it meanwhile: start over with the new text
                return _change_file(home, path, table, values)
        raise ValueError("another program keeps changing it")
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"The file is not valid TOML: {error}.", where=str(path), todo="Correct it first."
        ) from error
    except OSError as error:
        raise SettingsError(
            f"The file cannot be written: {error_reason(error)}.", where=str(path), todo=_TODO
        ) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"The file was not changed: {error}.", where=str(path), todo=_TODO) from error
    except SettingsError:
        raise
    except LerimError as error:
        raise SettingsError(error.message, where=str(path), todo=error.todo) from error


def _change_file(home: Home, path: Path, table: str, values: Mapping[str, SettingValue]) -> None:
    text = files.read_text(path, MOST_BYTES) if path.exists() else None
    mark = "\ufeff" if (text or "").startswith("\ufeff") else ""  # some editors on Windows begin a file with it
    changed = mark + set_toml_values((text or "").removeprefix(mark), table, values)
    if changed == (text or ""):
        return
    make_private_folder(home, home.root)
    if text is not None:
        files.replace_file(path, changed, 0o600, before=text)
    elif not files.create_file(path, changed, 0o600):
        message = f"{path.name} was created by another program in the meantime."
        raise StaleError(message, where=str(path), todo="Check its content, then try again.")


def set_toml_values(text: str, table: str, values: Mapping[str, TomlValue]) -> str:
    """Returns the text of a TOML file with these values set in a table.

    The table is added at the end if it is missing; comments, order and all other values are kept. Raises
    TOMLDecodeError if the text is not TOML, ValueError if it cannot be changed without losing something.
    """
    new_values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    expected = tomllib.loads(text)
    is_missing, table_values = False, expected
    for name in table.split("."):
        is_missing = name not in table_values
        table_values = table_values.setdefault(name, {})
        if not isinstance(table_values, dict):
            raise ValueError(f"{name} is not a table")
    if not is_missing and table_values.items() >= new_values.items():
        return text
    table_values.update(new_values)
    changed = _append_table(text, table, new_values) if is_missing else _change_table(text, table, new_values)
    try:
        is_preserved = tomllib.loads(changed) == expected
    except tomllib.TOMLDecodeError:
        is_preserved = False  # a table in braces, for example, cannot be extended
    if not is_preserved and is_missing:
        raise ValueError(f"[{table}] cannot be added to it")
    if not is_preserved:
        raise ValueError(f"[{table}] is written in a way in which {' and '.join(new_values)} cannot be changed")
    return changed


def format_toml_table(table: str, values: Mapping[str, TomlValue], newline: str = "\n") -> str:
    """Returns a table as the text of a TOML file."""
    # JSON writes strings and lists of strings as TOML does, except for one character
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return "".join(line.replace("\x7f", "\\u007f") + newline for line in (f"[{table}]", *lines))


def _append_table(text: str, table: str, values: Mapping[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + format_toml_table(table, values, newline)


def _change_table(text: str, table: str, values: Mapping[str, Any]) -> str:
    """Returns the text with these values set in a table that it already contains; "" if that is not possible."""
    import tomlkit  # needed only to write, and slow to import
    from tomlkit.exceptions import TOMLKitError

    has_crlf = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    source = text.replace("\r\n", "\n") if has_crlf else text
    try:
        document = tomlkit.parse(source)
        if (unchanged := tomlkit.dumps(document)) != source:
            pairs = enumerate(zip(source.split("\n"), unchanged.split("\n"), strict=False), 1)
            line = next((number for number, (old, other) in pairs if old != other), 1)
            raise ValueError(f"line {line} would not be preserved")
        found: Any = document
        for name in table.split("."):
            found = found[name]
        found.update(values)
        changed = tomlkit.dumps(document)
    except TOMLKitError:
        return ""
    return changed.replace("\n", "\r\n") if has_crlf else changed
