"""The inputs a model gets beside the transcript, as short, clean JSON: metadata, size, and what is already known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lerim.extraction.facts import shorten
from lerim.extraction.model.material import SessionFacts
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


def metadata_json(facts: SessionFacts, project: str) -> str:
    """Returns platform, session, project, branch, times and model as JSON."""
    return _json(
        {
            "platform": facts.platform,
            "session": facts.session,
            "project": project,
            "branch": facts.branch,
            "started": facts.started.isoformat() if facts.started else "",
            "ended": facts.ended.isoformat() if facts.ended else "",
            "model": facts.model,
        }
    )


def metrics_json(facts: SessionFacts) -> str:
    """Returns turns, tool calls, errors, touched files and tokens as JSON."""
    return _json(
        {
            "turns": facts.turns,
            "tool_calls": facts.tool_calls,
            "errors": facts.errors,
            "files_touched": list(facts.files),
            "tokens": facts.tokens,
        }
    )


def guidance_json(guidance: Guidance) -> str:
    """Returns as JSON what is already known and must not be repeated, the person's focus, and their instructions."""
    known = [shorten(title, 140) for title in guidance.known[: 2 * MAX_KNOWN_TITLES]]
    asked: dict[str, object] = {"the_person_asks": guidance.person} if guidance.person else {}
    return _json({"known": known, "focus": list(guidance.focus), **asked})


def find_focus(records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """Returns the titles of themes, then the most frequent tags of memories."""
    themes: list[str] = []
    tags: Counter[str] = Counter()
    for record in records:
        if record.primitive == "theme":
            themes.append(record.title)
        tags.update(tag.lower() for tag in record.tags)
    return (*themes, *(tag for tag, _ in tags.most_common(MAX_FOCUS_TOPICS)))[:MAX_FOCUS_TOPICS]


def make_related_query(facts: SessionFacts, prompts: Sequence[str]) -> str:
    """Returns a query for finding related memories: what the person asked for and which files were touched."""
    return " ".join((*(prompt[:300] for prompt in prompts[:6]), *facts.files[-12:]))[:2_000]


def _json(value: dict[str, object]) -> str:
    return clean_text(json.dumps(value, ensure_ascii=False))
