"""The one error for a Lerim home without the rights it needs, wherever a command, a request or a job meets it."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from lerim.errors import LerimError, SettingsError, reason_of
from lerim.paths import Home

_RIGHTS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP}
_NO_DATABASE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
_TODO = "Make the folder readable and writable, or set LERIM_HOME to another folder."


def explain_unusable_home(error: BaseException, environ: Mapping[str, str] = os.environ) -> LerimError | None:
    """What to tell where `error` came of a home that cannot be read or written; None where it did not."""
    try:
        home = Home.of(environ).root
    except LerimError as told:
        return told
    cause: BaseException | None = error
    while cause is not None:
        where = _find_unusable_path(cause, home)
        if where is not None:
            return SettingsError(f"Lerim's folder cannot be used: {reason_of(cause)}.", where=where, todo=_TODO)
        cause = cause.__cause__ or cause.__context__
    return None


def _find_unusable_path(error: BaseException, home: Path) -> str | None:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return str(home) if code in _NO_DATABASE else None
    if not isinstance(error, OSError) or error.errno not in _RIGHTS or not isinstance(error.filename, str | Path):
        return None
    path = Path(error.filename)
    return str(path) if path == home or home in path.parents or path in home.parents else None
