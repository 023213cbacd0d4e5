"""The last part of a sync, where the person set the review to automatic: what may be accepted unseen is."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lerim import config
from lerim.errors import LerimError, Problem
from lerim.memory.quotes import QuoteChoice
from lerim.paths import Home
from lerim.project import Project
from lerim.report import SyncReport
from lerim.review import queue
from lerim.review.place import Place


def add(report: SyncReport, project: Project, home: Home, environ: Mapping[str, str]) -> SyncReport:
    """The report with what was accepted unseen besides; as it is where the person wants to be asked."""
    settings, _ = config.load(environ, home, project.root)
    if settings.review != "auto":
        return report
    quotes: QuoteChoice | None = None if settings.quotes == "ask" else settings.quotes
    try:
        done, problems = queue.settle_all(Place(project, home), quotes)
    except LerimError as error:
        done, problems = [], [Problem(error.code, error.where, f"{error.message} {error.todo}".strip())]
    accepted = [proposal.id for proposal, result in done if result.code == "accepted"]
    return msgspec.structs.replace(
        report,
        accepted=list(dict.fromkeys((*report.accepted, *accepted))),
        problems=[*report.problems, *problems],
    )
