"""Loads the state of a chat as VS Code stores it: one JSON object (`.json`), or a log of its changes (`.jsonl`) that is
replayed."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from lerim.errors import Problem, TranscriptError, UnfinishedError
from lerim.sessions.readers.engine import (
    FILE_SIZE_LIMIT,
    is_settling,
    parse_json,
    parse_leading_json,
    read_log_lines,
    read_session_file,
    report_line,
    salvage_objects,
)

GAP_LIMIT = 8
"""How far beyond its end an array may be written to."""

DEPTH_LIMIT = 64
"""Maximum depth of a change within the state."""

PIECE_LIMIT = 1000
"""Maximum number of entries searched for in an unreadable line."""

REPAIRED_LINE_LIMIT = 50
"""Maximum number of damaged lines of a log that are searched for complete entries; a crash damages one or two."""

_REQUESTS_ENTRY = re.compile(rb'\{"kind":2,"k":\["requests"\]')
_ENTRY_START = re.compile(rb'(?=\{"kind":[0-3],"[kv]":)')
_WHOLE_STATE_ENTRY = b'{"kind":0,'

ChatState = dict[str, object]


def load_chat_state(path: Path) -> tuple[ChatState, list[Problem]]:
    """Returns the state in a chat's file, or in the log that continues it, and a problem for everything that could not
    be read.

    Raises UnfinishedError while the file is being rewritten, TranscriptError if nothing can be read, and OSError.
    """
    log = path.with_suffix(".jsonl")
    if path.suffix == ".json" and not log.is_file():
        return _load_whole(path)
    return _replay_log(log)


def _load_whole(path: Path) -> tuple[ChatState, list[Problem]]:
    data = read_session_file(path)
    try:
        chat = parse_json(data)
        return (
            (chat, []) if isinstance(chat, dict) else ({}, [_make_problem(path, "This chat's file contains no chat")])
        )
    except ValueError:
        if is_settling(path):
            raise UnfinishedError("This chat is still being written", where=str(path)) from None
    return {"requests": _salvage_requests(data)}, [
        _make_problem(path, "This chat's file is damaged: only what is whole in it was read")
    ]


def _replay_log(path: Path) -> tuple[ChatState, list[Problem]]:
    if path.stat().st_size > FILE_SIZE_LIMIT:
        what = f"This chat is larger than {FILE_SIZE_LIMIT >> 20} MB"
        raise TranscriptError(what, where=str(path), todo="It is not added to the catalog.")
    state: ChatState = {}
    problems: list[Problem] = []
    unfinished = b""
    for start, data, is_complete in read_log_lines(path, problems, FILE_SIZE_LIMIT):
        try:
            entries = [parse_json(data)]
        except ValueError as error:
            if not is_complete:
                unfinished = data
                continue
            report_line(path, start, error, problems)
            entries = _salvage_entries(data) if len(problems) <= REPAIRED_LINE_LIMIT else []
        state = _apply_entries(state, entries, f"{path}@{start}", problems)
    if unfinished and not state:
        # VS Code rewrites a long log as one line; until that line is complete, the file contains nothing of the chat.
        if is_settling(path):
            raise UnfinishedError("This chat is still being written", where=str(path))
        problems.append(_make_problem(path, "This chat's file is damaged: only what is whole in it was read"))
        state = _apply_entries(state, _salvage_entries(unfinished), f"{path}@0", problems)
    return state, problems


def _make_problem(where: str | Path, what: str) -> Problem:
    return Problem("bad-line", str(where), what)


def _apply_entries(state: ChatState, entries: list[object], where: str, problems: list[Problem]) -> ChatState:
    for entry in entries:
        try:
            state = _apply_entry(state, entry)
        except (LookupError, TypeError, ValueError) as error:
            what = f"A line of this chat changes a part that does not exist ({error})"
            problems.append(_make_problem(where, what))
    return state


def _salvage_entries(data: bytes) -> list[object]:
    """Salvages entries from an unreadable line: the complete ones (a line cut short by a crash has the next one
    appended to it), and from the others, the requests. Each lost request keeps its place, because later lines refer
    to requests by index."""
    entries: list[object] = []
    for piece in _ENTRY_START.split(data, maxsplit=PIECE_LIMIT):
        try:
            if isinstance(one := parse_leading_json(piece), dict):
                entries.append(one)
        except ValueError:
            if piece.startswith(_WHOLE_STATE_ENTRY):
                entries.append({"kind": 0, "v": {"requests": _salvage_requests(piece)}})
            elif _REQUESTS_ENTRY.match(piece):
                entries.append({"kind": 2, "k": ["requests"], "v": _salvage_requests(piece) or [None]})
    return entries


def _salvage_requests(data: bytes) -> list[object]:
    return [msgspec.json.decode(one) for one in salvage_objects(data, "requestId")]


def _apply_entry(state: ChatState, entry: object) -> ChatState:
    """Returns the state after one entry of the log. Raises TypeError if the entry does not fit."""
    if not isinstance(entry, dict):
        raise TypeError("no entry")
    kind, keys, value = entry.get("kind"), entry.get("k"), entry.get("v")
    if kind == 0:
        if not isinstance(value, dict):
            raise TypeError("no state")
        return value
    if not isinstance(keys, list) or kind not in (1, 2, 3) or len(keys) > DEPTH_LIMIT:
        raise TypeError("no entry")
    if not keys:
        return value if kind == 1 and isinstance(value, dict) else state
    container = _find_container(state, keys)
    if kind == 1:
        _set_item(container, keys[-1], value)
    elif kind == 3:
        _set_item(container, keys[-1], None)
    else:
        current = _get_item(container, keys[-1])
        items = current if isinstance(current, list) else []
        index = entry.get("i")
        if isinstance(index, int) and 0 <= index < len(items):
            del items[index:]
        items += value if isinstance(value, list) else []
        _set_item(container, keys[-1], items)
    return state


def _find_container(state: ChatState, keys: list[object]) -> object:
    container: object = state
    for index, key in enumerate(keys[:-1]):
        inner = _get_item(container, key)
        if inner is None:
            inner = [] if isinstance(keys[index + 1], int) else {}
            _set_item(container, key, inner)
        container = inner
    return container


def _get_item(container: object, key: object) -> object:
    if isinstance(container, list) and isinstance(key, int):
        return container[key] if 0 <= key < len(container) else None
    if isinstance(container, dict) and isinstance(key, str):
        return container.get(key)
    raise TypeError(f"no {key!r} there"[:100])


def _set_item(container: object, key: object, value: object) -> None:
    if isinstance(container, list) and isinstance(key, int) and 0 <= key <= len(container) + GAP_LIMIT:
        while len(container) <= key:
            container.append(None)
        container[key] = value
    elif isinstance(container, dict) and isinstance(key, str):
        container[key] = value
    else:
        raise TypeError(f"no {key!r} there"[:100])
