"""Finds the session of each serving in the catalog, and reads what happened in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lerim.memory import Serving
from lerim.sessions import TRANSCRIPT_COLUMNS, Platform, Transcript, make_transcript

AGENT_NAMES: Mapping[str, Platform] = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "antigravity": "gemini",
    "opencode": "opencode",
    "cursor": "cursor",
    "copilot": "copilot",
    "visual studio code": "copilot",
    "vscode": "copilot",
}
"""The agent whose sessions to search, by a part of the name that a hook or an MCP client uses."""
CLOCK_SLACK_SECONDS = 5.0
"""Seconds by which a serving may be earlier than the first turn of its session, because the briefing at the start
comes before that turn."""
_COLUMNS = f"t.vanished, s.started, s.ended, {TRANSCRIPT_COLUMNS}"


@dataclass(frozen=True, slots=True)
class ServedSession:
    """A session in which memories were served. `is_gone`: its transcript no longer exists."""

    transcript: Transcript
    is_gone: bool
    started: float
    ended: float


def find_platform(agent: str) -> Platform | None:
    """Returns the agent with the name under which memories were served to it; None for an agent whose sessions Lerim
    does not read."""
    lower = agent.lower()
    return next((platform for part, platform in AGENT_NAMES.items() if part in lower), None)


def find_served_sessions(
    db: sqlite3.Connection, project: str | None, servings: Sequence[Serving]
) -> list[ServedSession | None]:
    """Returns the session of each serving; None if no session, or more than one, could be the one. `project` limits the
    sessions that are found by time; None does not.

    A hook knows the agent's id of the session. MCP does not, so its session is the only one of this agent in the
    project that was active at that moment.
    """
    by_id = _load_by_id(db, {one.session for one in servings if one.session})
    timed = _load_timed(db, project) if any(not one.session for one in servings) else []
    found: list[ServedSession | None] = []
    for serving in servings:
        platform = find_platform(serving.agent)
        if serving.session:
            fitting = [
                one for one in by_id.get(serving.session, ()) if platform is None or one.transcript.platform == platform
            ]
        else:
            fitting = [
                one
                for one in timed
                if one.transcript.platform == platform and one.started - CLOCK_SLACK_SECONDS <= serving.at <= one.ended
            ]
        found.append(fitting[0] if len(fitting) == 1 else None)
    return found


def _load_by_id(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[ServedSession]]:
    found: dict[str, list[ServedSession]] = {}
    query = f"SELECT {_COLUMNS} FROM transcripts t JOIN sessions s ON s.transcript = t.id WHERE t.session = ?"
    for session in sorted(ids):
        rows = _make_sessions(db.execute(query, (session,)))
        main = [one for one in rows if not one.transcript.parent] or rows
        # a session that was copied to another folder is one session: the one with more in it
        found[session] = sorted(main, key=lambda one: (one.is_gone, -one.transcript.size))[:1]
    return found


def _load_timed(db: sqlite3.Connection, project: str | None) -> list[ServedSession]:
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM transcripts t JOIN sessions s ON s.transcript = t.id WHERE t.parent = ''"
        " AND s.started IS NOT NULL AND s.ended IS NOT NULL AND (:project IS NULL OR t.id IN (SELECT transcript"
        " FROM turns WHERE folder IN (SELECT id FROM folders WHERE project = :project))) ORDER BY s.started, t.id",
        {"project": project},
    )
    return _make_sessions(rows)


def _make_sessions(rows: sqlite3.Cursor) -> list[ServedSession]:
    return [
        ServedSession(make_transcript(tuple(columns)), bool(vanished), started or 0.0, ended or 0.0)
        for vanished, started, ended, *columns in rows
    ]
