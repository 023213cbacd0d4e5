"""Loads the memories as they were at a moment, and describes what a day changed about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lerim.errors import Problem
from lerim.journal.entry import DraftSentence, JournalSource, Section
from lerim.journal.sources.from_git import clean_line
from lerim.memory import (
    ClaimWords,
    MemoryRecord,
    StoredMemory,
    claim_words,
    dice_overlap,
    file_handle,
    redact_record,
    source_parts,
    word_stems,
)
from lerim.paths import Home
from lerim.project import Project
from lerim.review import AcceptedMemory, ReviewPaths, load_accepted_memories, load_memories_as_of
from lerim.times import format_date, format_utc

SAME_CLAIM = 0.72
"""Minimum overlap of words (Dice's coefficient) from which a sentence repeats a memory."""
MAX_TITLE_CHARS = 160
TOPIC, ACCEPTED_TOPIC = "Memories", "Review"
MAX_ACCEPTED = 20
"""Maximum number of the memories accepted on a day that its entry names."""
_SECTIONS: Mapping[str, Section] = {"decision": "decided", "learning": "learned", "question": "open", "theme": "done"}


@dataclass(frozen=True, slots=True)
class MemoriesOfDay:
    """The memories that were active when a day began and when it ended. `accepted` are those that were accepted or
    added by hand on the day, as they were then."""

    before: Sequence[StoredMemory]
    after: Sequence[StoredMemory]
    accepted: Mapping[str, AcceptedMemory] = field(default_factory=dict)

    @property
    def added(self) -> list[StoredMemory]:
        """The memories that the day added."""
        known = {item.record.id for item in self.before}
        return [item for item in self.after if item.record.id not in known]

    @property
    def ended(self) -> list[StoredMemory]:
        """The memories that ended on the day."""
        left = {item.record.id for item in self.after}
        return [item for item in self.before if item.record.id not in left]


def load_memories_of_day(
    project: Project, home: Home, since: datetime, until: datetime
) -> tuple[MemoriesOfDay, list[Problem]]:
    """Returns the memories that were active when a day began and when it ended, the oldest first, and a problem for
    each file that cannot be read. Raises MemoryError_."""
    before, _ = load_memories_as_of(project, home, since)
    after, problems = load_memories_as_of(project, home, until)
    accepted = load_accepted_memories(ReviewPaths(project, home), since, until)
    return MemoriesOfDay(_select_active(before), _select_active(after), accepted), problems


def _select_active(stored: Sequence[StoredMemory]) -> list[StoredMemory]:
    active = (item for item in stored if item.status == "active")
    return sorted(active, key=lambda item: (item.record.created, item.record.id))


def memory_source(stored: StoredMemory) -> JournalSource:
    """Returns a memory as a source."""
    return JournalSource(
        number=0,
        ref=f"m:{stored.record.id}",
        kind="memory",
        title=title_of(stored.record),
        time=format_utc(stored.record.created),
        handle=file_handle(stored.path),
        path=_path_from_lerim(stored.path),
    )


def _path_from_lerim(path: Path) -> str:
    parts = path.parts
    return "/".join(parts[-1 - parts[::-1].index(".lerim") :]) if ".lerim" in parts else ""


def title_of(record: MemoryRecord) -> str:
    """Returns a memory's title in a form that can be shown."""
    return clean_line(redact_record(record).title, MAX_TITLE_CHARS)


def describe_memories(memories: MemoriesOfDay, others: Sequence[DraftSentence]) -> Iterator[DraftSentence]:
    """Yields the sentences about what the day changed in the memories: memories that it added, unless one of the
    `others` rests on the same turn, and memories that it ended. For memories that the person added, see
    `describe_accepted`."""
    turns = {source.turn for draft in others if draft.section != "done" for source in draft.sources if source.turn}
    for item in memories.added:
        record = item.record
        if source_parts(record.source)[2] not in turns and not _is_by_hand(memories, item):
            text = f"Kept as {_with_article(record.kind or record.primitive)}: “{title_of(record)}”."
            yield DraftSentence(_SECTIONS[record.primitive], text, (memory_source(item),), "memory", TOPIC)
    ends = {target: item for item in memories.after for target in (*item.record.supersedes, *item.record.resolves)}
    for item in memories.ended:
        record, ender = item.record, ends.get(item.record.id)
        how = "answered" if record.primitive == "question" else "replaced"
        by = f" was {how} by “{title_of(ender.record)}”" if ender else " was archived"
        sources = (memory_source(item), *((memory_source(ender),) if ender else ()))
        yield DraftSentence("obsolete", f"The {record.primitive} “{title_of(record)}”{by}.", sources, "memory", TOPIC)


def describe_accepted(memories: MemoriesOfDay) -> Iterator[DraftSentence]:
    """Yields a sentence for each memory that the person added on the day, or that they accepted on the day although
    it was said before. The sentence is in the section for the kind of memory that it was at that time."""
    added = {item.record.id for item in memories.added}
    found = [
        one
        for one in memories.after
        if one.record.id in memories.accepted and (one.record.id not in added or _is_by_hand(memories, one))
    ]
    for item in found[:MAX_ACCEPTED]:
        accepted = memories.accepted[item.record.id]
        record, now = accepted.record, item.record.kind or item.record.primitive
        label, said_on = record.kind or record.primitive, record.created.astimezone().date()
        said = f", said on {format_date(said_on)}" if said_on < accepted.time.astimezone().date() else ""
        changed = f" It is now {_with_article(now)}." if now != label else ""
        act = "Added" if accepted.by_hand else "Accepted"
        text = f"{act} the {label} “{title_of(item.record)}”{said}.{changed}"
        yield DraftSentence(_SECTIONS[record.primitive], text, (memory_source(item),), "review", ACCEPTED_TOPIC)


def _is_by_hand(memories: MemoriesOfDay, item: StoredMemory) -> bool:
    accepted = memories.accepted.get(item.record.id)
    return accepted is not None and accepted.by_hand


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def mark_repeated(drafts: Sequence[DraftSentence], memories: Sequence[StoredMemory]) -> Iterator[DraftSentence]:
    """Yields the sentences. For each quoted sentence, the memory from before the day that says the same is named, if
    there is one."""
    words = [(item, claim_words(item.record.title, item.record.body)) for item in memories]
    for draft in drafts:
        known = _find_same(draft, words) if draft.origin in ("session", "note") else None
        if known is None:
            yield draft
        else:
            sources = (*draft.sources, memory_source(known))
            yield DraftSentence(draft.section, draft.text, sources, draft.origin, draft.topic, repeats=True)


def _find_same(draft: DraftSentence, memories: Sequence[tuple[StoredMemory, ClaimWords]]) -> StoredMemory | None:
    if draft.section == "done" or "“" not in draft.text:
        return None
    said = word_stems(draft.text.partition("“")[2])
    for item, words in memories:
        if max(dice_overlap(said, words.title), dice_overlap(said, words.words)) >= SAME_CLAIM:
            return item
    return None
