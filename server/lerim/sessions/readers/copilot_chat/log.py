"""Loads the state of a chat as VS Code stores it: one JSON object (`.json`), or a log of its changes (`.jsonl`) that is
replayed."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from lerim.errors import TranscriptError, UnfinishedError
from lerim.files import open_buffered, read_regular_file
from lerim.sessions.readers.engine import (
    FILE_SIZE_LIMIT,
    LineStream,
    is_settling,
    parse_json,
    parse_leading_json,
    salvage_objects,
)

GAP = 8
"""How many places beyond its end an array may be written to."""

DEEP = 64
"""Maximum depth of a change within the state."""

PIECES = 1000
"""Maximum number of entries searched for in an unreadable line."""

MENDED = 50
"""Maximum number of damaged lines of a log that are searched for complete entries; a crash damages one or two."""

_PUSHED = re.compile(rb'\{"kind":2,"k":\["requests"\]')
_HEAD = re.compile(rb'(?=\{"kind":[0-3],"[kv]":)')
_WHOLE = b'{"kind":0,'

ChatState = dict[object, object]
ChatFault = tuple[str, str]


def load_chat_state(path: Path) -> tuple[ChatState, list[ChatFault]]:
    """Returns the state in a chat's file, or in the log that continues it, and what could not be read.

    Raises UnfinishedError while the file is being rewritten, TranscriptError if nothing can be read, and OSError.
    """
    log = path.with_suffix(".jsonl")
    if path.suffix == ".json" and not log.is_file():
        return _whole(path)
    return _replayed(log)


def _whole(path: Path) -> tuple[ChatState, list[ChatFault]]:
    if path.stat().st_size > FILE_SIZE_LIMIT:
        raise _too_large(path)
    data = read_regular_file(path)
    try:
        found = parse_json(data)
        return (found, []) if isinstance(found, dict) else ({}, [("", "This chat's file contains no chat")])
    except ValueError:
        if is_settling(path):
            raise UnfinishedError("This chat is still being written", where=str(path)) from None
    requests = _saved(data)
    if not requests:
        raise TranscriptError(
            "Nothing in this chat's file can be read", where=str(path), todo="Lerim tries again when it changes."
        )
    return {"requests": requests}, [("", "This chat's file is damaged; the readable part was used")]


def _too_large(path: Path) -> TranscriptError:
    return TranscriptError(
        f"This chat is larger than {FILE_SIZE_LIMIT >> 20} MB", where=str(path), todo="It is not added to the catalog."
    )


def _replayed(path: Path) -> tuple[ChatState, list[ChatFault]]:
    if path.stat().st_size > FILE_SIZE_LIMIT:
        raise _too_large(path)
    now: ChatState = {}
    faults: list[ChatFault] = []
    half = b""
    with open_buffered(path) as file:
        found = LineStream(file, 0, FILE_SIZE_LIMIT)
        for start, _, data, complete in found:
            if not data or not data.strip():
                continue
            try:
                entries = [parse_json(data)]
            except ValueError as error:
                if not complete:
                    half = data
                    continue
                what = str(error).split(":")[0]
                faults.append((f"@{start}", f"A line of this chat could not be read ({what})"))
                entries = _mended(data) if len(faults) <= MENDED else []
            now = _changed(now, entries, start, faults)
    if found.stop_reason:
        faults.insert(0, ("", f"Only part of this chat was read: it {found.stop_reason}"))
    if half and not now:
        # VS Code rewrites a long log as one line; until that line is complete, the file contains nothing of the chat.
        if is_settling(path):
            raise UnfinishedError("This chat is still being written", where=str(path))
        faults.append(("", "This chat's file is damaged; the readable part was used"))
        now = _changed(now, _mended(half), 0, faults)
    return now, faults


def _changed(now: ChatState, entries: list[object], start: int, faults: list[ChatFault]) -> ChatState:
    for entry in entries:
        try:
            now = _applied(now, entry)
        except (LookupError, TypeError, ValueError) as error:
            faults.append((f"@{start}", f"A line of this chat changes a part that does not exist ({error})"))
    return now


def _mended(data: bytes) -> list[object]:
    """Salvages entries from an unreadable line: those that are complete (a line cut short by a crash has the next one
    appended to it), and the requests in the others. Each lost request keeps its place, because later lines refer to
    requests by index."""
    entries: list[object] = []
    for piece in _HEAD.split(data, maxsplit=PIECES):
        try:
            if isinstance(one := parse_leading_json(piece), dict):
                entries.append(one)
        except ValueError:
            if piece.startswith(_WHOLE):
                entries.append({"kind": 0, "v": {"requests": _saved(piece)}})
            elif _PUSHED.match(piece):
                entries.append({"kind": 2, "k": ["requests"], "v": _saved(piece) or [None]})
    return entries


def _saved(data: bytes) -> list[object]:
    return [msgspec.json.decode(one) for one in salvage_objects(data, "requestId")]


def _applied(now: ChatState, entry: object) -> ChatState:
    """Returns the state after one entry of the log. Raises TypeError if the entry does not fit."""
    if not isinstance(entry, dict):
        raise TypeError("no entry")
    kind, keys, given = entry.get("kind"), entry.get("k"), entry.get("v")
    if kind == 0:
        if not isinstance(given, dict):
            raise TypeError("no state")
        return given
    if not isinstance(keys, list) or kind not in (1, 2, 3) or len(keys) > DEEP:
        raise TypeError("no entry")
    if not keys:
        return given if kind == 1 and isinstance(given, dict) else now
    holder = _holder(now, keys)
    if kind == 1:
        _put(holder, keys[-1], given)
    elif kind == 3:
        _put(holder, keys[-1], None)
    else:
        held = _get(holder, keys[-1])
        kept = held if isinstance(held, list) else []
        at = entry.get("i")
        if isinstance(at, int) and 0 <= at < len(kept):
            del kept[at:]
        kept += given if isinstance(given, list) else []
        _put(holder, keys[-1], kept)
    return now


def _holder(now: ChatState, keys: list[object]) -> object:
    holder: object = now
    for at, key in enumerate(keys[:-1]):
        inner = _get(holder, key)
        if inner is None:
            inner = [] if isinstance(keys[at + 1], int) else {}
            _put(holder, key, inner)
        holder = inner
    return holder


def _get(holder: object, key: object) -> object:
    if isinstance(holder, list) and isinstance(key, int):
        return holder[key] if 0 <= key < len(holder) else None
    if isinstance(holder, dict) and isinstance(key, str):
        return holder.get(key)
    raise TypeError(f"no {key!r} there"[:100])


def _put(holder: object, key: object, given: object) -> None:
    if isinstance(holder, list) and isinstance(key, int) and 0 <= key <= len(holder) + GAP:
        while len(holder) <= key:
            holder.append(None)
        holder[key] = given
    elif isinstance(holder, dict) and isinstance(key, str):
        holder[key] = given
    else:
        raise TypeError(f"no {key!r} there"[:100])
