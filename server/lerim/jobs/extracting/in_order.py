"""Extracts the sessions of a queue in its order, several at a time if there is a pool of processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from functools import partial

from lerim.errors import StoppedError
from lerim.jobs.extracting.extract_session import ExtractedSession, ExtractionRequest, extract_session
from lerim.jobs.extracting.process_pool import ProcessPool
from lerim.sessions import QueueJob

_POLL_SECONDS = 0.1
"""How often a cancellation is looked for while a process is waited for."""
Extraction = Callable[[], ExtractedSession]
"""Returns what was learned from a session, or raises the error that prevented it."""


@dataclass(slots=True)
class OrderedExtraction:
    """Extracts the sessions of jobs, which are claimed a little ahead of the one that is handled.

    `pool` may be None: then each session is extracted when its turn comes. With a pool and `helps`, this process
    extracts sessions too while it waits. `put_back` returns a claimed job that was not handled to the queue.
    """

    pool: ProcessPool | None
    helps: bool
    make_request: Callable[[QueueJob], ExtractionRequest]
    put_back: Callable[[QueueJob], None]
    cancelled: Callable[[], bool]

    def run(self, jobs: Iterable[QueueJob]) -> Generator[tuple[QueueJob, Extraction], None, None]:
        """Yields each job with a function that returns what was learned from its session, in the order of the jobs.

        Close the iterator, so that jobs claimed ahead are put back. Raises StoppedError once `cancelled`.
        """
        claimed, pool = iter(jobs), None
        waiting: deque[tuple[QueueJob, Extraction | Future[ExtractedSession | None]]] = deque()
        try:
            while True:
                while len(waiting) < (self.pool.ahead if self.pool else 1) and (job := next(claimed, None)):
                    waiting.append((job, self._start(job, pool)))
                    pool = self.pool  # the first session is extracted here: the processes are still starting
                if not waiting:
                    return
                job, extraction = waiting[0]
                if isinstance(extraction, Future):
                    if not extraction.done() and self.helps and self._extract_one_of(waiting):
                        continue
                    self._wait(extraction)
                    extraction = partial(self._take, job, extraction)
                waiting.popleft()
                yield job, extraction
        finally:
            for job, _ in waiting:
                self.put_back(job)

    def _start(self, job: QueueJob, pool: ProcessPool | None) -> Extraction | Future[ExtractedSession | None]:
        # A session in a database is read from a copy that this process shares with all of that database.
        if pool is None or job.transcript.store_key:
            return partial(self._extract, job)
        return pool.submit(self.make_request(job))

    def _extract(self, job: QueueJob) -> ExtractedSession:
        return extract_session(self.make_request(job), self.cancelled)

    def _extract_one_of(self, waiting: deque[tuple[QueueJob, Extraction | Future[ExtractedSession | None]]]) -> bool:
        for at, (job, extraction) in enumerate(waiting):
            if isinstance(extraction, Future) and extraction.cancel():
                own: Future[ExtractedSession | None] = Future()
                waiting[at] = (job, own)
                try:
                    own.set_result(self._extract(job))
                except StoppedError:
                    raise
                except Exception as error:
                    own.set_exception(error)
                return True
        return False

    def _wait(self, extraction: Future[ExtractedSession | None]) -> None:
        while not extraction.done():
            if self.cancelled():
                raise StoppedError
            wait_for([extraction], timeout=_POLL_SECONDS)

    def _take(self, job: QueueJob, extraction: Future[ExtractedSession | None]) -> ExtractedSession:
        return extraction.result() or self._extract(job)
