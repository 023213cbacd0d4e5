"""A worker: takes jobs from the queue of its machine and its team, and does several of them at a time.

It takes over the jobs of workers that died. That needs no lock: two that do it at once take different jobs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import procrastinate
import psycopg
from procrastinate import exceptions, jobs, retry

from lerim.errors import OrgError
from lerim.org.machine import open_copies
from lerim.org.workers.reader_processes import Reader
from lerim.org.workers.reconciling import reconcile_project
from lerim.org.workers.results import begin_extraction, finish_extraction, put_back_extraction
from lerim.team import TeamDatabase, describe_address, keep_trying

STALLED_SECONDS = 30.0
"""After so many seconds without a sign of life a worker counts as dead, and its jobs are taken over."""
RECONNECT_SECONDS = 2.0
POLLING_SECONDS = 1.0
_AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)
"""A time in the past by any clock: those of two machines may differ by an hour."""

_STALLED = """
SELECT job.id FROM procrastinate_jobs AS job LEFT JOIN procrastinate_workers AS worker ON worker.id = job.worker_id
WHERE job.status = 'doing' AND split_part(job.queue_name, '/', 1) = %(team)s
    AND (worker.id IS NULL OR worker.last_heartbeat < now() - make_interval(secs => %(seconds)s))
ORDER BY job.id LIMIT 1 FOR UPDATE OF job SKIP LOCKED
"""

_SHOW_LIFE = """
UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id IN (
    SELECT worker_id FROM procrastinate_jobs
    WHERE status = 'doing' AND worker_id IS NOT NULL AND args->>'key' = ANY(%s) AND task_name = 'extract')
"""


class _NotNowError(Exception):
    """The job is to be done at another time; no worker waits for it."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        super().__init__()


class _LaterStrategy(retry.BaseRetryStrategy):
    """Schedules a job again: at the time it asked for, or soon if its worker or the database failed for another
    reason. An extraction counts its tries when it begins, so that a fault which stays quarantines it."""

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> retry.RetryDecision | None:
        if isinstance(exception, _NotNowError):
            return retry.RetryDecision(retry_at=exception.at)
        if isinstance(exception, OrgError) or job.task_name == "extract":
            return retry.RetryDecision(retry_at=_AT_ONCE)
        return None


