"""The transcript viewer's requests: where a turn stands, a session's outline, its turns by pages, where words stand.

All from the catalog, and no text leaves it that was not cleaned of secrets and of characters that do not show.
"""

from __future__ import annotations

import re
import sqlite3

from lerim.errors import NotFoundError
from lerim.lsp import memories, sessions
from lerim.lsp.markdown import visible
from lerim.lsp.protocol import TurnParams, TurnView
from lerim.lsp.session_protocol import (
    CallView,
    FindParams,
    OpenParams,
    OutlineView,
    PlacesView,
    SessionTurn,
    TurnsParams,
    TurnsView,
)
from lerim.lsp.sidecar import Sidecar
from lerim.memory.record import MemoryRecord
from lerim.paths import Home
from lerim.redaction import clean
from lerim.sessions import browsing
from lerim.sessions.browsing import Leaf
from lerim.sessions.turn_text import Shown, calls
from lerim.summary_view import projects_of, summary_of

PAGE_CHARACTERS = 200_000
"""Characters after which an answer ends: redaction of so many takes some 30 ms, in which a hover may have to wait."""
PAGE_TURNS = 200
MAX_TEXT = 20_000
"""Characters of one turn in a page; what is left out is said, and had by asking for the turn whole."""
MAX_WHOLE = 400_000
MARGIN = 4_000
"""Characters looked at beyond those kept: a secret at the cut is seen as one."""
MAX_LINE = 300
MAX_SUMMARY = 4_000
MAX_FOUND = 10_000
MAX_KINDS = 200_000
LETTERS = {"prompt": "p", "shell": "s", "command": "c", "reply": "r"}
TURNS = re.compile(r" \[[0-9a-f, ]{12,200}\]$")
ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


async def outline(sidecar: Sidecar, params: OpenParams) -> OutlineView:
    """A session without its text, and the position of a turn in it. Raises NotFoundError."""
    sidecar.trust("The transcript")
    found: OutlineView | None = await sidecar.run(sessions.read, sidecar, _outline, None, params, sidecar.home)
    if found is None:
        raise NotFoundError("This session is not on this machine.", todo="Run Lerim: Sync, or choose another one.")
    return found


async def turn(sidecar: Sidecar, params: TurnParams) -> TurnView:
    """Where a turn stands, by the handle of a hover's link or by its id; if it is gone, whose it was and when."""
    sidecar.trust("The transcript")
    session, wanted, record = params.session, params.turn, None
    if params.handle:
        record = (await memories.find(sidecar, params.handle))[1].record
        session, wanted = memories.turn_of(record)
    if not wanted:
        raise NotFoundError("No turn is named.", todo="Open it from a memory's hover or from the review.")
    found = await sidecar.run(sessions.read, sidecar, browsing.place_of, None, wanted)
    if found is None:
        return gone(session, wanted, record)
    return TurnView("catalog", found[0], "", "", found[1], wanted)


async def page(sidecar: Sidecar, params: TurnsParams) -> TurnsView:
    """Turns from a position on, as many as fit into one answer."""
    sidecar.trust("The transcript")
    return await sidecar.run(sessions.read, sidecar, _page, TurnsView(params.start, []), params)


async def find(sidecar: Sidecar, params: FindParams) -> PlacesView:
    """The positions of the turns that hold a text."""
    sidecar.trust("The transcript")
    return await sidecar.run(sessions.read, sidecar, _find, PlacesView([]), params)


def _outline(db: sqlite3.Connection, params: OpenParams, home: Home) -> OutlineView | None:
    session = browsing.session(db, params.id)
    if session is None:
        return None
    found = browsing.outline(db, params.id, params.turn)
    kinds = "".join(LETTERS.get(kind, "r") for kind in found.kinds[:MAX_KINDS])
    sizes = [min(size, MAX_TEXT) for size in found.sizes[:MAX_KINDS]]
    note = _note(session, len(found.kinds))
    return OutlineView(sessions.view(session), kinds, sizes, found.at, note, _summary(session, home))


