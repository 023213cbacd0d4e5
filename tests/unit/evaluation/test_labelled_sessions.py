"""Extraction without a model on the labelled real sessions: never worse than what was reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from lerim_evals.extractors import extract_by_rules
from lerim_evals.labels import Label, read_labels, read_verdicts
from lerim_evals.raw_text import read_all_text
from lerim_evals.score import Evaluation, score
from lerim_evals.sessions import find_labelled_sessions
from long import LONG

EVALS = Path(__file__).resolve().parents[3] / "evals"


@pytest.fixture(scope="module")
def labels() -> list[Label]:
    found, problems = read_labels(EVALS / "labels")
    assert problems == []
    return found


def evaluated(sessions: Path, labels: list[Label]) -> Evaluation:
    files = find_labelled_sessions(sessions, [(one.platform, one.session) for one in labels])
    runs = [(one, files[one.platform, one.session]) for one in labels]
    scored = [(one, extract_by_rules(file, one.until), read_all_text(file.path)) for one, file in runs]
    return score("rules", scored, read_verdicts(EVALS / "verdicts.toml"))


def test_what_is_proposed_of_labelled_sessions_is_said_there_and_mostly_what_a_reader_would_keep(
    sessions_folder: Path, labels: list[Label]
) -> None:
    claude = [label for label in labels if label.platform == "claude"]
    assert len(claude) >= 24
    assert sum(bool(label.nothing) for label in claude) >= 8
    assert sum(label.held for label in claude) * 3 >= len(claude)

    found = evaluated(sessions_folder, claude if LONG else claude[::2])

    assert found.figures.faithfulness == 1.0
    assert found.figures.precision >= 0.6
    assert found.figures.recall >= 0.35
    assert found.figures.negative_precision >= 0.85
    assert [one.signal for one in found.signals if one.right < 0.5 * one.candidates] == []


def test_what_is_proposed_of_other_agents_sessions_is_said_there_too(
    sessions_folder: Path, labels: list[Label]
) -> None:
    others = [label for label in labels if label.platform != "claude"]
    assert {label.platform for label in others} == {"codex", "cursor", "opencode", "copilot", "gemini"}
    assert len(others) >= 8

    found = evaluated(sessions_folder, others)

    assert found.figures.candidates >= 2
    assert found.figures.faithfulness == 1.0
