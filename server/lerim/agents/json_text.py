"""Edits JSON texts and leaves every other byte as it is.

A value is set or removed in the text itself, so that the person's order, indentation, line ends and spelling of
numbers stay. For a text that these functions cannot edit safely (comments, invalid JSON, keys that occur twice),
they raise UneditableError; the person is then shown what to add.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from lerim.json_comments import strip_json_comments

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
JsonPath = Sequence[str | int]

_SPACE = re.compile(r"[ \t\n\r]*")
_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")
BYTE_ORDER_MARK = "\ufeff"


class UneditableError(Exception):
    """A file cannot be edited without a risk to its other content. The message says why."""


@dataclass(frozen=True, slots=True)
class _Child:
    """A member or an item of a container: where it starts (for a member, at its key), and where its value starts and
    ends."""

    key: str | int
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Container:
    """An object or array in a text; `end` is behind its closing bracket."""

    start: int
    end: int
    is_object: bool
    children: tuple[_Child, ...]

    def find(self, key: str | int) -> _Child | None:
        """Returns the child with this key. Raises UneditableError if two children have it, or if the container has
        another kind of keys."""
        if isinstance(key, str) is not self.is_object:
            raise UneditableError("it holds a list where an object is expected, or the other way round")
        found = [child for child in self.children if child.key == key]
        if len(found) > 1:
            raise UneditableError(f"{key!r} occurs twice in it")
        return found[0] if found else None


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_json(text: str) -> Json:
    """Returns the value of a JSON text, which may begin with a byte order mark. Raises UneditableError."""
    body = text.removeprefix(BYTE_ORDER_MARK)
    try:
        value: Json = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        raise UneditableError("it is nested too deeply") from None
    except ValueError as error:
        if parse_json_with_comments(body) is not None:
            raise UneditableError("it has comments or trailing commas") from None
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise UneditableError(f"it is not valid JSON{where}") from None
    return value


def parse_json_with_comments(text: str) -> Json:
    """Returns the value of a JSON text that may have comments and trailing commas; None if the text is not valid."""
    value: Json
    text = text.removeprefix(BYTE_ORDER_MARK)
    with suppress(ValueError, RecursionError):
        value = json.loads(text, parse_constant=_refuse_constant)
        return value
    with suppress(ValueError, RecursionError):
        value = json.loads(strip_json_comments(text), parse_constant=_refuse_constant)
        return value
    return None


def find_value(value: Json, path: JsonPath) -> Json:
    """Returns the value at a path in a value; None if there is none."""
    for key in path:
        if isinstance(key, str) and isinstance(value, dict):
            value = value.get(key)
        elif isinstance(key, int) and isinstance(value, list) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def set_value(text: str | None, path: JsonPath, value: Json) -> str:
    """Returns the text with `value` at `path`. Containers that are missing on the path are added last in the
    container around them; an index equal to the length of an array appends an item. `text` is None or blank for a
    new file. Raises UneditableError."""
    if text is None or not text.removeprefix(BYTE_ORDER_MARK).strip():
        return (text or "").rstrip() + json.dumps(_wrap(path, value), indent=2, ensure_ascii=False) + "\n"
    parse_json(text)
    position = _find_root(text)
    for depth, key in enumerate(path):
        container = _scan_container(text, position)
        child = container.find(key)
        if child is None:
            return _insert(text, container, key, _wrap(path[depth + 1 :], value))
        position = child.value
    old, end = _decode(text, position)
    if _is_same(old, value):
        return text
    style = _Style.of(text)
    written = style.format(value, _line_indent(text, position), is_inline=_is_inline(text, position, end))
    return text[:position] + written + text[end:]


def remove_value(text: str, path: JsonPath) -> str:
    """Returns the text without the value at `path`; unchanged if there is none. Raises UneditableError."""
    container = _find_container(text, path[:-1])
    child = container.find(path[-1]) if container is not None else None
    return text if container is None or child is None else _cut(text, container, container.children.index(child))


def prune_empty(text: str, path: JsonPath, original: str | None) -> str | None:
    """Returns the text without the empty containers on `path`, removing the innermost first; None if nothing is left.

    Containers that are also in `original` are kept, and an empty one is written as it is there. Without an original,
    all empty containers are removed.
    """
    before = parse_json_with_comments(original) if original is not None else None
    for length in range(len(path), -1, -1):
        here = path[:length]
        container = _find_container(text, here)
        if container is None:
            continue
        if container.children:
            return text
        if isinstance(find_value(before, here), dict | list):
            return text[: container.start] + _find_empty_text(original, here) + text[container.end :]
        if not here:
            return None if original is None else text
        text = remove_value(text, here)
    return text


def _find_empty_text(original: str | None, path: JsonPath) -> str:
    """Returns how an empty container was written in the original text."""
    try:
        container = _find_container(original, path) if original is not None else None
    except UneditableError:
        container = None
    if original is None or container is None:
        return "{}"
    is_empty = not container.children
    return original[container.start : container.end] if is_empty else "{}" if container.is_object else "[]"


def _find_container(text: str, path: JsonPath) -> _Container | None:
    parse_json(text)
    position = _find_root(text)
    for key in path:
        child = _scan_container(text, position).find(key)
        if child is None:
            return None
        position = child.value
    return _scan_container(text, position)


def _wrap(path: JsonPath, value: Json) -> Json:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _is_same(one: Json, other: Json) -> bool:
    """Returns whether two values are written the same, with members in any order; `1`, `1.0` and `true` differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _find_root(text: str) -> int:
    return _skip_space(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _decode(text: str, position: int) -> tuple[Json, int]:
    value: Json
    value, end = _DECODER.raw_decode(text, position)
    return value, end


def _scan_container(text: str, start: int) -> _Container:
    """Finds the positions of the children of the container at `start`. The text is known to be valid JSON."""
    if text[start] not in "{[":
        raise UneditableError("it holds a plain value where an object is expected")
    is_object = text[start] == "{"
    children: list[_Child] = []
    position = _skip_space(text, start + 1)
    while text[position] not in "}]":
        child_start = position
        key: str | int = len(children)
        if is_object:
            name, position = _decode(text, position)
            key = str(name)
            position = _skip_space(text, _skip_space(text, position) + 1)
        end = _decode(text, position)[1]
        children.append(_Child(key, child_start, position, end))
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)
    return _Container(start, position + 1, is_object, tuple(children))


