"""The turns of a session from which its summary is made: messages, tool calls with their status, and the files named
in them."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Role, TurnKind
from lerim.sessions.redacted import redact_stored_calls, redact_text
from lerim.sessions.tables import StoredCall, replace_surrogates, seconds_to_time, unpack_turn_text


@dataclass(frozen=True, slots=True)
class SummaryTurn:
    """One turn from the catalog, redacted. `paths` are the files its tool calls name, with forward slashes."""

    id: str
    number: int
    role: Role
    kind: TurnKind
    time: datetime | None
    cwd: str
    branch: str
    text: str
    calls: tuple[StoredCall, ...]
    paths: tuple[str, ...]


def load_summary_turns(db: sqlite3.Connection, place: str, project: str) -> list[SummaryTurn]:
    """Returns the turns of the session at `place` that took place in folders of a project, in order. A turn that was
    copied into a fork belongs to whichever of the two transcripts was read first."""
    paths: dict[int, list[str]] = defaultdict(list)
    touched = db.execute(
        "SELECT touched.turn, files.path FROM transcripts JOIN turns ON turns.transcript = transcripts.id"
        " JOIN touched ON touched.turn = turns.id JOIN files ON files.id = touched.file WHERE transcripts.place = ?",
        (replace_surrogates(place),),
    )
    for turn, path in touched:
        paths[turn].append(path)
    rows = db.execute(
        "SELECT turns.id, turns.turn, turns.ordinal, turns.role, turns.kind, turns.time, folders.cwd, turns.branch,"
        " turns.body FROM transcripts JOIN turns ON turns.transcript = transcripts.id"
        " JOIN folders ON folders.id = turns.folder"
        " WHERE transcripts.place = ? AND folders.project = ? ORDER BY turns.ordinal, turns.id",
        (replace_surrogates(place), project),
    )
    summary_turns: list[SummaryTurn] = []
    for row, name, ordinal, role, kind, time, cwd, branch, body in rows:
        text, tools = unpack_turn_text(body)
        paths_named = tuple(redact_text(path) for path in sorted(paths.get(row, ())))
        said = (name, ordinal, role, kind, seconds_to_time(time), cwd, branch, redact_text(text))
        summary_turns.append(SummaryTurn(*said, redact_stored_calls(tools), paths_named))
    return summary_turns
