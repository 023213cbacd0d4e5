"""The inputs that a model gets besides the transcript, as short, clean JSON: metadata, size, and what is already
known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lerim.extraction.facts import shorten
from lerim.extraction.model.material import Material
from lerim.memory import MemoryRecord
from lerim.redaction import clean_text

MAX_KNOWN_TITLES = 30
MAX_FOCUS_TOPICS = 12


@dataclass(frozen=True, slots=True)
class Guidance:
    """Titles of related memories and candidates, the main topics of the person's memories, and the person's own
    instructions to the model."""

    known: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    person: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionBrief:
    """The inputs that a model gets besides the transcript, each as JSON: where and when the session was held, how
    large it was, and what is already known."""

    metadata: str
    metrics: str
    guidance: str


def make_brief(material: Material, project: str, guidance: Guidance) -> ExtractionBrief:
    """Returns the inputs that a model gets besides the turns of `material`. `project` is the repository's name."""
    known = [shorten(title, 140) for title in guidance.known[: 2 * MAX_KNOWN_TITLES]]
    asked: dict[str, object] = {"the_person_asks": guidance.person} if guidance.person else {}
    told = {"known": known, "focus": list(guidance.focus), **asked}
    return ExtractionBrief(_json(material.metadata(project)), _json(material.metrics()), _json(told))


def find_focus(records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """Returns the titles of themes, followed by the most frequent tags of memories."""
    themes: list[str] = []
    tags: Counter[str] = Counter()
    for record in records:
        if record.primitive == "theme":
            themes.append(record.title)
        tags.update(tag.lower() for tag in record.tags)
    return (*themes, *(tag for tag, _ in tags.most_common(MAX_FOCUS_TOPICS)))[:MAX_FOCUS_TOPICS]


def make_related_query(material: Material, settled: bool) -> str:
    """Returns a query for finding related memories: the person's requests and the files that were touched. With
    `settled`, the last exchange is included too."""
    prompts = [turn.words("user") for turn in material.window_turns(settled) if turn.role == "user"]
    return " ".join((*(prompt[:300] for prompt in prompts[:6]), *material.locate.files[-12:]))[:2_000]


def _json(value: dict[str, object]) -> str:
    return clean_text(json.dumps(value, ensure_ascii=False))
