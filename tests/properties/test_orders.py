"""Text without orders to an agent gives none, whatever stood in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lerim.redaction.hidden import find_flags, remove_orders

PARTS = st.sampled_from(
    [
        *(
            "ignore",
            "disregard",
            "all",
            "previous",
            "instructions",
            "system",
            "prompt",
            "you are now",
            "new instructions:",
        ),
        *(
            "<system>",
            "</user>",
            "as an ai",
            "do not tell",
            "the user",
            "use uv",
            "not pip",
            ".",
            ";",
            "\n",
            "\n\n",
            "! ",
        ),
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(PARTS, max_size=30).map(" ".join)))
def test_what_is_left_gives_no_orders_and_a_text_without_any_stays_as_it_is(text: str) -> None:
    left = remove_orders(text)
    assert "commands-an-agent" not in find_flags(left)
    if "commands-an-agent" not in find_flags(text):
        assert left == text
