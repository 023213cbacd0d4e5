"""The queue of jobs: which transcript waits to be processed for which project, and how far that work got.

pending → running → done; running → failed → (after a delay) running; after three failures dead, until the session
grows. A process that dies leaves its job `running`; the next holder of the project's lock puts it back. `runs`
counts the claims of a job, so that a process that lost its claim cannot end someone else's run. The person's view of
the queue is in `job_rows.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Transcript
from lerim.sessions.tables import (
    EXTRACT_JOB,
    IS_MAIN_SESSION,
    OVERLAPS_BOUNDS,
    TRANSCRIPT_COLUMNS,
    Friction,
    deflate,
    facts,
    frictions,
    inflate,
    make_transcript,
    time_bounds,
)
from lerim.sqlite import transaction

MOST_TRIES = 3
NO_FACTS: Mapping[str, bytes] = {}
BACK_OFF_SECONDS = 30.0
BACK_OFF_CAP_SECONDS = 3600.0
LONGEST_WAIT_SECONDS = 86400.0
"""The longest wait of a job that is put back again and again."""
MODEL_JOB = "model"
"""The kind of job that waits for a model once the rules have read a session, whether or not a model is configured."""
_JOINED_JOBS = (
    " FROM jobs j JOIN transcripts t ON t.id = j.transcript LEFT JOIN sessions s ON s.transcript = t.id"
    " LEFT JOIN positions p ON p.transcript = t.id AND p.project = j.project AND p.kind = j.kind"
)
_WAITING_JOBS = (
    f"{_JOINED_JOBS}"
    " WHERE j.project = :project AND j.kind = :kind AND j.state IN ('pending', 'failed') AND NOT t.vanished"
)
SUMMARY_JOB = "summary"
"""The kind of job that summarizes a session once the rules have read it (`pending_summaries.py`), except for
subagents'."""
SUMMARY_MODEL_JOB = "summary-model"
"""The kind of job that waits for a model to improve a summary made by the rules, as above."""


@dataclass(frozen=True, slots=True)
class QueueJob:
    """One claimed job. `resume` is the position to continue from (None: the start), `state` the saved state of the
    signals at that position (None at the start), `tries` how often the job failed before, `redactions` how many
    secrets have been removed so far from what was learned. `run` is the number of this claim."""

    id: int
    kind: str
    project: str
    transcript: Transcript
    resume: bytes | None
    state: bytes | None
    tries: int
    run: int
    redactions: int = 0


def enqueue_job(db: sqlite3.Connection, kind: str, transcript: int, project: str) -> None:
    """Puts a job into the queue; call it inside a transaction. A running job runs once more, a failed one keeps its
    delay, a dead or skipped one starts afresh."""
    db.execute(
        "INSERT INTO jobs (kind, transcript, project, state) VALUES (?, ?, ?, 'pending')"
        " ON CONFLICT (kind, transcript, project) DO UPDATE SET"
        " again = state = 'running',"
        " tries = CASE WHEN state IN ('dead', 'skipped') THEN 0 ELSE tries END,"
        " not_before = CASE WHEN state = 'failed' THEN not_before ELSE 0 END,"
        " error = CASE WHEN state = 'skipped' THEN '' ELSE error END,"
        " state = CASE WHEN state IN ('running', 'failed') THEN state ELSE 'pending' END",
        (kind, transcript, project),
    )


