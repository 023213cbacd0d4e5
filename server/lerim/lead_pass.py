"""The part of a sync in which a model says what a waiting candidate is to the memories near it: whether it says the
same, changes, replaces or answers one of them. An explorer looks for evidence, the lead decides, code checks.

The decision is the candidate's suggested answer; the person takes it or another. Each candidate is asked about once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from lerim import config
from lerim.activity import log_sync
from lerim.errors import (
    BudgetError,
    BusyError,
    LerimError,
    ModelError,
    ModelGoneError,
    ModelKeyError,
    ModelSilentError,
    NotFoundError,
    Problem,
    SpendingError,
)
from lerim.learning import CancelledError, Learning
from lerim.lock import project_lock
from lerim.model_pass import SILENT
from lerim.models import consent, editor
from lerim.models.choose import Model, choose
from lerim.models.editor import Bridge
from lerim.models.spending import Purse
from lerim.models.usage import Spent, Step, asking_of, total
from lerim.redaction import clean
from lerim.report import Progress, SessionCounts, State, SyncReport, combine
from lerim.review import queue
from lerim.review.candidates import Proposal
from lerim.review.ledger import opened
from lerim.review.run import MemoryAction, try_write
from lerim.review.suggested import candidate_of
from lerim.review.views import candidate_view
from lerim.sessions import browsing, turns
from lerim.sessions.catalog import Catalog

if TYPE_CHECKING:
    import dspy

    from lerim.lead.decide import Band
    from lerim.models.engine import Engine

MOST = 30
"""Candidates decided in one sync, the latest first; the others wait for the next."""
REFUSED = "The model's decision could not be taken."


def add(
    report: SyncReport,
    learning: Learning,
    environ: Mapping[str, str],
    _since: datetime | None,
    _until: datetime | None,
    clock: Callable[[], datetime],
    bridge: Bridge | None,
) -> SyncReport:
    """The report with what the lead made of candidates that wait undecided, where a model is chosen that may be asked
    and was not stopped before. `learning` is a fresh one, for this part alone. Raises CatalogError.
    """
    place = learning.place
    able = undecided(queue.pending(place)[0])
    if not able or any(step.kind == "stopped" for step in report.steps):
        return report
    began = time.monotonic()
    settings, _ = config.load(environ, place.home, place.project.root)
    told = editor.told(environ)[0]
    lead, problems = choose("lead", settings, environ, told)
    explorer, more = choose("explorer", settings, environ, told)
    problems = list(dict.fromkeys([*problems, *more]))
    known, _ = consent.load(place.home)

    def may(model: Model | None) -> Model | None:
        if model is None or not known.allows(model):
            return None
        return None if not learning.explicit and editor.undecided(model.wire, model.name, environ) else model

    lead, explorer = may(lead), may(explorer)
    nothing = SyncReport(
        report.project, SessionCounts(report.sessions.found), [], {}, [], [], problems, waits=report.waits
    )
    if lead is None:  # the candidates wait for the person as code proposed them
        return combine(report, msgspec.structs.replace(nothing, state="partial" if problems else "done"))
    waiting = [one for one in queue.with_neighbours(place, able) if one.neighbours]
    if not waiting:
        return report
    purse = Purse(place.home, settings.budget, lambda: clock().astimezone())
    try:
        lock = project_lock(place.home, place.project.key, "deciding")
        with lock, Catalog.open(place.home) as catalog, closing(learning):
            asked = LeadPass(lead, explorer, catalog, learning, bridge, purse)
            asked.run(waiting[:MOST])
    except BusyError as error:
        problems.append(Problem(error.code, error.where, f"Nothing was decided: {error.explanation}"))
        return combine(report, msgspec.structs.replace(nothing, state="partial"))
    learning.problems += [*problems, *purse.problems]
    run = learning.run
    run.spent, run.steps = asked.spent, asked.steps
    run.note(f"{asked.state}: {lead.label}, {total(run.spent).calls} calls, {_summed(run.actions)}")
    folder, problems = try_write(run)
    learning.problems += problems
    second = learning.report(nothing.sessions, asked.state, time.monotonic() - began, folder)
    second = msgspec.structs.replace(
        second, model=lead.label, usage=total(run.spent), spent=run.spent, steps=run.steps, waits=report.waits
    )
    second.problems.extend(log_sync(place.home, clock(), second))
    return asked.merged(report, second)


def undecided(waiting: Sequence[Proposal]) -> list[Proposal]:
    """The candidates to ask a model about if memories are near them, the latest first: of a session, not edited, not
    wanted by a person as an addition, and not asked about before."""
    able = [one for one in reversed(waiting) if one.session and not one.edited and not one.asked]
    return [one for one in able if one.maker != "person"]


def _summed(actions: Sequence[MemoryAction]) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(one.action for one in actions).items()) or "nothing"


@dataclass(slots=True)
class LeadPass:
    """One pass over candidates that wait undecided. `state` is partial where something was left undone. Calls that are
    paid for are paid from `purse`."""

    lead: Model
    explorer: Model | None
    catalog: Catalog
    learning: Learning
    bridge: Bridge | None
    purse: Purse
    state: State = "done"
    spent: list[Spent] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    decided: dict[str, Proposal] = field(default_factory=dict)
    """By id each candidate with the suggested answer."""
    _asked: dict[str, tuple[Engine, dspy.LM]] = field(default_factory=dict, init=False)

    def run(self, waiting: Sequence[Proposal]) -> None:
        """Decides them in turn; what goes wrong becomes a problem."""
        silent = 0
        for number, proposal in enumerate(waiting):
            if silent == SILENT:
                self.steps.append(Step("stopped", "lead", self.lead.label, "no answer came twice in a row"))
                break
            message = f"asking {self.lead.name} what is new in a claim"
            self.learning.emit(Progress("learning", number, len(waiting), len(self.learning.candidates), message))
            try:
                with asking_of(f"{proposal.platform}:{proposal.session}"):
                    self._decide(proposal)
            except CancelledError:
                self.state = "cancelled"
                break
            except NotFoundError:
                continue  # a person decided it, or a memory is gone meanwhile
            except (BudgetError, ModelKeyError, ModelGoneError, SpendingError) as error:
                why = error.safe_message
                self.steps.append(Step("stopped", "lead", self.lead.label, why))
                if not isinstance(error, BudgetError):  # which is no fault
                    self._problem(error)
                break
            except ModelError as error:
                silent = silent + 1 if isinstance(error, ModelSilentError) else 0
                self._problem(error)
            except LerimError as error:
                self._problem(error)
            else:
                silent = 0
        for engine, _ in self._asked.values():
            self.spent += engine.spent
            self.steps += engine.steps

    def merged(self, report: SyncReport, second: SyncReport) -> SyncReport:
        """Both reports as one, each candidate as it waits now."""
        shown = {key: candidate_view(one) for key, one in self.decided.items()}
        candidates = [shown.get(one.id, one) for one in report.candidates]
        return combine(msgspec.structs.replace(report, candidates=candidates), second)

    def _problem(self, error: LerimError) -> None:
        self.state = "partial"
        self.learning.problems.append(error.problem(self.lead.label))

    def _decide(self, proposal: Proposal) -> None:
        """Raises CancelledError, ModelError, NotFoundError, MemoryError_."""
        from lerim.extraction.asking import CancelledCallError
        from lerim.lead.decide import Refused, decided

        band = self._band(proposal)
        try:
            evidence = self._explored(proposal, band)
            found = decided(self._model(self.lead), candidate_of(proposal), band, evidence)
        except CancelledCallError as error:
            raise CancelledError from error
        if self.learning.cancelled():
            raise CancelledError
        place, title = self.learning.place, proposal.record.title
        if isinstance(found, Refused):
            shown = queue.suggest_answer(place, proposal.id, None)
            action = MemoryAction("kept", proposal.id, title, "", reason=REFUSED)
            told = f"the decision was not taken: {found.why}"
        else:
            memory = found.memory.id if found.memory else ""
            shown = queue.suggest_answer(place, proposal.id, found.answer, memory, found.reason)
            action = MemoryAction(f"suggested-{found.answer}", proposal.id, title, memory, reason=found.reason)
            told = f"{found.answer} {memory}{f' ({found.reason})' if found.reason else ''}"
        self.decided[proposal.id] = replace(shown, neighbours=proposal.neighbours)
        self.learning.run.actions.append(action)
        self._log(self.learning.run.agent, f"{proposal.id}: {told}")

    def _explored(self, proposal: Proposal, band: Sequence[Band]) -> str:
        """What the explorer saw; "" where there is none, or it did not answer: then the lead decides without."""
        from lerim.lead.decide import shown, told
        from lerim.lead.explorer import explore
        from lerim.lead.tools import Tools

        if self.explorer is None:
            return ""
        place = self.learning.place
        store = place.store()
        tools = Tools(
            self.learning.place.project.root, store.memory_dir, self._session(proposal), self.learning.cancelled
        )
        task = f"The claim:\n{told(candidate_of(proposal))}\n\nThe memories:\n{shown(band)}"
        log = self.learning.run.subagents
        try:
            evidence = explore(
                self._model(self.explorer), tools, task, lambda line: self._log(log, f"{proposal.id}: {line}")
            )
        except (BudgetError, SpendingError):
            raise
        except ModelError as error:
            self._log(log, f"{proposal.id}: it did not answer ({error.gist})")
            return ""
        return evidence.text

    def _session(self, proposal: Proposal) -> dict[int, str]:
        """The turns of the candidate's session, as the catalog has them."""
        place = browsing.place_of(self.catalog.db, proposal.turn)
        rows = turns.of_place(self.catalog.db, place[0]) if place else []
        key = self.learning.place.project.key
        return {row.ordinal: f"{row.role}: {row.text}\n{row.tools}".strip() for row in rows if row.project == key}

    def _band(self, proposal: Proposal) -> list[Band]:
        """The memories it may belong to that are there still. Raises NotFoundError where none is."""
        from lerim.lead.decide import Band

        place = self.learning.place
        store = place.store()
        with opened(place.private, place.moves) as book:
            claims = [one for one in book.claims() if one.state in ("accepted", "known")]
        found: list[Band] = []
        for near in proposal.neighbours:
            if store.live_path(near.stored.record.id) is not None:
                record = store.read(near.stored.record.id).record
                said = (one.said for one in claims if one.memory == record.id)
                found.append(Band(record, max([record.updated, *said])))
        if not found:
            raise NotFoundError("None of the memories is there any more.", where=proposal.id)
        return found

    def _model(self, model: Model) -> dspy.LM:
        """DSPy's model over an engine, one a role, made at the first call: importing DSPy takes a second."""
        if model.role not in self._asked:
            from lerim.models.engine import Engine
            from lerim.models.lm import language_model

            engine = Engine(
                model, self.learning.cancelled, home=self.learning.place.home, purse=self.purse, bridge=self.bridge
            )
            self._asked[model.role] = engine, language_model(model, engine)
        return self._asked[model.role][1]

    def _log(self, lines: list[str], line: str) -> None:
        lines.append(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(clean(line).split())[:400]}")
