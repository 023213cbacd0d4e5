"""The labelled pairs (evals/pairs.toml, pairs-reworded.toml), and how often the right memory is among the neighbours
shown, on those that are not set aside."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from lerim.errors import SettingsError
from lerim_evals.labelled_pairs import Relation, read_pairs
from lerim_evals.neighbour_recall import measure_neighbours, wilson_interval

EVALS = Path(__file__).resolve().parents[3] / "evals"


@pytest.mark.parametrize(("name", "least"), [("pairs.toml", 150), ("pairs-reworded.toml", 500)])
def test_there_are_enough_pairs_of_each_label_in_both_halves(name: str, least: int) -> None:
    counts = Counter((known.held, later.what) for known in read_pairs(EVALS / name) for later in known.later)
    assert counts.total() >= least
    assert all(counts[held, what] >= 15 for held in (False, True) for what in get_args(Relation))


def test_a_file_that_holds_no_pairs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.toml").write_text("[[memories]]\nid = 3\n")
    with pytest.raises(SettingsError):
        read_pairs(tmp_path / "pairs.toml")


def test_the_right_memory_is_among_the_three_shown_and_no_pair_that_differs_makes_a_no_op(tmp_path: Path) -> None:
    found = measure_neighbours(EVALS, tmp_path).figures
    assert found["all"].pairs == found["near"].pairs + found["own"].pairs > 250
    assert found["all"].share >= 0.9 and found["all"].alone >= 0.95
    assert found["all"].wrong_noops == 0


def test_an_interval_holds_its_share_and_narrows_with_more_pairs() -> None:
    few, many = wilson_interval(9, 10), wilson_interval(900, 1000)
    assert few[0] < many[0] < 0.9 < many[1] < few[1] <= 1
    assert wilson_interval(0, 0) == (0.0, 1.0)
