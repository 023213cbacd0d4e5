"""What people are told of models: what was taken, what did not go straight, what waits."""

from __future__ import annotations

import pytest

from lerim.models.money.text import describe_spent, describe_waiting, summarize_steps
from lerim.models.money.usage import ModelStep, RoleUsage, Usage, WaitingWork

NANO = "openrouter:openai/gpt-5-nano@openrouter.ai"


@pytest.mark.parametrize(
    ("waits", "words"),
    [
        (WaitingWork(3, 41_234, 0.0171, NANO), f"3 sessions wait for {NANO}, about 41k tokens, about $0.02"),
        (WaitingWork(1, 900, 0.0001, NANO), f"1 session waits for {NANO}, about 900 tokens, less than $0.01"),
        (WaitingWork(12, 2_345_678, None, "ollama:qwen3"), "12 sessions wait for ollama:qwen3, about 2.3M tokens"),
        (
            WaitingWork(2, 5_000, 0.0, "openrouter:x:free"),
            "2 sessions wait for openrouter:x:free, about 5k tokens, about $0.00",
        ),
        (WaitingWork(2, model="x:y", why="budget"), "2 sessions wait for x:y"),
        (WaitingWork(2, 5_000), "2 sessions wait for a model, about 5k tokens"),
        (WaitingWork(2, 999_700), "2 sessions wait for a model, about 1.0M tokens"),
    ],
)
def test_what_waits_is_told_in_words(waits: WaitingWork, words: str) -> None:
    assert describe_waiting(waits) == words


def test_what_was_taken_is_told_with_what_is_known_of_its_cost() -> None:
    assert describe_spent(RoleUsage("extract", NANO, Usage(3, 41_000, 1_200, 2_000, 0.0171))) == (
        f"extract, {NANO}: 3 calls, 41,000 tokens in (2,000 from its cache), 1,200 out, $0.0171"
    )
    assert describe_spent(RoleUsage("summarize", "x:y", Usage(1, 10, 5, unpriced=1))) == (
        "summarize, x:y: 1 call, 10 tokens in, 5 out, 1 of unknown price"
    )
    assert (
        describe_spent(RoleUsage("extract", "ollama:q", Usage(2, 10, 5)))
        == "extract, ollama:q: 2 calls, 10 tokens in, 5 out"
    )


def test_steps_are_summed_up_by_kind_and_what_stopped_comes_last() -> None:
    steps = [
        ModelStep("stopped", "extract", NANO, "Today's budget is gone."),
        ModelStep("skipped", "extract", NANO, "no signal", tokens=30_000),
        ModelStep("retried", "extract", NANO, "too many requests."),
        ModelStep("skipped", "extract", NANO, "no signal", tokens=4_200),
        ModelStep("retried", "extract", NANO, "it failed"),
        ModelStep("resumed", "extract", NANO, "answered before"),
    ]
    assert list(summarize_steps(steps)) == [
        "2 calls were repeated: too many requests.",
        "1 part of a session was answered before and cost nothing.",
        "2 parts of sessions were skipped, with nothing relevant in them (about 34k tokens saved).",
        "Today's budget is gone.",
    ]
    assert list(summarize_steps([])) == []
