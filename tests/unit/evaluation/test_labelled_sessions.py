"""Extraction without a model on the labelled real sessions: never worse than what was reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from lerim.evaluation.extractors import by_rules
from lerim.evaluation.labels import Label, read_labels, read_verdicts
from lerim.evaluation.raw import texts
from lerim.evaluation.score import Evaluation, score
from lerim.evaluation.sessions import below

EVALS = Path(__file__).resolve().parents[3] / "evals"


@pytest.fixture(scope="module")
def labels() -> list[Label]:
    found, problems = read_labels(EVALS / "labels")
    assert problems == []
    return found


def evaluated(sessions: Path, labels: list[Label]) -> Evaluation:
    files = below(sessions, [(one.platform, one.session) for one in labels])
    runs = [(one, files[one.platform, one.session]) for one in labels]
    scored = [(one, by_rules(file, one.until), texts(file.path)) for one, file in runs]
    return score("rules", scored, read_verdicts(EVALS / "verdicts.toml"))


def test_what_is_proposed_of_labelled_sessions_is_said_there_and_mostly_worth_reading(
    sessions_folder: Path, labels: list[Label]
) -> None:
    """Several sentences may say what a reader expected once: these figures count each of them as right, and what no
    reader has judged as wrong."""
    assert len(labels) >= 32
    assert {label.platform for label in labels} == {"claude", "codex", "cursor", "opencode", "copilot", "gemini"}
    assert sum(bool(label.nothing) for label in labels) >= 8
    assert sum(label.held for label in labels) * 3 >= len(labels)

    found = evaluated(sessions_folder, labels).figures

    assert found.faithfulness == 1.0
    assert found.precision >= 0.7
    assert found.recall >= 0.35
    assert found.negative_precision >= 0.85
