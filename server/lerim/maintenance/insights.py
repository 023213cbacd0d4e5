"""The words of insights by a model: asked, checked by code against the learnings, and left where anything is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lerim.maintenance.groups import MOST_TEXT
from lerim.maintenance.insight_check import find_losses
from lerim.memory import MemoryRecord
from lerim.models import StepKind
from lerim.redaction import clean_text

if TYPE_CHECKING:
    import dspy

    from lerim.extraction import ParsedAnswer
    from lerim.maintenance.insight_signature import Insight

    Ask = Callable[[Mapping[str, str]], ParsedAnswer[Insight] | None]
    """Puts one question to the model; None where it gave no answer."""

TRIES = 2
MOST_TITLE = 160
MOST_LOSSES = 20
"""So many of the things an answer lost are told to the model."""


def insight_in_words(
    ask: Ask, note: Callable[[StepKind, str], None], plain: MemoryRecord, sources: Sequence[MemoryRecord]
) -> MemoryRecord | None:
    """Ask a model, at most twice, for the insight `plain` in its own words.

    Returns None where it gave none that keep all of the sources; `note` is told why, where it answered.
    """
    notes = ""
    for _ in range(TRIES):
        answer = ask(_inputs(sources, notes))
        if answer is None:
            return None
        if not answer.items or answer.is_truncated:
            note("unread", "its insight cannot be read")
            return None
        told = _told(answer.items[0], plain)
        lost = find_losses(told, sources) or ([] if _readable(told) else ["it is too long, or has no title"])
        if not lost:
            return told
        notes = "; ".join(lost[:MOST_LOSSES])
    note("lost", f"its text for {len(sources)} learnings was not used, because something was lost or made up")
    return None


def ask_for_insight(lm: dspy.LM, inputs: Mapping[str, str]) -> ParsedAnswer[Insight]:
    """Put one question to a model. Raises what `extraction.ask_signature` does."""
    from lerim.extraction import ask_signature
    from lerim.maintenance.insight_signature import Insight, InsightSignature

    return ask_signature(lm, InsightSignature, inputs, Insight)


def _inputs(sources: Sequence[MemoryRecord], notes: str) -> dict[str, str]:
    learnings = [
        {"day": f"{one.updated:%Y-%m-%d}", "title": one.title, "text": one.body, "tags": one.tags} for one in sources
    ]
    return {"learnings": clean_text(json.dumps(learnings, ensure_ascii=False)), "notes": notes}


def _told(said: Insight, plain: MemoryRecord) -> MemoryRecord:
    tags = tuple(tag for tag in said.tags if tag in plain.tags)
    title, body = " ".join(clean_text(said.title).split()).rstrip("."), clean_text(said.body).strip()
    return replace(plain, title=title, body=body, tags=tags or plain.tags)


def _readable(told: MemoryRecord) -> bool:
    return bool(told.title) and len(told.title) <= MOST_TITLE and len(told.body) <= MOST_TEXT
