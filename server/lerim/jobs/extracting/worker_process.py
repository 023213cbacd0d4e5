"""A process that extracts sessions for a sync, one after another: `lerim worker extract`, started by `process_pool.py`.

It reads pickled requests from stdin and writes a pickled reply to each to stdout; both ends are Lerim's own. It has no
state that could be lost, so it may be killed at any time, and it ends as soon as its parent has.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from queue import SimpleQueue
from typing import BinaryIO, TypeAlias

from lerim.errors import LerimError
from lerim.jobs.extracting.extract_session import ExtractedSession, ExtractionRequest, extract_session
from lerim.streams import claim_streams

READY = "ready"
"""The first reply, before any request: the process has started."""
ExtractionReply: TypeAlias = ExtractedSession | LerimError | None
"""The result, or the error of this session; None if something unexpected happened, so that the parent tries itself."""


def run_extraction_process() -> int:
    """Answers requests until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the whole group; the parent ends this process
    source, output = claim_streams()
    requests: SimpleQueue[ExtractionRequest] = SimpleQueue()
    threading.Thread(target=_read_requests, args=(source, requests), daemon=True, name="parent").start()
    _write(output, READY)
    while True:
        _write(output, _reply_to(requests.get()))


def _read_requests(source: BinaryIO, requests: SimpleQueue[ExtractionRequest]) -> None:
    """Passes requests on, and exits the process at the end of input, also in the middle of a session."""
    try:
        while True:
            requests.put(pickle.load(source))
    finally:
        os._exit(0)


def _reply_to(request: ExtractionRequest) -> ExtractionReply:
    try:
        return extract_session(request)
    except LerimError as error:
        return error
    except Exception:
        return None


def _write(output: BinaryIO, reply: ExtractionReply | str) -> None:
    """Writes one reply. If the parent has closed the pipe, exits the process."""
    try:
        output.write(pickle.dumps(reply))
        output.flush()
    except OSError:
        os._exit(1)
