"""The transcript viewer's requests: locating a turn, a session's outline, its turns in pages, and text search.

Everything comes from the catalog, cleaned of secrets and invisible characters.
"""

from __future__ import annotations

import re
import sqlite3
from itertools import islice

import msgspec

from lerim import extraction
from lerim.errors import NotFoundError
from lerim.lsp.boundary import show_hidden_characters
from lerim.lsp.features.memories import loading
from lerim.lsp.features.sessions import listing
from lerim.lsp.protocol import (
    FindParams,
    OpenParams,
    TurnParams,
    TurnsParams,
    TurnView,
)
from lerim.lsp.window import Sidecar
from lerim.memory import MemoryRecord
from lerim.paths import Home
from lerim.sessions import (
    MAX_TEXT,
    SessionTurn,
    agent_name,
    browsing,
    clean_line,
    load_transcript_page,
    make_resume_command,
    session_title,
)
from lerim.times import format_moment
from lerim.views import SessionView, describe_copied_turns, find_folder_projects, find_summary_view, make_session_view

MAX_SUMMARY = 4_000
MAX_FOUND = 10_000
MAX_KINDS = 200_000
KIND_LETTERS = {"prompt": "p", "shell": "s", "command": "c", "reply": "r"}
TURN_IDS = re.compile(r" \[[0-9a-f, ]{12,200}\]$")


class OutlineView(msgspec.Struct, frozen=True):
    """A session without its text. `kinds` has one letter per turn (p: prompt, s: shell command of the person, c: slash
    command, r: reply), `sizes` the approximate number of characters of each. `at` is the position of the requested turn
    (-1: not found), `note` a remark about the whole session, and `summary` its short summary ("" if there is none).
    `resume` is the command that continues it in a terminal, "" if its agent has none."""

    session: SessionView
    kinds: str
    sizes: list[int]
    at: int
    note: str
    summary: str
    resume: str


class TurnsView(msgspec.Struct, frozen=True):
    """One page of the turns of a session, from position `start` on."""

    start: int
    turns: list[SessionTurn]


class PositionsView(msgspec.Struct, frozen=True):
    """Positions of turns, in ascending order."""

    positions: list[int]


async def session_outline(sidecar: Sidecar, params: OpenParams) -> OutlineView:
    """Returns the outline of a session, and the position of a turn in it. Raises NotFoundError."""
    sidecar.require_trust("The transcript")
    found: OutlineView | None = await sidecar.run_in_thread(
        listing.query_catalog, sidecar, _load_outline, None, params, sidecar.home
    )
    if found is None:
        raise NotFoundError("This session is not on this machine.", todo="Run Lerim: Sync, or choose another one.")
    return found


async def find_turn(sidecar: Sidecar, params: TurnParams) -> TurnView:
    """Locates a turn by the handle of a hover's link or by its id. For a missing turn, describes where it came from.

    Raises NotFoundError if no turn is given.
    """
    sidecar.require_trust("The transcript")
    session, turn, record = params.session, params.turn, None
    if params.handle:
        record = (await loading.find_memory(sidecar, params.handle))[1].record
        session, turn = loading.find_quoted_turn(record)
    if not turn:
        raise NotFoundError("No turn is given.", todo="Open it from a memory's hover or from the review.")
    found = await sidecar.run_in_thread(listing.query_catalog, sidecar, browsing.locate_turn, None, turn)
    if found is None:
        return make_missing_turn(session, turn, record)
    return TurnView("catalog", found[0], "", "", found[1], turn)


async def list_turns(sidecar: Sidecar, params: TurnsParams) -> TurnsView:
    """Returns the turns from a position on, as many as fit into one answer."""
    sidecar.require_trust("The transcript")
    return await sidecar.run_in_thread(listing.query_catalog, sidecar, _load_turns, TurnsView(params.start, []), params)


async def find_text(sidecar: Sidecar, params: FindParams) -> PositionsView:
    """Returns the positions of the turns that contain a text."""
    sidecar.require_trust("The transcript")
    return await sidecar.run_in_thread(listing.query_catalog, sidecar, _find_positions, PositionsView([]), params)


def _load_outline(db: sqlite3.Connection, params: OpenParams, home: Home) -> OutlineView | None:
    session = browsing.find_list_item(db, params.id)
    if session is None:
        return None
    found = browsing.load_outline(db, params.id, params.turn)
    kinds = "".join(KIND_LETTERS.get(kind, "r") for kind in found.kinds[:MAX_KINDS])
    sizes = [min(size, MAX_TEXT) for size in found.sizes[:MAX_KINDS]]
    note = _describe_session(session, len(found.kinds))
    summary, resume = _load_summary(session, home), make_resume_command(session)
    return OutlineView(make_session_view(session), kinds, sizes, found.position, note, summary, resume)


def _load_summary(session: browsing.SessionListItem, home: Home) -> str:
    """Returns the session's summary as markdown for the person whose session it was: description and outcome, without
    the ids of turns. If the summary has another title than the session, it comes first."""
    found = find_summary_view(find_folder_projects(session.cwds, home), home, session.platform, session.session_id)
    if found is None:
        return ""
    title = "" if _is_beginning(found.title, session_title(session)) else found.title
    outcome = "\n".join(TURN_IDS.sub("", line) for line in found.outcome.split("\n") if line.strip())
    text = "\n\n".join(block for block in (title, TURN_IDS.sub("", found.description), outcome) if block.strip())
    return extraction.address_person(text)[:MAX_SUMMARY]


def _is_beginning(title: str, session: str) -> bool:
    """Returns whether one of two titles only cuts the other short."""
    one, other = (" ".join(text.casefold().rstrip("….").split()) for text in (title, session))
    return one.startswith(other) or other.startswith(one)


def _describe_session(session: browsing.SessionListItem, turns: int) -> str:
    notes = []
    if copied := describe_copied_turns(session.turns - turns, turns):
        notes.append(copied)
    if turns > MAX_KINDS:
        notes.append(f"Only the first {MAX_KINDS:,} turns are shown.")
    if session.vanished:
        notes.append("The agent deleted this session. Lerim keeps what it has read.")
    if session.error:
        notes.append(f"The last attempt to read it failed: {clean_line(session.error)}")
    return " ".join(notes)


def _load_turns(db: sqlite3.Connection, params: TurnsParams) -> TurnsView:
    start = max(0, params.start)
    return TurnsView(start, load_transcript_page(db, params.id, start, params.count, whole=params.whole))


def _find_positions(db: sqlite3.Connection, params: FindParams) -> PositionsView:
    words = params.text.strip()
    found = islice(browsing.find_positions(db, params.id, words), MAX_FOUND) if words else ()
    return PositionsView(list(found))


def make_missing_turn(session: str, turn: str, record: MemoryRecord | None) -> TurnView:
    """Describes a turn that is not on this machine."""
    platform = record.source.partition(":")[0] if record is not None else ""
    agent = agent_name(platform) or "An agent's"
    text = [
        "This turn is not on this machine.",
        "",
        f"{agent} session {show_hidden_characters(session)[:80] or 'of unknown name'},"
        f" turn {show_hidden_characters(turn)[:80]}.",
    ]
    if record is not None:
        text.append(f"It was last read on {format_moment(record.created)}.")
    text += ["", "Agents delete their transcripts after some weeks, and a teammate's are not on this machine."]
    return TurnView("gone", "", f"Session {session[:8]}", "\n".join(text), session, turn)
