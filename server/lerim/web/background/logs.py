"""The server's log: `~/.lerim/server/server.log`, at most two files of a megabyte, without secrets."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from lerim.errors import ServerError, error_reason
from lerim.paths import Home
from lerim.project import make_private_folder

MAX_LOG_BYTES = 1_000_000
LOG_FILE = "server.log"
ErrorInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _SafeFormatter(logging.Formatter):
    """Formats a record on one line. Of an exception only the places are logged: its message may quote a transcript."""

    def format(self, record: logging.LogRecord) -> str:
        from lerim.redaction import redact_secrets

        return redact_secrets(super().format(record)).text

    def formatException(self, ei: ErrorInfo) -> str:  # noqa: N802 - the name of the base class
        places = "".join(traceback.format_tb(ei[2])) if ei[2] else ""
        return f"{ei[0].__name__ if ei[0] else 'Error'}\n{places}".rstrip()


class _PrivateFileHandler(RotatingFileHandler):
    """A log that its owner alone can read."""

    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202 - as in the base class
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return open(descriptor, self.mode, encoding=self.encoding)  # noqa: PTH123


def log_path(home: Home) -> Path:
    """Returns the path of the log of this home's server."""
    return home.server / LOG_FILE


def start_logging(home: Home) -> None:
    """Logs to the file, and also to standard error if that is a terminal. Raises ServerError."""
    formatter = _SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        make_private_folder(home, home.server)
        handlers: list[logging.Handler] = [
            _PrivateFileHandler(log_path(home), maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8")
        ]
    except OSError as error:
        message = f"The log cannot be written: {error_reason(error)}."
        raise ServerError(message, where=str(log_path(home)), todo="Make the folder writable for you.") from error
    if sys.stderr is not None and sys.stderr.isatty():
        handlers.append(logging.StreamHandler())
    root = logging.getLogger()
    for handler in handlers:
        handler.setFormatter(formatter)
        root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it logs each change
