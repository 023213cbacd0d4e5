"""Sends this machine's sessions to the queue, each once, and estimates beforehand how long that takes and what it
costs."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from lerim.errors import LerimError, OrgError, Problem
from lerim.models import Model
from lerim.org.machine import COPY_MARK, CopyFolder, ExtractionKey, LocalSessions, hash_content, hash_place
from lerim.org.paying import Estimate, estimate_work
from lerim.project import Project
from lerim.sessions import Transcript, find_settling_time
from lerim.team import TeamDatabase, name_project

BATCH = 500
"""How many sessions are sent in one transaction."""

_SEND = """
WITH sent AS (
    INSERT INTO extractions (team, key, project, queue, session, place_hash, content_hash, model, bytes)
    SELECT %(team)s, * FROM unnest(%(keys)s::text[], %(projects)s::text[], %(queues)s::text[], %(sessions)s::text[],
        %(places)s::text[], %(hashes)s::text[], %(models)s::text[], %(sizes)s::bigint[])
    ON CONFLICT DO NOTHING RETURNING key, queue, session, place_hash
), replaced AS ( -- of a session that had changed, this is what it holds now
    DELETE FROM extractions AS old USING sent WHERE old.team = %(team)s AND old.state = 'changed'
        AND (old.session, old.place_hash) = (sent.session, sent.place_hash)
)
INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, args)
SELECT queue, 'extract', %(team)s || ':' || key, jsonb_build_object('key', key) FROM sent
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
"""
"""Inserts a row and its job in one statement, so that neither exists without the other."""


_SEEN = """
SELECT key FROM extractions WHERE team = %(team)s AND NOT CASE
    WHEN %(is_copied)s THEN state IN ('failed', 'gone') OR (state = 'waiting' AND queue <> %(queue)s)
    ELSE ended_at IS NULL AND queue <> %(queue)s AND NOT starts_with(queue, %(copies)s) AND EXISTS (
        SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = %(team)s || ':' || key AND status = 'todo')
END
"""
"""With a queue of copies, a session counts as sent only if it has a result or is in that queue. With the queue of this
machine, one that waits in the queue of another does not count: it is here, and that may be this machine's old name."""

_TAKE_OVER_SENT = """
WITH given AS (
    SELECT * FROM unnest(%(keys)s::text[], %(places)s::text[]) AS one (key, place)
), moved AS ( -- a job that a worker has begun stays where it is
    UPDATE procrastinate_jobs SET queue_name = %(queue)s FROM given
    WHERE queueing_lock = %(team)s || ':' || given.key AND status = 'todo' RETURNING given.key
), again AS (
    UPDATE extractions AS own
    SET queue = %(queue)s, place_hash = place, state = 'waiting', tries = 0, problem = '', ended_at = NULL FROM given
    WHERE team = %(team)s AND own.key = given.key
        AND (state IN ('failed', 'gone') OR own.key IN (SELECT key FROM moved)) RETURNING own.key
), sent AS (
    INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, args)
    SELECT %(queue)s, 'extract', %(team)s || ':' || key, jsonb_build_object('key', key) FROM again
    WHERE key NOT IN (SELECT key FROM moved)
    ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
)
SELECT count(*) FROM again
"""
"""Sessions that were sent to another queue before, without a result: their jobs go to this one."""


