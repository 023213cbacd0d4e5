"""Windows: whatever was said, in any script, nothing is lost, nothing cut that fits, and nothing is over the limit."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lerim.extraction.model.material import Material
from lerim.extraction.model.windows import cut_windows, halve_window, shrink_window, take_overlap
from lerim.extraction.transcript import ShownPiece, ShownTurn
from lerim.models import tokens
from lerim.sessions.model import Role
from scripted import ROOT, numbered, you

ALPHABET = (
    "ab Z09 .,/{}[]()«»\n\n\t\r  äöß Привет 你好世界日本語 한국어 مرحبا שלום हिन्दी ไทย 🙂👩‍💻⟦\u200b\x0b\x85\u2028"
)
SAID = st.text(alphabet=ALPHABET, max_size=600) | st.text(max_size=200) | st.sampled_from(["", "x" * 3000, "好" * 900])
TURNS = st.lists(st.tuples(st.sampled_from(get_args(Role)), SAID, st.sampled_from(["", "Bash (ok)"])), max_size=12)


def turns(said: list[tuple[Role, str, str]]) -> list[ShownTurn]:
    return [
        ShownTurn(f"{number:012x}", number, role, None, "", (ShownPiece(role, text, head),))
        for number, (role, text, head) in enumerate(said)
    ]


@given(TURNS, st.integers(64, 700), st.integers(0, 200), st.integers(-1, 12))
def test_windows_keep_to_the_limit_hold_every_fresh_turn_cut_none_that_fits_and_repeat_no_other(
    said: list, most: int, overlap: int, seen: int
) -> None:
    given_turns = turns(said)
    found = cut_windows(given_turns, most, overlap, seen)
    sizes = [tokens.count_tokens(window.text) for window in found]
    assert max(sizes, default=0) <= most
    if len(found) > 1:
        assert [window.size for window in found] == sizes
    fresh = {turn.number for turn in given_turns if turn.number > seen}
    assert {turn.number for window in found for turn in window.turns if turn.number > seen} == fresh
    assert sorted(window.first_fresh for window in found) == [window.first_fresh for window in found]
    for window in found:
        for turn in window.turns:
            whole = turn.header + turn.body()
            assert whole in window.text or tokens.count_tokens(whole) > most
    for one, two in pairwise(found):
        assert one.text not in two.text
        assert two.text not in one.text


@given(TURNS, st.integers(64, 700))
def test_the_parts_of_a_turn_that_is_too_large_hold_all_of_it(said: list, most: int) -> None:
    given_turns = turns(said)
    text = "".join(window.text for window in cut_windows(given_turns, most, 0))
    kept = "".join(line for line in text.split("\n") if "] " not in line[:30] or ":" not in line[:60])
    for turn in given_turns:
        for line in turn.body().split("\n"):
            if "]" not in line and "[" not in line and len(line) < 20:
                assert line in kept


@given(TURNS, st.integers(0, 400))
def test_what_the_next_pass_begins_with_is_an_end_that_fits(said: list, most: int) -> None:
    given_turns = turns(said)
    kept = take_overlap(given_turns, most)
    assert list(kept) == given_turns[len(given_turns) - len(kept) :]
    assert sum(tokens.count_tokens(turn.header + turn.body()) for turn in kept) <= most


@given(TURNS, st.integers(64, 700), st.integers(64, 300))
def test_smaller_windows_and_halves_hold_all_that_is_new_and_keep_to_the_limit(
    said: list, most: int, learned: int
) -> None:
    for window in cut_windows(turns(said), most, 50):
        parts = shrink_window(window, learned, 30)
        assert all(tokens.count_tokens(part.text) <= learned for part in parts)
        assert {turn.number for part in parts for turn in part.fresh_turns} == {
            turn.number for turn in window.fresh_turns
        }
        two = halve_window(window)
        assert [
            turn.number for part in two for turn in part.fresh_turns if turn not in two[0].fresh_turns or part is two[0]
        ] == [turn.number for turn in window.fresh_turns]
        assert all(part.size == tokens.count_tokens(part.text) for part in two)
        if window.size > 300:
            assert len(two) == 2
            assert max(part.size for part in two) < tokens.count_tokens(window.text)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(5, 400)), min_size=1, max_size=8), st.integers(200, 3_000))
def test_a_session_that_grows_sends_each_turn_once_and_one_overlap_each_time(
    growth: list[tuple[int, int]], most: int
) -> None:
    overlap, seen, held, sent_of = most // 10, -1, list[ShownTurn](), list[int]()
    for more, words in growth:
        new = [
            ShownTurn(f"{number:012x}", number, "user", None, "", (ShownPiece("user", f"{number} " + "word " * words),))
            for number in range(seen + 1, seen + 1 + more)
        ]
        found = cut_windows([*held, *new], most, overlap, seen)
        fresh = sum(tokens.count_tokens(turn.header + turn.body()) for turn in new)
        headers = 32 * sum("(part " in window.text for window in found)
        assert sum(tokens.count_tokens(window.text) for window in found) <= 1.2 * fresh + overlap + headers
        sent_of += [turn.number for window in found for turn in window.fresh_turns]
        seen = new[-1].number
        held = list(take_overlap([*held, *new], overlap))
    assert sorted(set(sent_of)) == list(range(seen + 1))


@given(st.integers(2, 12), st.integers(0, 11))
def test_a_turn_that_was_sent_and_has_changed_since_is_sent_again_with_what_follows(count: int, at: int) -> None:
    turns = numbered([you(f"word {number}") for number in range(count)])
    material = Material(Path(ROOT), "s", "claude")
    for turn in turns:
        material.add(turn)
    state = material.state(count - 1, 10_000)
    again, at = Material(Path(ROOT), "s", "claude", state), min(at, count - 1)
    again.add(replace(turns[at], text="another word"))
    found = cut_windows(again.window_turns(True), 2_000, 150, again.last_sent)
    assert [turn.number for window in found for turn in window.fresh_turns] == list(range(at, count))
