"""A price is of exactly the model a session names, however its agent spells the name; nothing is guessed."""

import pytest

from lerim.models.prices import PRICES, price_of
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
    ],
)
def test_a_model_is_known_with_maker_date_and_effort(spelled: str, name: str) -> None:
    assert price_of(spelled) is PRICES[name]


@pytest.mark.parametrize(
    "spelled",
    ["", "auto", "default", "composer-1.5", "gpt-5.3-codex-spark", "gpt-5-turbo", "claude-sonnet", "-" * 10_000],
)
def test_a_model_that_is_not_listed_has_no_price(spelled: str) -> None:
    assert price_of(spelled) is None


def test_a_price_counts_each_kind_of_token_exactly() -> None:
    price = price_of("claude-haiku-4-5")
    assert price is not None
    assert price.of(Tokens(1_000_000, 2_000_000, 3_000_000, 4_000_000)) == 16_300_000_000_000
    assert price.of(Tokens(cache_read=1)) == 100_000
