"""A session that grows, sync by sync: each turn is sent once, with one overlap, and what the syncs send stays small."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lerim.extraction.model.material import Material
from lerim.extraction.model.windows import cut_windows
from lerim.models import tokens
from lerim.sessions.model import Turn
from scripted import ROOT, agent, numbered, ran, you

MOST, OVERLAP = 2_000, 150
TURN = st.integers(1, 250).flatmap(
    lambda words: st.sampled_from(
        [
            you("please " + "look there " * words),
            agent("I looked " + "and found it " * words),
            agent("", ran(f"make {words}", "all is well\n" * words, words % 2)),
        ]
    )
)
GROWTH = st.lists(st.tuples(st.lists(TURN, min_size=1, max_size=8), st.booleans()), min_size=1, max_size=6)


def size(text: str) -> int:
    return tokens.count_tokens(text)


@given(GROWTH, st.integers(0, 3))
def test_each_turn_is_sent_once_and_no_more_than_its_tokens_and_one_overlap(
    growth: list[tuple[list[Turn], bool]], met_again: int
) -> None:
    turns: list[Turn] = []
    state, fresh_of = None, list[int]()
    for more, settled in [*growth, ([you("the end")], True)]:
        turns = numbered([*turns, *more])
        material = Material(Path(ROOT), "s", "claude", state)
        for turn in turns[max(0, len(turns) - len(more) - met_again) :]:  # a reader meets the last turns again
            material.add(turn)
        ready = material.window_turns(settled)
        found = cut_windows(ready, MOST, OVERLAP, material.last_sent)
        new = [turn for turn in ready if turn.number > material.last_sent]
        sent = sum(size(window.text) for window in found)
        assert sent <= 1.2 * sum(size(turn.header + turn.body()) for turn in new) + OVERLAP
        fresh_of += [turn.number for window in found for turn in window.fresh_turns]
        state = material.state(max(ready[-1].number if ready else -1, material.last_sent), OVERLAP)
    assert fresh_of == list(range(len(turns)))


@given(st.integers(2, 12), st.integers(0, 11))
def test_a_turn_that_was_sent_and_has_changed_since_is_sent_again_with_what_follows(count: int, at: int) -> None:
    turns = numbered([you(f"word {number}") for number in range(count)])
    material = Material(Path(ROOT), "s", "claude")
    for turn in turns:
        material.add(turn)
    state = material.state(count - 1, 10_000)
    again, at = Material(Path(ROOT), "s", "claude", state), min(at, count - 1)
    again.add(replace(turns[at], text="another word"))
    found = cut_windows(again.window_turns(True), MOST, OVERLAP, again.last_sent)
    assert [turn.number for window in found for turn in window.fresh_turns] == list(range(at, count))
