"""Lists the jobs of the queue for a person: those that wait, failed or are dead, with the reasons. Also retries and
skips jobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from lerim.sessions.model import Platform
from lerim.sessions.tables import EXTRACT_JOB, seconds_to_time, to_json_list
from lerim.sqlite import transaction

JobState = Literal["pending", "running", "done", "failed", "dead", "skipped"]
NOT_CONNECTED_REASON = "its agent is no longer connected (`lerim connect` connects it)"
"""The reason of a job that was skipped because its agent is not connected, rather than by the person."""
_VANISHED_REASON = "its transcript is gone; the job waits until it is back"
_SKIPPED_REASON = "you skipped it"


_OPEN_JOBS = (
    "jobs j JOIN transcripts t ON t.id = j.transcript LEFT JOIN sessions s ON s.transcript = t.id"
    " WHERE j.project = :project AND j.state <> 'done' AND (j.kind IN (SELECT value FROM json_each(:kinds))"
    " OR j.state IN ('failed', 'dead') AND j.kind IN (SELECT value FROM json_each(:failed_kinds)))"
)


class JobRow(msgspec.Struct, frozen=True):
    """One job of a project that is not done.

    `session` is the agent's id of the session; `title` may contain any text from a transcript. `next_try` is None if
    the job will not run by itself because it is running, dead or skipped, or its transcript is gone. `reason` says
    why it failed, was skipped, or does not run when it is due.
    """

    id: int
    kind: str
    platform: Platform
    session: str
    title: str
    place: str
    state: JobState
    tries: int
    next_try: datetime | None
    reason: str


def list_open_jobs(
    db: sqlite3.Connection,
    now: float,
    project: str,
    kinds: Sequence[str] = (EXTRACT_JOB,),
    *,
    failed_kinds: Sequence[str] = (),
    limit: int | None = None,
    offset: int = 0,
) -> list[JobRow]:
    """Returns the jobs of a project that are not done: first those that need the person, then in the order they will
    run. `failed_kinds` are kinds of which only the failed jobs are listed. With `limit`, only that many after the first
    `offset`."""
    rows = db.execute(
        "SELECT j.id, j.kind, t.platform, t.session, coalesce(s.title, ''), t.place, j.state, j.tries, j.not_before,"
        f" t.vanished, j.error FROM {_OPEN_JOBS}"
        " ORDER BY CASE j.state WHEN 'dead' THEN 0 WHEN 'failed' THEN 1 WHEN 'running' THEN 2 WHEN 'pending' THEN 3"
        " ELSE 4 END, j.interrupted, s.ended DESC, t.mtime_ns DESC, j.id LIMIT :limit OFFSET :offset",
        {
            "project": project,
            "kinds": to_json_list(kinds),
            "failed_kinds": to_json_list(failed_kinds),
            "limit": -1 if limit is None else limit,
            "offset": offset,
        },
    )
    jobs: list[JobRow] = []
    for number, kind, platform, session, title, place, state, tries, not_before, vanished, error in rows:
        is_waiting = state in ("pending", "failed")
        next_try = seconds_to_time(max(now, not_before)) if is_waiting and not vanished else None
        idle_reason = _VANISHED_REASON if is_waiting and vanished else _SKIPPED_REASON if state == "skipped" else ""
        jobs.append(JobRow(number, kind, platform, session, title, place, state, tries, next_try, error or idle_reason))
    return jobs


def count_open_jobs(
    db: sqlite3.Connection, project: str, kinds: Sequence[str], *, failed_kinds: Sequence[str] = ()
) -> dict[str, int]:
    """Returns how many of the jobs that `list_open_jobs` lists are in each state."""
    rows = db.execute(
        f"SELECT j.state, count(*) FROM {_OPEN_JOBS} GROUP BY j.state",
        {"project": project, "kinds": to_json_list(kinds), "failed_kinds": to_json_list(failed_kinds)},
    )
    return {str(state): int(number) for state, number in rows}


def retry_jobs(db: sqlite3.Connection, project: str, jobs: Sequence[int] = ()) -> int:
    """Makes jobs of a project run at once, with all their tries, and returns how many. The jobs may be failed, dead,
    skipped or waiting; if none are given, all failed and dead ones are retried. Jobs skipped because their agent is
    not connected stay skipped."""
    states = "('failed', 'dead', 'skipped', 'pending')" if jobs else "('failed', 'dead')"
    with transaction(db):
        updated = db.execute(
            "UPDATE jobs SET state = 'pending', tries = 0, not_before = 0, interrupted = 0, error = ''"
            f" WHERE project = ? AND state IN {states} AND NOT (state = 'skipped' AND error = ?)"
            f" AND {_job_condition(jobs)}",
            (project, NOT_CONNECTED_REASON, *jobs),
        )
    return updated.rowcount


def skip_jobs(db: sqlite3.Connection, project: str, jobs: Sequence[int] = ()) -> int:
    """Skips these jobs until their sessions grow, or all dead jobs if none are given, and returns how many. A
    running job continues."""
    states = "('pending', 'failed', 'dead')" if jobs else "('dead')"
    with transaction(db):
        updated = db.execute(
            f"UPDATE jobs SET state = 'skipped' WHERE project = ? AND state IN {states} AND {_job_condition(jobs)}",
            (project, *jobs),
        )
    return updated.rowcount


def hold_removed_platforms(db: sqlite3.Connection, platforms: Iterable[Platform]) -> None:
    """Skips the jobs of agents that are not connected, and puts those of all other agents back into the queue."""
    parameters = (NOT_CONNECTED_REASON, to_json_list(platforms))
    their_transcripts = "(SELECT id FROM transcripts WHERE platform IN (SELECT value FROM json_each(?)))"
    with transaction(db):
        db.execute(
            "UPDATE jobs SET state = 'pending', tries = 0, not_before = 0, error = ''"
            f" WHERE state = 'skipped' AND error = ? AND transcript NOT IN {their_transcripts}",
            parameters,
        )
        db.execute(
            "UPDATE jobs SET state = 'skipped', error = ?"
            f" WHERE state IN ('pending', 'failed', 'dead') AND transcript IN {their_transcripts}",
            parameters,
        )


def _job_condition(jobs: Sequence[int]) -> str:
    return f"id IN ({', '.join('?' * len(jobs))})" if jobs else "1"
