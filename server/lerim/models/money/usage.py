"""The usage of model calls, and events while a model was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import msgspec


class Usage(msgspec.Struct, frozen=True):
    """The usage of answered calls: tokens in, out and read from a cache as the service counted them; seconds waited.

    `cost` is the sum of the known costs in US dollars; `unpriced` calls have no known price and are not included.
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
    """The usage of one model by one role. `model` is its label: `openrouter:openai/gpt-5-nano@openrouter.ai`."""

    role: str
    model: str
    usage: Usage


StepKind = Literal[
    "retried",  # a call failed and was repeated
    "fallback",  # the next model in the settings is used instead
    "halved",  # a window was too large for the model, or its answer was cut: each half is sent instead
    "resumed",  # a window had already been answered: nothing was sent
    "skipped",  # a window with nothing worth asking about was not sent
    "repaired",  # a quote was requested again
    "unread",  # an answer could not be read
    "limited",  # the model reported its token limit, and windows are kept below it from now on
    "dear",  # one call may cost more than a whole day's budget: the session waits, and the others go on
    "stopped",  # no more calls in this run: the key, the budget or consent is missing, or the model is gone
]


class ModelStep(msgspec.Struct, frozen=True):
    """An irregular event while a model was asked; contains no text of a transcript.

    `where` is the session (`claude:1f0c…`) and `part` the part of it (`2 of 5`), "" if the event concerns the whole
    run; `tokens` are the tokens that it saved or concerned.
    """

    kind: StepKind
    role: str
    model: str
    why: str
    where: str = ""
    part: str = ""
    tokens: int = 0


CURRENT_SUBJECT: ContextVar[tuple[str, str]] = ContextVar("asked_of", default=("", ""))
"""The session and part that this thread is asking about: `where` and `part` of the steps recorded meanwhile."""


@contextmanager
def attribute_calls(where: str, part: str = "") -> Iterator[None]:
    """Attributes the engine's steps in this block and thread to this session and part."""
    before = CURRENT_SUBJECT.set((where, part))
    try:
        yield
    finally:
        CURRENT_SUBJECT.reset(before)


def merge_role_usage(spent: Iterable[RoleUsage]) -> list[RoleUsage]:
    """Merges usage into one entry for each role and model, in the order of first appearance."""
    sums: dict[tuple[str, str], Usage] = {}
    for one in spent:
        sums[one.role, one.model] = sums.get((one.role, one.model), NO_USAGE) + one.usage
    return [RoleUsage(role, model, usage) for (role, model), usage in sums.items()]


def total_usage(spent: Iterable[RoleUsage]) -> Usage:
    """Returns the total usage."""
    return sum((one.usage for one in spent), NO_USAGE)


WaitReason = Literal["", "consent", "budget", "none", "gone"]
"""Why a model is not asked; see WaitingWork."""


class WaitingWork(msgspec.Struct, frozen=True):
    """The work that waits for a model: the number of sessions, and estimates of the tokens they would send and of the
    cost in US dollars. `cost` is None if the price is not known or the model is not billed.

    `why` says why the model was not asked: "" if nothing prevents it, "consent" (the person has not agreed yet),
    "budget" (today's budget is used up), "none" (no model is chosen), "gone" (the chosen model cannot be asked from
    here).
    """

    sessions: int = 0
    tokens: int = 0
    cost: float | None = None
    model: str = ""
    why: WaitReason = ""
