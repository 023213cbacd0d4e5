"""Fenced code blocks, wherever Lerim reads Markdown."""

from __future__ import annotations

import pytest

from lerim.code_fences import next_fence, remove_fenced_code
from lerim.extraction.facts import find_sentences


def test_code_in_three_backticks_within_a_sentence_hides_neither_it_nor_what_follows() -> None:
    text = "```npm test``` must always pass before you commit.\n\nNever push to the main branch directly."
    assert [text[one.start : one.end] for one in find_sentences(text)] == text.split("\n\n")
    assert remove_fenced_code(text) == text


@pytest.mark.parametrize(
    ("lines", "open_at"),
    [
        (["```python", "x = 1", "```", "Text"], [1, 1, 0, 0]),
        (["````", "```", "x", "````", "Text"], [1, 1, 1, 0, 0]),
        (["~~~ `sh`", "```", "~~~", "Text"], [1, 1, 0, 0]),
        (["```", "``` is no end", "```"], [1, 1, 0]),
        (["- a step:", "    ```", "    run", "    ```"], [0, 1, 1, 0]),
    ],
)
def test_a_block_ends_at_a_line_with_at_least_its_own_mark_alone(lines: list[str], open_at: list[int]) -> None:
    fence, found = "", []
    for line in lines:
        fence = next_fence(line, fence)
        found.append(int(bool(fence)))
    assert found == open_at


def test_text_outside_of_blocks_stays_and_a_block_that_is_not_closed_reaches_to_the_end() -> None:
    assert remove_fenced_code("Before\n```\nx\n```\nAfter\n~~~\nrest") == "Before\n\nAfter\n"