@dataclass(frozen=True, slots=True)
class _Style:
    """The layout of a text: one level of indentation, and the line end."""

    indent: str
    newline: str

    @classmethod
    def of(cls, text: str) -> _Style:
        """Returns the style of a text, from its first indented line."""
        found = _FIRST_INDENT.search(text)
        return cls(found[1] if found else "  ", "\r\n" if "\r\n" in text else "\n")

    def format(self, value: Json, indent: str, *, is_inline: bool) -> str:
        """Returns a value as text whose further lines begin with `indent`."""
        if is_inline:
            return json.dumps(value, ensure_ascii=False)
        written = json.dumps(value, indent=self.indent, ensure_ascii=False)
        return written.replace("\n", self.newline + indent)


def _insert(text: str, container: _Container, key: str | int, value: Json) -> str:
    """Returns the text with a new last child of the container."""
    style = _Style.of(text)
    if isinstance(key, int) and key != len(container.children):
        raise UneditableError("it has fewer items than expected")
    prefix = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if not container.children:
        outer = _line_indent(text, container.start)
        indent = outer + style.indent
        written = prefix + style.format(value, indent, is_inline=False)
        inside = f"{style.newline}{indent}{written}{style.newline}{outer}"
        return text[: container.start + 1] + inside + text[container.end - 1 :]
    last = container.children[-1]
    gap = text[container.start + 1 : container.children[0].start]
    if "\n" not in gap:
        return f"{text[: last.end]}, {prefix}{style.format(value, '', is_inline=True)}{text[last.end :]}"
    indent = gap.rpartition("\n")[2]
    return (
        f"{text[: last.end]},{style.newline}{indent}{prefix}{style.format(value, indent, is_inline=False)}"
        + (text[last.end :])
    )


def _cut(text: str, container: _Container, index: int) -> str:
    """Returns the text without one child of the container: the inverse of `_insert` for the last one."""
    children = container.children
    child = children[index]
    if len(children) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if index > 0:
        return text[: children[index - 1].end] + text[child.end :]
    return text[: child.start] + text[children[1].start :]


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position].removeprefix(BYTE_ORDER_MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_inline(text: str, start: int, end: int) -> bool:
    """Returns whether the replacement of a value is written on one line: the whole text is on one line, or the value
    is a container with content on one line."""
    return "\n" not in text or ("\n" not in text[start:end] and text[start:end].strip("{}[] \t") != "")
