"""The part of a sync in which a model summarizes sessions that the rules have summarized, at the very end.

What the rules wrote stands until a model did better. A key that is refused, a budget that is used up, a model that is
gone or does not answer end this part, and the next sync goes on there; what was told of a session's parts is kept.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from lerim import config, editor_settings
from lerim.activity import log_sync
from lerim.errors import (
    BudgetError,
    BusyError,
    LerimError,
    ModelAwayError,
    ModelGoneError,
    ModelKeyError,
    ModelRefusedError,
    ModelSilentError,
    Problem,
    SpendingError,
    TooDearError,
)
from lerim.learning import CancelledError, Learning
from lerim.lock import project_lock
from lerim.memory.summaries import Summaries, opened
from lerim.model_pass import AWAY_SECONDS, SILENT, TOO_DEAR_SECONDS, too_dear
from lerim.models import consent, editor
from lerim.models.choose import choose
from lerim.models.editor import Bridge
from lerim.models.model import Model
from lerim.models.spending import Purse
from lerim.models.usage import Spent, Step, Waits, Why, total
from lerim.moments import moment
from lerim.report import Progress, SessionCounts, State, SyncReport, combine
from lerim.review.run import try_write
from lerim.sessions.catalog import Catalog, Job
from lerim.sessions.catalog_schema import telling
from lerim.sessions.queue import SUMMARY, SUMMARY_MODEL
from lerim.sessions.retold import Told, retold
from lerim.summary_pass import RULES, SummaryPass, facts, keep, locator

if TYPE_CHECKING:
    import dspy

    from lerim.models.engine import Engine


def add(
    report: SyncReport,
    learning: Learning,
    environ: Mapping[str, str],
    since: datetime | None,
    until: datetime | None,
    clock: Callable[[], datetime],
    bridge: Bridge | None,
) -> SyncReport:
    """The report with the summaries that are missing still, and those a model wrote, where one is chosen that may be
    asked and was not stopped before.

    `learning` is a fresh one, for this part alone. Raises CatalogError.
    """
    place = learning.place
    if not place.state.is_dir():
        return report
    with Catalog.open(place.home) as catalog:
        new, waiting = (catalog.pending(place.project.key, kind) for kind in (SUMMARY, SUMMARY_MODEL))
    if not new and not waiting:
        return report
    began = time.monotonic()
    started = clock().timestamp() if learning.explicit else None
    settings, _ = config.load(environ, place.home, place.project.root)
    since = since or (moment(settings.since, clock()) if settings.since else None)
    model, problems = choose("summarize", settings, environ, editor_settings.told(environ)[0])
    waits = report.waits
    if model is not None and (
        not consent.load(place.home)[0].allows(model)
        or (not learning.explicit and editor.undecided(model.wire, model.name, environ))
    ):
        waits = waits if waits.why else Waits(new + waiting, model=model.label, why="consent")
        model = None
    if any(step.kind == "stopped" for step in report.steps):
        model = None
    nothing = SyncReport(report.project, SessionCounts(report.sessions.found), [], {}, [], [], problems, waits=waits)
    if model is None and not new:
        return combine(report, msgspec.structs.replace(nothing, state="partial" if problems else "done"))
    purse = Purse(place.home, settings.budget, lambda: clock().astimezone())
    asked = None
    try:
        lock = project_lock(place.home, place.project.key, "summarizing")
        with lock, Catalog.open(place.home) as catalog, closing(learning):
            # what a model proposed may just have made the folder that summaries wait for
            SummaryPass(catalog, learning, clock(), lambda: model is not None).run(since, until)
            if model is not None:
                asked = SummaryModelPass(model, catalog, learning, clock, bridge, purse, settings.gate == "signal")
                asked.run(started, since, until)
    except BusyError as error:
        problems.append(Problem(error.code, error.where, f"Nothing was summarized: {error.explanation}"))
        return combine(report, msgspec.structs.replace(nothing, state="partial"))
    learning.problems += [*problems, *purse.problems]
    if asked is None and not learning.problems and not learning.run.summaries:
        return combine(report, nothing)
    if asked and asked.why and not waits.why:
        with Catalog.open(place.home) as catalog:
            waits = Waits(catalog.pending(place.project.key, SUMMARY_MODEL), model=asked.model.label, why=asked.why)
    run, state = learning.run, asked.state if asked else "done"
    run.spent, run.steps = (asked.spent, asked.steps) if asked else ([], [])
    maker = model.label if model else RULES
    run.note(f"{state}: {maker}, {total(run.spent).calls} calls, {len(run.summaries)} summaries")
    folder, problems = try_write(run)
    learning.problems += problems
    state = "partial" if problems and state == "done" else state
    second = learning.report(nothing.sessions, state, time.monotonic() - began, folder)
    second = msgspec.structs.replace(second, usage=total(run.spent), spent=run.spent, steps=run.steps, waits=waits)
    second.problems.extend(log_sync(place.home, clock(), second))
    return combine(report, second)


@dataclass(slots=True)
class SummaryModelPass:
    """One pass over the sessions whose summaries wait for a model. `state` is partial where something was left undone.
    Calls that are paid for are paid from `purse`."""

    model: Model
    catalog: Catalog
    learning: Learning
    clock: Callable[[], datetime]
    bridge: Bridge | None
    purse: Purse
    gate: bool
    state: State = "done"
    why: Why = ""
    spent: list[Spent] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    _engine: Engine | None = field(default=None, init=False)
    _lm: dspy.LM | None = field(default=None, init=False)
    _told: int = field(default=0, init=False)

    def run(self, started: float | None, since: datetime | None, until: datetime | None) -> None:
        """Works the queue off, the newest session first; the bounds are those of `Catalog.claim`.

        Raises CatalogError; what else goes wrong becomes a problem.
        """
        place, silent, number = self.learning.place, 0, 0
        key = place.project.key
        waiting = self.catalog.pending(key, SUMMARY_MODEL)
        with opened(place.state / "memory", place.state_anchor, place.private) as summaries:
            while silent < SILENT and (
                job := self.catalog.claim(key, kind=SUMMARY_MODEL, started=started, since=since, until=until)
            ):
                message = f"asking {self.model.name} for a summary"
                found = len(self.learning.candidates)
                self.learning.emit(Progress("learning", number, max(waiting, number + 1), found, message))
                number += 1
                try:
                    self._summarize(job, summaries)
                except CancelledError:
                    self.catalog.put_back(job)
                    self.state = "cancelled"
                    return
                except TooDearError as error:
                    self.catalog.put_back(job, TOO_DEAR_SECONDS)
                    self.steps.append(too_dear(self.model, job, error))
                except (BudgetError, ModelKeyError, ModelGoneError, SpendingError) as error:
                    self.catalog.put_back(job)
                    why = error.safe_message
                    self.steps.append(Step("stopped", self.model.role, self.model.label, why))
                    if isinstance(error, BudgetError):  # which is no fault
                        self.why = "budget"
                    else:
                        self._problem(error)
                    return
                except ModelRefusedError as error:  # every session may meet it, until the settings are corrected
                    silent += 1
                    self.catalog.put_back(job)
                    self._problem(error)
                except ModelAwayError as error:
                    silent += 1
                    self.catalog.put_back(job, AWAY_SECONDS)
                    self._problem(error)
                except LerimError as error:
                    silent = silent + 1 if isinstance(error, ModelSilentError) else 0
                    self.catalog.fail(job, error.message)
                    self._problem(error)
                else:
                    silent = 0

    def _problem(self, error: LerimError) -> None:
        self.state = "partial"
        self.learning.problems.append(error.problem(self.model.label))

    def _summarize(self, job: Job, summaries: Summaries) -> None:
        """Asks for the summary of one session, keeps it, and ends the job. What was told of its parts is kept also
        where it ends in an error. Raises CancelledError, LerimError."""
        from lerim.extraction.asking import CancelledCallError
        from lerim.extraction.counts import Counts
        from lerim.extraction.summarize import summarize
        from lerim.extraction.summary_model import Asking, Task, by_model
        from lerim.extraction.summary_parts import Answers, unpacked

        place, one = self.learning.place, job.transcript
        session = f"{one.platform}:{one.session_id}"
        with telling(self.catalog.path):
            turns = retold(self.catalog.db, one.place, place.project.key)
        title = next((brief.title for brief in self.catalog.named(one.session_id) if brief.place == one.place), "")
        rules = summarize(turns, facts(one.platform, title), locator(place, turns))
        parts = unpacked(job.state, self.model.label, turns)
        if rules is None or summaries.theirs(session):
            self.catalog.done(job, b"", parts.model_dump_json().encode())
            return
        engine, lm = self._ready()
        counts = Counts(self.catalog)
        task = Task(
            session=session,
            turns=turns,
            rules=rules,
            metadata=_metadata(turns, one.platform, place.project.root.name),
            model=self.model.label,
            answers=Answers(place.private / "summary-parts", self.model.label),
            limit=lambda: engine.window_tokens,
            overlap_tokens=self.model.window_overlap_tokens,
            count=counts,
            gate=self.gate,
        )
        asking = by_model(lm, task, parts)
        try:
            while True:
                try:
                    event = next(asking)
                except StopIteration as ended:
                    made = ended.value
                    break
                self._hear(engine)
                if isinstance(event, Step):
                    self.steps.append(event)
                elif isinstance(event, Asking) and self.learning.cancelled():
                    raise CancelledError
        except (LerimError, CancelledError, CancelledCallError) as error:
            self.catalog.progressed(job, b"", parts.model_dump_json().encode(), 0)
            if isinstance(error, CancelledCallError):
                raise CancelledError from error
            raise
        finally:
            asking.close()
            self._hear(engine)
        counts.keep()
        keep(summaries, made, turns, one.platform, one.session_id, self.model.label, self.learning)
        self.catalog.done(job, b"", parts.model_dump_json().encode())

    def _hear(self, engine: Engine) -> None:
        """Takes over what the engine did since the last time."""
        self.spent, steps = engine.spent, engine.steps
        self.steps += steps[self._told :]
        self._told = len(steps)

    def _ready(self) -> tuple[Engine, dspy.LM]:
        """The engine and DSPy's model over it, made at the first call: importing DSPy takes a second."""
        if self._engine is None or self._lm is None:
            from lerim.models.engine import Engine
            from lerim.models.lm import language_model

            home = self.learning.place.home
            self._engine = Engine(self.model, self.learning.cancelled, home=home, purse=self.purse, bridge=self.bridge)
            self._lm = language_model(self.model, self._engine)
        return self._engine, self._lm


def _metadata(turns: list[Told], platform: str, repository: str) -> str:
    times = [turn.time for turn in turns if turn.time is not None]
    told = {
        "agent": platform,
        "repository": repository,
        "started": min(times).isoformat(timespec="minutes") if times else "",
        "ended": max(times).isoformat(timespec="minutes") if times else "",
        "turns": len(turns),
    }
    return json.dumps(told, ensure_ascii=False)
