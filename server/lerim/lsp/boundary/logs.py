"""The log: one line a record, to the editor's log channel once it listens, to stderr before. Never a memory's text.

Our own records name codes, counts and paths. pygls' records quote messages, so that of them only the template is kept.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable

Send = Callable[[int, str], None]
"""Takes an LSP message type (1 error … 4 log) and a line."""

LEVELS = ((logging.ERROR, 1), (logging.WARNING, 2), (logging.INFO, 3))


class EditorHandler(logging.Handler):
    """Sends records to the editor from any thread; before `connect`, writes them to stderr."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._send: Send | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def connect(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        """From now on records go to `send`, on the loop's thread."""
        self._loop, self._send = loop, send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = safe_line(record)
            level = next((number for least, number in LEVELS if record.levelno >= least), 4)
            if self._loop is not None and self._send is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._send, level, line)
            else:
                sys.stderr.write(f"{record.levelname.lower()}: {line}\n")
        except Exception:
            self.handleError(record)


class TemplateHandler(logging.Handler):
    """pygls' warnings and errors on stderr, as templates: their arguments and tracebacks hold messages."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if type(error).__name__.startswith("JsonRpc"):
            return  # answered to the client, with its text
        kind = f" ({type(error).__name__})" if error else ""
        sys.stderr.write(f"pygls: {str(record.msg)[:200]}{kind}\n")


def safe_line(record: logging.LogRecord) -> str:
    """The record as one bounded line, with the type of its exception and never the exception's text."""
    error = record.exc_info[0] if record.exc_info else None
    text = record.getMessage() + (f" ({error.__name__})" if error else "")
    return " ".join(text.split())[:1000]


def start_logging() -> EditorHandler:
    """Sets the loggers up; returns the handler to connect when the editor listens."""
    handler = EditorHandler()
    ours = logging.getLogger("lerim")
    ours.handlers[:] = [handler]
    ours.setLevel(logging.INFO)
    ours.propagate = False
    theirs = logging.getLogger("pygls")
    theirs.handlers[:] = [TemplateHandler()]
    theirs.setLevel(logging.WARNING)
    theirs.propagate = False
    return handler
