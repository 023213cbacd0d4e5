"""The part of a sync in which a model decides what code cannot say for sure: whether a claim that waits changes,
replaces or repeats a memory it is near. An explorer looks for evidence, the lead decides, code checks.

What code proposed stands until then, and where the model's decision does not hold. Each candidate is decided once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import BudgetError, BusyError, ModelError, NotFoundError, Problem, SpendingError, TooDearError
from lerim.memory.reconcile import Decision
from lerim.model_session import ModelSession
from lerim.models.state import Choice
from lerim.models.usage import asking_of
from lerim.proposal_sink import ProposalSink
from lerim.redaction import clean
from lerim.report import Progress, SessionCounts, SyncReport, WithdrawnView, Withdrew, combine, unasked
from lerim.review import queue
from lerim.review.candidates import Proposal
from lerim.review.ledger import opened
from lerim.review.run import MemoryAction
from lerim.review.views import candidate_view
from lerim.sessions import browsing, turns
from lerim.sessions.catalog import Catalog
from lerim.sync_context import SyncContext

if TYPE_CHECKING:
    from lerim.lead.decide import Band

MOST = 30
"""Candidates decided in one sync, the latest first; the others wait for the next."""
CODE_STANDS = "The lead's decision did not hold; this is what the rules say."


def decide(context: SyncContext, report: SyncReport) -> SyncReport:
    """Add to a report what the lead makes of candidates that wait undecided, where a model may be asked and was not
    stopped before. Raises CatalogError."""
    waiting = undecided(queue.pending(context.place)[0])
    if not waiting or any(step.kind == "stopped" for step in report.steps):
        return report
    lead, explorer = ModelSession.open("lead", context), ModelSession.open("explorer", context)
    problems = explorer.problems
    if isinstance(lead, Choice):  # the candidates wait for the person as code proposed them
        return unasked(report, [*lead.problems, *problems], report.waits)
    try:
        with context.part("deciding") as part:
            chosen = None if isinstance(explorer, Choice) else explorer
            asked = LeadPass(context, lead, chosen, part.catalog, part.sink)
            asked.run(waiting[:MOST])
    except BusyError as error:
        busy = Problem(error.code, error.where, f"Nothing was decided: {error.explanation}")
        return unasked(report, [*lead.problems, *problems, busy], report.waits)
    sessions = [lead] if asked.explorer is None else [lead, asked.explorer]
    calls = sum(session.usage.calls for session in sessions)
    label, found = lead.model.label, SessionCounts(report.sessions.found)
    summary = f"{label}, {calls} calls, {_summed(part.sink.run.actions)}"
    second = part.finish(found, lead.state, summary, asked=sessions, problems=problems, model=label, waits=report.waits)
    return asked.merged(report, second)


def undecided(waiting: Sequence[Proposal]) -> list[Proposal]:
    """Those a lead may decide, the latest first: of a session, and in nobody's words."""
    return [one for one in reversed(waiting) if one.undecided and one.session and not one.edited]


def _summed(actions: Sequence[MemoryAction]) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(one.action for one in actions).items()) or "nothing"


