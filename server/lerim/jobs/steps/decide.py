"""The part of a sync in which a model compares a waiting candidate with similar memories: whether it says the same as
one of them, changes it, replaces it or answers it. The explorer model looks for evidence, the lead model decides, and
code checks the decision.

The decision becomes the candidate's suggested answer, which the person may take or not. A model is asked about each
candidate only once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

import msgspec

from lerim import assistant
from lerim.errors import (
    BudgetError,
    BusyError,
    LerimError,
    ModelError,
    NotFoundError,
    Problem,
    SpendingError,
    TooDearError,
)
from lerim.jobs.model_session import ModelSession
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import SessionCounts, SyncProgress, SyncReport, combine_reports, with_no_model_asked
from lerim.jobs.sync_context import SyncContext
from lerim.models import ModelChoice, attribute_calls
from lerim.redaction import clean_text
from lerim.review import MemoryAction, Proposal, candidate_view, latest_turn_times, queue, to_candidate
from lerim.sessions import Catalog, browsing, turns

MAX_CANDIDATES = 30
"""How many candidates are decided in one sync, the latest first; the others wait for the next."""
REFUSED = "The model's decision could not be used."


def suggest_answers(context: SyncContext, report: SyncReport) -> SyncReport:
    """Lets the lead model suggest answers for undecided candidates, unless no model may be asked or an earlier step
    stopped asking. Returns the report with the results added. Raises CatalogError."""
    undecided = find_undecided(queue.list_pending(context.place)[0])
    if not undecided or any(step.kind == "stopped" for step in report.steps):
        return report
    lead, explorer = context.open_model("lead"), context.open_model("explorer")
    problems = explorer.problems
    if isinstance(lead, ModelChoice):  # the candidates wait without a suggested answer
        return with_no_model_asked(report, [*lead.problems, *problems], report.waits)
    waiting = [one for one in queue.with_neighbours(context.place, undecided) if one.neighbours]
    if not waiting:
        return report
    try:
        with context.open_part("deciding") as part:
            open_explorer = None if isinstance(explorer, ModelChoice) else explorer
            lead_pass = LeadPass(context, lead, open_explorer, part.catalog, part.sink)
            lead_pass.run(waiting[:MAX_CANDIDATES])
    except BusyError as error:
        busy = Problem(error.code, error.where, f"No model decided: {error.explanation}")
        return with_no_model_asked(report, [*lead.problems, *problems, busy], report.waits)
    sessions = [lead] if lead_pass.explorer is None else [lead, lead_pass.explorer]
    calls = sum(session.usage.calls for session in sessions)
    label, found = lead.model.label, SessionCounts(report.sessions.found)
    summary = f"{label}, {calls} calls, {_count_actions(part.sink.run.actions)}"
    decisions_report = part.finish(
        found, lead.state, summary, model_sessions=sessions, problems=problems, model=label, waits=report.waits
    )
    return lead_pass.merge_into(report, decisions_report)


def find_undecided(waiting: Sequence[Proposal]) -> list[Proposal]:
    """Returns the candidates to ask a model about if there are similar memories, the latest first: those of a session
    that nobody edited, that no person proposed, and that no model was asked about before."""
    undecided = [one for one in reversed(waiting) if one.session and not one.edited and not one.model_asked]
    return [one for one in undecided if one.maker != "person"]


def _count_actions(actions: Sequence[MemoryAction]) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(one.action for one in actions).items()) or "nothing"


@dataclass(slots=True)
class LeadPass:
    """One pass over undecided candidates."""

    context: SyncContext
    lead: ModelSession
    explorer: ModelSession | None
    catalog: Catalog
    sink: ProposalSink
    decided: dict[str, Proposal] = field(default_factory=dict)
    """The decided candidates with their suggested answers, by id."""

    def run(self, waiting: Sequence[Proposal]) -> None:
        """Decides the candidates one after the other. Errors become problems."""
        for number, proposal in enumerate(waiting):
            message = f"asking {self.lead.model.name} what is new in claims"
            self.context.emit(SyncProgress("learning", number, len(waiting), len(self.sink.candidates), message))
            session = f"{proposal.platform}:{proposal.session}"
            with attribute_calls(session):
                error = self.lead.ask(partial(self._decide, proposal))
            if isinstance(error, TooDearError):
                self.lead.note("dear", error.explanation.rstrip("."), session)
            elif type(error) is ModelError:  # the service objects to this text, and would again at each sync
                with suppress(LerimError):  # meanwhile a person decided it
                    queue.suggest_answer(self.context.place, proposal.id, None)
            if self.lead.ended:
                break

    def merge_into(self, report: SyncReport, decisions_report: SyncReport) -> SyncReport:
        """Combines the reports. Candidates of the first get their suggested answers."""
        decided_views = {key: candidate_view(one) for key, one in self.decided.items()}
        candidates = [decided_views.get(one.id, one) for one in report.candidates]
        return combine_reports(msgspec.structs.replace(report, candidates=candidates), decisions_report)

    def _decide(self, proposal: Proposal) -> None:
        """Asks about one candidate and records the answer. Raises StoppedError, ModelError, MemoryError_."""
        try:
            related = self._find_related(proposal)
            decision = assistant.decide_claim(
                self.lead.lm, to_candidate(proposal), related, self._explore(proposal, related)
            )
            self.context.raise_if_cancelled()
            self._record_decision(proposal, decision)
        except NotFoundError:
            return  # meanwhile a person decided it or a memory was removed

    def _record_decision(self, proposal: Proposal, decision: assistant.Decided | assistant.RefusedDecision) -> None:
        """Saves the suggested answer, then logs it: the log contains only what was saved."""
        place, title = self.context.place, proposal.record.title
        if isinstance(decision, assistant.RefusedDecision):
            updated = queue.suggest_answer(place, proposal.id, None)
            action = MemoryAction("kept", proposal.id, title, "", reason=REFUSED)
            log_text = f"the decision was not applied: {decision.log_reason}"
        else:
            memory = decision.memory.id if decision.memory else ""
            updated = queue.suggest_answer(place, proposal.id, decision.answer, memory, decision.reason)
            action = MemoryAction(f"suggested-{decision.answer}", proposal.id, title, memory, reason=decision.reason)
            log_text = f"{decision.answer} {memory}{f' ({decision.reason})' if decision.reason else ''}"
        self.decided[proposal.id] = replace(updated, neighbours=proposal.neighbours)
        self.sink.run.actions.append(action)
        self._log(self.sink.run.lead_log, f"{proposal.id}: {log_text}")

    def _explore(self, proposal: Proposal, related: Sequence[assistant.RelatedMemory]) -> str:
        """Returns the explorer's evidence, "" if there is no explorer or no answer. The lead then decides without
        it."""
        if self.explorer is None:
            return ""
        place = self.context.place
        store = place.store()
        tools = assistant.ExplorerTools(
            place.project.root, store.memory_dir, self._load_session(proposal), self.context.cancelled
        )
        claim = assistant.describe_claim(to_candidate(proposal))
        task = f"The claim:\n{claim}\n\nThe memories:\n{assistant.describe_memories(related)}"
        log = self.sink.run.explorer_log
        try:
            return assistant.explore(
                self.explorer.lm, tools, task, lambda line: self._log(log, f"{proposal.id}: {line}")
            )
        except (BudgetError, SpendingError):
            raise
        except ModelError as error:
            self._log(log, f"{proposal.id}: it did not answer ({error.generic_message})")
            return ""

    def _load_session(self, proposal: Proposal) -> dict[int, str]:
        place = browsing.locate_turn(self.catalog.db, proposal.turn)
        rows = turns.load_turns(self.catalog.db, place[0]) if place else []
        key, as_of = self.context.place.project.key, self.context.options.as_of
        return {
            row.ordinal: f"{row.role}: {row.text}\n{row.tools}".strip()
            for row in rows
            if row.project == key and (as_of is None or row.time is None or row.time < as_of)
        }

    def _find_related(self, proposal: Proposal) -> list[assistant.RelatedMemory]:
        """Returns the neighbouring memories that still exist. Raises NotFoundError if there is none."""
        place = self.context.place
        store = place.store()
        with place.open_ledger() as ledger:
            said = latest_turn_times(ledger.claims_about([one.stored.record.id for one in proposal.neighbours]))
        related: list[assistant.RelatedMemory] = []
        for neighbour in proposal.neighbours:
            with suppress(NotFoundError):
                stored = store.load_by_id(neighbour.stored.record.id)
                if stored.status == "active":
                    record = stored.record
                    latest = max(record.updated, said.get(record.id, record.updated))
                    related.append(assistant.RelatedMemory(record, latest))
        if not related:
            raise NotFoundError("None of these memories exists any more.", where=proposal.id)
        return related

    def _log(self, lines: list[str], line: str) -> None:
        lines.append(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(clean_text(line).split())[:400]}")
