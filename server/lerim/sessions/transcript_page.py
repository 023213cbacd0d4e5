"""The turns of a session in pages, as a person reads them: redacted, without control sequences, and of bounded size."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from lerim.redaction import clean_text
from lerim.sessions.model import Role
from lerim.sessions.search import RedactedTurn, browsing
from lerim.sessions.tables import StoredCall
from lerim.times import format_utc
from lerim.words import shorten_line

MAX_TEXT = 20_000
"""How many characters of one turn a page contains. The page says how much was cut; a request for the whole turn
returns it."""
_PAGE_CHARACTERS = 200_000
"""How many characters a page contains: redacting that many takes about 30 ms, during which a hover may have to wait."""
_PAGE_TURNS = 200
_MAX_WHOLE = 400_000
_MARGIN = 4_000
"""How many characters beyond the cut are redacted too, so that a secret across the cut is recognized."""
_MAX_CALL_TITLE = 300
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")

CallStatus = Literal["", "ok", "error", "denied", "interrupted", "pending"]


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A tool call: a line that says what was done, how the call ended ('' if unknown), the exit code, and the rest
    of its text. `edits`: the call changed files, and the transcript may record how."""

    title: str
    status: CallStatus
    exit_code: int | None
    text: str
    edits: bool = False


class SessionTurn(msgspec.Struct, frozen=True):
    """A turn with its text; `time` is ISO 8601 in UTC, "" if unknown, and `left` the number of characters cut off."""

    turn: str
    role: Role
    kind: str
    time: str
    text: str
    left: int
    calls: list[ShownCall]


def load_transcript_page(
    db: sqlite3.Connection, place: str, start: int, count: int, *, whole: bool = False
) -> list[SessionTurn]:
    """Returns the turns of a session from position `start` on: at most `count`, and as many as fit into one page.

    With `whole`, the first turn is not cut at `MAX_TEXT`.
    """
    shown: list[SessionTurn] = []
    size = 0
    for stored_turn in browsing.read_redacted_turns(db, place, start, max(1, min(count, _PAGE_TURNS))):
        turn = _make_turn(stored_turn, _MAX_WHOLE if whole and not shown else MAX_TEXT)
        size += len(turn.text) + sum(len(call.text) + len(call.title) for call in turn.calls)
        if shown and size > _PAGE_CHARACTERS:
            break
        shown.append(turn)
    return shown


def _make_turn(stored_turn: RedactedTurn, limit: int) -> SessionTurn:
    text, left = _cut_text(stored_turn.text, limit)
    return SessionTurn(
        turn=stored_turn.turn,
        role=stored_turn.role,
        kind=stored_turn.kind,
        time=format_utc(stored_turn.time),
        text=text,
        left=left,
        calls=_make_calls(stored_turn.calls, limit),
    )


def _make_calls(calls: Sequence[StoredCall], limit: int) -> list[ShownCall]:
    views: list[ShownCall] = []
    size = 0
    for position, call in enumerate(calls):
        text, left = _cut_text(call.text, limit)
        size += len(text)
        if size > _PAGE_CHARACTERS:
            more = len(calls) - position
            return [*views, ShownCall(f"… {more:,} more {'call' if more == 1 else 'calls'}", "", None, "")]
        title, rest = _split_title(call, text)
        rest += f"\n… {left:,} more characters" if left else ""
        views.append(
            ShownCall(
                title,
                call.status,
                call.exit_code,
                rest,
                edits=call.status == "ok" and call.changes_files,
            )
        )
    return views


def _split_title(call: StoredCall, text: str) -> tuple[str, str]:
    """Returns a call's title and the rest of its text. The title is a command, or else the tool with the files it
    names and, unless it changes them, what the agent asked of it: a pattern, a question, an address. An error is
    also kept whole in the rest."""
    title, _, rest = text.partition("\n")
    if call.changes_files or title.startswith("$ "):
        return shorten_line(title, _MAX_CALL_TITLE), rest
    asked, _, others = rest.partition("\n")
    if not asked.strip():
        return shorten_line(title, _MAX_CALL_TITLE), rest
    full = f"{title} · {asked}"
    is_whole = len(full) <= _MAX_CALL_TITLE and call.status != "error"
    return shorten_line(full, _MAX_CALL_TITLE), others if is_whole else rest


def _cut_text(text: str, limit: int) -> tuple[str, int]:
    """Returns the first `limit` characters of a text, cleaned, and the number of characters cut off."""
    cleaned = clean_transcript(text[: limit + _MARGIN])
    if len(text) <= limit:
        return cleaned, 0
    return cleaned[:limit], len(text) - limit


def clean_transcript(text: str) -> str:
    """Returns a text of a transcript without secrets, colours and other control sequences."""
    return clean_text(_ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
