"""Finds the originals of the messages that an OpenCode fork copied.

A fork is a separate session that begins with the messages of another, under new ids but with their old times, which are
before the fork was made. Nothing names the other session. The original is the message with the same time, role and
words in the oldest session of the project that contains one; turns of copies get their id from it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lerim.sessions.model import Transcript
from lerim.sessions.readers.live import column_number, column_text, live, read_rows, table_columns
from lerim.sessions.readers.opencode import forms
from lerim.sessions.readers.opencode.forms import ForkOrigin, StoredSession, select_columns
from lerim.sessions.readers.opencode.records import OpenCodeInfo, OpenCodeMessage

_Waiting = dict[tuple[int, bytes], list[str]]
"""The ids of copies whose originals are still to be found, in order, by the time and digest of the message."""


class _Older(NamedTuple):
    """A session that may contain originals. The sort order of these tuples is the order of the search."""

    created: int
    native_id: str
    child: bool


def find_originals(transcript: Transcript, kept: StoredSession) -> dict[str, ForkOrigin]:
    """Returns the original of each copied message by the copy's id; empty for a session that is not a fork, without
    reading any other session. If the original is gone, the oldest copy takes its place. Raises TranscriptError if the
    database cannot be read."""
    if not _copies(kept):
        return {}
    if transcript.store_key:
        return live.read_database(transcript.path, lambda db: _in_rows(db, kept), [])
    return _in_files(transcript, kept)


def _copies(kept: StoredSession) -> _Waiting:
    begun = _created(kept.info)
    waiting: _Waiting = {}
    for message in kept.messages:
        if 0 < _created(message) < begun:
            waiting.setdefault(_said(kept, message), []).append(message.id or "")
    return waiting


def _created(what: OpenCodeInfo | OpenCodeMessage) -> int:
    return column_number(what.time.created) if what.time else 0


def _said(kept: StoredSession, message: OpenCodeMessage) -> tuple[int, bytes]:
    """Returns the time of a message and a digest of its role and content. Reasoning is left out, because a brief
    reading does not have it."""
    words = [
        (one.type, one.call.id if one.call else one.text)
        for one in kept.pieces.get(message.id or "", [])
        if one.type != "reasoning"
    ]
    digest = hashlib.blake2b(repr((message.role, words)).encode("utf-8", "surrogatepass"), digest_size=16)
    return _created(message), digest.digest()


def _search(
    kept: StoredSession, older: Iterable[_Older], messages: Callable[[_Older, frozenset[int]], Iterable[StoredSession]]
) -> dict[str, ForkOrigin]:
    """Searches the older sessions one by one. `messages` yields the messages of a session that have one of the given
    times, one by one and in order."""
    waiting = _copies(kept)
    times = frozenset(created for created, _ in waiting)
    found: dict[str, ForkOrigin] = {}
    own = _Older(_created(kept.info), kept.info.id or "", child=False)
    for session in sorted(one for one in older if one[:2] < own[:2]):
        before = len(found)
        for single in messages(session, times):
            for message in single.messages:
                said = _said(single, message)
                if copies := waiting.get(said):
                    found[copies.pop(0)] = ForkOrigin(message.id or "", session.child)
                    if not copies:
                        del waiting[said]
        if not waiting:
            break
        if len(found) > before:
            times = frozenset(created for created, _ in waiting)
    return found


def _in_rows(db: sqlite3.Connection, kept: StoredSession) -> dict[str, ForkOrigin]:
    there = table_columns(db, "session")
    if not {"id", "project_id", "time_created"} <= there or "time_created" not in table_columns(db, "message"):
        return {}

    def messages(session: _Older, times: frozenset[int]) -> Iterable[StoredSession]:
        given = (session.native_id, min(times), max(times))
        where = "session_id = ? AND time_created BETWEEN ? AND ?"
        said = read_rows(db, "message", "time_created, id", where, given, [])
        for when, native_id in sorted((column_number(when), column_text(native_id)) for when, native_id in said):
            if when in times:
                yield forms.load_message_row(db, native_id)

    wanted = f"time_created, id, {select_columns(there, ('parent_id',))}"
    given = (kept.info.project_id or "", _created(kept.info))
    older = [
        _Older(column_number(created), column_text(native_id), bool(column_text(parent)))
        for created, native_id, parent in read_rows(
            db, "session", wanted, "project_id = ? AND time_created <= ?", given, []
        )
    ]
    return _search(kept, older, messages)


def _in_files(transcript: Transcript, kept: StoredSession) -> dict[str, ForkOrigin]:
    folder, storage = transcript.path.parent, transcript.path.parent.parent.parent
    if folder.parent.name != "session":  # an export has no other sessions next to it
        return {}

    def messages(session: _Older, times: frozenset[int]) -> Iterable[StoredSession]:
        said = forms.list_message_heads(storage, session.native_id)
        for when, native_id in sorted((_created(one), one.id or "") for one in said):
            if when in times:
                yield forms.load_message_file(storage, session.native_id, native_id)

    # The time of a session's last update is of no use here: an answer does not always change it.
    older = [_Older(_created(info), info.id or "", bool(info.parent_id)) for info in forms.list_session_infos(folder)]
    return _search(kept, older, messages)
