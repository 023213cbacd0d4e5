"""What becomes of one extraction: its tries are counted before it begins, and its result is stored once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import psycopg

from lerim.extraction import Candidate
from lerim.org.machine import encode_candidate
from lerim.team import TeamDatabase

MAX_TRIES = 3
"""The number of tries, none of which its worker survived, after which a session is quarantined: it may be what kills
them."""
MAX_PROBLEM_CHARS = 300

_COUNT_LOST_CALLS = """
UPDATE calls SET settled = true, dollars = least(dollars, (
    SELECT avg(answered.dollars) FROM calls AS answered
    WHERE answered.team = calls.team AND answered.model = calls.model AND answered.output_tokens > 0))
WHERE team = %(team)s AND key = %(key)s AND NOT settled
"""
"""Settles calls whose worker died or whose answer never came: nobody waits for them any more, and the service may
have billed them. Each counts as much as a call of the model costs on average; while none was answered, as the most
it may cost."""


@dataclass(frozen=True, slots=True)
class BegunExtraction:
    """A job that was begun: what it is to extract, and with what."""

    key: str
    project: str
    session: str
    place_hash: str
    content_hash: str
    model: str


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """What became of an extraction: `done` with its candidates, or why not, in words without text of the session.

    `changed`: the session holds something else than when it was sent. `gone`: it is not on this machine any more.
    `waiting`: it is to be tried again at a time of the database, or in so many seconds. `is_try`: the session may be
    the reason, so that it counts as one of its tries.
    """

    state: Literal["done", "changed", "gone", "failed", "waiting"]
    candidates: tuple[Candidate, ...] = ()
    problem: str = ""
    again_at: datetime | None = None
    again_in: float = 0.0
    is_try: bool = False


def begin_extraction(database: TeamDatabase, key: str, worker: str) -> BegunExtraction | None:
    """Counts a try and returns the job, before anything is read: a worker that dies of it cannot count afterwards.

    Calls of an earlier try that nobody waits for any more give back what they had reserved.

    Returns None if there is nothing to do: it is done, it was cancelled, or it was tried too often and is now
    quarantined. Raises OrgError.
    """
    with database.open() as connection, connection.transaction():
        connection.execute(_COUNT_LOST_CALLS, {"team": database.team, "key": key})
        row = connection.execute(
            """
            UPDATE extractions SET
                state = CASE WHEN tries >= %(most)s THEN 'quarantined' ELSE 'running' END,
                problem = CASE WHEN tries >= %(most)s AND problem = '' THEN %(why)s ELSE problem END,
                tries = CASE WHEN tries >= %(most)s THEN tries ELSE tries + 1 END,
                ended_at = CASE WHEN tries >= %(most)s THEN now() END,
                worker = %(worker)s
            WHERE team = %(team)s AND key = %(key)s AND state IN ('waiting', 'running')
            RETURNING state, project, session, place_hash, content_hash, model
            """,
            {
                "most": MAX_TRIES,
                "why": f"Its worker died {MAX_TRIES} times while it worked on this session.",
                "worker": worker,
                "team": database.team,
                "key": key,
            },
        ).fetchone()
    if row is None or row[0] != "running":
        return None
    return BegunExtraction(key, *map(str, row[1:]))


_DELETE_REPLACED = """
DELETE FROM extractions AS own WHERE team = %s AND key = %s AND state = 'running' AND EXISTS (
    SELECT 1 FROM extractions AS newer WHERE newer.team = own.team AND newer.sent_at > own.sent_at
        AND (newer.session, newer.place_hash) = (own.session, own.place_hash))
"""


def finish_extraction(
    database: TeamDatabase, extraction: BegunExtraction, result: ExtractionResult, seconds: float
) -> None:
    """Stores what became of an extraction and, if it has candidates, asks for its project to be reconciled, in one
    transaction. A second result of the same extraction changes nothing. If a session has changed and what
    it holds now was sent already, nothing is kept of the older one. Raises OrgError."""
    key, team, project = extraction.key, database.team, extraction.project
    with database.open() as connection, connection.transaction():
        if result.state == "changed" and connection.execute(_DELETE_REPLACED, (team, key)).rowcount:
            return
        ended = connection.execute(
            "UPDATE extractions SET state = %s, problem = %s, seconds = %s, ended_at = now()"
            " WHERE team = %s AND key = %s AND state = 'running'",
            (result.state, result.problem[:MAX_PROBLEM_CHARS], seconds, team, key),
        )
        if not ended.rowcount or not result.candidates:
            return
        connection.cursor().executemany(
            "INSERT INTO candidates (team, key, ordinal, project, said_at, candidate) VALUES (%s, %s, %s, %s, %s, %s)",
            [
                (team, key, number, project, one.time, encode_candidate(one))
                for number, one in enumerate(result.candidates)
            ],
        )
        _send_reconciliation(connection, database, project)


def put_back_extraction(database: TeamDatabase, key: str, result: ExtractionResult) -> datetime:
    """Lets a session wait again, and returns until when, by the database's clock. Raises OrgError."""
    with database.open() as connection:
        connection.execute(
            "UPDATE extractions SET state = 'waiting', problem = %s, tries = greatest(tries - %s, 0)"
            " WHERE team = %s AND key = %s AND state = 'running'",
            (result.problem[:MAX_PROBLEM_CHARS], int(not result.is_try), database.team, key),
        )
        row = connection.execute(
            "SELECT coalesce(%s::timestamptz, now() + make_interval(secs => %s))", (result.again_at, result.again_in)
        ).fetchone()
    assert row is not None
    at: datetime = row[0]
    return at


def _send_reconciliation(connection: psycopg.Connection, database: TeamDatabase, project: str) -> None:
    """Queues one reconciliation of the project, unless one waits already. No two of a project run at once."""
    lock = f"{database.team}:{project}"
    connection.execute(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)"
        " VALUES (%s, 'reconcile', %s, %s, %s) ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING",
        (database.shared_queue, lock, lock, json.dumps({"project": project})),
    )
