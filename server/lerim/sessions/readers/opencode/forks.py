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

_PendingCopies = dict[tuple[int, bytes], list[str]]
"""The ids of copies whose originals are still to be found, in order, by the time and digest of the message."""


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
            pending.setdefault(_message_key(stored, message), []).append(message.id or "")
    return pending


def _created_ms(record: OpenCodeInfo | OpenCodeMessage) -> int:
    return column_number(record.time.created) if record.time else 0


def _message_key(stored: StoredSession, message: OpenCodeMessage) -> tuple[int, bytes]:
    """Returns a message's time and a digest of its role and content, without reasoning as in a brief reading."""
    content = [
        (one.type, one.call.id if one.call else one.text)
        for one in stored.pieces.get(message.id or "", [])
        if one.type != "reasoning"
    ]
    digest = hashlib.blake2b(repr((message.role, content)).encode("utf-8", "surrogatepass"), digest_size=16)
    return _created_ms(message), digest.digest()


def _search_sessions(
    stored: StoredSession,
    sessions: Iterable[_OlderSession],
    load_messages: Callable[[_OlderSession, frozenset[int]], Iterable[StoredSession]],
) -> dict[str, ForkOrigin]:
    """Searches older sessions. `load_messages` yields a session's messages of the given times, in order."""
    pending = _find_copies(stored)
    times = frozenset(created for created, _ in pending)
    originals: dict[str, ForkOrigin] = {}
    fork = _OlderSession(_created_ms(stored.info), stored.info.id or "", is_subagent=False)
    for session in sorted(one for one in sessions if one[:2] < fork[:2]):
        before = len(originals)
        for loaded in load_messages(session, times):
            for message in loaded.messages:
                key = _message_key(loaded, message)
                if copies := pending.get(key):
                    originals[copies.pop(0)] = ForkOrigin(message.id or "", session.is_subagent)
                    if not copies:
                        del pending[key]
        if not pending:
            break
        if len(originals) > before:
            times = frozenset(created for created, _ in pending)
    return originals


def _find_in_rows(db: sqlite3.Connection, stored: StoredSession) -> dict[str, ForkOrigin]:
    columns = table_columns(db, "session")
    if not {"id", "project_id", "time_created"} <= columns or "time_created" not in table_columns(db, "message"):
        return {}

    def load_messages(session: _OlderSession, times: frozenset[int]) -> Iterable[StoredSession]:
        parameters = (session.native_id, min(times), max(times))
        where = "session_id = ? AND time_created BETWEEN ? AND ?"
        rows = read_rows(db, "message", "time_created, id", where, parameters, [])
        for created, native_id in sorted(
            (column_number(created), column_text(native_id)) for created, native_id in rows
        ):
            if created in times:
                yield forms.load_message_row(db, native_id)

    selection = f"time_created, id, {select_columns(columns, ('parent_id',))}"
    parameters = (stored.info.project_id or "", _created_ms(stored.info))
    sessions = [
        _OlderSession(column_number(created), column_text(native_id), bool(column_text(parent)))
        for created, native_id, parent in read_rows(
            db, "session", selection, "project_id = ? AND time_created <= ?", parameters, []
        )
    ]
    return _search_sessions(stored, sessions, load_messages)


def _find_in_files(transcript: Transcript, stored: StoredSession) -> dict[str, ForkOrigin]:
    folder, storage = transcript.path.parent, transcript.path.parent.parent.parent
    if folder.parent.name != "session":  # an export has no other sessions next to it
        return {}

    def load_messages(session: _OlderSession, times: frozenset[int]) -> Iterable[StoredSession]:
        heads = forms.list_message_heads(storage, session.native_id)
        for created, native_id in sorted((_created_ms(one), one.id or "") for one in heads):
            if created in times:
                yield forms.load_message_file(storage, session.native_id, native_id)

    # The time of a session's last update is of no use here: an answer does not always change it.
    sessions = [
        _OlderSession(_created_ms(info), info.id or "", bool(info.parent_id))
        for info in forms.list_session_infos(folder)
    ]
    return _search_sessions(stored, sessions, load_messages)
