"""Recognizes errors caused by a Lerim home that cannot be read or written. Commands, requests and jobs all report them
with the same message."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from lerim.errors import LerimError, SettingsError, error_reason
from lerim.paths import Home

_ACCESS_ERRNOS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP}
_ACCESS_SQLITE_CODES = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
_TODO = "Make the folder readable and writable, or set LERIM_HOME to another folder."


def explain_unusable_home(error: BaseException) -> LerimError | None:
    """Returns the error to report if `error`, or one that caused it, comes from an unreadable or unwritable home; None
    otherwise."""
    try:
        home = Home.from_environ(os.environ).root
    except LerimError as home_error:
        return home_error
    cause: BaseException | None = error
    while cause is not None:
        where = _find_unusable_path(cause, home)
        if where is not None:
            return SettingsError(f"Lerim's folder cannot be used: {error_reason(cause)}.", where=where, todo=_TODO)
        cause = cause.__cause__ or cause.__context__
    return None


def _find_unusable_path(error: BaseException, home: Path) -> str | None:
    """Returns the path in or above the home that the error concerns, None if it has another cause. SQLite errors name
    no file: for those the home itself is returned."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return str(home) if code in _ACCESS_SQLITE_CODES else None
    if (
        not isinstance(error, OSError)
        or error.errno not in _ACCESS_ERRNOS
        or not isinstance(error.filename, str | Path)
    ):
        return None
    path = Path(error.filename)
    return str(path) if path == home or home in path.parents or path in home.parents else None
