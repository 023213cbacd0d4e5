"""The sessions of a project that wait to be summarized. Only the holder of the project's lock may use these
functions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions import queue
from lerim.sessions.model import Platform
from lerim.sessions.tables import OVERLAPS_BOUNDS, seconds_to_time, time_bounds, to_json_list
from lerim.sqlite import transaction


@dataclass(frozen=True, slots=True)
class PendingSummary:
    """A session whose summary is missing or outdated. `changed_at` is when its transcript last changed, in epoch
    seconds."""

    job: int
    place: str
    platform: Platform
    session_id: str
    title: str
    started: datetime | None
    changed_at: float


def list_pending_summaries(
    db: sqlite3.Connection,
    project: str,
    since: datetime | None,
    until: datetime | None,
    ended_before: datetime | None = None,
) -> list[PendingSummary]:
    """Returns the waiting sessions with turns between the bounds, newest first. Subagents' sessions are left out,
    because they have no summaries. With `ended_before`, returns only sessions without turns from that time on."""
    rows = db.execute(
        "SELECT j.id, t.place, t.platform, t.session, s.title, s.started, t.mtime_ns"
        " FROM jobs j JOIN transcripts t ON t.id = j.transcript JOIN sessions s ON s.transcript = t.id"
        " WHERE j.project = :project AND j.kind = :kind AND j.state = 'pending' AND t.parent = ''"
        f" AND {OVERLAPS_BOUNDS} AND (:before IS NULL OR s.ended < :before)"
        " ORDER BY s.ended DESC, j.id",
        {
            "project": project,
            "kind": queue.SUMMARY_JOB,
            "before": ended_before.timestamp() if ended_before else None,
            **time_bounds(since, until),
        },
    )
    return [
        PendingSummary(job, place, platform, session, title, seconds_to_time(started), (changed or 0) / 1e9)
        for job, place, platform, session, title, started, changed in rows
    ]


def settle_summaries(db: sqlite3.Connection, summarized: Iterable[int], others: Iterable[int] = ()) -> None:
    """Marks these jobs as done, in one transaction. The `summarized` sessions wait for a model from now on; the
    `others` have no summary, or a summary that a person has edited."""
    summarized_jobs = list(summarized)
    with transaction(db):
        db.execute(
            "UPDATE jobs SET state = 'done' WHERE id IN (SELECT value FROM json_each(?))",
            (to_json_list([*summarized_jobs, *others]),),
        )
        rows = db.execute(
            "SELECT transcript, project FROM jobs WHERE id IN (SELECT value FROM json_each(?))",
            (to_json_list(summarized_jobs),),
        ).fetchall()
        for transcript, project in rows:
            queue.enqueue_job(db, queue.SUMMARY_MODEL_JOB, transcript, project)
