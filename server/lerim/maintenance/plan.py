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
from lerim.maintenance.merges import Merge, MergeEffort, find_merges
from lerim.memory import (
    NO_OUTCOMES,
    TWO_ANSWERS_CODE,
    ClaimWords,
    Drift,
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
    parse_reference,
    reference_text,
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


def plan_maintenance(
    memories: Sequence[StoredMemory],
    uses: Mapping[str, datetime],
    drift_by_memory: Mapping[str, Drift],
    moved_references: Mapping[str, Mapping[str, str]],
    theme_activity: Mapping[str, ThemeActivity],
    now: datetime,
    rules: MaintenanceRules,
    cancelled: Callable[[], bool] = lambda: False,
    unwanted_reasons: Mapping[str, str] = {},
    written_by_lerim: Callable[[StoredMemory], IsWrittenByLerim] = lambda _: never_written_by_lerim,
    effort: MergeEffort | None = None,
    kept_apart: Collection[frozenset[str]] = (),
    outcomes: Mapping[str, ServedOutcomes] = {},
) -> list[PlannedSuggestion]:
    """Return the suggestions for these memories, in the order in which they should be proposed; none if cancelled.

    All mappings are by memory id. `uses`: when each memory was last used. `drift_by_memory`: the drift of memories
    that are not fresh. `moved_references`: where moved or renamed references are now. `theme_activity`: the activity
    of each theme. `unwanted_reasons`: why a person does not want a memory. `written_by_lerim` returns a test for the
    sentences of a memory that Lerim wrote. `effort` is filled with the cost of finding merges and the number of
    memories that were not compared with all similar ones. `kept_apart`: pairs of ids that a person keeps separate.
    `outcomes`: what became of memories that agents were given.

    A memory that another memory superseded or resolved is left out, wherever its file is. So are memories that share
    an id with another file, until the two are joined.
    """
    file_counts = Counter(stored.record.id for stored in memories)
    active = [
        stored
        for stored in with_current_status(memories)
        if stored.status == "active" and stored.record.primitive != "summary" and file_counts[stored.record.id] == 1
    ]
    effort = effort or MergeEffort()
    planner = _Planner(
        sorted(active, key=_age_key),
        uses,
        drift_by_memory,
        moved_references,
        theme_activity,
        unwanted_reasons,
        now,
        rules,
        written_by_lerim,
        cancelled,
        effort,
        kept_apart,
        outcomes,
    )
    try:
        planner.parse_claims()
        return _run_steps(planner)
    except StoppedError:
        return []


def _run_steps(planner: _Planner) -> list[PlannedSuggestion]:
    """Run each step on the memories that no earlier step planned anything for. Raises StoppedError."""
    suggestions: list[PlannedSuggestion] = []
    steps: tuple[Callable[[], Iterator[PlannedSuggestion]], ...] = (
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
    uses: Mapping[str, datetime]
    drift_by_memory: Mapping[str, Drift]
    moved_references: Mapping[str, Mapping[str, str]]
    theme_activity: Mapping[str, ThemeActivity]
    unwanted_reasons: Mapping[str, str]
    now: datetime
    rules: MaintenanceRules
    written_by_lerim: Callable[[StoredMemory], IsWrittenByLerim]
    cancelled: Callable[[], bool]
    effort: MergeEffort
    kept_apart: Collection[frozenset[str]]
    outcomes: Mapping[str, ServedOutcomes]
    planned_ids: set[str] = field(default_factory=set)
    claims: dict[str, ClaimWords] = field(default_factory=dict)

    def parse_claims(self) -> None:
        """Extract the words of each memory's claim. Raises StoppedError."""
        for stored in self.active:
            self.raise_if_cancelled()
            self.claims[stored.record.id] = claim_words(stored.record.title, stored.record.body)

    def raise_if_cancelled(self) -> None:
        """Raise StoppedError if the maintenance was cancelled."""
        if self.cancelled():
            raise StoppedError

    def unplanned(self, *primitives: str) -> list[StoredMemory]:
        """Return the memories of these primitives that have no suggestion yet."""
        return [
            stored
            for stored in self.active
            if stored.record.id not in self.planned_ids and stored.record.primitive in primitives
        ]

    def drift_state(self, stored: StoredMemory) -> str:
        drift = self.drift_by_memory.get(stored.record.id)
        return drift.state if drift else "fresh"

    def last_use(self, record: MemoryRecord) -> datetime:
        """Return when a memory was last used or updated, whichever is later."""
        return max(record.updated, self.uses.get(record.id, record.updated))

    def outcomes_of(self, record: MemoryRecord) -> ServedOutcomes:
        """Return what became of a memory where agents were given it."""
        return self.outcomes.get(record.id, NO_OUTCOMES)

    def archive_unwanted(self) -> Iterator[PlannedSuggestion]:
        """Archive memories that a person does not want."""
        for stored in self.unplanned("decision", "learning", "question", "theme"):
            if reason := self.unwanted_reasons.get(stored.record.id):
                yield PlannedSuggestion("archived", Suggestion("archive", stored.record, (stored,), reason))

    def merge_conflicting_answers(self) -> Iterator[PlannedSuggestion]:
        """Merge different answers to the same question, keeping the latest one; a person decides."""
        unplanned = {answer.record.id: answer for answer in self.unplanned("decision", "learning")}
        for conflict in conflicting_answers_among(self.active):
            answers = [
                unplanned[name] for name in conflict.answers if name in unplanned and name not in self.planned_ids
            ]
            if len({claim_text(answer.record.title, answer.record.body) for answer in answers}) < 2:
                continue
            titles = {answer.record.id: answer.record.title for answer in answers}
            reason = f"{join_titles(titles, titles)} both answer {conflict.question}; the latest would stay."
            targets = (answers[-1], *answers[:-1])
            yield PlannedSuggestion(
                "merged", Suggestion("merge", targets[0].record, targets, reason, flags=(TWO_ANSWERS_CODE,))
            )

    def merge_duplicates(self) -> Iterator[PlannedSuggestion]:
        """Merge memories of one primitive that say nearly the same; within a merge, every two are similar."""
        for primitive in ("decision", "learning", "question", "theme"):
            memories = self.unplanned(primitive)
            records = [stored.record for stored in memories]
            claims = [self.claims[record.id] for record in records]
            for merge in find_merges(records, claims, self.cancelled, self.effort, self.kept_apart):
                suggestion = self._merge_suggestion([memories[at] for at in merge.members], merge)
                yield PlannedSuggestion("merged", suggestion)

    def _merge_suggestion(self, memories: Sequence[StoredMemory], merge: Merge) -> Suggestion:
        """Suggest merging memories into the first of them, with the text of the last."""
        oldest, *others = memories
        record = oldest.record
        own_sentence_tests = [self.written_by_lerim(oldest)]
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
            own_sentence_tests.append(self.written_by_lerim(stored))
        what = "the same" if merge.same_text else "nearly the same"
        day = f"{record.updated:%Y-%m-%d}"
        alike = f"{merge.similarity * 100:.0f} % alike"
        reason = f"{len(memories)} memories say {what} ({alike}). The text of {day} is the latest."
        flags = () if merge.same_text else (TEXTS_DIFFER_FLAG,)
        return Suggestion("merge", record, tuple(memories), reason, flags=flags)

    def close_answered_questions(self) -> Iterator[PlannedSuggestion]:
        """Close open questions that a later decision or learning may answer, because their titles share most of their
        words; a person decides."""
        answers = self.unplanned("decision", "learning")
        answers_by_word: defaultdict[str, list[int]] = defaultdict(list)
        for at, stored in enumerate(answers):
            for word in self.claims[stored.record.id].title:
                answers_by_word[word].append(at)
        for question in self.unplanned("question"):
            self.raise_if_cancelled()
            question_words = self.claims[question.record.id].title
            near = Counter(at for word in question_words for at in answers_by_word[word])
            later = [
                (dice_overlap(question_words, self.claims[answer.record.id].title), answer)
                for answer in (answers[at] for at in near)
                if answer.record.updated > question.record.updated and answer.record.id not in self.planned_ids
            ]
            similarity, answer = max(later, key=lambda pair: (pair[0], pair[1].record.id), default=(0.0, None))
            if answer is not None and similarity >= MAY_ANSWER_OVERLAP and not self.is_kept_apart(question, answer):
                record = answer.record
                reason = f"“{record.title}” of {record.updated:%Y-%m-%d} may answer it."
                yield PlannedSuggestion(
                    "closed", Suggestion("close", record, (question, answer), reason, flags=(MAY_ANSWER_FLAG,))
                )

    def is_kept_apart(self, one: StoredMemory, other: StoredMemory) -> bool:
        """Return whether a person keeps these two memories separate."""
        return frozenset((one.record.id, other.record.id)) in self.kept_apart

    def archive_unused(self) -> Iterator[PlannedSuggestion]:
        """Archive themes nobody works on, learnings nobody uses, and learnings whose place in the code is gone."""
        for stored in self.unplanned("theme", "learning"):
            record = stored.record
            last_use = self.last_use(record)
            reason = find_archive_reason(
                record, last_use, self.theme_activity.get(record.id), self.now, self.rules, self.outcomes_of(record)
            )
            category: PlanCategory = "decayed" if reason and record.primitive == "learning" else "archived"
            if reason := reason or self._gone_place_reason(record):
                yield PlannedSuggestion(category, Suggestion("archive", record, (stored,), reason))

    def _gone_place_reason(self, record: MemoryRecord) -> str | None:
        """Return why a learning whose only place in the code is gone should be archived, or None. Decisions outlive
        their places."""
        drift = self.drift_by_memory.get(record.id)
        if record.primitive != "learning" or drift is None or drift.state != "gone" or drift.moved_to:
            return None
        since = datetime.combine(date.fromisoformat(drift.since), time(), UTC) if drift.since else self.now
        days = (self.now - max(since, self.last_use(record))).days
        if len(record.references) != 1 or days <= self.rules.grace_days:
            return None
        return f"{drift.reference} was not found, and this has not been used for {days} days."

    def archive_over_limit(self) -> Iterator[PlannedSuggestion]:
        """Archive the learnings over the store's limit, the longest unused first."""
        memories = {stored.record.id: stored for stored in self.unplanned("learning")}
        learnings = [
            (stored.record, self.last_use(stored.record), self.outcomes_of(stored.record))
            for stored in memories.values()
        ]
        for record in learnings_over_limit(learnings, self.now, self.rules):
            unused_days = (self.now - self.last_use(record)).days
            reason = (
                f"There are {len(learnings)} learnings, and {self.rules.most_learnings} are kept. This one has not"
                f" been used for {unused_days} days (its confidence is {record.confidence:.2f})."
            )
            yield PlannedSuggestion("bounded", Suggestion("archive", record, (memories[record.id],), reason))

    def consolidate_learnings(self) -> Iterator[PlannedSuggestion]:
        """Consolidate three or more related learnings into one insight.

        A learning whose place in the code has changed is left out: it may no longer be true, and the insight would
        count as a fresh statement of it.
        """
        memories = {
            stored.record.id: stored
            for stored in self.unplanned("learning")
            if self.drift_state(stored) not in ("drifted", "gone")
        }
        records = [stored.record for stored in memories.values()]
        for group in find_groups(records, self.claims, self.raise_if_cancelled):
            reason = f"{len(group.sources)} learnings are about {group.subject} and share words."
            targets = tuple(memories[source.id] for source in group.sources)
            suggestion = Suggestion("consolidate", plain_insight(group), targets, reason, flags=(PLAIN_INSIGHT_FLAG,))
            yield PlannedSuggestion("consolidated", suggestion)

    def update_moved_references(self) -> Iterator[PlannedSuggestion]:
        """Update the references of memories whose places in the code were moved or renamed."""
        for stored in self.unplanned("decision", "learning", "question", "theme"):
            moves = self.moved_references.get(stored.record.id, {})
            references = tuple(dict.fromkeys(_moved_reference(text, moves) for text in stored.record.references))
            if references == stored.record.references:
                continue
            reason = ", ".join(f"{before} was moved to {after}" for before, after in moves.items())
            record = replace(stored.record, references=references)
            yield PlannedSuggestion("referred", Suggestion("refer", record, (stored,), f"{reason}."))


def _age_key(stored: StoredMemory) -> tuple[datetime, str]:
    return stored.record.updated, stored.record.id


def _moved_reference(text: str, moves: Mapping[str, str]) -> str:
    reference = parse_reference(text)
    return moves.get(reference_text(reference), text) if reference else text
