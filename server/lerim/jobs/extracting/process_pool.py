"""Processes that extract sessions beside the one that writes (docs/decisions/0068-sessions-in-processes.md).

Ordinary syncs read a few new turns and need none: starting a process costs as much as reading about a megabyte.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

from lerim.errors import LerimError, ReaderError
from lerim.jobs.extracting.extract_session import ExtractedSession, ExtractionRequest
from lerim.jobs.extracting.worker_process import READY, ExtractionReply
from lerim.process import build_lerim_launch

log = logging.getLogger("lerim.jobs")

MIN_POOL_BYTES = 12_000_000
"""The least number of bytes, waiting to be read from the beginning, for which processes are worth starting: some
seconds of work. This is more than the first batch of a first sync, because on a busy machine they would delay the
first candidate."""
MAX_PROCESSES = 3
"""With more, the writer could not keep up, and all together would need more than 250 MB."""
SESSIONS_AHEAD = 8
"""How many sessions a process may be ahead of the writer, which bounds the results in memory. With fewer, processes
wait while the writer extracts a long session itself."""
MIN_HANG_SECONDS = 120.0
HANG_BYTES_PER_SECOND = 20_000
"""A session that takes longer than this is taken as hanging, and its process is killed. A slow machine reads a hundred
times faster."""
_DIED = "The process that read this session ended before it had finished."
_HUNG = "This session took too long to read."


@dataclass(slots=True)
class _Child:
    """One process. `is_ready`: it has started, so if it ends now, that is because of a session."""

    process: subprocess.Popen[bytes]
    is_ready: bool = False
    has_hung: bool = False

    def kill_hanging(self) -> None:
        self.has_hung = True
        self.process.kill()


class ProcessPool:
    """Extracts sessions in `size` processes. Close it at the end; that ends the processes, whatever they are doing."""

    def __init__(self, size: int) -> None:
        self.ahead = SESSIONS_AHEAD * size
        """How many sessions to submit before the first result is taken."""
        self._is_closed = False
        self._children: list[_Child] = []
        self._idle: SimpleQueue[_Child | None] = SimpleQueue()
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="extraction")
        for _ in range(size):
            self._idle.put(self._start_child())

    def submit(self, request: ExtractionRequest) -> Future[ExtractedSession | None]:
        """Extracts a session in one of the processes, in turn. The result is None if none of them can: then extract
        it in this process. Its error is that of the session; if the process was killed, for example because it took
        too long, it is a ReaderError."""
        return self._threads.submit(self._extract, request)

    def close(self) -> None:
        """Ends all processes at once."""
        self._is_closed = True
        for child in [*self._children]:
            child.process.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in [*self._children]:
            _end_child(child)

    def _extract(self, request: ExtractionRequest) -> ExtractedSession | None:
        child = self._idle.get()
        if child is None or self._is_closed:
            self._idle.put(child)
            return None
        try:
            reply = _exchange(child, request)
        except (OSError, EOFError, pickle.UnpicklingError):
            _end_child(child)
            # What does not even start is not started again.
            self._idle.put(self._start_child() if child.is_ready and not self._is_closed else None)
            if not child.is_ready or self._is_closed:
                return None
            message = _HUNG if child.has_hung else _DIED
            raise ReaderError(message, where=request.transcript.place, todo="It is tried again.") from None
        self._idle.put(child)
        if isinstance(reply, LerimError):
            raise reply
        return reply

    def _start_child(self) -> _Child | None:
        launch = build_lerim_launch(["worker", "extract"], sys.executable, os.environ)
        try:
            # It stays in this process's group, so that what kills the group kills it too.
            process = subprocess.Popen(
                launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=launch.environ,
                creationflags=launch.creationflags,
            )
        except OSError as error:
            log.warning("No process could be started to extract sessions: %s.", error.strerror)
            return None
        child = _Child(process)
        self._children.append(child)
        return child


def _exchange(child: _Child, request: ExtractionRequest) -> ExtractionReply:
    """Sends a request and returns the reply. Raises OSError or EOFError if the process ends."""
    source, output = child.process.stdin, child.process.stdout
    assert source is not None
    assert output is not None
    with _kill_after(child, MIN_HANG_SECONDS + request.transcript.size / HANG_BYTES_PER_SECOND):
        if not child.is_ready:
            child.is_ready = pickle.load(output) == READY
        pickle.dump(request, source)
        source.flush()
        reply: ExtractionReply = pickle.load(output)
        return reply


@contextlib.contextmanager
def _kill_after(child: _Child, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, child.kill_hanging)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end_child(child: _Child) -> None:
    child.process.kill()
    for stream in (child.process.stdin, child.process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # what it was sent last could not be written
                stream.close()
    child.process.wait()


def count_processes() -> int:
    """Returns how many processes a pool should have: one less than the processors this process may use, because it
    works too."""
    if sys.platform == "linux":
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return min(processors - 1, MAX_PROCESSES)
