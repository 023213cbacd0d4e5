"""The processes in which sessions are read: a session that kills its reader kills none of the worker's other jobs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from lerim.errors import OrgError, error_reason
from lerim.org.workers.results import ExtractionResult

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from lerim.org.workers.results import BegunExtraction
    from lerim.team import TeamDatabase

START_AGAIN_SECONDS = 30.0
"""After how many seconds a session is tried again if no process could be started: the machine is short of something."""


class ReaderDiedError(OrgError):
    """The process that read a session has died: because of the session, or because somebody killed it."""


@dataclass(slots=True)
class Reader:
    """A process that reads one session after another; it is started at the first, and again after it died. One thread
    at a time may use it."""

    database: TeamDatabase
    environ: Mapping[str, str]
    copies: str = ""
    _process: SpawnProcess | None = None
    _pipe: Connection | None = None

    def extract(self, extraction: BegunExtraction) -> ExtractionResult:
        """Returns the outcome of an extraction. Raises ReaderDiedError."""
        if self._process is None or self._pipe is None or not self._process.is_alive():
            try:
                self._start()
            except OSError as error:
                why = f"The process that reads sessions could not be started: {error_reason(error)}."
                return ExtractionResult("waiting", problem=why, again_in=START_AGAIN_SECONDS)
        assert self._pipe is not None and self._process is not None
        try:
            self._pipe.send(extraction)
            result: ExtractionResult = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join()
            code, self._process = self._process.exitcode, None
            raise ReaderDiedError(f"The process that read it has died (exit code {code}).") from error
        return result

    def close(self) -> None:
        """Ends the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, self.database, dict(self.environ), self.copies)
        process = context.Process(target=serve_extractions, args=arguments, daemon=True)
        process.start()
        self._process = process
        theirs.close()


def serve_extractions(pipe: Connection, database: TeamDatabase, environ: Mapping[str, str], copies: str) -> None:
    """Extracts from what comes through the pipe until it closes. Ends at once when the worker dies."""
    from lerim.org.workers.local_extractor import LocalExtractor

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the worker, which lets its jobs end
    threading.Thread(target=_die_with_parent, daemon=True).start()
    extractor = LocalExtractor(database, environ, copies)
    with suppress(EOFError, ConnectionError):  # the worker has ended
        while True:
            extraction: BegunExtraction = pipe.recv()
            pipe.send(extractor.extract(extraction))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
