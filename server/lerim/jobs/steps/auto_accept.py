"""The last part of a sync: if the review is set to automatic, it accepts candidates that need no check by a person."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lerim.errors import LerimError, Problem
from lerim.jobs.report import SyncReport
from lerim.jobs.sync_context import SyncContext
from lerim.memory import QuoteChoice
from lerim.review import MemoryAction, Proposal, ReviewResult, RunFolder, add_memory_actions, queue


def accept_automatically(context: SyncContext, report: SyncReport) -> SyncReport:
    """If the review is automatic, accept waiting candidates. Return the report with them added; the run folder lists
    them as well."""
    settings = context.settings
    if settings.review_mode != "auto":
        return report
    quotes: QuoteChoice | None = None if settings.quote_sharing == "ask" else settings.quote_sharing
    actions: list[MemoryAction] = []
    problems: list[Problem] = []
    folder = report.run
    try:
        results, problems = queue.auto_accept_all(context.place, quotes, context.clock())
        actions = [_to_memory_action(*one) for one in results if one[1].code == "accepted"]
        folder = _write_actions(report.run, RunFolder(context.place, context.clock()), actions)
    except LerimError as error:
        problems = [*problems, error.problem()]
    return msgspec.structs.replace(
        report,
        accepted=list(dict.fromkeys((*report.accepted, *(one.id for one in actions)))),
        problems=[*report.problems, *problems],
        run=folder,
    )


def _to_memory_action(proposal: Proposal, result: ReviewResult) -> MemoryAction:
    memory = Path(result.path).stem if result.path else ""
    return MemoryAction("accepted", proposal.id, proposal.record.title, memory, result.action or "")


def _write_actions(folder: str, run: RunFolder, actions: list[MemoryAction]) -> str:
    """Adds the actions to the sync's run folder `folder`, or writes `run` as a new one if that is "". Returns the
    folder's path, "" if there is none. Raises MemoryError_, BoundaryError."""
    if not folder:
        run.actions = actions
        return str(run.write() or "")
    if actions:
        add_memory_actions(Path(folder), actions)
    return folder
