"""Words are looked at only if they begin like those of a query: no word with the same stem begins otherwise."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from lerim.words import beginnings_of_words, stem

letters = st.text("abegilnorstuy", min_size=1, max_size=6)
endings = st.sampled_from(["", "s", "es", "ed", "ing", "ies", "ied", "er", "ly", "ations", "y", "e"])


@given(letters, endings)
@example("bought", "")
@example("mice", "")
@example("held", "")
def test_a_word_begins_as_the_words_with_its_stem_do(word, ending):
    assert (word + ending)[:2] in beginnings_of_words(stem(word + ending))
