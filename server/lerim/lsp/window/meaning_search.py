"""The window's process that searches by meaning. It is started by the first such search, and again after it ended."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from lerim.errors import LerimError, error_reason
from lerim.memory import MeaningAnswer, MeaningQuery
from lerim.process import build_lerim_launch

ANSWER_SECONDS = 20.0
"""How long an answer may take, with loading the model: about a second."""
_MAX_LINE = 1_000_000


class MeaningSearchError(LerimError):
    """The process that searches by meaning could not be started, ended, or refused."""


class MeaningSearch:
    """Asks one question at a time, of one process. Blocking, and safe across threads."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._python = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopping = False

    def ask(self, python: str, query: MeaningQuery) -> MeaningAnswer:
        """Returns the answer of the process, which runs with this Python. Raises MeaningSearchError."""
        with self._lock:
            try:
                answer = self._exchange_with_living(python, query)
            except (OSError, msgspec.MsgspecError) as error:
                self._end_process()
                reason = error_reason(error) if isinstance(error, OSError) else "its process ended"
                raise MeaningSearchError(
                    f"The search by meaning failed: {reason}.", todo="The next search starts it again."
                ) from error
        if answer.problem:
            raise MeaningSearchError(answer.problem)
        return answer

    def stop(self) -> None:
        """Ends the process, if it runs, also while it answers."""
        self._is_stopping = True
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end_process()
            self._is_stopping = False

    def _exchange_with_living(self, python: str, query: MeaningQuery) -> MeaningAnswer:
        """Asks again, of a new process, if the one of the last question turns out to have ended since."""
        was_running = self._process is not None
        try:
            return self._exchange(python, query)
        except (OSError, msgspec.MsgspecError) as error:
            if not was_running or self._is_stopping or isinstance(error, TimeoutError):
                raise
            self._end_process()
            return self._exchange(python, query)

    def _exchange(self, python: str, query: MeaningQuery) -> MeaningAnswer:
        process = self._process
        if process is None or process.poll() is not None or self._python != python:
            self._end_process()
            launch = build_lerim_launch(["meaning"], python, self._environ)
            process = self._process = subprocess.Popen(
                launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=launch.environ,
                creationflags=launch.creationflags,
                start_new_session=launch.new_session,
            )
            self._python = python
        assert process.stdin is not None
        assert process.stdout is not None
        began = time.monotonic()
        hung = threading.Timer(ANSWER_SECONDS, process.kill)
        hung.daemon = True
        hung.start()
        try:
            process.stdin.write(msgspec.json.encode(query) + b"\n")
            process.stdin.flush()
            return msgspec.json.decode(process.stdout.readline(_MAX_LINE), type=MeaningAnswer)
        except (OSError, msgspec.MsgspecError) as error:
            if time.monotonic() - began >= ANSWER_SECONDS:
                raise TimeoutError(f"it did not answer within {ANSWER_SECONDS:.0f} seconds") from error
            raise
        finally:
            hung.cancel()

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # what it was sent last could not be written
                    stream.close()
        process.wait()