@dataclass(slots=True)
class LeadPass:
    """One pass over candidates that wait undecided."""

    context: SyncContext
    lead: ModelSession
    explorer: ModelSession | None
    catalog: Catalog
    sink: ProposalSink
    decided: dict[str, Proposal | None] = field(default_factory=dict)
    """By id what became of each candidate; None for one that a memory says already."""

    def run(self, waiting: Sequence[Proposal]) -> None:
        """Decides them in turn; what goes wrong becomes a problem."""
        for number, proposal in enumerate(waiting):
            message = f"asking {self.lead.model.name} what is new in a claim"
            self.context.emit(Progress("learning", number, len(waiting), len(self.sink.candidates), message))
            session = f"{proposal.platform}:{proposal.session}"
            with asking_of(session):
                error = self.lead.ask(partial(self._decide, proposal))
            if isinstance(error, TooDearError):
                self.lead.note("dear", error.explanation.rstrip("."), session)
            if self.lead.over:
                break

    def merged(self, report: SyncReport, second: SyncReport) -> SyncReport:
        """Both reports as one, each candidate as it waits now."""
        kept = [one for one in report.candidates if self.decided.get(one.id, one) is not None]
        shown = {key: candidate_view(one) for key, one in self.decided.items() if one is not None}
        return combine(msgspec.structs.replace(report, candidates=[shown.get(one.id, one) for one in kept]), second)

    def _decide(self, proposal: Proposal) -> None:
        """Raises StoppedError, ModelError, MemoryError_."""
        from lerim.lead.decide import Refused, decided
        from lerim.review.redeciding import candidate_of

        candidate = candidate_of(proposal)
        try:
            band = self._band(proposal)
            found = decided(self.lead.lm, candidate, band, self._explored(proposal, band))
            self.context.raise_if_cancelled()
            if isinstance(found, Refused):
                self._apply(proposal, replace(_as_it_is(proposal), reason=CODE_STANDS), found.why)
            else:
                self._apply(proposal, found)
        except NotFoundError:
            return  # a person decided it, or a memory is gone meanwhile

    def _apply(self, proposal: Proposal, decision: Decision, refused: str = "") -> None:
        """Writes down what was decided, then tells it: what is counted is what was done. `refused`: why the lead's own
        decision does not hold."""
        outcome = queue.decide_again(self.context.place, proposal.id, decision, decision.reason)
        action, memory = decision.action, decision.target.id if decision.target else ""
        if isinstance(outcome, Proposal):
            self.decided[proposal.id] = outcome
        else:
            self.decided[proposal.id] = None
            self.sink.withdrawn.append(WithdrawnView(proposal.id, outcome.reason))
            self.context.emit(Withdrew(proposal.id, outcome.reason))
        done = "kept" if refused else f"decided-{action}"
        title = proposal.record.title
        self.sink.run.actions.append(MemoryAction(done, proposal.id, title, memory, reason=decision.reason))
        why = f" ({decision.reason})" if decision.reason else ""
        said = f"kept as it was: {refused}" if refused else f"{action} {memory}{why}"
        self._log(self.sink.run.agent, f"{proposal.id}: {said}")

    def _explored(self, proposal: Proposal, band: Sequence[Band]) -> str:
        """What the explorer saw; "" where there is none, or it did not answer: then the lead decides without."""
        from lerim.lead.decide import shown, told
        from lerim.lead.explorer import explore
        from lerim.lead.tools import Tools
        from lerim.review.redeciding import candidate_of

        if self.explorer is None:
            return ""
        place = self.context.place
        store = place.store()
        tools = Tools(place.project.root, store.memory_dir, self._session(proposal), self.context.cancelled)
        task = f"The claim:\n{told(candidate_of(proposal))}\n\nThe memories:\n{shown(band)}"
        log = self.sink.run.subagents
        try:
            evidence = explore(self.explorer.lm, tools, task, lambda line: self._log(log, f"{proposal.id}: {line}"))
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
        key = self.context.place.project.key
        return {row.ordinal: f"{row.role}: {row.text}\n{row.tools}".strip() for row in rows if row.project == key}

    def _band(self, proposal: Proposal) -> list[Band]:
        """The memories it may belong to that are there still. Raises NotFoundError where none is."""
        from lerim.lead.decide import Band

        place = self.context.place
        store = place.store()
        with opened(place.private, place.moves) as book:
            claims = [one for one in book.claims() if one.state in ("accepted", "known")]
        found: list[Band] = []
        for name in proposal.undecided:
            path = store.live_path(name)
            if path is None:
                continue
            record = store.load(path)[0].record
            said = max([record.updated, *(one.said for one in claims if one.memory == name)])
            found.append(Band(record, said))
        if not found:
            raise NotFoundError("None of the memories is there any more.", where=proposal.id)
        return found

    def _log(self, lines: list[str], line: str) -> None:
        lines.append(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(clean(line).split())[:400]}")


def _as_it_is(proposal: Proposal) -> Decision:
    """What code proposed, as a decision."""
    if proposal.action == "add" or not proposal.about:
        return Decision("add")
    kept = proposal.about[0].record
    return Decision("update" if proposal.action == "update" else "supersede", kept)
