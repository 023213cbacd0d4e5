"""A journal entry in the form in which the command line prints it and the editor and the dashboard show it, and its
sentences before their sources are numbered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec.structs import replace

from lerim.errors import Problem
from lerim.models import ModelStep, RoleUsage
from lerim.redaction import clean_text, strip_markup

Section = Literal["done", "decided", "learned", "open", "obsolete"]
SECTION_TITLES: Mapping[Section, str] = {
    "done": "Done",
    "decided": "Decided",
    "learned": "Learned",
    "open": "Left open",
    "obsolete": "Out of date",
}
"""The sections of an entry in their order, with their headings."""
Origin = Literal["session", "git", "note", "review", "memory"]
"""Where a sentence comes from: what was said and done in a session, git, a note or feed of the person, what the person
accepted, or what Lerim itself kept before."""
SourceKind = Literal["turn", "commit", "tag", "note", "memory"]


class JournalSource(msgspec.Struct, frozen=True):
    """A source of sentences.

    `ref` is `t:<session>#<turn number>`, `c:<commit>`, `g:<tag>`, `n:<name>` or `m:<memory id>`. `title` says what
    the source is, `time` when it was (ISO 8601, UTC). `session`, `turn` (its id) and `turn_number` are those of a
    turn. For a memory, `handle` opens it, and `path` is its file, beginning with `.lerim/`. Fields that do not apply
    are "" or -1.
    """

    number: int
    ref: str
    kind: SourceKind
    title: str
    time: str = ""
    session: str = ""
    turn: str = ""
    turn_number: int = -1
    handle: str = ""
    path: str = ""


class JournalSentence(msgspec.Struct, frozen=True):
    """One or a few sentences that belong together, with the numbers of their sources, at least one. `topic` is the
    session or subject under which they are listed, "" for none. `repeats`: a memory from before this day says the
    same."""

    section: Section
    text: str
    sources: tuple[int, ...]
    origin: Origin
    topic: str = ""
    repeats: bool = False


class JournalEntry(msgspec.Struct, frozen=True):
    """The journal of one day (`2026-03-02`, the person's local day) or of a part of it.

    `sessions` and `commits` are the numbers of sessions and commits on that day. `model` is the label of the model
    that wrote it, or "none". `left_out` counts the sentences that were left out because there were too many, because
    no source supports them, or because they only repeat what Lerim had written before.
    """

    day: str
    title: str
    sentences: list[JournalSentence]
    sources: list[JournalSource]
    sessions: int
    commits: int
    model: str = "none"
    left_out: int = 0
    spent: list[RoleUsage] = []
    steps: list[ModelStep] = []
    problems: list[Problem] = []


class JournalDay(msgspec.Struct, frozen=True):
    """A day that has an entry: how many commits were made, and whether anything was said in sessions."""

    day: str
    commits: int
    has_sessions: bool


class JournalPage(msgspec.Struct, frozen=True):
    """An entry as markdown. `previous` and `next` are the nearest days that have an entry, "" if there is none;
    `problems` are messages."""

    day: str
    title: str
    markdown: str
    previous: str
    next: str
    problems: list[str]


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence with its sources, which are not numbered yet. See `JournalSentence`."""

    section: Section
    text: str
    sources: tuple[JournalSource, ...]
    origin: Origin
    topic: str = ""
    repeats: bool = False

    @property
    def is_own_output(self) -> bool:
        """Whether the sentence comes from a memory that Lerim kept before, or says the same as one."""
        return self.origin == "memory" or self.repeats


def number_sources(drafts: Iterable[DraftSentence]) -> tuple[list[JournalSentence], list[JournalSource]]:
    """Returns the sentences by section, each text once in a section, and their sources. The sources are numbered from 1
    in the order in which they are first named, except that the turns of a session come together, in the order of the
    session.

    All text is prepared to be shown as markdown: it is one line without secrets, tags, links and hidden characters.
    """
    ordered = sorted(drafts, key=lambda draft: list(SECTION_TITLES).index(draft.section))
    unique: dict[tuple[Section, str, str], DraftSentence] = {}
    for draft in ordered:
        unique.setdefault((draft.section, _clean_line(draft.topic), _clean_line(draft.text)), draft)
    sources = _order_sources(source for draft in unique.values() for source in draft.sources)
    numbers = {source.ref: source.number for source in sources}
    sentences = [
        JournalSentence(
            section,
            text,
            tuple(sorted({numbers[one.ref] for one in draft.sources})),
            draft.origin,
            topic,
            draft.repeats,
        )
        for (section, topic, text), draft in unique.items()
    ]
    return sentences, sources


def _order_sources(named: Iterable[JournalSource]) -> list[JournalSource]:
    """Returns each source once and with its number. The turns of a session are placed where the first of them is
    named."""
    groups: dict[str, dict[str, JournalSource]] = {}
    for source in named:
        groups.setdefault(source.session or source.ref, {}).setdefault(source.ref, source)
    ordered = [one for group in groups.values() for one in sorted(group.values(), key=lambda one: one.turn_number)]
    return [replace(one, number=number, title=_clean_line(one.title)) for number, one in enumerate(ordered, 1)]


def _clean_line(text: str) -> str:
    return strip_markup(clean_text(text))
