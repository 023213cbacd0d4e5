"""`activity.log`: a line for every sync and maintaining on this machine, so that a person can see what ran and what it
cost."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from lerim.errors import Problem, reason_of
from lerim.files import check_regular, read_regular_file
from lerim.jobs.report import SyncReport
from lerim.paths import Home
from lerim.project import replace_file
from lerim.redaction import redact_secrets

KEEP_BYTES = 1_000_000
"""The log is cut to its newer half when it passes this size."""


def append_activity(
    home: Home, when: datetime, operation: str, project: str, stats: str, seconds: float, cost: float = 0.0
) -> None:
    """Appends `time | operation | project | stats | $cost | seconds` to the activity log (private, made if absent).

    Raises OSError if the log cannot be written.
    """
    path = home.activity_log
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = redact_secrets(
        f"{when:%Y-%m-%dT%H:%M:%SZ} | {operation} | {project} | {stats} | ${cost:.4f} | {seconds:.1f}s\n"
    ).text
    # One write to a file opened for appending is one line, also with several processes.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        check_regular(handle, path)
        os.write(handle, redact_secrets(line.replace("\n", " ", line.count("\n") - 1)).text.encode())
        size = os.fstat(handle).st_size
    finally:
        os.close(handle)
    if size > KEEP_BYTES:
        kept = read_regular_file(path)[-KEEP_BYTES // 2 :]
        replace_file(path, kept[kept.find(b"\n") + 1 :])


def log_sync(home: Home, when: datetime, report: SyncReport) -> list[Problem]:
    """Notes how a sync, or its part with a model, ended; a problem where that cannot be written."""
    counts, spent = report.sessions, report.usage
    what = f"{counts.found} sessions ({counts.new} new, {counts.changed} changed, {counts.failed} failed)"
    if report.model != "none":
        cached = f" ({spent.cached_tokens} cached)" if spent.cached_tokens else ""
        unknown = f", {spent.unpriced} of unknown price" if spent.unpriced else ""
        tokens = f"{spent.input_tokens} tokens in{cached}, {spent.output_tokens} out"
        what = f"{report.model}, {spent.calls} calls, {tokens}{unknown}"
    stats = (
        f"{report.state}: {what}, {len(report.candidates)} candidates, {len(report.accepted)} accepted,"
        f" {sum(report.dropped.values())} dropped"
    )
    try:
        append_activity(home, when, "sync", Path(report.project).name, stats, report.seconds, spent.cost)
    except OSError as error:
        return [Problem("activity-log", str(home.activity_log), f"The sync could not be logged: {reason_of(error)}.")]
    return []
