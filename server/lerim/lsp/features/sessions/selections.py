"""Words that the person selected in the transcript viewer, as the origin of a memory."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lerim import extraction
from lerim.lsp.features.sessions import listing
from lerim.lsp.protocol import SelectedWords
from lerim.lsp.window import Sidecar
from lerim.project import Project
from lerim.review import queue
from lerim.sessions import browsing, load_summary_turns


@dataclass(frozen=True, slots=True)
class Selection:
    """Where the selected words come from, and the files of the repository that they are about."""

    origin: queue.SessionOrigin
    files: tuple[str, ...]


def find_selection(sidecar: Sidecar, project: Project, selected: SelectedWords) -> Selection | None:
    """Looks the words up in the catalog (blocking). None if they are not in their turn."""
    return listing.query_catalog(sidecar, _find_selection, None, project, selected)


def _find_selection(db: sqlite3.Connection, project: Project, selected: SelectedWords) -> Selection | None:
    session = browsing.find_list_item(db, selected.session)
    position = browsing.load_outline(db, selected.session, selected.turn).position
    if session is None or position < 0:
        return None
    turn = next(browsing.read_redacted_turns(db, selected.session, position, 1))
    evidence = extraction.find_selected_quote(turn, selected.text)
    if evidence is None:
        return None
    turns = load_summary_turns(db, selected.session, project.key)
    locate = extraction.Locator(project.all_folders, exists=lambda path: (Path(project.root) / path).is_file())
    files = extraction.list_exchange_files(turns, turn.turn, selected.text, locate)
    source = f"{session.platform}:{session.session_id}#{turn.turn}"
    return Selection(
        queue.SessionOrigin(source, turn.time or datetime.now(UTC).replace(microsecond=0), evidence), files
    )
