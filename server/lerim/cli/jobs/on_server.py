"""Lets the running server do a sync or maintenance for a command, so that only one process does such work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from lerim.cli.terminal import LOOK_SECONDS, find_usable_server, follow_events
from lerim.errors import NoAnswerError, NotTakenError, ServerError, find_error_type
from lerim.jobs import (
    CandidateFound,
    CandidateWithdrawn,
    FailureLine,
    MaintainProgress,
    MaintainReport,
    MaintainReportLine,
    SyncProgress,
    SyncReport,
    SyncReportLine,
)
from lerim.paths import Home
from lerim.project import Project
from lerim.review import CandidateView
from lerim.views import RunningServer, find_running_server
from lerim.web import WorkEvent, WorkKind, request_server, stream_from_server

JobReport: TypeAlias = SyncReport | MaintainReport
CANCELLED = "It was cancelled in the running server; the next run continues where it stopped."
END_SECONDS = 5.0


class _Started(msgspec.Struct, frozen=True):
    started: bool


def run_on_server(
    home: Home,
    project: Project,
    kind: WorkKind,
    body: object,
    emit: Callable[[Any], None],
    cancelled: Callable[[], bool],
) -> JobReport | None:
    """Lets the running server do this work, after its current work for the project, and returns the report.

    Returns None if the command has to do it itself: no server runs, the server is another version, its environment
    has other keys or folders, it does not know the project, or it ended meanwhile. `body` has the options in the
    form of the API. Raises LerimError if the work failed.
    """
    running = find_usable_server(home)
    if running is None:
        return None
    path = f"/api/v1/projects/{project.key}/{kind}"
    try:
        while not cancelled():
            started = msgspec.json.decode(request_server(home, running, "POST", path, body), type=_Started).started
            events = list(_follow(home, running, path, emit, cancelled, is_ours=started))
            if started:
                return _make_report(project, kind, events)
    except NotTakenError:
        return None
    except NoAnswerError:
        if _has_ended(home):
            return None
        raise
    return _make_cancelled(project, kind)


def _has_ended(home: Home) -> bool:
    """Returns whether the server has ended. Its connections break a little earlier than the kernel frees its lock."""
    end = time.monotonic() + END_SECONDS
    while find_running_server(home) is not None:
        if time.monotonic() > end:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _follow(
    home: Home,
    running: RunningServer,
    path: str,
    emit: Callable[[WorkEvent], None],
    cancelled: Callable[[], bool],
    *,
    is_ours: bool,
) -> Iterator[WorkEvent]:
    """Yields the events of the work, and emits its progress. Once `cancelled` returns true, the work is cancelled if
    it `is_ours`; for work that was running before, this only stops waiting."""
    events = stream_from_server(home, running, f"{path}/events", msgspec.json.Decoder(WorkEvent))
    for event in follow_events(events, cancelled):
        if event is None:
            if not is_ours:
                return
            request_server(home, running, "POST", f"{path}/cancel")
            continue
        if isinstance(event, SyncProgress | CandidateFound | CandidateWithdrawn | MaintainProgress):
            emit(event)
        yield event


def _make_report(project: Project, kind: WorkKind, events: Sequence[WorkEvent]) -> JobReport:
    """Returns the report of the work with these events. Raises LerimError if it failed."""
    match events[-1] if events else None:
        case SyncReportLine(report) | MaintainReportLine(report):
            return report
        case FailureLine("cancelled"):
            return _make_cancelled(project, kind, [one.candidate for one in events if isinstance(one, CandidateFound)])
        case FailureLine(code, message, todo):
            error = find_error_type(code)(message, todo=todo)
            error.code = code
            raise error
        case _:
            raise ServerError("The running server ended the work without a report.", todo="See `lerim logs`.")


def _make_cancelled(project: Project, kind: WorkKind, found: Sequence[CandidateView] = ()) -> JobReport:
    """Returns the report of work that the person cancelled. A sync had proposed what it `found` before that."""
    root = str(project.root)
    if kind == "maintain":
        return MaintainReport(root, state="cancelled", message=CANCELLED)
    return SyncReport(root, candidates=list(found), state="cancelled", message=CANCELLED)
