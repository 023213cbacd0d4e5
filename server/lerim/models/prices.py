"""What well-known models cost, for sessions whose agent recorded no cost: list prices, of one day.

A model that is not here has no known price; nothing is guessed from a similar name. Dearer tiers for long contexts,
fast modes, batches and subscriptions are not told by a session, and not counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lerim.sessions.model import Tokens

AS_OF = "2026-08-06"
"""When these were the list prices."""


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens: sent, received, read from the cache, written to it."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def of(self, tokens: Tokens) -> int:
        """What these tokens cost, in millionths of a millionth of a USD: whole numbers, so that sums are exact."""
        return (
            _pico(self.input) * tokens.input
            + _pico(self.output) * tokens.output
            + _pico(self.cache_read) * tokens.cache_read
            + _pico(self.cache_write) * tokens.cache_write
        )


def _pico(per_million: float) -> int:
    return round(per_million * 1_000_000)


_FABLE = Price(10, 50, 1, 12.5)
_OPUS = Price(5, 25, 0.5, 6.25)
_OPUS_4 = Price(15, 75, 1.5, 18.75)
_SONNET = Price(3, 15, 0.3, 3.75)
_GPT_5 = Price(1.25, 10, 0.125, 1.25)
_GPT_5_MINI = Price(0.25, 2, 0.025, 0.25)
_GPT_5_2 = Price(1.75, 14, 0.175, 1.75)

PRICES = {
    "claude-fable-5": _FABLE,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-opus-4-1": _OPUS_4,
    "claude-opus-4": _OPUS_4,
    "claude-3-opus": _OPUS_4,
    "claude-sonnet-4-6": _SONNET,
    "claude-sonnet-4-5": _SONNET,
    "claude-sonnet-4": _SONNET,
    "claude-3-7-sonnet": _SONNET,
    "claude-3-5-sonnet": _SONNET,
    "claude-haiku-4-5": Price(1, 5, 0.1, 1.25),
    "claude-3-5-haiku": Price(0.8, 4, 0.08, 1),
    "claude-3-haiku": Price(0.25, 1.25, 0.03, 0.3),
    "gpt-5-5": Price(5, 30, 0.5, 5),
    "gpt-5-4": Price(2.5, 15, 0.25, 2.5),
    "gpt-5-4-mini": Price(0.75, 4.5, 0.075, 0.75),
    "gpt-5-4-nano": Price(0.2, 1.25, 0.02, 0.2),
    "gpt-5-3-codex": _GPT_5_2,
    "gpt-5-2": _GPT_5_2,
    "gpt-5-2-codex": _GPT_5_2,
    "gpt-5-1": _GPT_5,
    "gpt-5-1-codex": _GPT_5,
    "gpt-5-1-codex-max": _GPT_5,
    "gpt-5-1-codex-mini": _GPT_5_MINI,
    "gpt-5": _GPT_5,
    "gpt-5-codex": _GPT_5,
    "gpt-5-mini": _GPT_5_MINI,
    "gpt-5-nano": Price(0.05, 0.4, 0.005, 0.05),
    "gpt-4-1": Price(2, 8, 0.5, 2),
    "gpt-4-1-mini": Price(0.4, 1.6, 0.1, 0.4),
    "gpt-4-1-nano": Price(0.1, 0.4, 0.025, 0.1),
    "gpt-4o": Price(2.5, 10, 1.25, 2.5),
    "gpt-4o-mini": Price(0.15, 0.6, 0.075, 0.15),
    "o3": Price(2, 8, 0.5, 2),
    "o4-mini": Price(1.1, 4.4, 0.275, 1.1),
    "codex-mini": Price(1.5, 6, 0.375, 1.5),
    "gemini-3-1-pro": Price(2, 12, 0.2, 2),
    "gemini-3-pro": Price(2, 12, 0.2, 2),
    "gemini-3-flash": Price(0.5, 3, 0.05, 0.5),
    "gemini-2-5-pro": Price(1.25, 10, 0.125, 1.25),
    "gemini-2-5-flash": Price(0.3, 2.5, 0.03, 0.3),
    "gemini-2-5-flash-lite": Price(0.1, 0.4, 0.01, 0.1),
}

_ENDS = re.compile(r"-(?:20\d{2}-?[01]\d-?[0-3]\d|latest|preview|thinking|minimal|low|medium|high|xhigh|max-thinking)$")
_TURNED = re.compile(r"claude-(4(?:-\d)?)-(opus|sonnet|haiku)")


def price_of(model: str) -> Price | None:
    """The list price of a model as a session names it, with its maker, date or effort or without; None if unknown."""
    name = model.lower().rpartition("/")[2].replace(".", "-").replace("_", "-")[:80]
    name = _TURNED.sub(r"claude-\2-\1", name)
    while name not in PRICES and (shorter := _ENDS.sub("", name)) != name:
        name = shorter
    return PRICES.get(name)
