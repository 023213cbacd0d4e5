"""Makes the passages that a model is shown for an entry: the text of the sources that the rules chose, and memories
from before the day.

Memories are Lerim's own earlier output. They help to understand the day but did not happen on it, so they get at
most a quarter of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from lerim.extraction import shorten
from lerim.journal.build import DayMaterial
from lerim.journal.entry import JournalSource
from lerim.journal.sources import OWN_FOLDER, clean_path, memory_source
from lerim.memory import StoredMemory, dice_overlap, redact_record, word_stems
from lerim.models import count_tokens
from lerim.project import Commit
from lerim.redaction import clean_text, find_flags
from lerim.sessions import PLATFORM_NAMES, SummaryTurn, WorkedSession

MAX_TURN_CHARS, MAX_MESSAGE_CHARS, MAX_MEMORY_CHARS = 1_200, 800, 500
MAX_CALLS, MAX_CALL_CHARS, MAX_FILES = 6, 160, 10
MAX_CONTEXT_MEMORIES = 30
"""Maximum number of memories from before the day that are shown: those that share the most words with it."""
OWN_TOKENS_PER_OTHER = 1 / 3


@dataclass(frozen=True, slots=True)
class JournalPassage:
    """A source with its text. `detail` says what it is, `tokens` is the length of the text. `is_before` marks a memory
    from before the day."""

    source: JournalSource
    detail: str
    text: str
    tokens: int
    is_before: bool = False

    @property
    def is_own_output(self) -> bool:
        """Whether the text is Lerim's own earlier output."""
        return self.source.kind == "memory"


def make_passages(material: DayMaterial, sources: Sequence[JournalSource]) -> list[JournalPassage]:
    """Returns the passages of these sources, followed by those of memories from before the day. The former have the
    numbers of their sources, the latter the numbers after these. Text that reads like an order to an agent is left
    out, unless the person said it."""
    texts = dict(_list_texts(material))
    passages: list[JournalPassage] = []
    for source in sources:
        detail, text = texts.get(source.ref, ("", ""))
        if text and (detail.startswith("user") or not find_flags(source.title, text)):
            passages.append(JournalPassage(source, detail, text, count_tokens(text)))
    number = max((source.number for source in sources), default=0)
    known = {source.ref for source in sources}
    for item in _choose_memories(passages, material.memories.before):
        source = memory_source(item)
        if source.ref not in known:
            number += 1
            detail, text = _describe_memory(item)
            numbered = replace(source, number=number)
            passages.append(JournalPassage(numbered, detail, text, count_tokens(text), is_before=True))
    return passages


def limit_own_passages(passages: Sequence[JournalPassage]) -> list[JournalPassage]:
    """Returns the passages, without the memories that do not fit into a quarter of all tokens."""
    left = sum(one.tokens for one in passages if not one.is_own_output) * OWN_TOKENS_PER_OTHER
    kept: list[JournalPassage] = []
    for one in passages:
        if one.is_own_output:
            if one.tokens > left:
                continue
            left -= one.tokens
        kept.append(one)
    return kept


def _list_texts(material: DayMaterial) -> Iterator[tuple[str, tuple[str, str]]]:
    for session in material.sessions:
        for turn in session.turns:
            yield f"t:{session.session_id}#{turn.number}", _describe_turn(session, turn)
    for commit in material.commits:
        yield f"c:{commit.hash}", ("commit", _describe_commit(commit))
    for tag in material.tags:
        yield f"g:{tag.name}", ("tag", f"Tagged {tag.name} at {tag.commit[:12]}")
    for note in material.notes:
        yield f"n:{note.name}", ("note", f"{note.title}\n{note.text}".strip())
    for item in (*material.memories.before, *material.memories.after):
        yield f"m:{item.record.id}", _describe_memory(item)


def _describe_turn(session: WorkedSession, turn: SummaryTurn) -> tuple[str, str]:
    calls = "\n".join(
        f"({call.status}) {shorten(' '.join(call.text.partition(chr(10))[0].split()), MAX_CALL_CHARS)}"
        for call in turn.calls[:MAX_CALLS]
    )
    text = f"{shorten(turn.text.strip(), MAX_TURN_CHARS)}\n{calls}".strip()
    return f"{turn.role}, {PLATFORM_NAMES[session.platform]}", clean_text(text)


def _describe_commit(commit: Commit) -> str:
    message = clean_text(f"{commit.subject}\n{commit.body}".strip())
    files = [clean_path(file.path) for file in commit.files if not file.path.startswith(OWN_FOLDER)][:MAX_FILES]
    return "\n".join(filter(None, (shorten(message, MAX_MESSAGE_CHARS), f"Files: {', '.join(files)}" if files else "")))


def _describe_memory(item: StoredMemory) -> tuple[str, str]:
    record = redact_record(item.record)
    text = clean_text(f"{record.title}\n{record.body.strip()}")
    return f"memory, {record.kind or record.primitive}", shorten(text, MAX_MEMORY_CHARS)


def _choose_memories(passages: Sequence[JournalPassage], memories: Sequence[StoredMemory]) -> list[StoredMemory]:
    """Returns the memories that share the most words with the day, best first; of equal ones, the newest first."""
    words = word_stems("\n".join(one.text for one in passages))
    scores: Mapping[str, float] = {
        item.record.id: dice_overlap(words, word_stems(f"{item.record.title} {item.record.body}")) for item in memories
    }
    shared = [item for item in memories if scores[item.record.id] > 0]
    shared.sort(key=lambda item: (scores[item.record.id], item.record.created, item.record.id), reverse=True)
    return shared[:MAX_CONTEXT_MEMORIES]
