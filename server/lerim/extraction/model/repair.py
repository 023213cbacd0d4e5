"""Asks the model again about claims whose quote was not found, or was found only in tool output.

It is asked for the exact words of the person or the agent that state the claim. The new quotes are checked like all
others. Only turns that may contain them are sent again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from lerim.errors import (
    BudgetError,
    LerimError,
    ModelAwayError,
    ModelGoneError,
    ModelKeyError,
    SpendingError,
    TooDearError,
)
from lerim.extraction.contradictions import content_words
from lerim.extraction.model.locate_quote import FoundQuote, locate_quote
from lerim.extraction.model.model_call import ask_signature
from lerim.extraction.model.signatures import MemoryCandidate, Quoted, RepairSignature, Requoted
from lerim.extraction.transcript import ShownTurn
from lerim.models import dspy

MAX_CLAIMS = 12  # claims per call
TURNS_AROUND = 1  # turns before and after the one a claim names
MAX_LIKELY_TURNS = 3  # turns sent per claim beyond the turn it names: those that share most of its words
MAX_TEXT_CHARS = 60_000  # characters sent
MIN_SHARED_WORDS = 2  # words a turn must share with a claim to be sent for it


_RETRYABLE_ERRORS = (BudgetError, ModelAwayError, ModelGoneError, ModelKeyError, SpendingError)
"""Errors that are not caused by this question; a later sync may ask it again."""


def has_lost_quotes(items: Sequence[MemoryCandidate], turns: Sequence[ShownTurn]) -> bool:
    """Returns whether any item has a quote that neither the person nor the agent said."""
    return any(not _is_said(item.evidence, turns) for item in items)


def repair_quotes(
    lm: dspy.LM, items: Sequence[MemoryCandidate], turns: Sequence[ShownTurn]
) -> tuple[tuple[MemoryCandidate, ...], str]:
    """Returns the items, with missing quotes replaced where the model found them, and a text on the result, "" if
    nothing had to be asked. Raises StoppedError, and ModelError if a later sync may get an answer."""
    unquoted = [at for at, item in enumerate(items) if not _is_said(item.evidence, turns)][:MAX_CLAIMS]
    text = _render_turns([items[at] for at in unquoted], turns)
    if not unquoted or not text:
        return tuple(items), ""
    claims = [{"claim": number, "title": items[at].title, "body": items[at].body} for number, at in enumerate(unquoted)]
    inputs = {"transcript": text, "claims": json.dumps(claims, ensure_ascii=False)}
    try:
        answer = ask_signature(lm, RepairSignature, inputs, Requoted, think=False, retry=False)
    except LerimError as error:
        if isinstance(error, _RETRYABLE_ERRORS) and not isinstance(error, TooDearError):
            raise
        # The first answer remains valid.
        return tuple(items), f"no quote was found: {error.generic_message}"
    repaired_items, repaired = list(items), 0
    for requoted in answer.items:
        if not 0 <= requoted.claim < len(unquoted):
            continue
        at, quote = unquoted[requoted.claim], Quoted(turn=requoted.turn, quote=requoted.quote)
        if repaired_items[at] is items[at] and _is_said(quote, turns):
            repaired_items[at] = items[at].model_copy(update={"evidence": quote})
            repaired += 1
    return tuple(repaired_items), f"{repaired} of {len(unquoted)} quotes were found"


def _is_said(quote: Quoted, turns: Sequence[ShownTurn]) -> bool:
    found = locate_quote(quote.quote, quote.turn, turns)
    return isinstance(found, FoundQuote) and found.who in ("user", "assistant")


def _render_turns(lost: Sequence[MemoryCandidate], turns: Sequence[ShownTurn]) -> str:
    words = [set(content_words(f"{turn.words('user')} {turn.words('assistant')}")) for turn in turns]
    chosen: set[int] = set()
    for item in lost:
        named = next((at for at, turn in enumerate(turns) if turn.number == item.evidence.turn), None)
        if named is not None:
            chosen.update(range(max(0, named - TURNS_AROUND), min(len(turns), named + TURNS_AROUND + 1)))
        wanted = set(content_words(f"{item.title} {item.body} {item.evidence.quote}"))
        shared = sorted(((len(wanted & have), -at) for at, have in enumerate(words)), reverse=True)[:MAX_LIKELY_TURNS]
        chosen.update(-at for count, at in shared if count >= MIN_SHARED_WORDS)
    out = ""
    for at in sorted(chosen):
        text = turns[at].header + turns[at].body()
        if len(out) + len(text) <= MAX_TEXT_CHARS:
            out += text
    return out