@dataclass(slots=True)
class Worker:
    """One worker at work. `concurrency` sessions are read at once, each in a process of its own.

    `until_done`: it ends once no job of its machine or its team is left. `tell` is given a line for what a person
    should know. `copies` is the path of copies that it reads, too, "" for none. Only the main thread can run it.
    """

    database: TeamDatabase
    environ: Mapping[str, str]
    concurrency: int = 1
    until_done: bool = False
    stalled_seconds: float = STALLED_SECONDS
    tell: Callable[[str], None] = lambda line: None
    copies: str = ""
    queues: list[str] = field(init=False)
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    _readers: queue.SimpleQueue[Reader] = field(default_factory=queue.SimpleQueue, init=False)
    _working: asyncio.Task[None] | None = field(default=None, init=False)
    _at_hand: set[str] = field(default_factory=set, init=False)
    _is_stopped: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Chooses the queues it takes jobs from. Raises OrgError if there can be no copies at the path."""
        self.queues = [self.database.host_queue(socket.gethostname()), self.database.shared_queue]
        if self.copies:
            self.queues.append(self.database.host_queue(open_copies(self.copies).queue))

    def run(self) -> None:
        """Works until Ctrl-C or a request to end. Jobs in progress are finished first, unless it is asked twice. If
        the database goes away, the worker waits for it."""
        for name in ("procrastinate", "psycopg.pool"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # `lerim org status` shows what fails
        readers = [Reader(self.database, self.environ, self.copies) for _ in range(self.concurrency)]
        for reader in readers:
            self._readers.put(reader)
        try:
            asyncio.run(self._run())
        finally:
            for reader in readers:
                reader.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(self.concurrency + 2))
        look_after = asyncio.create_task(self._look_after_jobs())
        with _handle_signals(lambda: loop.call_soon_threadsafe(self._stop)):
            while not self._is_stopped:
                self._working = asyncio.create_task(self._work())
                try:
                    await self._working
                except asyncio.CancelledError:
                    if not self._is_stopped:
                        raise
                except (exceptions.ConnectorException, psycopg.Error, OrgError):
                    self.tell(f"The database {describe_address(self.database.url)} is away; waiting for it.")
                    await asyncio.sleep(RECONNECT_SECONDS)
        look_after.cancel()

    def _stop(self) -> None:
        self._is_stopped = True
        if self._working is not None:
            self._working.cancel()

    async def _work(self) -> None:
        """Works until it is cancelled, or the database goes away."""
        connector = procrastinate.PsycopgConnector(
            conninfo=self.database.address, min_size=1, max_size=self.concurrency + 4, timeout=RECONNECT_SECONDS * 5
        )
        app = procrastinate.App(connector=connector)
        app.task(name="extract", retry=_LaterStrategy())(self._extract)
        app.task(name="reconcile", retry=_LaterStrategy())(self._reconcile)
        async with app.open_async():
            watch = asyncio.create_task(self._watch_until_done()) if self.until_done else None
            try:
                await app.run_worker_async(
                    queues=self.queues,
                    concurrency=self.concurrency,
                    fetch_job_polling_interval=POLLING_SECONDS,
                    update_heartbeat_interval=self.stalled_seconds / 3,
                    stalled_worker_timeout=self.stalled_seconds,
                    delete_jobs="successful",
                    listen_notify=False,  # any user of the database can notify, and so abort the jobs of other teams
                    install_signal_handlers=False,
                )
            finally:
                if watch is not None:
                    watch.cancel()

    async def _extract(self, key: str) -> None:
        await asyncio.to_thread(self._extract_now, key)

    async def _reconcile(self, project: str) -> None:
        await asyncio.to_thread(reconcile_project, self.database, project)

    async def _look_after_jobs(self) -> None:
        """Gives signs of life for the jobs in progress, also while Procrastinate reconnects or ends, and takes over
        those of workers that died. This is not a periodic task of the queue, because those follow the clock of
        whichever machine is ahead."""
        while True:
            with suppress(OrgError):  # it is away; the next time is soon
                await asyncio.to_thread(show_life, self.database, list(self._at_hand))
                await asyncio.to_thread(rescue_stalled_jobs, self.database, self.stalled_seconds)
            await asyncio.sleep(self.stalled_seconds / 3)

    def _extract_now(self, key: str) -> None:
        extraction = begin_extraction(self.database, key, self.name)
        if extraction is None:
            return
        self._at_hand.add(key)
        reader, began = self._readers.get(), time.monotonic()
        try:
            result = reader.extract(extraction)
            seconds = time.monotonic() - began
            if result.state == "waiting":
                raise _NotNowError(keep_trying(lambda: put_back_extraction(self.database, key, result)))
            keep_trying(lambda: finish_extraction(self.database, extraction, result, seconds))
        finally:
            self._readers.put(reader)
            self._at_hand.discard(key)

    async def _watch_until_done(self) -> None:
        while not await asyncio.to_thread(self._is_done):  # noqa: ASYNC110 - other workers end the work, too
            await asyncio.sleep(POLLING_SECONDS / 2)
        self._stop()

    def _is_done(self) -> bool:
        try:
            with self.database.open() as connection:
                row = connection.execute(
                    "SELECT 1 FROM procrastinate_jobs WHERE queue_name = ANY(%s)"
                    " AND status IN ('todo', 'doing') LIMIT 1",
                    (self.queues,),
                ).fetchone()
        except OrgError:  # it is away; the worker waits for it
            return False
        return row is None


@contextmanager
def _handle_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Calls `stop` at the first SIGINT or SIGTERM; a second one ends the process as usual."""

    def handle(number: int, frame: object) -> None:
        signal.signal(number, before[number])
        stop()

    numbers: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def show_life(database: TeamDatabase, keys: list[str]) -> None:
    """Records that this process is alive and works on the jobs of these extractions. Raises OrgError."""
    if keys:
        database.execute(_SHOW_LIFE, (keys,))


def rescue_stalled_jobs(database: TeamDatabase, stalled_seconds: float) -> int:
    """Puts back every job whose worker gave no sign of life for so long. Returns how many. Only the database's clock
    counts. Raises OrgError."""
    count = 0
    with database.open() as connection:
        while _rescue_one(connection, database.team, stalled_seconds):
            count += 1
    return count


def _rescue_one(connection: psycopg.Connection, team: str, stalled_seconds: float) -> bool:
    """Puts one stalled job back, or ends it if the same job waits already. Returns False if there is none."""
    with connection.transaction():
        row = connection.execute(_STALLED, {"team": team, "seconds": stalled_seconds}).fetchone()
        if row is None:
            return False
        try:
            with connection.transaction():
                connection.execute("SELECT procrastinate_retry_job_v2(%s, now(), NULL, NULL, NULL)", row)
        except psycopg.errors.UniqueViolation:
            connection.execute("SELECT procrastinate_finish_job_v1(%s, 'failed', true)", row)
    return True