def claim_job(
    db: sqlite3.Connection,
    now: float,
    project: str,
    *,
    kind: str = EXTRACT_JOB,
    started: float | None = None,
    began: float | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> QueueJob | None:
    """Claims the newest waiting job of a project; returns None if none is due.

    `started` is the start of an explicit run: jobs that are not due yet are then claimed too, but only once in that
    run. `began` is the start of any run: a job that failed in it is not claimed again, however long it takes.
    `since` and `until` limit the sessions to those with turns between them. A job whose earlier runs died comes
    last.
    """
    with transaction(db):
        newest = db.execute(  # only the ids, because the positions of hundreds of sessions take longer to sort
            f"SELECT j.id{_WAITING_JOBS}"
            " AND (j.not_before <= :now OR j.claimed < :started)"
            " AND (:began IS NULL OR j.state <> 'failed' OR j.claimed < :began)"
            f" AND {OVERLAPS_BOUNDS}"
            " ORDER BY j.interrupted, s.ended DESC, t.mtime_ns DESC, j.id LIMIT 1",
            {
                "project": project,
                "kind": kind,
                "now": now,
                "started": started,
                "began": began,
                **time_bounds(since, until),
            },
        ).fetchone()
        if newest is None:
            return None
        columns = f"j.id, p.resume, p.state, j.tries, j.runs, p.redactions, {TRANSCRIPT_COLUMNS}"
        row = db.execute(f"SELECT {columns}{_JOINED_JOBS} WHERE j.id = ?", newest).fetchone()
        start = "UPDATE jobs SET state = 'running', claimed = ?, runs = runs + 1, again = 0 WHERE id = ?"
        db.execute(start, (now, row[0]))
    number, resume, state, tries, runs, redactions, *of_transcript = row
    resume, state = (None if packed is None else inflate(packed) for packed in (resume, state))
    transcript = make_transcript(tuple(of_transcript))
    return QueueJob(number, kind, project, transcript, resume, state, tries, runs + 1, redactions or 0)


def finish_job(
    db: sqlite3.Connection,
    now: float,
    job: QueueJob,
    resume: bytes,
    state: bytes,
    again_in: float | None = None,
    new_frictions: Iterable[Friction] = (),
    redactions: int = 0,
    new_facts: Mapping[str, bytes] = NO_FACTS,
    model_turns: Iterable[str] = (),
) -> None:
    """Ends a job and saves how far it got, in one transaction.

    `new_frictions` (the errors it met), `new_facts` (encoded, by turn id), the `model_turns` that wait for a model
    to find more, and the number of redactions so far are saved too. If `again_in` is set, the job is due again after
    that many seconds (more than 0). A job that was put back meanwhile (the lock was lost) is left unchanged, and so
    is its position.
    """
    with transaction(db):
        _save_position(db, job, resume, state, redactions)
        ended = db.execute(
            "UPDATE jobs SET state = CASE WHEN again OR :later IS NOT NULL THEN 'pending' ELSE 'done' END,"
            " not_before = CASE WHEN again THEN 0 ELSE coalesce(:later, 0) END,"
            " tries = 0, interrupted = 0, again = 0, error = ''"
            " WHERE id = :id AND state = 'running' AND runs = :run",
            {"later": None if again_in is None else now + again_in, "id": job.id, "run": job.run},
        )
        if ended.rowcount:
            frictions.keep_frictions(db, job.project, new_frictions)
            facts.keep_facts(db, new_facts, model_turns)
        if ended.rowcount and job.kind == EXTRACT_JOB:
            [(transcript,)] = db.execute("SELECT transcript FROM jobs WHERE id = ?", (job.id,))
            enqueue_job(db, MODEL_JOB, transcript, job.project)
            if not job.transcript.parent:
                enqueue_job(db, SUMMARY_JOB, transcript, job.project)


def keep_job_progress(db: sqlite3.Connection, job: QueueJob, resume: bytes, state: bytes, redactions: int) -> None:
    """Saves how far a running job got before it failed. Does nothing if its lock was lost."""
    with transaction(db):
        _save_position(db, job, resume, state, redactions)


def _save_position(db: sqlite3.Connection, job: QueueJob, resume: bytes, state: bytes, redactions: int) -> None:
    """Saves how far a job got, unless its run has ended."""
    db.execute(
        "INSERT INTO positions (transcript, project, kind, resume, state, redactions)"
        " SELECT transcript, project, kind, ?, ?, ? FROM jobs WHERE id = ? AND state = 'running' AND runs = ?"
        " ON CONFLICT (transcript, project, kind) DO UPDATE"
        " SET resume = excluded.resume, state = excluded.state, redactions = excluded.redactions",
        (deflate(resume), deflate(state), redactions, job.id, job.run),
    )


def fail_job(db: sqlite3.Connection, now: float, job: QueueJob, error: str) -> bool:
    """Ends a failed run: the job waits 30 s, then a minute, then it is dead. Returns True if it is dead now.

    If turns arrived while it ran, it gets one more try.
    """
    wait = min(BACK_OFF_SECONDS * 2.0**job.tries, BACK_OFF_CAP_SECONDS)
    with transaction(db):
        ended = db.execute(
            "UPDATE jobs SET tries = tries + 1, error = :error, not_before = :due, interrupted = 0, again = 0,"
            " state = CASE WHEN tries + 1 >= :tries AND NOT again THEN 'dead' ELSE 'failed' END"
            " WHERE id = :id AND state = 'running' AND runs = :run RETURNING state",
            {"error": error[:2000], "due": now + wait, "tries": MOST_TRIES, "id": job.id, "run": job.run},
        ).fetchall()
    return ended == [("dead",)]


def put_back_job(db: sqlite3.Connection, now: float, job: QueueJob, wait: float = 0.0, *, last: bool = False) -> None:
    """Puts back a claimed job that was not run, or not to its end, for example because the person cancelled. This
    does not count as a try. The job waits as before, but at least `wait` seconds from `now` on. With `last`, it
    comes after the others, like a job whose run died, and waits twice as long each time in a row, up to a day."""
    with transaction(db):
        db.execute(
            "UPDATE jobs SET state = 'pending', again = 0, interrupted = interrupted + :last,"
            " not_before = CASE WHEN NOT :wait THEN not_before"
            " WHEN :last THEN max(not_before, :now + min(:wait * (1 << min(interrupted, 20)), :longest))"
            " ELSE max(not_before, :now + :wait) END"
            " WHERE id = :id AND state = 'running' AND runs = :run",
            {"now": now, "wait": wait, "last": last, "longest": LONGEST_WAIT_SECONDS, "id": job.id, "run": job.run},
        )


def recover_jobs(db: sqlite3.Connection, project: str) -> int:
    """Puts back the jobs that a dead process left running, without counting a try, and returns how many. Only the
    holder of the project's lock may call this."""
    with transaction(db):
        updated = db.execute(
            "UPDATE jobs SET state = 'pending', interrupted = interrupted + 1, again = 0, not_before = 0"
            " WHERE project = ? AND state = 'running'",
            (project,),
        )
    return updated.rowcount


def count_due_jobs(db: sqlite3.Connection, now: float, project: str, kind: str = EXTRACT_JOB) -> int:
    """Returns how many jobs of a project could be claimed now."""
    parameters = {"project": project, "kind": kind, "now": now}
    return int(db.execute(f"SELECT count(*){_WAITING_JOBS} AND j.not_before <= :now", parameters).fetchone()[0])


def count_unread_bytes(db: sqlite3.Connection, now: float, project: str) -> int:
    """Returns the total size in bytes of the project's transcripts that are due and have never been learned from."""
    row = db.execute(
        f"SELECT coalesce(sum(t.size), 0){_WAITING_JOBS} AND j.not_before <= :now AND p.kind IS NULL",
        {"project": project, "kind": EXTRACT_JOB, "now": now},
    ).fetchone()
    return int(row[0])


def find_settling_jobs(db: sqlite3.Connection, now: float, project: str) -> tuple[int, float | None]:
    """Returns how many sessions of a project are waiting for their last exchange to be over, and when the first of
    them is due, in epoch seconds (None if none is waiting)."""
    row = db.execute(
        f"SELECT count(*), min(j.not_before){_WAITING_JOBS} AND j.state = 'pending' AND j.not_before > :now",
        {"project": project, "kind": EXTRACT_JOB, "now": now},
    ).fetchone()
    return int(row[0]), row[1]


def count_passed_over(db: sqlite3.Connection, project: str, since: datetime | None, until: datetime | None) -> int:
    """Returns how many of the sessions that wait to be learned from are skipped by `claim_job` because of these
    bounds."""
    row = db.execute(
        f"SELECT count(*){_WAITING_JOBS} AND {IS_MAIN_SESSION} AND NOT coalesce({OVERLAPS_BOUNDS}, 0)",
        {"project": project, "kind": EXTRACT_JOB, **time_bounds(since, until)},
    ).fetchone()
    return int(row[0])


def load_other_state(db: sqlite3.Connection, job: QueueJob, kind: str) -> bytes | None:
    """Returns the state that the last job of another kind left for the same transcript and project, or None."""
    row = db.execute(
        "SELECT p.state FROM positions p JOIN jobs j ON j.transcript = p.transcript AND j.project = p.project"
        " WHERE j.id = ? AND p.kind = ?",
        (job.id, kind),
    ).fetchone()
    return None if row is None else inflate(row[0])


def count_jobs_by_state(db: sqlite3.Connection, project: str, kind: str = EXTRACT_JOB) -> dict[str, int]:
    """Returns how many jobs of a project are in each state; waiting jobs count only if their transcript still
    exists."""
    rows = db.execute(
        "SELECT j.state, count(*) FROM jobs j JOIN transcripts t ON t.id = j.transcript"
        " WHERE j.project = ? AND j.kind = ? AND NOT (t.vanished AND j.state IN ('pending', 'failed'))"
        " GROUP BY j.state",
        (project, kind),
    )
    return {str(state): int(number) for state, number in rows}
