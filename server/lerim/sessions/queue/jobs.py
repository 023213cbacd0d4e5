"""The queue of jobs: which transcript waits to be worked on for which project, and how far that work got.

pending → running → done; running → failed → (after a while) running; after three failures dead, until the session
grows. A process that died while running leaves `running`, and the next holder of the project's lock puts it back.
`runs` numbers the claims of a job: who lost it meanwhile cannot end the run of another. What a person sees of the
queue, and does with it, is in `queue_rows.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Transcript
from lerim.sessions.tables import EXTRACT, IS_MAIN_SESSION, Friction, deflate, frictions, inflate, place_file
from lerim.sqlite import transaction

MOST_TRIES = 3
BACK_OFF_SECONDS = 30.0
BACK_OFF_CAP_SECONDS = 3600.0
MODEL_JOB = "model"
"""What the rules have read waits for a model from then on, whether or not one is configured."""
_RUNS = "SELECT 1 FROM jobs WHERE id = ? AND state = 'running' AND runs = ?"
SUMMARY_JOB = "summary"
"""What the rules have read waits to be summarized (`owed.py`), a subagent's session excepted."""
SUMMARY_MODEL_JOB = "summary-model"
"""What the rules have summarized waits for a model to do it better, as above."""


@dataclass(frozen=True, slots=True)
class QueueJob:
    """One claimed piece of work. `resume` is where reading goes on (None: from the start), `state` what the signals
    had open then (None at the start), `tries` how often it failed before, `redactions` how many secrets were cut out of
    what was learned until then. `run` is this claim of it."""

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
    """Makes the job wait, inside a transaction: a running one runs once more, a failed one keeps its back-off, a dead
    or skipped one starts afresh."""
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
    project: str,
    now: float,
    *,
    kind: str = EXTRACT,
    started: float | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> QueueJob | None:
    """Takes the newest waiting job of a project; None when none is due.

    `started` is when an explicit run began: what waits for its time is then taken too, but once in that run.
    `since` and `until` bound the sessions to those with something said between them. A job whose runs died comes last.
    """
    with transaction(db):
        row = db.execute(
            "SELECT j.id, j.kind, j.project, t.platform, t.place, t.session, t.size, t.mtime_ns, t.inode, t.parent,"
            " t.within, t.cwd, p.resume, p.state, j.tries, j.runs, p.redactions"
            " FROM jobs j JOIN transcripts t ON t.id = j.transcript"
            " LEFT JOIN sessions s ON s.transcript = t.id"
            " LEFT JOIN positions p ON p.transcript = t.id AND p.project = j.project AND p.kind = j.kind"
            " WHERE j.project = :project AND j.kind = :kind AND j.state IN ('pending', 'failed') AND NOT t.vanished"
            " AND (j.not_before <= :now OR j.claimed < :started)"
            " AND (:since IS NULL OR s.ended >= :since) AND (:until IS NULL OR s.started <= :until)"
            " ORDER BY j.interrupted, s.ended DESC, t.mtime_ns DESC, j.id LIMIT 1",
            {
                "project": project,
                "kind": kind,
                "now": now,
                "started": started,
                "since": since.timestamp() if since else None,
                "until": until.timestamp() if until else None,
            },
        ).fetchone()
        if row is None:
            return None
        start = "UPDATE jobs SET state = 'running', claimed = ?, runs = runs + 1, again = 0 WHERE id = ?"
        db.execute(start, (now, row[0]))
    number, kind, owner, platform, place, session, size, mtime_ns, inode, parent, within, cwd, *position = row
    resume, state, tries, runs, redactions = position
    stamp = (size or 0, mtime_ns or 0, inode or 0)
    transcript = Transcript(platform, place_file(place, within), session, *stamp, parent, within, cwd)
    resume, state = (None if packed is None else inflate(packed) for packed in (resume, state))
    return QueueJob(number, kind, owner, transcript, resume, state, tries, runs + 1, redactions or 0)


def finish_job(
    db: sqlite3.Connection,
    job: QueueJob,
    resume: bytes,
    state: bytes,
    again_at: float | None,
    met: Iterable[Friction] = (),
    redactions: int = 0,
) -> None:
    """Ends a job and keeps how far it got, the errors it `met` and how many secrets were cut out of what was learned
    so far, in one transaction. `again_at`: it waits once more, from that time on.

    A job that was put back meanwhile (its lock was lost) is left as it is, and so is its position.
    """
    with transaction(db):
        ended = db.execute(
            "UPDATE jobs SET state = CASE WHEN again OR :later IS NOT NULL THEN 'pending' ELSE 'done' END,"
            " not_before = CASE WHEN again THEN 0 ELSE coalesce(:later, 0) END,"
            " tries = 0, interrupted = 0, again = 0, error = ''"
            " WHERE id = :id AND state = 'running' AND runs = :run",
            {"later": again_at, "id": job.id, "run": job.run},
        )
        if ended.rowcount:
            _place(db, job, resume, state, redactions)
            frictions.keep_frictions(db, job.project, met)
        if ended.rowcount and job.kind == EXTRACT:
            [(transcript,)] = db.execute("SELECT transcript FROM jobs WHERE id = ?", (job.id,))
            enqueue_job(db, MODEL_JOB, transcript, job.project)
            if not job.transcript.parent:
                enqueue_job(db, SUMMARY_JOB, transcript, job.project)


