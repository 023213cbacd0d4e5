"""`activity.log`: one line for each sync and maintenance run on this machine, so that a person can see what ran and
what it cost."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from lerim.errors import Problem, error_reason
from lerim.files import check_regular, escape_surrogates, read_regular_file
from lerim.jobs.report import SyncReport
from lerim.paths import Home
from lerim.project import replace_private_file
from lerim.redaction import redact_secrets

MAX_LOG_BYTES = 1_000_000
"""A log larger than this is cut to its newest `MAX_LOG_BYTES // 2` bytes."""


def log_activity(
    home: Home, when: datetime, operation: str, project: Path, stats: str, seconds: float, cost: float = 0.0
) -> list[Problem]:
    """Appends the line `time | operation | project | stats | $cost | seconds` to the activity log, without secrets.
    Returns a problem if that fails.

    The log is created, readable by its owner only, if it is absent.
    """
    line = f"{when:%Y-%m-%dT%H:%M:%SZ} | {operation} | {project.name} | {stats} | ${cost:.4f} | {seconds:.1f}s"
    try:
        _append_line(home, redact_secrets(redact_secrets(line).text.replace("\n", " ")).text)
    except OSError as error:
        what = "sync" if operation == "sync" else "maintenance"
        message = f"The {what} could not be logged: {error_reason(error)}."
        return [Problem("activity-log", str(home.activity_log), message)]
    return []


def _append_line(home: Home, line: str) -> None:
    """Raises OSError."""
    path = home.activity_log
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A single write to a file opened for appending is not split by writes of other processes.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        check_regular(handle, path)
        os.write(handle, f"{escape_surrogates(line)}\n".encode())
        size = os.fstat(handle).st_size
    finally:
        os.close(handle)
    if size > MAX_LOG_BYTES:
        newest = read_regular_file(path)[-MAX_LOG_BYTES // 2 :]
        replace_private_file(path, newest[newest.find(b"\n") + 1 :])


def log_sync(home: Home, when: datetime, report: SyncReport) -> list[Problem]:
    """Logs how a sync, or its part with a model, ended. Returns a problem if the log cannot be written."""
    counts, usage = report.sessions, report.usage
    work = f"{counts.found} sessions ({counts.new} new, {counts.changed} changed, {counts.failed} failed)"
    if report.model != "none":
        cached = f" ({usage.cached_tokens} cached)" if usage.cached_tokens else ""
        unknown = f", {usage.unpriced} of unknown price" if usage.unpriced else ""
        tokens = f"{usage.input_tokens} tokens in{cached}, {usage.output_tokens} out"
        work = f"{report.model}, {usage.calls} calls, {tokens}{unknown}"
    stats = (
        f"{report.state}: {work}, {len(report.candidates)} candidates, {len(report.accepted)} accepted,"
        f" {sum(report.dropped.values())} dropped"
    )
    return log_activity(home, when, "sync", Path(report.project), stats, report.seconds, usage.cost)
