"""Measures how much of the journal comes from Lerim's own earlier output instead of from sessions, git and notes.

A system that is given its own output begins to repeat itself. For each day, this module counts by origin the
sentences that could be in the entry and the tokens that a model would be shown, before anything is limited. It also
measures Lerim's own share of the sentences that are then included and of the tokens that are then sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from lerim.journal.build import DayMaterial, JournalScope, collect_material, draft_day, limit_own_output
from lerim.journal.days import DaySpan
from lerim.journal.entry import DraftSentence, number_sources
from lerim.journal.passages import JournalPassage, limit_own_passages, make_passages


class OriginCounts(msgspec.Struct, frozen=True):
    """Counts of sentences or tokens by where they come from. `own` is Lerim's own earlier output: memories, and
    sentences that repeat a memory from before the day. `included` of them are in the entry or are sent to the model;
    `included_own` of these are Lerim's own."""

    session: int = 0
    git: int = 0
    note: int = 0
    own: int = 0
    included: int = 0
    included_own: int = 0

    def __add__(self, other: OriginCounts) -> OriginCounts:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return OriginCounts(*(one + two for one, two in pairs))

    @property
    def share_of_sessions_only(self) -> float | None:
        """The share of Lerim's own output if only sessions are counted besides it; None if there is neither."""
        return _share(self.own, self.session)

    @property
    def share_with_git(self) -> float | None:
        """The same share if git is counted too: commits, tags, changed files and issues."""
        return _share(self.own, self.session + self.git)

    @property
    def share_with_notes(self) -> float | None:
        """The same share if git and the person's notes and feeds are counted too."""
        return _share(self.own, self.session + self.git + self.note)

    @property
    def share_included(self) -> float | None:
        """The share of Lerim's own output in what is included or sent."""
        return _share(self.included_own, self.included - self.included_own)


class DaySelfReference(msgspec.Struct, frozen=True):
    """The figures of one day, or of all days together (`day` is then "total")."""

    day: str
    sentences: OriginCounts
    tokens: OriginCounts


class SelfReference(msgspec.Struct, frozen=True):
    """The figures of several days and of all of them together. `highest_share` is the largest share of Lerim's own
    output in the sentences of any day's entry."""

    days: list[DaySelfReference]
    total: DaySelfReference
    highest_share: float


def measure_self_reference(scope: JournalScope, spans: Iterable[DaySpan]) -> SelfReference:
    """Measures these days. Raises CatalogError, MemoryError_."""
    days = [_measure_day(collect_material(scope, span)) for span in spans]
    total = DaySelfReference(
        "total",
        sum((day.sentences for day in days), OriginCounts()),
        sum((day.tokens for day in days), OriginCounts()),
    )
    return SelfReference(days, total, max((day.sentences.share_included or 0.0 for day in days), default=0.0))


def _measure_day(material: DayMaterial) -> DaySelfReference:
    drafts, _ = draft_day(material)
    kept = limit_own_output(drafts)
    passages = make_passages(material, number_sources(drafts)[1])
    sent = limit_own_passages(make_passages(material, number_sources(kept)[1]))
    return DaySelfReference(
        material.span.day.isoformat(), _count_sentences(drafts, kept), _count_tokens(passages, sent)
    )


def _count_sentences(drafts: Sequence[DraftSentence], kept: Sequence[DraftSentence]) -> OriginCounts:
    """Counts sentences by where they come from. Sentences about what the person accepted on the day are not counted
    at all: they neither come from a session or from git, nor repeat a memory."""
    by_origin = {
        origin: sum(draft.origin == origin and not draft.is_own_output for draft in drafts)
        for origin in ("session", "git", "note")
    }
    own = sum(draft.is_own_output for draft in drafts)
    return OriginCounts(
        **by_origin,
        own=own,
        included=sum(draft.origin != "review" for draft in kept),
        included_own=sum(draft.is_own_output for draft in kept),
    )


def _count_tokens(passages: Sequence[JournalPassage], sent: Sequence[JournalPassage]) -> OriginCounts:
    by_kind: Counter[str] = Counter()
    for one in passages:
        by_kind[one.source.kind] += one.tokens
    return OriginCounts(
        session=by_kind["turn"],
        git=by_kind["commit"] + by_kind["tag"],
        note=by_kind["note"],
        own=by_kind["memory"],
        included=sum(one.tokens for one in sent),
        included_own=sum(one.tokens for one in sent if one.is_own_output),
    )


def _share(own: int, other: int) -> float | None:
    return own / (own + other) if own + other else None
