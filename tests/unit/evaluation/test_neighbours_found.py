"""How often the right memory is among the neighbours shown, on the labelled pairs that are not set aside."""

from pathlib import Path

from lerim_evals.neighbour_recall import measure_neighbours, wilson_interval

EVALS = Path(__file__).resolve().parents[3] / "evals"


def test_the_right_memory_is_among_the_three_shown_and_no_pair_that_differs_makes_a_no_op(tmp_path: Path) -> None:
    found = measure_neighbours(EVALS, tmp_path).figures
    assert found["all"].pairs == found["near"].pairs + found["own"].pairs > 250
    assert found["all"].share >= 0.9 and found["all"].alone >= 0.95
    assert found["all"].wrong_noops == 0


def test_an_interval_holds_its_share_and_narrows_with_more_pairs() -> None:
    few, many = wilson_interval(9, 10), wilson_interval(900, 1000)
    assert few[0] < many[0] < 0.9 < many[1] < few[1] <= 1
    assert wilson_interval(0, 0) == (0.0, 1.0)
