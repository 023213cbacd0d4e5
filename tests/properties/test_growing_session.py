"""A session whose turns change after they were sent."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lerim.extraction.model.material import Material
from lerim.extraction.model.windows import cut_windows
from scripted import ROOT, numbered, you

MOST, OVERLAP = 2_000, 150


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
