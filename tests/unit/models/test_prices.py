"""A price is of exactly the model a session names, however its agent spells the name; nothing is guessed."""

from datetime import date

import pytest

from lerim.models.money.prices import AS_OF, PRICES, compute_cost, find_price, worst_cost
from lerim.models.money.usage import Usage
from lerim.sessions.model import Tokens


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("copilot/claude-opus-4.5", "claude-opus-4-5"),
        ("anthropic/claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("claude-4.5-sonnet-thinking", "claude-sonnet-4-5"),
        ("claude-4-sonnet", "claude-sonnet-4"),
        ("gpt-5.1-codex-high", "gpt-5-1-codex"),
        ("gpt-5.1-codex-max", "gpt-5-1-codex-max"),
        ("GPT-4o-2024-08-06", "gpt-4o"),
        ("models/gemini-3-flash-preview", "gemini-3-flash"),
        ("openai/gpt-5-nano", "gpt-5-nano"),
        ("anthropic/claude-haiku-4.5", "claude-haiku-4-5"),
        ("google/gemini-2.5-flash-lite", "gemini-2-5-flash-lite"),
        ("z-ai/glm-4.6", "glm-4-6"),
        ("glm-4.5-air", "glm-4-5-air"),
    ],
)
def test_a_model_is_known_with_maker_date_and_effort(spelled: str, name: str) -> None:
    assert find_price(spelled) is PRICES[name]


@pytest.mark.parametrize(
    "spelled",
    [
        "",
        "auto",
        "default",
        "composer-1.5",
        "gpt-5.3-codex-spark",
        "gpt-5-turbo",
        "claude-sonnet",
        "-" * 10_000,
        "openai/gpt-5-nano:nitro",
        "qwen2.5-coder:1.5b",
        "free",
        "somebody/else",
    ],
)
def test_a_model_that_is_not_listed_has_no_price(spelled: str) -> None:
    assert find_price(spelled) is None


def test_a_price_counts_each_kind_of_token_exactly() -> None:
    price = find_price("claude-haiku-4-5")
    assert price is not None
    assert price.of(Tokens(1_000_000, 2_000_000, 3_000_000, 4_000_000)) == 16_300_000_000_000
    assert price.of(Tokens(cache_read=1)) == 100_000


def test_a_model_that_openrouter_lends_for_nothing_costs_nothing() -> None:
    assert worst_cost("qwen/qwen3-coder:free", 1_000_000, 1_000_000) == 0
    assert compute_cost("qwen/qwen3-coder:free", Usage(1, 1_000, 1_000)) == 0


def test_the_worst_case_of_a_call_is_all_of_its_tokens_at_the_dearest_rate() -> None:
    assert worst_cost("openai/gpt-5-nano", 1_000_000, 1_000_000) == 0.45
    assert worst_cost("claude-haiku-4-5", 1_000_000, 0) == 1.25  # it may be written to the cache
    assert worst_cost("nobody/knows", 1, 1) is None


def test_a_long_prompt_costs_what_long_prompts_cost() -> None:
    assert worst_cost("gemini-2.5-pro", 200_000, 1_000) == pytest.approx(0.26)
    assert worst_cost("gemini-2.5-pro", 400_000, 1_000) == pytest.approx(1.015)
    assert compute_cost("gemini-2.5-pro", Usage(1, 400_000, 1_000)) == pytest.approx(1.015)
    assert compute_cost("gemini-2.5-pro", Usage(2, 400_000, 1_000)) == pytest.approx(0.51)


def test_tokens_read_from_a_cache_cost_what_the_cache_costs() -> None:
    assert compute_cost("gpt-5-nano", Usage(1, 1_000_000, 0, cached_tokens=400_000)) == pytest.approx(0.032)


@pytest.mark.parametrize("name", sorted(PRICES))
def test_no_call_costs_more_than_its_worst_case(name: str) -> None:
    for given, got in ((10, 10), (99_999, 500), (150_000, 9_000), (250_000, 1), (900_000, 64_000)):
        most = worst_cost(name, given, got)
        for cached in (0, given // 2, given):
            cost = compute_cost(name, Usage(1, given, got, cached))
            assert most is not None
            assert cost is not None
            assert cost <= most


def test_the_prices_are_of_one_day() -> None:
    assert date.fromisoformat(AS_OF) <= date.today()
