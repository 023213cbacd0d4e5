"""How far a backfill is, what it cost, what failed, and what each worker does; and what a person can do about it."""

from __future__ import annotations

import msgspec

from lerim.team.database import TeamDatabase
from lerim.team.meaning import SharedMemories, count_shared
from lerim.team.reviewers import ReviewerView, count_by_reviewer

MAX_FAILURES = 20
RATE_MINUTES = 10
WORKER_MINUTES = 60
"""How many minutes a worker stays listed after it finished its last session."""
TOLD_STATES = ["quarantined", "failed", "gone", "changed"]
"""The states of sessions that are listed with what happened to them, in this order."""
_RECENT = f"ended_at > now() - interval '{RATE_MINUTES} minutes'"
_PER_MINUTE = (
    f"count(*) FILTER (WHERE {_RECENT}) * 60 / least({60 * RATE_MINUTES}, greatest(1,"
    f" extract(epoch FROM now() - min(ended_at - make_interval(secs => seconds)) FILTER (WHERE {_RECENT}))))"
)
"""The pace of the last minutes, from when work began in them."""
ENDED_WITHOUT_RESULT = ("failed", "quarantined", "gone", "changed", "cancelled")


class WorkerView(msgspec.Struct, frozen=True):
    """One worker that is or was lately at work: what it has finished, its pace in the last minutes, and the session it
    reads now ("" for none)."""

    name: str
    done: int
    per_minute: float
    session: str


class QueueView(msgspec.Struct, frozen=True):
    """How many sessions are left in a queue: of the machine with this name, or of copies ("copy:" and a hash of their
    path). Only workers of this machine, or with this path, take them."""

    queue: str
    left: int


class FailureView(msgspec.Struct, frozen=True):
    """One session without a result, and why."""

    key: str
    session: str
    project: str
    state: str
    tries: int
    problem: str


class OrgStatus(msgspec.Struct, frozen=True):
    """The state of a team's work. `states` counts the sessions in each state; `accepted` candidates, whose memories
    were shared, are no longer `proposed`; `per_minute` is the pace of the last minutes, from when work began in them;
    `seconds_left` goes by it, and is None if nothing was finished in them; `today_usd` includes the highest possible
    cost of calls that are not answered yet."""

    team: str
    states: dict[str, int]
    candidates: int
    proposed: int
    accepted: int
    bytes_left: int
    per_minute: float
    seconds_left: float | None
    today_usd: float
    total_usd: float
    queues: list[QueueView]
    workers: list[WorkerView]
    failures: list[FailureView]
    reviewers: list[ReviewerView]
    shared: SharedMemories


def load_status(database: TeamDatabase) -> OrgStatus:
    """Loads the state of the team's work. Raises OrgError."""
    team = (database.team,)
    with database.open() as connection, connection.transaction():
        run = connection.execute
        states: dict[str, int] = dict(
            run("SELECT state, count(*) FROM extractions WHERE team = %s GROUP BY state", team).fetchall()
        )
        [(candidates, proposed, accepted)] = run(
            "SELECT count(*), count(*) FILTER (WHERE outcome = 'proposed' AND NOT accepted),"
            " count(*) FILTER (WHERE accepted) FROM candidates WHERE team = %s",
            team,
        ).fetchall()
        [(left, bytes_left)] = run(
            "SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM extractions WHERE team = %s AND ended_at IS NULL",
            team,
        ).fetchall()
        [(per_minute,)] = run(
            f"SELECT ({_PER_MINUTE})::float8 FROM extractions WHERE team = %s AND state <> 'cancelled'", team
        ).fetchall()
        [(today, total)] = run(
            "SELECT coalesce(sum(dollars) FILTER (WHERE day = current_date), 0)::float8,"
            " coalesce(sum(dollars), 0)::float8 FROM calls WHERE team = %s",
            team,
        ).fetchall()
        queues = run(
            "SELECT substring(queue FROM position('/' IN queue) + 1), count(*) FROM extractions"
            " WHERE team = %s AND ended_at IS NULL GROUP BY queue ORDER BY count(*) DESC, queue",
            team,
        ).fetchall()
        workers = run(
            "SELECT worker, count(*) FILTER (WHERE ended_at IS NOT NULL),"
            f" ({_PER_MINUTE})::float8, coalesce(max(session) FILTER (WHERE state = 'running'), '')"
            " FROM extractions WHERE team = %s AND worker <> '' GROUP BY worker"
            f" HAVING bool_or(state = 'running') OR max(ended_at) > now() - interval '{WORKER_MINUTES} minutes'"
            " ORDER BY worker",
            team,
        ).fetchall()
        failures = run(
            "SELECT key, session, project, state, tries, problem FROM extractions"
            " WHERE team = %s AND state = ANY(%s)"
            " ORDER BY array_position(%s, state), ended_at DESC NULLS FIRST, key LIMIT %s",
            (database.team, TOLD_STATES, TOLD_STATES, MAX_FAILURES),
        ).fetchall()
        reviewers = count_by_reviewer(connection, database.team)
        shared = count_shared(connection, database.team)
    return OrgStatus(
        team=database.team,
        states=states,
        candidates=candidates,
        proposed=proposed,
        accepted=accepted,
        bytes_left=bytes_left,
        per_minute=per_minute,
        seconds_left=left / per_minute * 60 if per_minute else None,
        today_usd=today,
        total_usd=total,
        queues=[QueueView(*row) for row in queues],
        workers=[WorkerView(*row) for row in workers],
        failures=[FailureView(*row) for row in failures],
        reviewers=reviewers,
        shared=shared,
    )


def retry_extractions(database: TeamDatabase, keys: list[str]) -> int:
    """Sends sessions without a result to the queue again, with fresh tries: those with these keys, or all. Returns how
    many. Raises OrgError."""
    with database.open() as connection:
        return connection.execute(
            "WITH again AS (UPDATE extractions SET state = 'waiting', tries = 0, problem = '', ended_at = NULL"
            " WHERE team = %(team)s AND state = ANY(%(states)s) AND (key = ANY(%(keys)s) OR %(keys)s = '{}')"
            " RETURNING key, queue)"
            " INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, args)"
            " SELECT queue, 'extract', %(team)s || ':' || key, jsonb_build_object('key', key) FROM again"
            " ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING",
            {"team": database.team, "states": list(ENDED_WITHOUT_RESULT), "keys": keys},
        ).rowcount


def cancel_extractions(database: TeamDatabase, project: str) -> int:
    """Takes the sessions that wait out of the queue: of one project, or all (""). Those being read are finished.
    Returns how many. Raises OrgError."""
    with database.open() as connection:
        return connection.execute(
            "WITH cancelled AS (UPDATE extractions SET state = 'cancelled', ended_at = now()"
            " WHERE team = %(team)s AND state = 'waiting' AND %(project)s IN ('', project) RETURNING key)"
            " UPDATE procrastinate_jobs SET status = 'cancelled' FROM cancelled"
            " WHERE queueing_lock = %(team)s || ':' || key AND status = 'todo'",
            {"team": database.team, "project": project},
        ).rowcount