def keep_job_progress(db: sqlite3.Connection, job: QueueJob, resume: bytes, state: bytes, redactions: int) -> None:
    """Keeps how far a running job got, before it ends in trouble. Nothing happens where its lock was lost."""
    with transaction(db):
        if db.execute(_RUNS, (job.id, job.run)).fetchone():
            _place(db, job, resume, state, redactions)


def _place(db: sqlite3.Connection, job: QueueJob, resume: bytes, state: bytes, redactions: int) -> None:
    db.execute(
        "INSERT INTO positions (transcript, project, kind, resume, state, redactions)"
        " SELECT transcript, project, kind, ?, ?, ? FROM jobs WHERE id = ?"
        " ON CONFLICT (transcript, project, kind) DO UPDATE"
        " SET resume = excluded.resume, state = excluded.state, redactions = excluded.redactions",
        (deflate(resume), deflate(state), redactions, job.id),
    )


def fail_job(db: sqlite3.Connection, job: QueueJob, error: str, now: float) -> bool:
    """Ends a job that ran and failed: it waits 30 s, then a minute, then it is dead. True if it is dead now.

    What arrived while it ran gives it one more chance.
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


def put_back_job(db: sqlite3.Connection, job: QueueJob, due: float = 0.0) -> None:
    """Gives a claimed job back unrun or cut short by the person: it counts as no try and waits as before, and until
    `due` (epoch seconds)."""
    with transaction(db):
        db.execute(
            "UPDATE jobs SET state = 'pending', again = 0, not_before = max(not_before, ?)"
            " WHERE id = ? AND state = 'running' AND runs = ?",
            (due, job.id, job.run),
        )


def recover_jobs(db: sqlite3.Connection, project: str) -> int:
    """Puts back what a dead process left running, without counting a try; how many. Only for the lock's holder."""
    with transaction(db):
        found = db.execute(
            "UPDATE jobs SET state = 'pending', interrupted = interrupted + 1, again = 0, not_before = 0"
            " WHERE project = ? AND state = 'running'",
            (project,),
        )
    return found.rowcount


def count_due_jobs(db: sqlite3.Connection, project: str, kind: str, now: float) -> int:
    """How many jobs of a project could be claimed now."""
    row = db.execute(
        "SELECT count(*) FROM jobs j JOIN transcripts t ON t.id = j.transcript WHERE j.project = ? AND j.kind = ?"
        " AND j.state IN ('pending', 'failed') AND NOT t.vanished AND j.not_before <= ?",
        (project, kind, now),
    ).fetchone()
    return int(row[0])


def count_passed_over(db: sqlite3.Connection, project: str, since: datetime | None, until: datetime | None) -> int:
    """How many sessions of a project wait to be learned from that `claim_job` passes over for these bounds."""
    row = db.execute(
        "SELECT count(*) FROM jobs j JOIN transcripts t ON t.id = j.transcript"
        " LEFT JOIN sessions s ON s.transcript = t.id"
        " WHERE j.project = :project AND j.kind = :kind AND j.state IN ('pending', 'failed')"
        f" AND NOT t.vanished AND {IS_MAIN_SESSION}"
        " AND NOT coalesce((:since IS NULL OR s.ended >= :since) AND (:until IS NULL OR s.started <= :until), 0)",
        {
            "project": project,
            "kind": EXTRACT,
            "since": since.timestamp() if since else None,
            "until": until.timestamp() if until else None,
        },
    ).fetchone()
    return int(row[0])


def load_other_state(db: sqlite3.Connection, job: QueueJob, kind: str) -> bytes | None:
    """What the last job of another kind left open for the same transcript and project."""
    row = db.execute(
        "SELECT p.state FROM positions p JOIN jobs j ON j.transcript = p.transcript AND j.project = p.project"
        " WHERE j.id = ? AND p.kind = ?",
        (job.id, kind),
    ).fetchone()
    return None if row is None else inflate(row[0])


def count_jobs_by_state(db: sqlite3.Connection, project: str, kind: str) -> dict[str, int]:
    """How many jobs of a project are in each state; of the waiting ones, only those whose transcript is there."""
    rows = db.execute(
        "SELECT j.state, count(*) FROM jobs j JOIN transcripts t ON t.id = j.transcript"
        " WHERE j.project = ? AND j.kind = ? AND NOT (t.vanished AND j.state IN ('pending', 'failed'))"
        " GROUP BY j.state",
        (project, kind),
    )
    return {str(state): int(number) for state, number in rows}
