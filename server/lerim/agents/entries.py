"""The entries that Lerim adds to a file of an agent: how they are added, found and removed. Everything else in the file
stays byte for byte the same.

An entry is recognised by its name (`lerim`) or by the hook program in its command. An existing entry is replaced in
its place; a new one is added at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lerim.agents.json_text import (
    BYTE_ORDER_MARK,
    Json,
    UneditableError,
    find_value,
    parse_json,
    parse_json_with_comments,
    prune_empty,
    remove_value,
    set_value,
)
from lerim.agents.toml_text import find_table, remove_table, set_table
from lerim.config import TomlValue, format_toml_table

EntryState = Literal["installed", "changed", "missing"]
"""The state of an entry. changed: an entry of ours is there, but it differs from the one that would be installed."""


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that contains only what Lerim writes."""

    text: str

    def add_to(self, _text: str | None) -> str:
        """Returns the file's text."""
        return self.text

    def remove_from(self, _text: str, original: str | None) -> str | None:
        """Returns the earlier text of the file, None for no file."""
        return original

    def find_in(self, text: str | None) -> EntryState:
        """Returns whether the file has the text that would be installed."""
        return "missing" if text is None else "installed" if text == self.text else "changed"

    @property
    def snippet(self) -> str:
        """The text that the person would write by hand."""
        return self.text


