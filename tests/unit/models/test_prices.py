"""A price is of exactly the model a session names, however its agent spells the name; nothing is guessed."""

import pytest

from lerim.models.money.prices import PRICES, compute_cost, find_price, worst_cost
from lerim.models.money.usage import Usage
from lerim.sessions.model import Tokens


def test_a_price_counts_each_kind_of_token_exactly() -> None:
    price = find_price("claude-haiku-4-5")
    assert price is not None
    assert price.of(Tokens(1_000_000, 2_000_000, 3_000_000, 4_000_000)) == 16_300_000_000_000
    assert price.of(Tokens(cache_read=1)) == 100_000


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("copilot/claude-opus-4.5", "claude-opus-4-5"),
        ("anthropic/claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("claude-4.5-sonnet-thinking", "claude-sonnet-4-5"),
        ("gpt-5.1-codex-high", "gpt-5-1-codex"),
        ("gpt-5.1-codex-max", "gpt-5-1-codex-max"),
        ("GPT-4o-2024-08-06", "gpt-4o"),
        ("models/gemini-3-flash-preview", "gemini-3-flash"),
    ],
)
def test_a_model_is_known_with_maker_date_and_effort(spelled: str, name: str) -> None:
    assert find_price(spelled) is PRICES[name]


@pytest.mark.parametrize(
    "spelled",
    ["", "gpt-5.3-codex-spark", "gpt-5-turbo", "claude-sonnet", "-" * 10_000, "openai/gpt-5-nano:nitro", "free"],
    ids=range(7),
)
def test_a_model_that_is_not_listed_has_no_price(spelled: str) -> None:
    assert find_price(spelled) is None


@pytest.mark.parametrize(
    ("model", "tokens", "cost"),
    [
        ("openai/gpt-5-nano", (1_000_000, 1_000_000), 0.45),
        ("claude-haiku-4-5", (1_000_000, 0), 1.25),  # it may be written to the cache
        ("gemini-2.5-pro", (200_000, 1_000), 0.26),
        ("gemini-2.5-pro", (400_000, 1_000), 1.015),  # a long prompt
        ("qwen/qwen3-coder:free", (1_000_000, 1_000_000), 0),
        ("nobody/knows", (1, 1), None),
    ],
)
def test_the_worst_case_of_a_call_is_all_of_its_tokens_at_the_dearest_rate(
    model: str, tokens: tuple[int, int], cost: float | None
) -> None:
    assert worst_cost(model, *tokens) == (cost if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("gemini-2.5-pro", Usage(1, 400_000, 1_000), 1.015),
        ("gemini-2.5-pro", Usage(2, 400_000, 1_000), 0.51),  # two prompts that are not long
        ("gpt-5-nano", Usage(1, 1_000_000, 0, cached_tokens=400_000), 0.032),
        ("qwen/qwen3-coder:free", Usage(1, 1_000, 1_000), 0),
    ],
)
def test_answered_calls_cost_what_the_list_says(model: str, usage: Usage, cost: float) -> None:
    assert compute_cost(model, usage) == pytest.approx(cost)


def test_no_call_costs_more_than_its_worst_case() -> None:
    for name in PRICES:
        for given, got in ((10, 10), (99_999, 500), (150_000, 9_000), (250_000, 1), (900_000, 64_000)):
            most = worst_cost(name, given, got)
            costs = [compute_cost(name, Usage(1, given, got, cached)) for cached in (0, given // 2, given)]
            assert most is not None
            assert all(cost is not None and cost <= most for cost in costs), name
