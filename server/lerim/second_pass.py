"""The part of a sync after the rules: whether a model may be asked of what they have read, and what became of it.

A model that is paid for is asked only once the person agreed to it, and within the day's budget. Where it is not, the
report says what waits and why: that is no fault, and keeps nothing else from being done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime

import msgspec

from lerim import config
from lerim.activity import log_sync
from lerim.errors import BusyError, Problem
from lerim.learning import Learning
from lerim.lock import project_lock
from lerim.model_pass import ModelPass, chosen
from lerim.models import consent, editor
from lerim.models.editor import Bridge
from lerim.models.spending import Purse
from lerim.models.state import named
from lerim.models.usage import Waits, Why, total
from lerim.models.waiting import waits
from lerim.report import SessionCounts, State, SyncReport, combine
from lerim.review.run import try_write
from lerim.sessions.catalog import Catalog


def add(
    report: SyncReport,
    learning: Learning,
    environ: Mapping[str, str],
    since: datetime | None,
    until: datetime | None,
    clock: Callable[[], datetime],
    bridge: Bridge | None,
    guidance: str = "",
) -> SyncReport:
    """The report of the rules with what a model found besides. What the rules found stands, whatever becomes of this.

    `since` and `until` bound the sessions, and `guidance` is for the model to heed; without them the settings do.
    `learning` is a fresh one, for this part alone. Raises CatalogError.
    """
    began = time.monotonic()
    started = clock().timestamp() if learning.explicit else None
    project, home = learning.place.project, learning.place.home
    choice = chosen(project, home, environ, clock())
    model, since, problems = choice.model, since or choice.since, choice.problems
    nothing = SyncReport(report.project, SessionCounts(report.sessions.found), [], {}, [], [], problems)

    def waiting(why: Why) -> Waits:
        settings, _ = config.load(environ, home, project.root)
        summarizer, _ = named("summarize", settings, environ)
        with Catalog.open(home) as catalog:
            return waits(catalog, project.key, model, why, summarizer=summarizer, since=since, until=until)

    def unasked(why: Why, state: State = "done") -> SyncReport:
        return combine(report, msgspec.structs.replace(nothing, waits=waiting(why), state=state))

    if model is None:
        return unasked("gone", "partial") if problems else unasked("none")
    known, more = consent.load(home)
    problems += more
    if not known.allows(model) or (not learning.explicit and editor.undecided(model.wire, model.name, environ)):
        return unasked("consent")
    purse = Purse(home, choice.budget, lambda: clock().astimezone())
    try:
        with project_lock(home, project.key, "asking a model"), Catalog.open(home) as catalog, closing(learning):
            asked = ModelPass(model, catalog, learning, clock, bridge, purse, choice.gate, guidance or choice.guidance)
            asked.run(started, since, until)
    except BusyError as error:
        problems.append(Problem(error.code, error.where, f"No model was asked: {error.explanation}"))
        return unasked("", "partial")
    learning.problems += [*problems, *purse.problems]
    run, spent = learning.run, total(asked.spent)
    run.spent, run.steps = asked.spent, asked.steps
    run.note(f"{asked.state}: {model.label}, {spent.calls} calls, {len(learning.candidates)} candidates")
    folder, problems = try_write(run)
    learning.problems += problems
    second = learning.report(nothing.sessions, asked.state, time.monotonic() - began, folder)
    second = msgspec.structs.replace(
        second,
        model=model.label,
        usage=spent,
        spent=asked.spent,
        steps=asked.steps,
        waits=waiting(asked.why),
    )
    second.problems.extend(log_sync(home, clock(), second))
    return combine(report, second)
