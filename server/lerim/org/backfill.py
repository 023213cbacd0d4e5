"""Sends this machine's sessions to the queue, once each, and says before what that takes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from lerim.errors import LerimError, Problem
from lerim.org.database import TeamDatabase
from lerim.org.extraction import ExtractionKey
from lerim.org.sessions_here import SessionsHere, hash_content, hash_place, name_project
from lerim.project import Project
from lerim.sessions import Transcript, find_settling_time

BATCH = 500
"""How many sessions are sent in one transaction."""

_SEND = """
WITH sent AS (
    INSERT INTO extractions (team, key, project, queue, session, place_hash, content_hash, model, bytes)
    SELECT %(team)s, * FROM unnest(%(keys)s::text[], %(projects)s::text[], %(queues)s::text[], %(sessions)s::text[],
        %(places)s::text[], %(hashes)s::text[], %(models)s::text[], %(sizes)s::bigint[])
    ON CONFLICT DO NOTHING RETURNING key, queue
), queued AS (
    INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, args)
    SELECT queue, 'extract', %(team)s || ':' || key, jsonb_build_object('key', key) FROM sent
    ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
)
SELECT count(*) FROM sent
"""
"""A row and its job in one statement: neither is ever without the other."""


class BackfillCounts(msgspec.Struct, frozen=True):
    """What a backfill found on this machine and sent. `known` were sent before, `elsewhere` belong to no repository of
    this machine, `unsettled` are still being written."""

    sessions: int
    bytes: int
    sent: int
    known: int
    elsewhere: int
    unsettled: int
    projects: dict[str, int]
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class BackfillScope:
    """Which sessions a backfill takes: of these repositories (none: of all), written to since a time, with a model."""

    projects: Sequence[Project]
    since: datetime | None
    model: str = ""


def send_sessions(
    database: TeamDatabase,
    here: SessionsHere,
    scope: BackfillScope,
    now: datetime,
    *,
    dry_run: bool,
    cancelled: Callable[[], bool] = lambda: False,
    emit: Callable[[int, int], None] = lambda done, total: None,
) -> BackfillCounts:
    """Send every session that is over and was not sent with the same content before; with `dry_run` only count.

    A session that cannot be read becomes a problem. Sending again is harmless: the key of a job is a hash of what it
    depends on. Raises OrgError.
    """
    transcripts = _select_transcripts(here, scope)
    counted = _Counts()
    wanted = {project.key for project in scope.projects}
    with database.open() as connection:
        known = {key for (key,) in connection.execute("SELECT key FROM extractions WHERE team = %s", (database.team,))}
        queue = database.host_queue(socket.gethostname())
        found = counted.find(here, transcripts, wanted, scope.model, now, cancelled, emit)
        for batch in _split(found, known, counted):
            if not dry_run:
                columns = list(zip(*(one.columns(queue) for one in batch), strict=True))
                names = ("keys", "projects", "queues", "sessions", "places", "hashes", "models", "sizes")
                values = {"team": database.team, **dict(zip(names, map(list, columns), strict=True))}
                connection.execute(_SEND, values)
    return counted.report(here.problems)


@dataclass(frozen=True, slots=True)
class _Found:
    key: ExtractionKey
    transcript: Transcript

    def columns(self, queue: str) -> tuple[str, str, str, str, str, str, str, int]:
        key = self.key
        place, size = hash_place(self.transcript), self.transcript.size
        return (key.digest(), key.project, queue, key.session, place, key.content_hash, key.model, size)


class _Counts:
    def __init__(self) -> None:
        self.sessions = self.bytes = self.sent = self.known = self.elsewhere = self.unsettled = 0
        self.projects: dict[str, int] = {}
        self.problems: list[Problem] = []

    def find(
        self,
        here: SessionsHere,
        transcripts: Sequence[Transcript],
        wanted: Collection[str],
        model: str,
        now: datetime,
        cancelled: Callable[[], bool],
        emit: Callable[[int, int], None],
    ) -> Iterator[_Found]:
        for number, transcript in enumerate(transcripts):
            if cancelled():
                return
            emit(number, len(transcripts))
            project = here.find_project(transcript)
            if project is None or (wanted and project.key not in wanted):
                self.elsewhere += project is None
                continue
            if find_settling_time(transcript.mtime_ns / 1e9, now.timestamp()) is not None:
                self.unsettled += 1
                continue
            session = f"{transcript.platform}:{transcript.session_id}"
            try:
                content = hash_content(transcript)
            except LerimError as error:
                self.problems.append(error.problem(transcript.place))
                continue
            yield _Found(ExtractionKey(session, content, name_project(project), model), transcript)

    def report(self, problems: Sequence[Problem]) -> BackfillCounts:
        return BackfillCounts(
            self.sessions,
            self.bytes,
            self.sent,
            self.known,
            self.elsewhere,
            self.unsettled,
            self.projects,
            list(dict.fromkeys([*problems, *self.problems])),
        )


def _select_transcripts(here: SessionsHere, scope: BackfillScope) -> list[Transcript]:
    """Return the transcripts written to since the time of the scope, the newest first."""
    least = scope.since.timestamp() * 1e9 if scope.since else 0
    chosen = [one for one in here.list_transcripts() if one.mtime_ns >= least]
    return sorted(chosen, key=lambda one: one.mtime_ns, reverse=True)


def _split(found: Iterator[_Found], known: Collection[str], counted: _Counts) -> Iterator[list[_Found]]:
    """Yield batches of the sessions that are new, each once, and count all."""
    batch: list[_Found] = []
    seen = set(known)
    for one in found:
        counted.sessions += 1
        counted.bytes += one.transcript.size
        digest = one.key.digest()
        if digest in seen:
            counted.known += 1
            continue
        seen.add(digest)
        counted.sent += 1
        counted.projects[one.key.project] = counted.projects.get(one.key.project, 0) + 1
        batch.append(one)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
