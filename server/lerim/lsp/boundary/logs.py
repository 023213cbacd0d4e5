"""Logging: one line per record, sent to the editor's log channel, or to stderr before the editor is connected.

The log never contains the text of a memory. Our own records hold codes, counts and paths. Records of pygls quote
messages, so only their templates are logged.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable

LineSender = Callable[[int, str], None]
"""Called with an LSP message type (1 is error, 4 is log) and a line."""

LEVELS = ((logging.ERROR, 1), (logging.WARNING, 2), (logging.INFO, 3))


class EditorHandler(logging.Handler):
    """Sends log records to the editor from any thread; before `connect`, writes them to stderr."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._send: LineSender | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def connect(self, loop: asyncio.AbstractEventLoop, send: LineSender) -> None:
        """Sends later records through `send`, called on the loop's thread."""
        self._loop, self._send = loop, send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = safe_line(record)
            level = next((number for min_level, number in LEVELS if record.levelno >= min_level), 4)
            if self._loop is not None and self._send is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._send, level, line)
            else:
                sys.stderr.write(f"{record.levelname.lower()}: {line}\n")
        except Exception:
            self.handleError(record)


class TemplateHandler(logging.Handler):
    """Writes warnings and errors of pygls to stderr as templates: their arguments and tracebacks quote messages."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if type(error).__name__.startswith("JsonRpc"):
            return  # the client gets this error as the answer to its request
        kind = f" ({type(error).__name__})" if error else ""
        sys.stderr.write(f"pygls: {str(record.msg)[:200]}{kind}\n")


def safe_line(record: logging.LogRecord) -> str:
    """Formats a record as one line of bounded length, with the type of its exception but not the exception's text."""
    error = record.exc_info[0] if record.exc_info else None
    text = record.getMessage() + (f" ({error.__name__})" if error else "")
    return " ".join(text.split())[:1000]


def start_logging() -> EditorHandler:
    """Sets up the loggers. Returns the handler, to be connected once the editor accepts log messages."""
    handler = EditorHandler()
    lerim_logger = logging.getLogger("lerim")
    lerim_logger.handlers[:] = [handler]
    lerim_logger.setLevel(logging.INFO)
    lerim_logger.propagate = False
    pygls_logger = logging.getLogger("pygls")
    pygls_logger.handlers[:] = [TemplateHandler()]
    pygls_logger.setLevel(logging.WARNING)
    pygls_logger.propagate = False
    return handler
