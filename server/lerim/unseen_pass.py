"""The last part of a sync, where the person set the review to automatic: what may be accepted unseen is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from lerim import config
from lerim.errand import Clock
from lerim.errors import LerimError, Problem
from lerim.memory.quotes import QuoteChoice
from lerim.paths import Home
from lerim.project import Project
from lerim.report import SyncReport
from lerim.review import queue
from lerim.review.candidates import Proposal
from lerim.review.outcome import ReviewResult
from lerim.review.place import Place
from lerim.review.run import MemoryAction, Run, add_actions

_BECAME = {"accepted": "accepted", "known": "known", "outdated": "withdrawn"}


def add(report: SyncReport, project: Project, home: Home, environ: Mapping[str, str], clock: Clock) -> SyncReport:
    """The report with what was accepted unseen besides, which stands in the run's folder, too; as it is where the
    person wants to be asked."""
    settings, _ = config.load(environ, home, project.root)
    if settings.review != "auto":
        return report
    quotes: QuoteChoice | None = None if settings.quotes == "ask" else settings.quotes
    place = Place(project, home)
    done: list[tuple[Proposal, ReviewResult]] = []
    problems: list[Problem] = []
    folder = report.run
    try:
        done, problems = queue.settle_all(place, quotes)
        folder = _told(report.run, Run(place, clock()), [_action(*one) for one in done if one[1].code in _BECAME])
    except LerimError as error:
        problems = [*problems, error.problem()]
    accepted = [proposal.id for proposal, result in done if result.code == "accepted"]
    return msgspec.structs.replace(
        report,
        accepted=list(dict.fromkeys((*report.accepted, *accepted))),
        problems=[*report.problems, *problems],
        run=folder,
    )


def _action(proposal: Proposal, result: ReviewResult) -> MemoryAction:
    did, why = _BECAME[result.code], "" if result.code == "accepted" else result.message
    memory = Path(result.path).stem if result.path else ""
    return MemoryAction(did, proposal.id, proposal.record.title, memory, result.action or "", why)


def _told(folder: str, run: Run, actions: list[MemoryAction]) -> str:
    """The folder of the run that tells what was done: the sync's own, or one for this alone. Raises MemoryError_,
    BoundaryError."""
    if not folder:
        run.actions = actions
        return str(run.write() or "")
    if actions:
        add_actions(Path(folder), actions)
    return folder
