"""Asks a model to word an insight, and checks the result against the learnings: it is used only if it loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lerim.maintenance.groups import MAX_GROUP_CHARS
from lerim.maintenance.insight_check import find_losses
from lerim.memory import MemoryRecord
from lerim.models import StepKind
from lerim.redaction import clean_text

if TYPE_CHECKING:
    import dspy

    from lerim.extraction import ParsedAnswer
    from lerim.maintenance.insight_signature import Insight

    AskModel = Callable[[Mapping[str, str]], ParsedAnswer[Insight] | None]
    """Sends one request to the model; returns None if it gave no answer."""

MAX_ATTEMPTS = 2
MAX_TITLE_CHARS = 160
MAX_REPORTED_LOSSES = 20
"""How many of the losses of one answer are reported to the model for its next attempt."""


def word_insight(
    ask: AskModel, log_note: Callable[[StepKind, str], None], plain: MemoryRecord, sources: Sequence[MemoryRecord]
) -> MemoryRecord | None:
    """Ask a model, at most twice, to put the insight `plain` into its own words.

    Returns None if no answer keeps everything in the sources; if the model did answer, `log_note` is called with the
    reason.
    """
    previous_faults = ""
    for _ in range(MAX_ATTEMPTS):
        answer = ask(_inputs(sources, previous_faults))
        if answer is None:
            return None
        if not answer.items or answer.is_truncated:
            log_note("unread", "its insight cannot be read")
            return None
        worded = _to_record(answer.items[0], plain)
        losses = find_losses(worded, sources) or ([] if _is_valid_size(worded) else ["it is too long, or has no title"])
        if not losses:
            return worded
        previous_faults = "; ".join(losses[:MAX_REPORTED_LOSSES])
    log_note("lost", f"its text for {len(sources)} learnings was not used, because something was lost or made up")
    return None


def ask_for_insight(lm: dspy.LM, inputs: Mapping[str, str]) -> ParsedAnswer[Insight]:
    """Ask a model once for an insight. Raises the same errors as `extraction.ask_signature`."""
    from lerim.extraction import ask_signature
    from lerim.maintenance.insight_signature import Insight, InsightSignature

    return ask_signature(lm, InsightSignature, inputs, Insight)


def _inputs(sources: Sequence[MemoryRecord], previous_faults: str) -> dict[str, str]:
    learnings = [
        {"day": f"{one.updated:%Y-%m-%d}", "title": one.title, "text": one.body, "tags": one.tags} for one in sources
    ]
    return {"learnings": clean_text(json.dumps(learnings, ensure_ascii=False)), "notes": previous_faults}


def _to_record(insight: Insight, plain: MemoryRecord) -> MemoryRecord:
    """Return `plain` with the title, text and tags of a model's answer."""
    tags = tuple(tag for tag in insight.tags if tag in plain.tags)
    title, body = " ".join(clean_text(insight.title).split()).rstrip("."), clean_text(insight.body).strip()
    return replace(plain, title=title, body=body, tags=tags or plain.tags)


def _is_valid_size(worded: MemoryRecord) -> bool:
    return bool(worded.title) and len(worded.title) <= MAX_TITLE_CHARS and len(worded.body) <= MAX_GROUP_CHARS
