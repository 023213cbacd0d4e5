"""Edits one table in a TOML text and leaves every other byte as it is.

Each result is parsed and compared with the expected content, so that an unusual spelling is refused instead of
damaged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from lerim.agents.json_text import BYTE_ORDER_MARK, UneditableError
from lerim.config import TomlValue, set_toml_values


def parse_toml(text: str) -> dict[str, Any]:
    """Returns the values of a TOML text, which may begin with a byte order mark. Raises UneditableError."""
    try:
        return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (tomllib.TOMLDecodeError, RecursionError):
        raise UneditableError("it is not valid TOML") from None


def find_table(text: str, path: Sequence[str]) -> dict[str, Any] | None:
    """Returns the values of a table; None if there is none. Raises UneditableError."""
    table: Any = parse_toml(text)
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def set_table(text: str | None, path: Sequence[str], values: Mapping[str, TomlValue]) -> str:
    """Returns the text with these values in the table at `path`; further values of the table stay. Raises
    UneditableError."""
    text = text or ""
    parse_toml(text)
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    try:
        return mark + set_toml_values(text.removeprefix(mark), ".".join(path), values)
    except ValueError as error:
        raise UneditableError(str(error)) from None


def remove_table(text: str, path: Sequence[str], original: str | None) -> str | None:
    """Returns the text without the table at `path` and its subtables; None if nothing is left and there was no
    `original`. Raises UneditableError."""
    expected = parse_toml(text)
    if find_table(text, path) is None:
        return text
    parent = expected
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    after = _cut_table(text, path)
    _check(after, expected, emptied=path[:-1])
    if original is not None and after.rstrip() == original.rstrip():
        return original
    return None if original is None and not after.strip() else after


def _cut_table(text: str, path: Sequence[str]) -> str:
    """Returns the text without the lines of a table and its subtables. Comments after the table's last value stay."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    lines = text.removeprefix(mark).splitlines(keepends=True)
    kept: list[str] = []
    index = 0
    while index < len(lines):
        if _parse_header(lines[index])[: len(path)] != tuple(path):
            kept.append(lines[index])
            index += 1
            continue
        end = index + 1
        following = index + 1
        while following < len(lines) and not _parse_header(lines[following]):
            following += 1
            if lines[following - 1].strip() and not lines[following - 1].lstrip().startswith("#"):
                end = following
        rest = lines[end:]
        if kept and not kept[-1].strip() and (not rest or not rest[0].strip()):
            kept.pop()  # the blank line that was put before the table
        index = end
    return mark + "".join(kept)


def _parse_header(line: str) -> tuple[str, ...]:
    """Returns the path in a header line such as `[mcp_servers.lerim]`; () if the line is not a header."""
    if not line.lstrip().startswith("["):
        return ()
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(value, dict | list) and value:
        if isinstance(value, list):
            value = value[0]
            continue
        key, value = next(iter(value.items()))
        path.append(key)
    return tuple(path)


def _check(after: str, expected: dict[str, Any], emptied: Sequence[str] = ()) -> None:
    """Raises UneditableError unless the text has the expected values. Whether a parent table that became empty is
    still there does not matter."""
    try:
        found = parse_toml(after)
    except UneditableError:
        found = {}  # it was valid before: a table in braces, for example, cannot be extended
    if found != expected and _without_empty(found, emptied) != _without_empty(expected, emptied):
        raise UneditableError("its spelling cannot be kept")


def _without_empty(values: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    if not path or not isinstance(values.get(path[0]), dict):
        return values
    inner = _without_empty(values[path[0]], path[1:])
    return {**values, path[0]: inner} if inner else {key: value for key, value in values.items() if key != path[0]}
