"""What a model is told beside the transcript: where it is from, how large it is, what is known. Short JSON, clean."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lerim.extraction.facts import shorten
from lerim.extraction.model.material import SessionFacts
from lerim.memory import MemoryRecord
from lerim.redaction import clean_text

TITLES = 30
FOCUS = 12


@dataclass(frozen=True, slots=True)
class Guidance:
    """Titles of memories and candidates that say something near, what the person's memories are mostly about, and what
    the person typed for the model to heed."""

    known: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    person: str = ""


def metadata_json(facts: SessionFacts, project: str) -> str:
    """Platform, session, project, branch, times, model."""
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
    """Turns, tool calls, errors, files touched, tokens."""
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
    """What is known already and not to be repeated, the person's focus, and what they ask for."""
    known = [shorten(title, 140) for title in guidance.known[: 2 * TITLES]]
    asked: dict[str, object] = {"the_person_asks": guidance.person} if guidance.person else {}
    return _json({"known": known, "focus": list(guidance.focus), **asked})


def find_focus(records: Iterable[MemoryRecord]) -> tuple[str, ...]:
    """The titles of themes, then the tags that memories have most often."""
    themes: list[str] = []
    tags: Counter[str] = Counter()
    for record in records:
        if record.primitive == "theme":
            themes.append(record.title)
        tags.update(tag.lower() for tag in record.tags)
    return (*themes, *(tag for tag, _ in tags.most_common(FOCUS)))[:FOCUS]


def make_related_query(facts: SessionFacts, prompts: Sequence[str]) -> str:
    """Words to find near memories by: what the person asked for and which files were touched."""
    return " ".join((*(prompt[:300] for prompt in prompts[:6]), *facts.files[-12:]))[:2_000]


def _json(value: dict[str, object]) -> str:
    return clean_text(json.dumps(value, ensure_ascii=False))