class BackfillPlanView(msgspec.Struct, frozen=True):
    """What a backfill found on this machine: `sessions` of repositories, of which `new` are to be sent and `known` were
    sent before. `elsewhere` belong to no repository of this machine, `unsettled` are still being written. `model` is
    the label of the one that is asked, "" for none."""

    sessions: int
    bytes: int
    new: int
    known: int
    elsewhere: int
    unsettled: int
    projects: dict[str, int]
    model: str
    estimate: Estimate
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class BackfillScope:
    """Which sessions a backfill takes: those of these repositories (of all, if there are none) that were written to
    since a time, to be read with a model. `copies` is where redacted copies of them are put, for workers on any
    machine."""

    projects: Sequence[Project]
    since: datetime | None
    model: Model | None = None
    copies: CopyFolder | None = None


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to be sent, with the project it belongs to."""

    key: ExtractionKey
    transcript: Transcript
    project: Project


@dataclass(slots=True)
class SendPlan:
    """What `plan_sessions` found; `send_plan` sends it."""

    scope: BackfillScope
    new: list[NewSession] = field(default_factory=list)
    known: int = 0
    known_bytes: int = 0
    elsewhere: int = 0
    unsettled: int = 0
    problems: list[Problem] = field(default_factory=list)

    def view(self, here: LocalSessions, database: TeamDatabase) -> BackfillPlanView:
        """Returns the plan for people, with an estimate of its time and price. Raises OrgError."""
        new_bytes = sum(one.transcript.size for one in self.new)
        return BackfillPlanView(
            sessions=len(self.new) + self.known,
            bytes=new_bytes + self.known_bytes,
            new=len(self.new),
            known=self.known,
            elsewhere=self.elsewhere,
            unsettled=self.unsettled,
            projects=dict(Counter(one.key.project for one in self.new)),
            model=self.scope.model.label if self.scope.model else "",
            estimate=estimate_work(
                [(one.transcript, one.project) for one in self.new], here, self.scope.model, database
            ),
            problems=list(dict.fromkeys([*here.problems, *self.problems])),
        )


def plan_sessions(
    database: TeamDatabase,
    here: LocalSessions,
    scope: BackfillScope,
    now: datetime,
    cancelled: Callable[[], bool] = lambda: False,
    emit: Callable[[int, int], None] = lambda done, total: None,
) -> SendPlan:
    """Finds the sessions that are over and were not sent with the same content before, the newest first.

    A session that cannot be read becomes a problem. Raises OrgError.
    """
    plan, wanted = SendPlan(scope), {project.key for project in scope.projects}
    with database.open() as connection:
        values = {
            "team": database.team,
            "queue": _choose_queue(database, scope.copies),
            "is_copied": scope.copies is not None,
            "copies": database.host_queue(COPY_MARK),
        }
        rows = connection.execute(_SEEN.encode(), values)
        seen = {key for (key,) in rows}
    least = scope.since.timestamp() * 1e9 if scope.since else 0
    transcripts = [one for one in here.list_transcripts() if one.mtime_ns >= least]
    for number, transcript in enumerate(sorted(transcripts, key=lambda one: one.mtime_ns, reverse=True)):
        if cancelled():
            break
        emit(number, len(transcripts))
        project = here.find_project(transcript)
        if project is None or (wanted and project.key not in wanted):
            plan.elsewhere += project is None
        elif find_settling_time(transcript.mtime_ns / 1e9, now.timestamp()) is not None:
            plan.unsettled += 1
        else:
            try:
                content = hash_content(transcript)
            except LerimError as error:
                plan.problems.append(error.problem(transcript.place))
                continue
            session, model = f"{transcript.platform}:{transcript.session_id}", scope.model
            key = ExtractionKey(session, content, name_project(project), model.label if model else "")
            if key.digest() in seen:
                plan.known, plan.known_bytes = plan.known + 1, plan.known_bytes + transcript.size
            else:
                seen.add(key.digest())
                plan.new.append(NewSession(key, transcript, project))
    return plan


def send_plan(
    database: TeamDatabase,
    plan: SendPlan,
    here: LocalSessions,
    cancelled: Callable[[], bool] = lambda: False,
    emit: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Sends what a plan found to the queue of this machine; with `copies`, writes a copy of each session first, and
    sends it to the queue of those. Returns how many were sent; sending again sends nothing. Raises OrgError.

    A session that cannot be copied becomes a problem of the plan.
    """
    copies = plan.scope.copies
    queue, sent = _choose_queue(database, copies), 0
    names = ("keys", "projects", "queues", "sessions", "places", "hashes", "models", "sizes")
    with database.open() as connection:
        for start in range(0, len(plan.new), BATCH):
            rows = []
            for number, one in enumerate(plan.new[start : start + BATCH], start):
                if cancelled():
                    break
                emit(number, len(plan.new))
                try:
                    rows.append(_make_row(one, queue, _place(one, here, copies)))
                except OrgError:
                    raise
                except LerimError as error:
                    plan.problems.append(error.problem(one.transcript.place))
            if not rows:
                continue
            columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
            values = {"team": database.team, "queue": queue, **columns}
            sent += (connection.execute(_TAKE_OVER_SENT.encode(), values).fetchone() or (0,))[0]
            sent += connection.execute(_SEND, values).rowcount
    return sent


def _choose_queue(database: TeamDatabase, copies: CopyFolder | None) -> str:
    return database.host_queue(copies.queue if copies else socket.gethostname())


def _place(one: NewSession, here: LocalSessions, copies: CopyFolder | None) -> str:
    if copies is None:
        return hash_place(one.transcript)
    return copies.write(one.transcript, one.project, here.owners_for(one.project))


def _make_row(one: NewSession, queue: str, place: str) -> tuple[str, str, str, str, str, str, str, int]:
    key, transcript = one.key, one.transcript
    return (key.digest(), key.project, queue, key.session, place, key.content_hash, key.model, transcript.size)
