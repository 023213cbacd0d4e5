"""The transcript around one turn, as text to read: from the catalog, redacted, with the line to jump to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lerim.errors import NotFoundError
from lerim.extraction.redact import redact
from lerim.lsp import memories
from lerim.lsp.markdown import visible
from lerim.lsp.protocol import TurnParams, TurnView
from lerim.lsp.sidecar import Sidecar
from lerim.memory.record import MemoryRecord
from lerim.sessions.turns import TurnRow

BEFORE, AFTER = 20, 20
MAX_TEXT = 20_000
"""Characters kept of one turn; what is left out is said."""
NAMES = {"claude": "Claude Code"}


async def turn(sidecar: Sidecar, params: TurnParams) -> TurnView:
    """The turn with its neighbours; if it is gone, whose session it was and when."""
    sidecar.trust("The transcript")
    session, wanted, record = params.session, params.turn, None
    if params.handle:
        record = (await memories.find(sidecar, params.handle))[1].record
        session, wanted = memories.turn_of(record)
    if not wanted:
        raise NotFoundError("No turn is named.", todo="Open it from a memory's hover or from the review.")
    rows = await sidecar.run(_rows, sidecar, wanted)
    return await sidecar.run(render, rows, wanted) if rows else gone(session, wanted, record)


def _rows(sidecar: Sidecar, wanted: str) -> list[TurnRow]:
    from lerim.sessions.catalog import Catalog

    if not sidecar.home.catalog.exists():
        return []
    with Catalog.open(sidecar.home) as catalog:
        return catalog.around(wanted, BEFORE, AFTER)


def render(rows: Sequence[TurnRow], wanted: str) -> TurnView:
    """Turns as text: a heading with who and when, then what was said, then what was done."""
    lines: list[str] = []
    start = 0
    for row in rows:
        if row.id == wanted:
            start = len(lines)
        lines += [f"{'▶' if row.id == wanted else '─'} {_who(row)} · {_when(row.time)}", ""]
        lines += _body(row.text)
        if row.tools:
            lines += ["", *(f"    {line}" for line in _body(row.tools))]
        lines.append("")
    shown = next((row for row in rows if row.id == wanted), rows[0])
    title = f"{NAMES.get(shown.platform, shown.platform)} session {shown.session[:8]} · {_when(shown.time)}"
    return TurnView(title, "\n".join(lines), start, "catalog", shown.session, wanted)


def gone(session: str, wanted: str, record: MemoryRecord | None) -> TurnView:
    """What can be said where the transcript is not on this machine."""
    platform = record.source.partition(":")[0] if record is not None else ""
    who = NAMES.get(platform, platform) or "An agent's"
    text = [
        "This turn is not on this machine.",
        "",
        f"{who} session {visible(session)[:80] or 'of unknown name'}, turn {visible(wanted)[:80]}.",
    ]
    if record is not None:
        text.append(f"It was learned from on {_when(record.created)}.")
    text += ["", "Agents delete their transcripts after some weeks, and a teammate's never were here."]
    return TurnView(f"Session {session[:8]}", "\n".join(text), 0, "gone", session, wanted)


def _who(row: TurnRow) -> str:
    return "The person" if row.role == "user" else "The agent"


def _when(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC" if time is not None else "at an unknown time"


def _body(text: str) -> list[str]:
    clean = visible(redact(text).text)
    left = len(clean) - MAX_TEXT
    if left > 0:
        clean = f"{clean[:MAX_TEXT]}\n… {left:,} more characters"
    return clean.split("\n")
