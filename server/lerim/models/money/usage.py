"""What calls of a model took, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import msgspec


class Usage(msgspec.Struct, frozen=True):
    """Calls that were answered, tokens in, out and read from a cache as the service counted them, seconds waited.

    `cost` in US dollars is the sum of what is known; `unpriced` calls have no known price and are not in it.
    `cached_tokens` are part of `input_tokens`.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            round(self.cost + other.cost, 8),
            self.unpriced + other.unpriced,
            round(self.seconds + other.seconds, 3),
        )


NO_USAGE = Usage()


class RoleUsage(msgspec.Struct, frozen=True):
    """What one role's calls of one model took. `model` is its label: `openrouter:openai/gpt-5-nano`."""

    role: str
    model: str
    usage: Usage


StepKind = Literal[
    "retried",  # a call failed and was made again
    "fallback",  # the next model of the settings is used instead
    "halved",  # a window was too large for the model, or its answer was cut: its halves are asked
    "resumed",  # a window had been answered before: nothing was sent
    "skipped",  # a window without any signal was not sent
    "repaired",  # a quote was requested again
    "unread",  # an answer could not be read
    "lost",  # an answer left out or made up something: what the rules make stands
    "limited",  # the model told how much it takes; windows are that small from now on
    "dear",  # one call may cost more than a whole day may: the session waits, and others are asked of
    "stopped",  # nothing more is asked in this run: the key, the budget, consent, the model is gone
]


class ModelStep(msgspec.Struct, frozen=True):
    """Something other than a plain answer that happened while a model was asked; no text of a transcript.

    `where` is the session (`claude:1f0c…`) and part (`2 of 5`), "" for the run; `tokens` those it saved or concerned.
    """

    kind: StepKind
    role: str
    model: str
    why: str
    where: str = ""
    part: str = ""
    tokens: int = 0


CURRENT_SUBJECT: ContextVar[tuple[str, str]] = ContextVar("asked_of", default=("", ""))
"""What the model is asked of in this thread: `where` and `part` of the steps that come of it."""


@contextmanager
def attribute_calls(where: str, part: str = "") -> Iterator[None]:
    """Within this block, and in this thread, what the engine does is told as done for this session and part."""
    before = CURRENT_SUBJECT.set((where, part))
    try:
        yield
    finally:
        CURRENT_SUBJECT.reset(before)


def merge_role_usage(spent: Iterable[RoleUsage]) -> list[RoleUsage]:
    """One entry for each role and model, in the order they came first."""
    sums: dict[tuple[str, str], Usage] = {}
    for one in spent:
        sums[one.role, one.model] = sums.get((one.role, one.model), NO_USAGE) + one.usage
    return [RoleUsage(role, model, usage) for (role, model), usage in sums.items()]


def total_usage(spent: Iterable[RoleUsage]) -> Usage:
    """What all of it took together."""
    return sum((one.usage for one in spent), NO_USAGE)


WaitReason = Literal["", "consent", "budget", "none", "gone"]
"""Why nothing is asked of a model: see Waits."""


class WaitingWork(msgspec.Struct, frozen=True):
    """What waits for a model: sessions, about how many tokens they would send, about what that costs in US dollars.

    `cost` None: the price is not known, or it is not paid by the token. `why` nothing was asked: "" where nothing keeps
    it from being asked, "consent" (the person did not agree yet), "budget" (today's is used up), "none" (no model is
    chosen), "gone" (the chosen one cannot be asked from here).
    """

    sessions: int = 0
    tokens: int = 0
    cost: float | None = None
    model: str = ""
    why: WaitReason = ""
