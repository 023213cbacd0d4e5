"""The model path on the labelled real sessions, with a model's recorded answers."""

from __future__ import annotations

from pathlib import Path

from lerim_evals.extractors import extract_with_model
from lerim_evals.labels import read_labels, read_verdicts
from lerim_evals.raw_text import read_all_text
from lerim_evals.score import score
from lerim_evals.sessions import find_labelled_sessions

EVALS = Path(__file__).resolve().parents[3] / "evals"


def test_a_models_answers_find_most_of_what_a_reader_would_keep_and_not_one_invented_word(
    sessions_folder: Path, isolated: Path
) -> None:
    labels, problems = read_labels(EVALS / "labels")
    assert problems == []
    files = find_labelled_sessions(sessions_folder, [(one.platform, one.session) for one in labels])
    scored = [
        (one, extract_with_model(file, one.until, answers=EVALS / "answers"), read_all_text(file.path))
        for one in labels
        for file in [files[one.platform, one.session]]
    ]
    found = score("model", scored, read_verdicts(EVALS / "verdicts.toml")).figures
    assert found.faithfulness == 1.0
    assert len(labels) == 36
    assert found.recall >= 0.8
    assert found.precision >= 0.78
    assert found.tokens > 0
