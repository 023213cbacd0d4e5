"""The model path on the labelled real sessions, with a model's recorded answers."""

from __future__ import annotations

from pathlib import Path

from lerim_evals.extractors import by_model
from lerim_evals.labels import read_labels, read_verdicts
from lerim_evals.raw import texts
from lerim_evals.score import score
from lerim_evals.sessions import below

EVALS = Path(__file__).resolve().parents[3] / "evals"


def test_a_models_answers_find_most_of_what_a_reader_would_keep_and_not_one_invented_word(
    sessions_folder: Path, isolated: Path
) -> None:
    labels, problems = read_labels(EVALS / "labels")
    assert problems == []
    files = below(sessions_folder, [(one.platform, one.session) for one in labels])
    runs = [(one, files[one.platform, one.session]) for one in labels]
    scored = [(one, by_model(file, one.until, answers=EVALS / "answers"), texts(file.path)) for one, file in runs]
    found = score("model", scored, read_verdicts(EVALS / "verdicts.toml")).figures
    assert found.faithfulness == 1.0
    assert found.sessions == 36
    assert found.recall >= 0.8
    assert found.precision >= 0.78
    assert found.tokens > 0
