"""Whatever a model answers, reading it ends, keeps to its bounds and yields only what has the form."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from chat_server import item, marked
from lerim.extraction.model.model_call import MAX_ITEMS, ParsedAnswer, salvage_items
from lerim.extraction.model.signatures import MemoryCandidate
from lerim.redaction.hidden import strip_markup

GOOD = item("Use `pnpm`, not npm", "use pnpm here")
PARTS = st.sampled_from(
    [
        "[[ ## primitives ## ]]\n",
        "[[ ## completed ## ]]\n",
        "[",
        "]",
        "{",
        "}",
        ",",
        '"title":',
        "null",
        json.dumps(GOOD),
    ]
)
TEXT = st.lists(PARTS | st.text(max_size=20), max_size=30).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(list(GOOD)), inner, max_size=6),
    max_leaves=12,
)


def sound(answer: ParsedAnswer[MemoryCandidate]) -> None:
    assert len(answer.items) <= MAX_ITEMS
    assert all(isinstance(one, MemoryCandidate) and 0 <= one.confidence <= 1 for one in answer.items)
    assert not (answer.parse_error and answer.items)


@given(TEXT)
def test_any_text_is_read_or_said_to_be_unreadable(text: str) -> None:
    sound(salvage_items(text, "primitives", MemoryCandidate))


@given(st.lists(JSON | st.just(GOOD), max_size=6))
def test_any_json_yields_only_what_has_the_form(values: list) -> None:
    answer = salvage_items(marked(values), "primitives", MemoryCandidate)
    sound(answer)
    assert len(answer.items) >= min(MAX_ITEMS, sum(value == GOOD for value in values))


@given(st.integers(0, 2_000))
def test_wherever_an_answer_is_cut_what_was_whole_before_is_kept(at: int) -> None:
    text = marked([GOOD, item("Store `Money` in cents", "cents"), item("Never log `Money`", "never log")])
    whole = text[:at].count('"references": []}')
    assert len(salvage_items(text[:at], "primitives", MemoryCandidate).items) >= whole


@given(st.text(max_size=300) | TEXT)
def test_plain_text_is_one_line_and_stays_plain(text: str) -> None:
    once = strip_markup(text)
    assert "\n" not in once
    assert "](command:" not in once