def _summary(session: browsing.Brief, home: Home) -> str:
    """What the session was about and how it ended, by its summary; the ids of turns are left out."""
    found = summary_of(projects_of(session.cwds, home), home, session.platform, session.session)
    if found is None:
        return ""
    lines = (found.title, found.description, *found.outcome.split("\n"))
    return "\n".join(TURNS.sub("", line) for line in lines if line.strip())[:MAX_SUMMARY]


def _note(session: browsing.Brief, turns: int) -> str:
    notes = []
    if session.turns > turns:
        copied = session.turns - turns
        notes.append(f"{copied:,} of its turns are copies: they stand in the session it was continued or forked from.")
    if turns > MAX_KINDS:
        notes.append(f"Only the first {MAX_KINDS:,} turns are shown.")
    if session.vanished:
        notes.append("Its agent has deleted it; what was read of it is kept here.")
    if session.error:
        notes.append(f"It could not be read the last time: {sessions.line(session.error)}")
    return " ".join(notes)


def _page(db: sqlite3.Connection, params: TurnsParams) -> TurnsView:
    start = max(0, params.start)
    shown: list[SessionTurn] = []
    size = 0
    for leaf in browsing.leaves(db, params.id, start, max(1, min(params.count, PAGE_TURNS))):
        turn = _turn(leaf, MAX_WHOLE if params.whole and not shown else MAX_TEXT)
        size += len(turn.text) + sum(len(call.text) + len(call.title) for call in turn.calls)
        if shown and size > PAGE_CHARACTERS:
            break
        shown.append(turn)
    return TurnsView(start, shown)


def _find(db: sqlite3.Connection, params: FindParams) -> PlacesView:
    words = params.text.strip()
    if not words:
        return PlacesView([])
    found: list[int] = []
    for position in browsing.holding(db, params.id, words):
        found.append(position)
        if len(found) >= MAX_FOUND:
            break
    return PlacesView(found)


def _turn(leaf: Leaf, most: int) -> SessionTurn:
    text, left = _cut(leaf.text, most)
    return SessionTurn(
        turn=leaf.turn,
        role=leaf.role,
        kind=leaf.kind,
        time=sessions.when(leaf.time),
        text=text,
        left=left,
        calls=_calls(leaf.tools, most),
    )


def _calls(tools: str, most: int) -> list[CallView]:
    apart = calls(tools)
    kept = apart or ([Shown("ok", None, tools)] if tools else [])  # from before they were kept apart
    views: list[CallView] = []
    size = 0
    for position, call in enumerate(kept):
        text, left = _cut(call.text, most)
        size += len(text)
        if size > PAGE_CHARACTERS:
            more = f"… {len(kept) - position:,} more calls"
            return [*views, CallView(more, "", None, "")]
        title, _, rest = text.partition("\n")
        rest += f"\n… {left:,} more characters" if left else ""
        views.append(CallView(sessions.shorten(title, MAX_LINE), call.status if apart else "", call.exit_code, rest))
    return views


def _cut(text: str, most: int) -> tuple[str, int]:
    """The first `most` characters as they may be shown, and how many more there are."""
    clear = _shown(text[: most + MARGIN])
    if len(text) <= most:
        return clear, 0
    return clear[:most], len(text) - most


def _shown(text: str) -> str:
    return clean(ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def gone(session: str, wanted: str, record: MemoryRecord | None) -> TurnView:
    """What can be said of a turn that is not on this machine."""
    platform = record.source.partition(":")[0] if record is not None else ""
    who = sessions.NAMES.get(platform, platform) or "An agent's"
    text = [
        "This turn is not on this machine.",
        "",
        f"{who} session {visible(session)[:80] or 'of unknown name'}, turn {visible(wanted)[:80]}.",
    ]
    if record is not None:
        text.append(f"It was learned from on {record.created:%Y-%m-%d %H:%M} UTC.")
    text += ["", "Agents delete their transcripts after some weeks, and a teammate's never were here."]
    return TurnView("gone", "", f"Session {session[:8]}", "\n".join(text), session, wanted)
