"""The labelled pairs that neighbours are measured on (evals/pairs.toml, pairs-reworded.toml)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from lerim.errors import SettingsError
from lerim_evals.labelled_pairs import Relation, read_pairs

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
