"""`activity.log`: one line for every sync on this machine, so that a person can see what ran, when and what it cost."""

from __future__ import annotations

import os
from datetime import datetime

from lerim.paths import Home

KEEP_BYTES = 1_000_000
"""The log is cut to its newer half when it passes this size."""


def note(
    home: Home, when: datetime, operation: str, project: str, stats: str, seconds: float, cost: float = 0.0
) -> None:
    """Appends `time | operation | project | stats | $cost | seconds` to the activity log (private, made if absent).

    Raises OSError if the log cannot be written.
    """
    path = home.activity_log
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = f"{when:%Y-%m-%dT%H:%M:%SZ} | {operation} | {project} | {stats} | ${cost:.4f} | {seconds:.1f}s\n"
    # One write to a file opened for appending is one line, also with several processes.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.replace("\n", " ", line.count("\n") - 1).encode())
        size = os.fstat(handle).st_size
    finally:
        os.close(handle)
    if size > KEEP_BYTES:
        kept = path.read_bytes()[-KEEP_BYTES // 2 :]
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_bytes(kept[kept.find(b"\n") + 1 :])
        beside.chmod(0o600)
        beside.replace(path)
