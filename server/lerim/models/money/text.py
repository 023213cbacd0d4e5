"""Describes usage, irregular events and waiting work for people, without any text of a transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from lerim.models.money.usage import ModelStep, RoleUsage, StepKind, Usage, WaitingWork

_STEP_TEXTS: dict[StepKind, tuple[str, str]] = {
    "retried": ("call was repeated", "calls were repeated"),
    "fallback": ("time another model was used instead", "times another model was used instead"),
    "halved": ("part of a session was split in two", "parts of sessions were split in two"),
    "resumed": (
        "part of a session was answered before and cost nothing",
        "parts of sessions were answered before and cost nothing",
    ),
    "skipped": (
        "part of a session was skipped, with nothing relevant in it",
        "parts of sessions were skipped, with nothing relevant in them",
    ),
    "repaired": ("quote was requested again", "quotes were requested again"),
    "unread": ("answer could not be read", "answers could not be read"),
    "dear": ("session waits for a larger budget", "sessions wait for a larger budget"),
    "limited": ("time the model reported its limit", "times the model reported its limit"),
}
"""The text for one step of a kind and for several; steps of kind "stopped" are described by their reason alone."""


def describe_spent(spent: RoleUsage) -> str:
    """Describes the usage of one model by one role: `extract, openai:m: 2 calls, 1,200 tokens in, 90 out, $0.0031`."""
    usage = spent.usage
    calls = f"{usage.calls} call{'' if usage.calls == 1 else 's'}"
    cached = f" ({usage.cached_tokens:,} from its cache)" if usage.cached_tokens else ""
    tokens = f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"
    return ", ".join((spent.role, f"{spent.model}: {calls}", tokens, *_cost(usage)))


def _cost(usage: Usage) -> Iterator[str]:
    if usage.cost:
        yield f"${usage.cost:.4f}"
    if usage.unpriced:
        yield f"{usage.unpriced} of unknown price"


def describe_step(step: ModelStep) -> str:
    """Describes one step, for a log: `extract, openai:m: retried: too many requests (claude:1f0c, 2 of 5)`."""
    where = ", ".join(part for part in (step.where, step.part) if part)
    return f"{step.role}, {step.model}: {step.kind}: {step.why}{f' ({where})' if where else ''}"


def summarize_steps(steps: Iterable[ModelStep]) -> Iterator[str]:
    """Yields one sentence for each kind of step: how often it happened, the first reason, and the tokens it saved."""
    ordered = sorted(
        steps, key=lambda step: list(_STEP_TEXTS).index(step.kind) if step.kind in _STEP_TEXTS else len(_STEP_TEXTS)
    )
    for kind, group in groupby(ordered, key=lambda step: step.kind):
        same = list(group)
        if kind == "stopped":
            yield from dict.fromkeys(step.why for step in same)
            continue
        singular, plural = _STEP_TEXTS[kind]
        saved = sum(step.tokens for step in same) if kind in ("resumed", "skipped") else 0
        saved_text = f" (about {format_tokens(saved)} tokens saved)" if saved else ""
        why = "" if kind in ("resumed", "skipped") or not same[0].why else f": {same[0].why.rstrip('.')}"
        yield f"{len(same)} {singular if len(same) == 1 else plural}{saved_text}{why}."


def describe_waiting(waits: WaitingWork) -> str:
    """Describes waiting work, without a full stop: `3 sessions wait for openrouter:openai/gpt-5-nano@openrouter.ai,
    about 41k tokens, about $0.02`."""
    count = waits.sessions
    sessions = f"{count} session{'' if count == 1 else 's'} wait{'s' if count == 1 else ''}"
    cost = "" if waits.cost is None else f", {format_dollars(waits.cost, about=True)}"
    tokens = f", about {format_tokens(waits.tokens)} tokens" if waits.tokens else ""
    return f"{sessions} for {waits.model or 'a model'}{tokens}{cost}"


def format_dollars(amount: float, *, about: bool = False) -> str:
    """Formats an amount in dollars and cents, or `less than $0.01`."""
    if 0 < amount < 0.01:
        return "less than $0.01"
    return f"{'about ' if about else ''}${amount:.2f}"


def format_tokens(tokens: int) -> str:
    """Formats a number of tokens briefly: `900`, `41k`, `2.3M`."""
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000:.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:.1f}M"
