"""The model path on the labelled real sessions, with a model's recorded answers, beside the rules alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lerim_evals.extractors import Extractor, by_model, by_rules
from lerim_evals.labels import read_labels, read_verdicts
from lerim_evals.raw import texts
from lerim_evals.score import Evaluation, score
from lerim_evals.sessions import below

EVALS = Path(__file__).resolve().parents[3] / "evals"


def evaluated(sessions: Path, name: str, extract: Extractor) -> Evaluation:
    labels, problems = read_labels(EVALS / "labels")
    assert problems == []
    files = below(sessions, [(one.platform, one.session) for one in labels])
    runs = [(one, files[one.platform, one.session]) for one in labels]
    scored = [(one, extract(file, one.until), texts(file.path)) for one, file in runs]
    return score(name, scored, read_verdicts(EVALS / "verdicts.toml"))


def test_a_models_answers_add_what_is_not_found_without_one_and_not_one_invented_word(
    sessions_folder: Path, isolated: Path
) -> None:
    rules = evaluated(sessions_folder, "rules", by_rules).figures
    both = evaluated(sessions_folder, "model", partial(by_model, answers=EVALS / "answers")).figures
    assert rules.faithfulness == both.faithfulness == 1.0
    assert both.sessions == rules.sessions == 36
    assert both.recall >= 0.8 > rules.recall
    assert both.precision >= 0.78
    assert both.tokens > 0
