"""What should become of the memories of a store: merged, closed, archived, put together, referred anew. A plan, pure.

Nothing is done here and no file is read. Each suggestion says why in a sentence with the figures it rests on; a memory
is in one of them at most, so that none undoes another's ground. What follows from that is for the next time.
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
    TWO_ANSWERS_CODE,
    ClaimWords,
    Drift,
    IsWrittenByLerim,
    MemoryRecord,
    StoredMemory,
    ThemeActivity,
    claim_words,
    conflicting_answers_among,
    find_archive_reason,
    join_titles,
    learnings_over_limit,
    merge_bodies,
    merge_evidence,
    never_written_by_lerim,
    normalise_claim,
    overlap,
    parse_reference,
    reference_text,
    strip_boilerplate,
    with_current_status,
)
from lerim.review import Suggestion

MAY_ANSWER = "may-answer"
"""The flag of a question that a memory may answer: their titles share most of their words."""
MAY_ANSWER_FROM = 0.6
"""The overlap of the titles (Dice's coefficient) from which a memory may answer a question."""
DIFFERS = "differs"
"""The flag of a merge of memories that do not have the same text: a person should look at it."""
PLAIN = "plain"
"""The flag of an insight that no model worded: it is a list, which a person should look at."""
PlanReason = Literal["merged", "closed", "decayed", "archived", "bounded", "consolidated", "referred"]


@dataclass(frozen=True, slots=True)
class PlannedSuggestion:
    """One suggestion and what it is counted as. `decayed`: a learning nobody uses; `bounded`: one beyond the bound;
    `archived`: what a person does not want, a theme that is over, or a learning whose place is gone."""

    why: PlanReason
    suggestion: Suggestion


def plan_maintenance(
    memories: Sequence[StoredMemory],
    uses: Mapping[str, datetime],
    standings: Mapping[str, Drift],
    moved: Mapping[str, Mapping[str, str]],
    grounds: Mapping[str, ThemeActivity],
    now: datetime,
    rules: MaintenanceRules,
    cancelled: Callable[[], bool] = lambda: False,
    unwanted: Mapping[str, str] = {},
    ours: Callable[[StoredMemory], IsWrittenByLerim] = lambda _: never_written_by_lerim,
    effort: MergeEffort | None = None,
    apart: Collection[frozenset[str]] = (),
) -> list[PlannedSuggestion]:
    """What to propose of these memories, in the order in which it is to be proposed.

    `uses`: when each was last used. `standings`: of those that are not fresh. `moved`: of those whose places were moved
    or renamed, where each is now. `grounds`: of the themes. `unwanted`: of those a person does not want, why.
    `ours`: which sentences of a memory Lerim wrote. `effort` counts what finding merges took, and how many memories
    were not compared with all that are near them. `apart` are pairs of memories a person keeps beside each other.
    Cancelled, nothing is found. What another memory says it ended is over, wherever its file lies; an id that two files
    have is left alone until they are joined.
    """
    files = Counter(one.record.id for one in memories)
    live = [
        one
        for one in with_current_status(memories)
        if one.status == "active" and one.record.primitive != "summary" and files[one.record.id] == 1
    ]
    effort = effort or MergeEffort()
    upkeep = _Upkeep(
        sorted(live, key=_age), uses, standings, moved, grounds, unwanted, now, rules, ours, cancelled, effort, apart
    )
    try:
        upkeep.read()
        return _in_order(upkeep)
    except StoppedError:
        return []


def _in_order(upkeep: _Upkeep) -> list[PlannedSuggestion]:
    """What each step plans of the memories that no step before it planned anything for. Raises StoppedError."""
    found: list[PlannedSuggestion] = []
    steps: tuple[Callable[[], Iterator[PlannedSuggestion]], ...] = (
        upkeep.refused,
        upkeep.disputed,
        upkeep.duplicates,
        upkeep.closed,
        upkeep.ended,
        upkeep.bounded,
        upkeep.together,
        upkeep.referred,
    )
    for step in steps:
        for planned in step():
            upkeep.go_on()
            found.append(planned)
            upkeep.taken.update(target.record.id for target in planned.suggestion.targets)
    upkeep.go_on()
    return found


@dataclass(slots=True)
class _Upkeep:
    """The active memories, the oldest first, and which of them are spoken for."""

    live: Sequence[StoredMemory]
    uses: Mapping[str, datetime]
    standings: Mapping[str, Drift]
    moved: Mapping[str, Mapping[str, str]]
    grounds: Mapping[str, ThemeActivity]
    unwanted: Mapping[str, str]
    now: datetime
    rules: MaintenanceRules
    ours: Callable[[StoredMemory], IsWrittenByLerim]
    cancelled: Callable[[], bool]
    effort: MergeEffort
    apart: Collection[frozenset[str]]
    taken: set[str] = field(default_factory=set)
    claims: dict[str, ClaimWords] = field(default_factory=dict)

    def read(self) -> None:
        """Reads what each memory claims. Raises StoppedError."""
        for one in self.live:
            self.go_on()
            self.claims[one.record.id] = claim_words(one.record.title, one.record.body)

    def go_on(self) -> None:
        """Raises StoppedError once the person cancelled."""
        if self.cancelled():
            raise StoppedError

    def free(self, *primitives: str) -> list[StoredMemory]:
        return [one for one in self.live if one.record.id not in self.taken and one.record.primitive in primitives]

    def standing(self, one: StoredMemory) -> str:
        standing = self.standings.get(one.record.id)
        return standing.state if standing else "fresh"

    def used(self, record: MemoryRecord) -> datetime:
        """When it was last used, or else said."""
        return max(record.updated, self.uses.get(record.id, record.updated))

    def refused(self) -> Iterator[PlannedSuggestion]:
        """Memories a person does not want."""
        for one in self.free("decision", "learning", "question", "theme"):
            if reason := self.unwanted.get(one.record.id):
                yield PlannedSuggestion("archived", Suggestion("archive", one.record, (one,), reason))

    def disputed(self) -> Iterator[PlannedSuggestion]:
        """Of answers to one question that say different things the one said last may stay; a person decides."""
        free = {answer.record.id: answer for answer in self.free("decision", "learning")}
        for one in conflicting_answers_among(self.live):
            answers = [free[name] for name in one.answers if name in free and name not in self.taken]
            if len(answers) < 2 or all(self._same(answers[0].record, other.record) for other in answers[1:]):
                continue
            titles = {answer.record.id: answer.record.title for answer in answers}
            reason = f"{join_titles(titles, titles)} both answer {one.question}; the latest would stay."
            targets = (answers[-1], *answers[:-1])
            yield PlannedSuggestion(
                "merged", Suggestion("merge", targets[0].record, targets, reason, flags=(TWO_ANSWERS_CODE,))
            )

    def _same(self, one: MemoryRecord, other: MemoryRecord) -> bool:
        return normalise_claim(one.title, strip_boilerplate(one.body)) == normalise_claim(
            other.title, strip_boilerplate(other.body)
        )

    def duplicates(self) -> Iterator[PlannedSuggestion]:
        """Memories of one primitive that say nearly the same, each of a group as all others of it."""
        for primitive in ("decision", "learning", "question", "theme"):
            some = self.free(primitive)
            known = [self.claims[one.record.id] for one in some]
            for found in find_merges([one.record for one in some], known, self.cancelled, self.effort, self.apart):
                yield PlannedSuggestion("merged", self._merged([some[at] for at in found.members], found))

    def _merged(self, memories: Sequence[StoredMemory], found: Merge) -> Suggestion:
        kept, *others = memories
        record, wrote = kept.record, [self.ours(kept)]
        for stored in others:
            other = stored.record
            record = replace(
                record,
                title=other.title,
                updated=max(record.updated, other.updated),
                source=other.source,
                confidence=max(record.confidence, other.confidence),
                tags=tuple(dict.fromkeys((*record.tags, *other.tags))),
                body=merge_bodies(record.body, other.title, other.body, lambda one: any(ours(one) for ours in wrote)),
                kind=other.kind or record.kind,
                references=tuple(dict.fromkeys((*record.references, *other.references))),
                evidence=merge_evidence(other.evidence, record.evidence),
            )
            wrote.append(self.ours(stored))
        what = "the same" if found.same else "nearly the same"
        day = f"{record.updated:%Y-%m-%d}"
        alike = f"{found.similarity * 100:.0f} % alike"
        reason = f"{len(memories)} memories say {what} ({alike}). The text of {day} is the latest."
        return Suggestion("merge", record, tuple(memories), reason, flags=() if found.same else (DIFFERS,))

    def closed(self) -> Iterator[PlannedSuggestion]:
        """Open questions that a later decision or learning may answer: it has most words of the question's title. A
        person decides."""
        said = self.free("decision", "learning")
        having: defaultdict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(said):
            for word in self.claims[one.record.id].title:
                having[word].append(at)
        for question in self.free("question"):
            self.go_on()
            asked = self.claims[question.record.id].title
            near = Counter(at for word in asked for at in having[word])
            later = [
                (overlap(asked, self.claims[said[at].record.id].title), said[at])
                for at in near
                if said[at].record.updated > question.record.updated and said[at].record.id not in self.taken
            ]
            alike, answer = max(later, key=lambda pair: (pair[0], pair[1].record.id), default=(0.0, None))
            if answer is not None and alike >= MAY_ANSWER_FROM and not self.are_apart(question, answer):
                record = answer.record
                reason = f"“{record.title}” of {record.updated:%Y-%m-%d} may answer it."
                yield PlannedSuggestion(
                    "closed", Suggestion("close", record, (question, answer), reason, flags=(MAY_ANSWER,))
                )

    def are_apart(self, one: StoredMemory, other: StoredMemory) -> bool:
        """Whether a person keeps these two beside each other."""
        return frozenset((one.record.id, other.record.id)) in self.apart

    def ended(self) -> Iterator[PlannedSuggestion]:
        """Themes nobody works on, learnings nobody uses, and learnings whose place is gone."""
        for one in self.free("theme", "learning"):
            record = one.record
            used = self.used(record)
            reason = find_archive_reason(record, used, self.grounds.get(record.id), self.now, self.rules)
            why: PlanReason = "decayed" if reason and record.primitive == "learning" else "archived"
            if reason := reason or self._gone(record):
                yield PlannedSuggestion(why, Suggestion("archive", record, (one,), reason))

    def _gone(self, record: MemoryRecord) -> str | None:
        """Why a learning about one place that is gone should be archived; what was decided outlives its place."""
        standing = self.standings.get(record.id)
        if record.primitive != "learning" or standing is None or standing.state != "gone" or standing.moved_to:
            return None
        since = datetime.combine(date.fromisoformat(standing.since), time(), UTC) if standing.since else self.now
        days = (self.now - max(since, self.used(record))).days
        if len(record.references) != 1 or days <= self.rules.grace_days:
            return None
        return f"{standing.reference} is gone, and this was not used for {days} days."

    def bounded(self) -> Iterator[PlannedSuggestion]:
        """The learnings beyond the store's bound, the longest unused first."""
        stored = {one.record.id: one for one in self.free("learning")}
        learnings = [(one.record, self.used(one.record)) for one in stored.values()]
        for record in learnings_over_limit(learnings, self.now, self.rules):
            unused = (self.now - self.used(record)).days
            reason = (
                f"There are {len(learnings)} learnings and {self.rules.most_learnings} stay: this one was not used for "
                f"{unused} days (its confidence is {record.confidence:.2f})."
            )
            yield PlannedSuggestion("bounded", Suggestion("archive", record, (stored[record.id],), reason))

    def together(self) -> Iterator[PlannedSuggestion]:
        """Three and more related learnings, to be one insight. One whose place changed since is not sure any more and
        would be counted as said anew."""
        stored = {one.record.id: one for one in self.free("learning") if self.standing(one) not in ("drifted", "gone")}
        for group in find_groups([one.record for one in stored.values()], self.claims, self.go_on):
            reason = f"{len(group.sources)} learnings are about {group.ground} and share words."
            targets = tuple(stored[one.id] for one in group.sources)
            yield PlannedSuggestion(
                "consolidated", Suggestion("consolidate", plain_insight(group), targets, reason, flags=(PLAIN,))
            )

    def referred(self) -> Iterator[PlannedSuggestion]:
        """Memories whose place was moved or renamed."""
        for one in self.free("decision", "learning", "question", "theme"):
            moves = self.moved.get(one.record.id, {})
            references = tuple(dict.fromkeys(_moved(name, moves) for name in one.record.references))
            if references == one.record.references:
                continue
            said = ", ".join(f"{before} is {after} now" for before, after in moves.items())
            record = replace(one.record, references=references)
            yield PlannedSuggestion("referred", Suggestion("refer", record, (one,), f"{said}."))


def _age(one: StoredMemory) -> tuple[datetime, str]:
    return one.record.updated, one.record.id


def _moved(name: str, moves: Mapping[str, str]) -> str:
    place = parse_reference(name)
    return moves.get(reference_text(place), name) if place else name