@dataclass(frozen=True, slots=True)
class JsonMember:
    """One member of an object in a JSON file, such as an MCP server. Other members that the person added to it are
    kept."""

    path: tuple[str, ...]
    value: Mapping[str, Json]

    def add_to(self, text: str | None) -> str:
        """Returns the text with the member. Raises UneditableError."""
        if self.find_in(text) == "installed":
            return text or ""
        if text is None or not isinstance(_find_json(text, self.path), dict):
            return set_value(text, self.path, dict(self.value))
        for key, value in self.value.items():
            text = set_value(text, (*self.path, key), value)
        return text

    def remove_from(self, text: str, original: str | None) -> str | None:
        """Returns the text without the member, None if nothing is left. Raises UneditableError."""
        if self.find_in(text) == "missing":
            _check_readable(text)
            return text
        return prune_empty(remove_value(text, self.path), self.path[:-1], original)

    def find_in(self, text: str | None) -> EntryState:
        """Returns whether the member is there; comments in the text do not matter."""
        found = _find_json(text, self.path)
        if found is None:
            return "missing"
        has_all = isinstance(found, dict) and all(found.get(key) == value for key, value in self.value.items())
        return "installed" if has_all else "changed"

    @property
    def snippet(self) -> str:
        """The text that the person would add by hand."""
        value: Json = dict(self.value)
        for key in reversed(self.path):
            value = {key: value}
        return json.dumps(value, indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table of a TOML file. Other values that the person added to it are kept."""

    path: tuple[str, ...]
    values: Mapping[str, TomlValue]

    def add_to(self, text: str | None) -> str:
        """Returns the text with the table. Raises UneditableError."""
        return set_table(text, self.path, self.values)

    def remove_from(self, text: str, original: str | None) -> str | None:
        """Returns the text without the table, None if nothing is left. Raises UneditableError."""
        return remove_table(text, self.path, original)

    def find_in(self, text: str | None) -> EntryState:
        """Returns whether the table is there. Raises UneditableError."""
        table = find_table(text or "", self.path)
        if table is None:
            return "missing"
        return "installed" if all(table.get(key) == value for key, value in self.values.items()) else "changed"

    @property
    def snippet(self) -> str:
        """The text that the person would add by hand."""
        return format_toml_table(".".join(self.path), self.values)


@dataclass(frozen=True, slots=True)
class JsonHooks:
    """Hooks in a JSON file: one item in the array of each event.

    `root` are members that the file itself must have. An item is ours if its command, or the command of each of its
    `hooks`, runs the hook program at `program`.
    """

    events: Mapping[str, Json]
    program: str
    root: Mapping[str, Json] = field(default_factory=dict)

    def add_to(self, text: str | None) -> str:
        """Returns the text with the hooks. Items of ours stay in their places; new ones are added last, because
        Codex stores by position which hooks the person trusts. Raises UneditableError."""
        if self.find_in(text) == "installed":
            return text or ""
        if text is None:
            text = json.dumps({**self.root, "hooks": {}}, indent=2) + "\n" if self.root else None
        self._check_shape(text)
        for event, index in self._find_items(text):
            if text is not None and event not in self.events:
                text = _remove_item(text, event, index, None)
        for event, item in self.events.items():
            own = [index for name, index in self._find_items(text) if name == event]
            items = _find_json(text, ("hooks", event))
            first = own.pop() if own else len(items) if isinstance(items, list) else 0
            for index in own:
                text = remove_value(text or "", ("hooks", event, index))
            text = set_value(text, ("hooks", event, first), item)
        return text or ""

    def remove_from(self, text: str, original: str | None) -> str | None:
        """Returns the text without the hooks, None if nothing is left. Raises UneditableError."""
        after: str | None = text
        for event, index, handler in self._find_moved_handlers(text):
            after = remove_value(after or "", ("hooks", event, index, "hooks", handler))
        found = list(self._find_items(after))
        if not found:
            _check_readable(text)
            return after
        for event, index in found:
            if after is not None:
                after = _remove_item(after, event, index, original)
        if after is not None and original is None and parse_json(after) == dict(self.root):
            return None
        return after

    def find_in(self, text: str | None) -> EntryState:
        """Returns whether the hooks are there; comments in the text do not matter."""
        found = list(self._find_items(text))
        if not found:
            return "missing"
        values = [(event, _find_json(text, ("hooks", event, index))) for event, index in found]
        return "installed" if sorted(values, key=str) == sorted(self.events.items(), key=str) else "changed"

    @property
    def snippet(self) -> str:
        """The text that the person would add by hand."""
        hooks: Json = {event: [item] for event, item in self.events.items()}
        return json.dumps({**self.root, "hooks": hooks}, indent=2, ensure_ascii=False)

    def find_positions(self, text: str | None) -> list[tuple[str, int]]:
        """Returns the event and the index of each item of ours, in the order of the file."""
        return sorted(self._find_items(text), key=lambda one: one[1])

    def _find_items(self, text: str | None) -> Iterator[tuple[str, int]]:
        """Yields the event and index of each item of ours. The last item of an event comes first, so that each can
        be removed."""
        hooks = _find_json(text, ("hooks",))
        for event, items in hooks.items() if isinstance(hooks, dict) else ():
            if isinstance(items, list):
                yield from ((event, index) for index in reversed(range(len(items))) if self._is_own(items[index]))

    def _find_moved_handlers(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yields the positions of our hooks that the person has moved into a group with hooks of their own, the last
        one first."""
        hooks = _find_json(text, ("hooks",))
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for index, group in enumerate(groups if isinstance(groups, list) else ()):
                handlers = group.get("hooks") if isinstance(group, dict) and not self._is_own(group) else None
                for at in reversed(range(len(handlers) if isinstance(handlers, list) else 0)):
                    if isinstance(handlers, list) and self._is_own(handlers[at]):
                        yield event, index, at

    def _check_shape(self, text: str | None) -> None:
        """Raises UneditableError if there is no place for hooks in the text."""
        if text is None or not text.strip(BYTE_ORDER_MARK).strip():
            return
        hooks = find_value(parse_json(text), ("hooks",))
        if hooks is not None and not isinstance(hooks, dict):
            raise UneditableError("its hooks are not an object")
        for event, items in (hooks or {}).items():
            if event in self.events and not isinstance(items, list):
                raise UneditableError(f"its hooks of {event} are not a list")

    def _is_own(self, item: Json) -> bool:
        if not isinstance(item, dict):
            return False
        handlers = item.get("hooks")
        if isinstance(handlers, list):
            return bool(handlers) and all(map(self._is_own, handlers))
        commands = (item.get(key) for key in ("command", "bash", "powershell"))
        return any(isinstance(command, str) and runs_hook_program(command, self.program) for command in commands)


Entry = WholeFile | JsonMember | TomlTable | JsonHooks


def runs_hook_program(command: str, program: str) -> bool:
    """Returns whether a command line of a hook runs Lerim's hook program, in its usual place or at `program`."""
    slashes = command.replace("\\", "/")
    folder = program.replace("\\", "/").rpartition("/")[0]
    return ("/.lerim/bin" in slashes or folder in slashes) and "/hook" in slashes


def _find_json(text: str | None, path: tuple[str | int, ...]) -> Json:
    if text is None:
        return None
    return find_value(parse_json_with_comments(text), path)


def _check_readable(text: str) -> None:
    """Raises UneditableError for a text that may contain our entries but in which they cannot be found."""
    if "lerim" in text and parse_json_with_comments(text) is None:
        parse_json(text)


def _remove_item(text: str, event: str, index: int, original: str | None) -> str | None:
    after = remove_value(text, ("hooks", event, index))
    return prune_empty(after, ("hooks", event), original)
