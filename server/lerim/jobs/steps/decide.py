"""The part of a sync in which a model relates a waiting candidate to the memories near it: whether it says the
same, changes, replaces or answers one of them. An explorer looks for evidence, the lead decides, code checks.

The decision is the candidate's suggested answer; the person takes it or another. Each candidate is asked about once.
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
from lerim.jobs.model_session import ModelSession
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import SessionCounts, SyncProgress, SyncReport, combine_reports, with_no_model_asked
from lerim.jobs.sync_context import SyncContext
from lerim.models import ModelChoice, attribute_calls
from lerim.redaction import clean_text
from lerim.review import MemoryAction, Proposal, candidate_view, open_ledger, queue, to_candidate
from lerim.sessions import Catalog, browsing, turns

if TYPE_CHECKING:
    from lerim.assistant import Decided, RefusedDecision, RelatedMemory

MAX_CANDIDATES = 30
"""Candidates decided in one sync, the latest first; the others wait for the next."""
REFUSED = "The model's decision could not be used."


def suggest_answers(context: SyncContext, report: SyncReport) -> SyncReport:
    """Add to a report what the lead makes of candidates that wait undecided, where a model may be asked and was not
    stopped before. Raises CatalogError."""
    able = find_undecided(queue.list_pending(context.place)[0])
    if not able or any(step.kind == "stopped" for step in report.steps):
        return report
    lead, explorer = ModelSession.open("lead", context), ModelSession.open("explorer", context)
    problems = explorer.problems
    if isinstance(lead, ModelChoice):  # the candidates wait for the person as code proposed them
        return with_no_model_asked(report, [*lead.problems, *problems], report.waits)
    waiting = [one for one in queue.with_neighbours(context.place, able) if one.neighbours]
    if not waiting:
        return report
    try:
        with context.part("deciding") as part:
            chosen = None if isinstance(explorer, ModelChoice) else explorer
            asked = LeadPass(context, lead, chosen, part.catalog, part.sink)
            asked.run(waiting[:MAX_CANDIDATES])
    except BusyError as error:
        busy = Problem(error.code, error.where, f"No model decided: {error.explanation}")
        return with_no_model_asked(report, [*lead.problems, *problems, busy], report.waits)
    sessions = [lead] if asked.explorer is None else [lead, asked.explorer]
    calls = sum(session.usage.calls for session in sessions)
    label, found = lead.model.label, SessionCounts(report.sessions.found)
    summary = f"{label}, {calls} calls, {_count_actions(part.sink.run.actions)}"
    second = part.finish(found, lead.state, summary, asked=sessions, problems=problems, model=label, waits=report.waits)
    return asked.merge_into(report, second)


def find_undecided(waiting: Sequence[Proposal]) -> list[Proposal]:
    """The candidates to ask a model about if memories are near them, the latest first: of a session, not edited, not
    wanted by a person as an addition, and not asked about before."""
    able = [one for one in reversed(waiting) if one.session and not one.edited and not one.model_asked]
    return [one for one in able if one.maker != "person"]


def _count_actions(actions: Sequence[MemoryAction]) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(one.action for one in actions).items()) or "nothing"


@dataclass(slots=True)
class LeadPass:
    """One pass over candidates that wait undecided."""

    context: SyncContext
    lead: ModelSession
    explorer: ModelSession | None
    catalog: Catalog
    sink: ProposalSink
    decided: dict[str, Proposal] = field(default_factory=dict)
    """The candidates with their suggested answers, by id."""

    def run(self, waiting: Sequence[Proposal]) -> None:
        """Decide them in turn; errors become problems."""
        for number, proposal in enumerate(waiting):
            message = f"asking {self.lead.model.name} what is new in a claim"
            self.context.emit(SyncProgress("learning", number, len(waiting), len(self.sink.candidates), message))
            session = f"{proposal.platform}:{proposal.session}"
            with attribute_calls(session):
                error = self.lead.ask(partial(self._decide, proposal))
            if isinstance(error, TooDearError):
                self.lead.note("dear", error.explanation.rstrip("."), session)
            if self.lead.ended:
                break

    def merge_into(self, report: SyncReport, second: SyncReport) -> SyncReport:
        """Combine both reports, with each candidate as it waits now."""
        shown = {key: candidate_view(one) for key, one in self.decided.items()}
        candidates = [shown.get(one.id, one) for one in report.candidates]
        return combine_reports(msgspec.structs.replace(report, candidates=candidates), second)

    def _decide(self, proposal: Proposal) -> None:
        """Raises StoppedError, ModelError, MemoryError_."""
        from lerim.assistant import decide_claim

        try:
            related = self._find_related(proposal)
            found = decide_claim(self.lead.lm, to_candidate(proposal), related, self._explore(proposal, related))
            self.context.raise_if_cancelled()
            self._suggest(proposal, found)
        except NotFoundError:
            return  # a person decided it, or a memory is gone meanwhile

    def _suggest(self, proposal: Proposal, found: Decided | RefusedDecision) -> None:
        """Write down what the model suggests, then tell it: what is counted is what was done."""
        from lerim.assistant import decide as deciding

        place, title = self.context.place, proposal.record.title
        if isinstance(found, deciding.RefusedDecision):
            shown = queue.suggest_answer(place, proposal.id, None)
            action = MemoryAction("kept", proposal.id, title, "", reason=REFUSED)
            told = f"the decision was not taken: {found.why}"
        else:
            memory = found.memory.id if found.memory else ""
            shown = queue.suggest_answer(place, proposal.id, found.answer, memory, found.reason)
            action = MemoryAction(f"suggested-{found.answer}", proposal.id, title, memory, reason=found.reason)
            told = f"{found.answer} {memory}{f' ({found.reason})' if found.reason else ''}"
        self.decided[proposal.id] = replace(shown, neighbours=proposal.neighbours)
        self.sink.run.actions.append(action)
        self._log(self.sink.run.lead_log, f"{proposal.id}: {told}")

    def _explore(self, proposal: Proposal, related: Sequence[RelatedMemory]) -> str:
        """Return the explorer's evidence; "" if there is no explorer or no answer: the lead then decides without it."""
        from lerim.assistant import ExplorerTools, describe_claim, describe_memories, explore

        if self.explorer is None:
            return ""
        place = self.context.place
        store = place.store()
        tools = ExplorerTools(place.project.root, store.memory_dir, self._session(proposal), self.context.cancelled)
        task = f"The claim:\n{describe_claim(to_candidate(proposal))}\n\nThe memories:\n{describe_memories(related)}"
        log = self.sink.run.explorer_log
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
        place = browsing.locate_turn(self.catalog.db, proposal.turn)
        rows = turns.load_turns(self.catalog.db, place[0]) if place else []
        key = self.context.place.project.key
        return {row.ordinal: f"{row.role}: {row.text}\n{row.tools}".strip() for row in rows if row.project == key}

    def _find_related(self, proposal: Proposal) -> list[RelatedMemory]:
        """Return the neighbouring memories that still exist. Raises NotFoundError if there is none."""
        from lerim.assistant import RelatedMemory

        place = self.context.place
        store = place.store()
        with open_ledger(place.private, place.moves) as book:
            claims = [one for one in book.claims() if one.state in ("accepted", "known")]
        found: list[RelatedMemory] = []
        for near in proposal.neighbours:
            if store.live_path(near.stored.record.id) is not None:
                record = store.load_by_id(near.stored.record.id).record
                said = (one.last_said for one in claims if one.memory == record.id)
                found.append(RelatedMemory(record, max([record.updated, *said])))
        if not found:
            raise NotFoundError("None of the memories is there any more.", where=proposal.id)
        return found

    def _log(self, lines: list[str], line: str) -> None:
        lines.append(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(clean_text(line).split())[:400]}")
