"""Finds the originals of the messages that an OpenCode fork copied.

A fork is a separate session that begins with the messages of another, under new ids but with their old times, which
are before the fork was made. No record names the other session. The original is the message with the same role and
time, to the millisecond, in the oldest session of the project that has such a message. The turns of copies get their
id from it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine import decode_leniently
from lerim.sessions.readers.live import column_number, column_text, live, read_rows, table_columns
from lerim.sessions.readers.opencode import forms
from lerim.sessions.readers.opencode.forms import ForkOrigin, StoredSession, select_columns
from lerim.sessions.readers.opencode.records import OpenCodeInfo, OpenCodeMessage

_PendingCopies = dict[tuple[int, str], list[str]]
"""The ids of copies whose originals are still to be found, in order, by the time and role of the message."""

_MessageHead = tuple[int, str, str]
"""The time, id and role of a message."""


class _OlderSession(NamedTuple):
    """A session that may contain originals. The sort order of these tuples is the order of the search."""

    created: int
    native_id: str
    is_subagent: bool


def find_originals(transcript: Transcript, stored: StoredSession) -> dict[str, ForkOrigin]:
    """Returns the original of each copied message by the copy's id; empty for a session that is not a fork, without
    reading any other session. If the original is gone, the oldest copy takes its place. Raises TranscriptError if the
    database cannot be read."""
    if not _find_copies(stored):
        return {}
    if transcript.store_key:
        return live.read_database(transcript.path, lambda db: _find_in_rows(db, stored), [])
    return _find_in_files(transcript, stored)


def _find_copies(stored: StoredSession) -> _PendingCopies:
    fork_created = _created_ms(stored.info)
    pending: _PendingCopies = {}
    for message in stored.messages:
        if 0 < _created_ms(message) < fork_created:
            pending.setdefault((_created_ms(message), message.role or ""), []).append(message.id or "")
    return pending


def _created_ms(record: OpenCodeInfo | OpenCodeMessage) -> int:
    return column_number(record.time.created) if record.time else 0


def _search_sessions(
    stored: StoredSession,
    sessions: Iterable[_OlderSession],
    list_heads: Callable[[str, Collection[int]], Iterable[_MessageHead]],
) -> dict[str, ForkOrigin]:
    """Searches the older sessions one by one. `list_heads` lists a session's messages, at least of the given times."""
    pending = _find_copies(stored)
    originals: dict[str, ForkOrigin] = {}
    fork = _created_ms(stored.info), stored.info.id or ""
    for session in sorted(one for one in sessions if one[:2] < fork):
        if not pending:
            break
        for created, native_id, role in sorted(list_heads(session.native_id, {created for created, _ in pending})):
            if copies := pending.get((created, role)):
                originals[copies.pop(0)] = ForkOrigin(native_id, session.is_subagent)
                if not copies:
                    del pending[created, role]
    return originals


def _find_in_rows(db: sqlite3.Connection, stored: StoredSession) -> dict[str, ForkOrigin]:
    columns = table_columns(db, "session")
    if not {"id", "project_id", "time_created"} <= columns or "time_created" not in table_columns(db, "message"):
        return {}

    def list_heads(session: str, times: Collection[int]) -> Iterable[_MessageHead]:
        parameters = (session, min(times), max(times))
        where = "session_id = ? AND time_created BETWEEN ? AND ?"
        for created, native_id, data in read_rows(db, "message", "time_created, id, data", where, parameters, []):
            if (time := column_number(created)) in times:
                message = decode_leniently(column_text(data).encode(), OpenCodeMessage)
                yield time, column_text(native_id), message.role or ""

    selection = f"time_created, id, {select_columns(columns, ('parent_id',))}"
    where, parameters = "project_id = ? AND time_created <= ?", (stored.info.project_id or "", _created_ms(stored.info))
    rows = read_rows(db, "session", selection, where, parameters, [])
    sessions = [_OlderSession(column_number(one[0]), column_text(one[1]), bool(column_text(one[2]))) for one in rows]
    return _search_sessions(stored, sessions, list_heads)


def _find_in_files(transcript: Transcript, stored: StoredSession) -> dict[str, ForkOrigin]:
    folder, storage = transcript.path.parent, transcript.path.parent.parent.parent
    if folder.parent.name != "session":  # an export has no other sessions next to it
        return {}
    # The time of a session's last update is of no use here: an answer does not always change it.
    infos = forms.list_session_infos(folder)
    sessions = [_OlderSession(_created_ms(info), info.id or "", bool(info.parent_id)) for info in infos]
    return _search_sessions(
        stored,
        sessions,
        lambda session, _: (
            (_created_ms(one), one.id or "", one.role or "") for one in forms.list_message_heads(storage, session)
        ),
    )
