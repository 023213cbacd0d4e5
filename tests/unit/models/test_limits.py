"""What a model takes, from its own words, and how large windows are then."""

from __future__ import annotations

import pytest

from lerim.models.limits import choose_window_tokens, most_output_tokens, parse_limit
from lerim.models.model import Model

MODEL = Model("openai", "m", "http://127.0.0.1/v1", "", 30, 300_000, 30_000, "")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "too long",
        "context length is 7",
        "context length is 99999999999",
        "> 12",
        "a > b",
        "maximum context length is x",
        "> 1," * 200_000 + "context length " * 50_000,  # read in no time
    ],
    ids=range(8),
)
def test_words_without_a_number_that_can_be_one_tell_nothing(said: str) -> None:
    assert parse_limit(said) is None


@pytest.mark.parametrize(
    ("limit", "window", "answer"),
    [(None, 300_000, 16_000), (32_768, 17_260, 8_192), (2_048, 500, 512), (2_000_000, 300_000, 16_000)],
)
def test_windows_leave_room_for_the_answer(limit: int | None, window: int, answer: int) -> None:
    assert (choose_window_tokens(MODEL, limit), most_output_tokens(limit)) == (window, answer)
