"""Plans the maintenance of a store's memories: which to merge, close, archive or consolidate, and which references to
update.

The plan is a pure function: it changes nothing and reads no file. Each suggestion gives its reason in a sentence with
the figures behind it. A memory is part of at most one suggestion, so that no suggestion invalidates another; anything
that follows from an accepted suggestion is left to the next maintenance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from typing import Literal

from lerim.config import MaintenanceRules
from lerim.errors import StoppedError
from lerim.maintenance.groups import find_groups, plain_insight
from lerim.maintenance.merges import Merge, find_merges
from lerim.maintenance.pairs import PairTally
from lerim.memory import (
    NO_OUTCOMES,
    TWO_ANSWERS_CODE,
    WRONG_STATES,
    ClaimWords,
    DriftSummary,
    IsWrittenByLerim,
    MemoryRecord,
    ServedOutcomes,
    StoredMemory,
    ThemeActivity,
    claim_text,
    claim_words,
    conflicting_answers_among,
    dice_overlap,
    find_archive_reason,
    join_titles,
    learnings_over_limit,
    merge_bodies,
    merge_evidence,
    never_written_by_lerim,
    update_references,
    with_current_status,
)
from lerim.review import Suggestion

MAY_ANSWER_FLAG = "may-answer"
"""Flags the closing of a question that a memory may answer: their titles share most of their words."""
MAY_ANSWER_OVERLAP = 0.6
"""The least overlap (Dice's coefficient) of the titles of a question and a memory that may answer it."""
TEXTS_DIFFER_FLAG = "differs"
"""Flags a merge of memories whose texts differ: a person should look at it."""
PLAIN_INSIGHT_FLAG = "plain"
"""Flags an insight: it is a plain list of the learnings, and a person should look at it."""
PlanCategory = Literal["merged", "closed", "decayed", "archived", "bounded", "consolidated", "referred"]


@dataclass(frozen=True, slots=True)
class PlannedSuggestion:
    """A suggestion and the category it is counted under.

    `decayed`: a learning that nobody uses; `bounded`: a learning over the store's limit; `archived`: a memory that a
    person does not want, a theme nobody works on, or a learning whose place in the code is gone.
    """

    category: PlanCategory
    suggestion: Suggestion


@dataclass(frozen=True, slots=True)
class PlanInputs:
    """What a plan depends on besides the memories. All mappings are by memory id.

    `uses`: when each memory was last used, and a theme last kept by a person. `drift`: which memories are not fresh,
    and where moved references are now. `theme_activity`: the activity of each theme. `unwanted_reasons`: why a person
    does not want a memory. `written_by_lerim` returns a test for the sentences of a memory that Lerim wrote.
    `kept_apart`: pairs of ids that a person keeps separate. `outcomes`: what became of memories that agents were given.
    `tallies` is filled with the cost of finding merges.
    """

    now: datetime
    rules: MaintenanceRules
    uses: Mapping[str, datetime] = field(default_factory=dict)
    drift: DriftSummary = field(default_factory=DriftSummary)
    theme_activity: Mapping[str, ThemeActivity] = field(default_factory=dict)
    unwanted_reasons: Mapping[str, str] = field(default_factory=dict)
    written_by_lerim: Callable[[StoredMemory], IsWrittenByLerim] = lambda _: never_written_by_lerim
    kept_apart: Collection[frozenset[str]] = ()
    outcomes: Mapping[str, ServedOutcomes] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    tallies: list[PairTally] = field(default_factory=list)


def plan_maintenance(memories: Sequence[StoredMemory], inputs: PlanInputs) -> list[PlannedSuggestion]:
    """Returns the suggestions for these memories, in the order in which they should be proposed; none if cancelled.

    A memory that another memory superseded or resolved is left out, wherever its file is. So are memories that share
    an id with another file, until the two are joined.
    """
    file_counts = Counter(stored.record.id for stored in memories)
    active = [
        stored
        for stored in with_current_status(memories)
        if stored.status == "active" and stored.record.primitive != "summary" and file_counts[stored.record.id] == 1
    ]
    planner = _Planner(sorted(active, key=lambda stored: (stored.record.updated, stored.record.id)), inputs)
    try:
        planner.parse_claims()
        return _run_steps(planner)
    except StoppedError:
        return []


def _run_steps(planner: _Planner) -> list[PlannedSuggestion]:
    """Runs each step on the memories that no earlier step planned anything for. Raises StoppedError."""
    suggestions: list[PlannedSuggestion] = []
    steps = (
        planner.archive_unwanted,
        planner.merge_conflicting_answers,
        planner.merge_duplicates,
        planner.close_answered_questions,
        planner.archive_unused,
        planner.archive_over_limit,
        planner.consolidate_learnings,
        planner.update_moved_references,
    )
    for step in steps:
        for planned in step():
            planner.raise_if_cancelled()
            suggestions.append(planned)
            planner.planned_ids.update(target.record.id for target in planned.suggestion.targets)
    planner.raise_if_cancelled()
    return suggestions


@dataclass(slots=True)
class _Planner:
    """Plans the steps for the active memories, oldest first. `planned_ids` are those that already have a suggestion."""

    active: Sequence[StoredMemory]
    inputs: PlanInputs
    planned_ids: set[str] = field(default_factory=set)
    claims: dict[str, ClaimWords] = field(default_factory=dict)

    def parse_claims(self) -> None:
        """Extracts the words of each memory's claim. Raises StoppedError."""
        for stored in self.active:
            self.raise_if_cancelled()
            self.claims[stored.record.id] = claim_words(stored.record.title, stored.record.body)

    def raise_if_cancelled(self) -> None:
        """Raises StoppedError if the maintenance was cancelled."""
        if self.inputs.cancelled():
            raise StoppedError

    def list_unplanned(self, *primitives: str) -> list[StoredMemory]:
        """Returns the memories of these primitives that have no suggestion yet."""
        return [
            stored
            for stored in self.active
            if stored.record.id not in self.planned_ids and stored.record.primitive in primitives
        ]

    def last_use(self, record: MemoryRecord) -> datetime:
        """Returns when a memory was last used or updated, whichever is later."""
        return max(record.updated, self.inputs.uses.get(record.id, record.updated))

    def archive_unwanted(self) -> Iterator[PlannedSuggestion]:
        """Archives memories that a person does not want."""
        for stored in self.list_unplanned("decision", "learning", "question", "theme"):
            if reason := self.inputs.unwanted_reasons.get(stored.record.id):
                yield PlannedSuggestion("archived", Suggestion("archive", stored.record, (stored,), reason))

    def merge_conflicting_answers(self) -> Iterator[PlannedSuggestion]:
        """Merges different answers to the same question, keeping the latest one; a person decides. Two that a person
        keeps apart are not in one merge."""
        unplanned = {answer.record.id: answer for answer in self.list_unplanned("decision", "learning")}
        for conflict in conflicting_answers_among(self.active):
            answers = [
                unplanned[name] for name in conflict.answers if name in unplanned and name not in self.planned_ids
            ]
            answers = self._mergeable_answers(answers)
            if len({claim_text(answer.record.title, answer.record.body) for answer in answers}) < 2:
                continue
            titles = {answer.record.id: answer.record.title for answer in answers}
            reason = f"{join_titles(titles, titles)} answer {conflict.question} differently; the latest would stay."
            targets = (answers[-1], *answers[:-1])
            yield PlannedSuggestion(
                "merged", Suggestion("merge", targets[0].record, targets, reason, flags=(TWO_ANSWERS_CODE,))
            )

    def _mergeable_answers(self, answers: Sequence[StoredMemory]) -> list[StoredMemory]:
        """Returns the latest answers of which no two are kept apart, oldest first."""
        found: list[StoredMemory] = []
        for latest_at in range(len(answers) - 1, 0, -1):
            found = [answers[latest_at]]
            for answer in reversed(answers[:latest_at]):
                pairs = (frozenset((answer.record.id, other.record.id)) for other in found)
                if not any(pair in self.inputs.kept_apart for pair in pairs):
                    found.insert(0, answer)
            if len(found) > 1:
                break
        return found

    def merge_duplicates(self) -> Iterator[PlannedSuggestion]:
        """Merges memories of one primitive that say nearly the same; within a merge, every two are similar."""
        tallies = self.inputs.tallies
        for primitive in ("decision", "learning", "question", "theme"):
            memories = self.list_unplanned(primitive)
            records = [stored.record for stored in memories]
            claims = [self.claims[record.id] for record in records]
            for merge in find_merges(records, claims, self.inputs.cancelled, tallies, self.inputs.kept_apart):
                suggestion = self._merge_suggestion([memories[at] for at in merge.members], merge)
                yield PlannedSuggestion("merged", suggestion)

    def _merge_suggestion(self, memories: Sequence[StoredMemory], merge: Merge) -> Suggestion:
        """Suggests merging memories into the first of them, with the text of the last."""
        oldest, *others = memories
        record = oldest.record
        own_sentence_tests = [self.inputs.written_by_lerim(oldest)]
        for stored in others:
            other = stored.record
            record = replace(
                record,
                title=other.title,
                updated=max(record.updated, other.updated),
                source=other.source,
                confidence=max(record.confidence, other.confidence),
                tags=tuple(dict.fromkeys((*record.tags, *other.tags))),
                body=merge_bodies(
                    record.body,
                    other.title,
                    other.body,
                    lambda sentence: any(is_own(sentence) for is_own in own_sentence_tests),
                ),
                kind=other.kind or record.kind,
                references=tuple(dict.fromkeys((*record.references, *other.references))),
                evidence=merge_evidence(other.evidence, record.evidence),
            )
            own_sentence_tests.append(self.inputs.written_by_lerim(stored))
        what = "the same" if merge.same_text else "nearly the same"
        day = f"{record.updated:%Y-%m-%d}"
        alike = f"{merge.similarity * 100:.0f} % alike"
        reason = f"{len(memories)} memories say {what} ({alike}). The text of {day} is the latest."
        flags = () if merge.same_text else (TEXTS_DIFFER_FLAG,)
        return Suggestion("merge", record, tuple(memories), reason, flags=flags)

    def close_answered_questions(self) -> Iterator[PlannedSuggestion]:
        """Closes open questions that a later decision or learning may answer, because their titles share most of their
        words; a person decides."""
        answers = self.list_unplanned("decision", "learning")
        answers_by_word: defaultdict[str, list[int]] = defaultdict(list)
        for at, stored in enumerate(answers):
            for word in self.claims[stored.record.id].title:
                answers_by_word[word].append(at)
        for question in self.list_unplanned("question"):
            self.raise_if_cancelled()
            question_words = self.claims[question.record.id].title
            near = Counter(at for word in question_words for at in answers_by_word[word])
            later = [
                (dice_overlap(question_words, self.claims[answer.record.id].title), answer)
                for answer in (answers[at] for at in near)
                if answer.record.updated > question.record.updated
                and answer.record.id not in self.planned_ids
                and frozenset((question.record.id, answer.record.id)) not in self.inputs.kept_apart
            ]
            similarity, answer = max(later, key=lambda pair: (pair[0], pair[1].record.id), default=(0.0, None))
            if answer is not None and similarity >= MAY_ANSWER_OVERLAP:
                record = answer.record
                reason = f"“{record.title}” of {record.updated:%Y-%m-%d} may answer it."
                yield PlannedSuggestion(
                    "closed", Suggestion("close", record, (question, answer), reason, flags=(MAY_ANSWER_FLAG,))
                )

    def archive_unused(self) -> Iterator[PlannedSuggestion]:
        """Archives themes nobody works on, learnings nobody uses, and learnings whose place in the code is gone."""
        inputs = self.inputs
        for stored in self.list_unplanned("theme", "learning"):
            record = stored.record
            last_use = self.last_use(record)
            activity, outcomes = inputs.theme_activity.get(record.id), inputs.outcomes.get(record.id, NO_OUTCOMES)
            reason = find_archive_reason(record, last_use, activity, inputs.now, inputs.rules, outcomes)
            category: PlanCategory = "decayed" if reason and record.primitive == "learning" else "archived"
            if reason := reason or self._gone_place_reason(record):
                yield PlannedSuggestion(category, Suggestion("archive", record, (stored,), reason))

    def _gone_place_reason(self, record: MemoryRecord) -> str | None:
        """Returns why a learning whose only place in the code is gone should be archived, or None. Decisions outlive
        their places."""
        drift, now = self.inputs.drift.drift_by_memory.get(record.id), self.inputs.now
        if record.primitive != "learning" or drift is None or drift.state != "gone" or drift.moved_to:
            return None
        last_use = self.last_use(record)
        since = datetime.combine(date.fromisoformat(drift.since), time(), UTC) if drift.since else last_use
        days = (now - max(since, last_use)).days
        if len(record.references) != 1 or days <= self.inputs.rules.grace_days:
            return None
        return f"{drift.reference} was not found, and this has not been used for {days} days."

    def archive_over_limit(self) -> Iterator[PlannedSuggestion]:
        """Archives the learnings over the store's limit, the longest unused first."""
        now, rules = self.inputs.now, self.inputs.rules
        memories = {stored.record.id: stored for stored in self.list_unplanned("learning")}
        learnings = [
            (stored.record, self.last_use(stored.record), self.inputs.outcomes.get(name, NO_OUTCOMES))
            for name, stored in memories.items()
        ]
        for record in learnings_over_limit(learnings, now, rules):
            unused_days = (now - self.last_use(record)).days
            reason = (
                f"There are {len(learnings)} learnings, and {rules.most_learnings} are kept. This one has not"
                f" been used for {unused_days} days (its confidence is {record.confidence * 100:.0f} %)."
            )
            yield PlannedSuggestion("bounded", Suggestion("archive", record, (memories[record.id],), reason))

    def consolidate_learnings(self) -> Iterator[PlannedSuggestion]:
        """Consolidate three or more related learnings into one insight.

        A learning whose place in the code has changed is left out: it may no longer be true, and the insight would
        count as a fresh statement of it.
        """
        drifts = self.inputs.drift.drift_by_memory
        stale = {name for name, drift in drifts.items() if drift.state in WRONG_STATES}
        memories = {one.record.id: one for one in self.list_unplanned("learning") if one.record.id not in stale}
        records = [stored.record for stored in memories.values()]
        for group in find_groups(records, self.claims, self.raise_if_cancelled):
            reason = f"{len(group.sources)} learnings are about {group.subject} and share words."
            targets = tuple(memories[source.id] for source in group.sources)
            suggestion = Suggestion("consolidate", plain_insight(group), targets, reason, flags=(PLAIN_INSIGHT_FLAG,))
            yield PlannedSuggestion("consolidated", suggestion)

    def update_moved_references(self) -> Iterator[PlannedSuggestion]:
        """Updates the references of memories whose places in the code were moved or renamed."""
        for stored in self.list_unplanned("decision", "learning", "question", "theme"):
            moves = self.inputs.drift.moved_references.get(stored.record.id, {})
            references = update_references(stored.record.references, moves)
            if references == stored.record.references:
                continue
            reason = ", ".join(f"{before} was moved to {after}" for before, after in moves.items())
            record = replace(stored.record, references=references)
            yield PlannedSuggestion("referred", Suggestion("refer", record, (stored,), f"{reason}."))
