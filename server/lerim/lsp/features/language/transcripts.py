"""Transcripts as read-only text documents (`lerim-transcript:`), for editors that can show documents of a server."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote, urlsplit

from lsprotocol import types

from lerim.lsp.features.language.registration import TRANSCRIPT_SCHEME
from lerim.lsp.features.sessions import listing
from lerim.lsp.window import Sidecar
from lerim.sessions import SessionTurn, agent_name, browsing, clean_line, load_transcript_page, session_title

TURNS_BEFORE = 10
MAX_TURNS = 60


@dataclass(frozen=True, slots=True)
class TurnExcerpt:
    """A turn's text without secrets, who wrote it, the session's title, and where the turn is in the session."""

    text: str
    speaker: str
    title: str
    place: str
    position: int


def find_turn(sidecar: Sidecar, turn: str) -> TurnExcerpt | None:
    """Returns the turn with this id (blocking); None if it is not on this machine."""
    return listing.query_catalog(sidecar, _load_turn, None, turn) if turn else None


def turn_location(sidecar: Sidecar, turn: str) -> types.Location | None:
    """Returns where a turn is in its transcript as a document (blocking); None if it is not on this machine."""
    found = find_turn(sidecar, turn)
    if found is None:
        return None
    uri = f"{TRANSCRIPT_SCHEME}:/{quote(clean_line(found.title)[:60].replace('/', ' '))}.md?turn={quote(turn, safe='')}"
    _, line = listing.query_catalog(sidecar, _render_transcript, ("", 0), found)
    return types.Location(uri, types.Range(types.Position(line, 0), types.Position(line, 0)))


async def provide_transcript(
    sidecar: Sidecar, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    """Returns the text of a document that `turn_location` named. A turn that is gone gives a text that says so."""
    sidecar.require_trust("The transcript")
    turn = parse_qs(unquote(urlsplit(params.uri).query)).get("turn", [""])[0]  # VS Code also encodes the `=`
    return types.TextDocumentContentResult(await sidecar.run_in_thread(_read_transcript, sidecar, turn))


def _read_transcript(sidecar: Sidecar, turn: str) -> str:
    found = find_turn(sidecar, turn)
    if found is None:
        return "This turn is not on this machine.\n"
    return listing.query_catalog(sidecar, _render_transcript, ("", 0), found)[0]


def _load_turn(db: sqlite3.Connection, turn: str) -> TurnExcerpt | None:
    located = browsing.locate_turn(db, turn)
    session = browsing.find_list_item(db, located[0]) if located is not None else None
    if located is None or session is None:
        return None
    position = browsing.load_outline(db, located[0], turn).position
    shown = load_transcript_page(db, located[0], max(0, position), 1)
    if not shown:
        return None
    agent = agent_name(session.platform)
    return TurnExcerpt(shown[0].text, _speaker(shown[0], agent), session_title(session), located[0], max(0, position))


def _render_transcript(db: sqlite3.Connection, found: TurnExcerpt) -> tuple[str, int]:
    """Returns the turns around one, and the line at which it begins."""
    start = max(0, found.position - TURNS_BEFORE)
    lines = [f"# {clean_line(found.title)}", ""]
    wanted = 0
    for number, turn in enumerate(load_transcript_page(db, found.place, start, MAX_TURNS), start):
        if number == found.position:
            wanted = len(lines)
        lines += [f"## {_speaker(turn, 'Agent')}", "", *turn.text.splitlines(), ""]
        for call in turn.calls:
            lines += [f"- {clean_line(call.title)}", ""]
    return "\n".join(lines), wanted


def _speaker(turn: SessionTurn, agent: str) -> str:
    return "You" if turn.role == "user" else agent


def can_show_transcripts(sidecar: Sidecar) -> bool:
    """Returns whether the editor asks a server for the text of documents that are no files."""
    return sidecar.capability("workspace", "text_document_content") is not None
