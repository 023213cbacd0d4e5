"""Transcripts and sessions as rows of the catalog."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.errors import Problem
from lerim.redaction import redact_secrets
from lerim.sessions.model import Platform, Session, Transcript
from lerim.sessions.tables.column_values import EXTRACT_JOB, place_file, seconds_to_time, to_json_list
from lerim.sessions.tables.schema import IS_MAIN_SESSION
from lerim.sessions.tables.turn_text import deflate, inflate, replace_surrogates

UNREADABLE_ERROR = "unreadable"
"""The problem code of a transcript that could not be opened; it is tried again in every cycle."""


@dataclass(frozen=True, slots=True)
class SessionCount:
    """How many sessions a project has, how many of them are waiting, and when the newest one was last active."""

    number: int
    waiting: int
    newest: datetime | None


TRANSCRIPT_COLUMNS = "t.platform, t.place, t.session, t.size, t.mtime_ns, t.inode, t.parent, t.within, t.cwd"
"""The columns of a transcript `t` that `make_transcript` takes."""
_TranscriptRow = tuple[Platform, str, str, int | None, int | None, int | None, str, str, str]


def make_transcript(row: _TranscriptRow) -> Transcript:
    """Returns a transcript from its columns."""
    platform, place, session, size, mtime_ns, inode, parent, within, cwd = row
    stamp = (size or 0, mtime_ns or 0, inode or 0)
    return Transcript(platform, place_file(place, within), session, *stamp, parent, within, cwd)


def load_generation(db: sqlite3.Connection, place: str) -> int:
    """Returns how often this transcript has been written to the catalog; 0 if it is unknown."""
    row = db.execute("SELECT generation FROM transcripts WHERE place = ?", (place,)).fetchone()
    return int(row[0]) if row else 0


def enter_transcript(db: sqlite3.Connection, transcript: Transcript, since: int) -> int | None:
    """Returns the transcript's row, inserting it if it is new, and increases its generation by one; call it inside a
    transaction. Returns None if the generation is no longer `since` (another process wrote)."""
    place = replace_surrogates(transcript.place)
    row = db.execute("SELECT id, generation FROM transcripts WHERE place = ?", (place,)).fetchone()
    if row is None:
        inserted = db.execute(
            "INSERT INTO transcripts (place, platform, session, parent, within, cwd, generation)"
            " VALUES (?, ?, ?, ?, ?, ?, 1)",
            (
                place,
                transcript.platform,
                replace_surrogates(transcript.session_id),
                replace_surrogates(transcript.parent),
                replace_surrogates(transcript.store_key),
                replace_surrogates(transcript.cwd),
            ),
        )
        return inserted.lastrowid
    row_id, generation = row
    if since != generation:
        return None
    db.execute("UPDATE transcripts SET generation = generation + 1 WHERE id = ?", (row_id,))
    return int(row_id)


def load_resume(db: sqlite3.Connection, place: str) -> bytes | None:
    """Returns the position at which to resume reading a transcript; None to read it from the start. A transcript
    that had vanished is also read from the start, because its turns may belong to other transcripts by now."""
    row = db.execute(
        "SELECT resume FROM sessions JOIN transcripts ON transcripts.id = transcript WHERE place = ? AND NOT vanished",
        (replace_surrogates(place),),
    ).fetchone()
    return inflate(row[0]) if row else None


def finish_transcript(
    db: sqlite3.Connection, number: int, transcript: Transcript, session: Session, resume: bytes, damage: str
) -> None:
    """Records that the transcript was read to its end: its totals, stamp and resume position, and which part of it
    is damaged ('' if none); call it inside a transaction."""
    db.execute(
        "UPDATE transcripts SET size = ?, mtime_ns = ?, inode = ?, session = ?, parent = ?, cwd = ?, vanished = 0,"
        " error = ?, failed = NULL WHERE id = ?",
        (
            *transcript.stamp,
            replace_surrogates(session.id),
            replace_surrogates(session.parent or transcript.parent),
            replace_surrogates(transcript.cwd),
            replace_surrogates(damage)[:2000],
            number,
        ),
    )
    keep_session_progress(db, number, session, resume)


def keep_session_progress(db: sqlite3.Connection, number: int, session: Session, resume: bytes) -> None:
    """Saves the totals and the resume position so far; call it inside a transaction. Without `finish_transcript`, the
    transcript counts as changed."""
    counts = session.tokens
    tokens = (counts.input, counts.output, counts.cache_read, counts.cache_write) if counts else (None,) * 4
    db.execute(
        "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            number,
            deflate(resume),
            replace_surrogates(redact_secrets(session.title).text),
            _seconds(session.started),
            _seconds(session.ended),
            *(replace_surrogates("\n".join(texts)) for texts in (session.cwds, session.branches, session.models)),
            *(session.turns, session.prompts, session.tool_calls, session.tool_errors, session.denials),
            *tokens,
            session.cost,
        ),
    )


def fail_transcript(db: sqlite3.Connection, transcript: Transcript, problem: Problem) -> None:
    """Saves why a transcript could not be read; call it inside a transaction. Its stamp is saved too, so that it is
    read again only when it changes, unless it could not be opened: permissions change without changing the stamp."""
    stamp = (None, None, None) if problem.code == UNREADABLE_ERROR else transcript.stamp
    db.execute(
        "UPDATE transcripts SET size = ?, mtime_ns = ?, inode = ?, vanished = 0, error = ?,"
        " failed = strftime('%s', 'now') WHERE place = ?",
        (*stamp, replace_surrogates(problem.message)[:2000], replace_surrogates(transcript.place)),
    )


def find_session_places(db: sqlite3.Connection, session: str) -> list[str]:
    """Returns the place of the session with this id, or else the places of all sessions whose id starts with it;
    among copies, the place of the one that has turns."""
    wanted = replace_surrogates(session)
    rows = db.execute(
        "SELECT place, session FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        " WHERE substr(session, 1, length(:wanted)) = :wanted"
        " ORDER BY session, EXISTS (SELECT 1 FROM turns WHERE turns.transcript = t.id) DESC, t.id",
        {"wanted": wanted},
    )
    first: dict[str, str] = {}
    for place, name in rows:
        first.setdefault(name, place)
    return [first[wanted]] if wanted in first else list(first.values())


_PROJECT_FOLDERS = "SELECT id FROM folders WHERE project = :project OR cwd IN (SELECT value FROM json_each(:folders))"
_COPIED_TRANSCRIPTS = (
    "SELECT t.id AS transcript, s.ended AS last FROM transcripts t"
    " JOIN sessions s ON s.transcript = t.id"
    " WHERE NOT t.vanished AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.transcript = t.id) AND s.turns > 0"
    " AND (:project IS NULL OR EXISTS (SELECT 1 FROM folders"
    f"  WHERE id IN ({_PROJECT_FOLDERS}) AND instr(char(10) || s.cwds || char(10), char(10) || cwd || char(10))))"
)
"""The forks and resumed sessions that ran in the project and whose turns all belong to the transcript they were
copied from."""


def count_sessions(db: sqlite3.Connection, project: str, folders: Iterable[str], kinds: Sequence[str]) -> SessionCount:
    """Counts the sessions with turns of a project, and those of them that wait for a job of any of these kinds.
    `folders` count as the project's too; a session that matches only through them counts as waiting, because it has
    no job yet."""
    open_jobs = (
        "SELECT transcript FROM jobs WHERE project = :project AND state IN ('pending', 'running', 'failed')"
        " AND kind IN (SELECT value FROM json_each(:kinds))"
    )
    extracted = f"SELECT transcript FROM jobs WHERE project = :project AND kind = '{EXTRACT_JOB}'"
    number, waiting, newest = db.execute(
        "WITH own AS MATERIALIZED (SELECT id AS transcript FROM transcripts t WHERE EXISTS"
        f"  (SELECT 1 FROM turns WHERE transcript = t.id AND folder IN ({_PROJECT_FOLDERS}))),"
        f" copied AS MATERIALIZED ({_COPIED_TRANSCRIPTS}),"
        " listed AS (SELECT transcript, 1 AS has_turns FROM own UNION ALL SELECT transcript, 0 FROM copied),"
        " found AS MATERIALIZED (SELECT t.session, t.parent,"
        f"  {IS_MAIN_SESSION} AS is_main, t.id IN ({open_jobs}) OR has_turns AND t.id NOT IN ({extracted}) AS waits"
        "  FROM listed JOIN transcripts t ON t.id = listed.transcript JOIN sessions s ON s.transcript = t.id)"
        " SELECT count(*) FILTER (WHERE is_main), count(DISTINCT iif(is_main, session, parent)) FILTER (WHERE waits),"
        f" (SELECT max(last) FROM (SELECT max(time) AS last FROM turns WHERE folder IN ({_PROJECT_FOLDERS})"
        "  UNION ALL SELECT last FROM copied)) FROM found",
        {"project": project, "folders": to_json_list(folders), "kinds": to_json_list(kinds)},
    ).fetchone()
    return SessionCount(number, waiting, seconds_to_time(newest))


def find_copied_transcripts(db: sqlite3.Connection, project: str | None) -> frozenset[int]:
    """Returns the rows of transcripts whose turns all belong to another transcript, for one project or, if `project`
    is None, for all."""
    return frozenset(row[0] for row in db.execute(_COPIED_TRANSCRIPTS, {"project": project, "folders": "[]"}))


def find_project_places(db: sqlite3.Connection, project: str, *, main: bool = False) -> frozenset[str]:
    """Returns the places of transcripts with turns of a project, including turns the catalog keeps with another
    transcript. `main`: only those that have not vanished and are not part of another session."""
    rows = db.execute(
        f"SELECT place FROM transcripts t WHERE (NOT :main OR NOT vanished AND {IS_MAIN_SESSION})"
        " AND id IN (SELECT DISTINCT transcript FROM turns"
        f" WHERE folder IN ({_PROJECT_FOLDERS}) UNION ALL SELECT transcript FROM ({_COPIED_TRANSCRIPTS}))",
        {"project": project, "folders": "[]", "main": main},
    )
    return frozenset(place for (place,) in rows)


def find_project_platforms(db: sqlite3.Connection, project: str) -> frozenset[Platform]:
    """Returns the agents that have sessions with turns in a project's folders."""
    rows = db.execute(
        "SELECT DISTINCT platform FROM transcripts WHERE id IN"
        f" (SELECT DISTINCT transcript FROM turns WHERE folder IN ({_PROJECT_FOLDERS}))",
        {"project": project, "folders": "[]"},
    )
    return frozenset(platform for (platform,) in rows)


def _seconds(when: datetime | None) -> float | None:
    return when.timestamp() if when else None
