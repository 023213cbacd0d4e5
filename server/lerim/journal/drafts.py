"""Sentences of an entry before their sources are numbered, and how they are numbered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from lerim.journal.entry import SECTION_TITLES, JournalSentence, JournalSource, Origin, Section
from lerim.redaction import clean_text, strip_markup


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence with its sources, which have no numbers yet. See `JournalSentence`."""

    section: Section
    text: str
    sources: tuple[JournalSource, ...]
    origin: Origin
    topic: str = ""
    repeats: bool = False

    @property
    def is_own_output(self) -> bool:
        """Whether the sentence comes from, or says the same as, what Lerim kept before."""
        return self.origin == "memory" or self.repeats


def number_sources(drafts: Iterable[DraftSentence]) -> tuple[list[JournalSentence], list[JournalSource]]:
    """Returns the sentences by section, each text once in a section, and their sources, numbered from 1 in the order in
    which they are first named. All text is made fit to be shown as markdown: it is one line without secrets, tags,
    links and hidden characters."""
    ordered = sorted(drafts, key=lambda draft: list(SECTION_TITLES).index(draft.section))
    sources: dict[str, JournalSource] = {}
    sentences: dict[tuple[Section, str, str], JournalSentence] = {}
    for draft in ordered:
        text, topic = _clean_line(draft.text), _clean_line(draft.topic)
        key = (draft.section, topic, text)
        if key in sentences:
            continue
        for source in draft.sources:
            if source.ref not in sources:
                sources[source.ref] = replace(source, number=len(sources) + 1, title=_clean_line(source.title))
        numbers = tuple(dict.fromkeys(sources[source.ref].number for source in draft.sources))
        sentences[key] = JournalSentence(draft.section, text, numbers, draft.origin, topic, draft.repeats)
    return list(sentences.values()), list(sources.values())


def _clean_line(text: str) -> str:
    return strip_markup(clean_text(text))
