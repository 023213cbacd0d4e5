"""Extraction without a model on the labelled real sessions: never worse than what was reached."""

from __future__ import annotations

from pathlib import Path

from lerim.evaluation.extractors import by_rules
from lerim.evaluation.labels import read_labels, read_verdicts
from lerim.evaluation.raw import texts
from lerim.evaluation.score import Evaluation, score

EVALS = Path(__file__).resolve().parents[3] / "evals"


def evaluated(sessions: Path) -> Evaluation:
    labels, problems = read_labels(EVALS / "labels")
    assert problems == []
    assert len(labels) >= 24
    assert sum(bool(label.nothing) for label in labels) >= 8
    assert sum(label.held for label in labels) * 3 >= len(labels)
    files = {path.stem: path for path in sessions.rglob("*.jsonl")}
    runs = [(one, by_rules(files[one.session], one.until), texts(files[one.session])) for one in labels]
    return score("rules", runs, read_verdicts(EVALS / "verdicts.toml"))


def test_what_is_proposed_of_labelled_sessions_is_true_and_worth_reading(sessions_folder: Path) -> None:
    found = evaluated(sessions_folder)

    assert found.figures.faithfulness == 1.0
    assert found.figures.precision >= 0.8
    assert found.figures.recall >= 0.45
    assert found.figures.negative_precision >= 0.9
    assert found.figures.duplicates == 0
    assert [one.signal for one in found.signals if one.right < 0.7 * one.candidates] == []
