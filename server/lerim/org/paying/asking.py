"""The work of one job with a model: it is asked about the session, and its answers are paid for and stored once.

It is imported only for a job with a model, because DSPy takes two seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lerim.errors import Problem
from lerim.extraction import (
    RANKED_SIGNALS,
    Candidate,
    EarlierClaim,
    Guidance,
    JoinedCandidates,
    Material,
    SessionExtraction,
    TurnsRead,
    make_brief,
)
from lerim.jobs import ReadingScope, SessionReading, make_material
from lerim.models import Engine, Model, dspy, make_language_model
from lerim.org.machine import extract_by_rules, order_candidates
from lerim.org.paying.fleet import FleetBudget
from lerim.org.paying.paid_answers import PaidAnswers
from lerim.paths import Home
from lerim.sessions import Transcript


def make_paying_model(model: Model, budget: FleetBudget, home: Home, environ: Mapping[str, str]) -> dspy.LM:
    """Returns a language model whose answers are paid from the team's budget and stored. It does not retry: if a
    service asks to wait, the job is scheduled again."""
    engine = Engine(model, lambda: False, home=home, environ=environ, budget=budget, most_tries=1)
    return make_language_model(PaidAnswers(model, engine, budget))


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """The result of asking a model about a session, with the parts of its answers that could not be read."""

    candidates: list[Candidate]
    problems: list[Problem]


def extract_with_model(transcript: Transcript, scope: ReadingScope, lm: dspy.LM, model: Model) -> ModelAnswers:
    """Returns what the rules and then the model propose from a session, in the order of its turns and redacted.

    The model is asked with the session and what the rules found, and nothing else, so that the same session leads to
    the same requests everywhere. Raises TranscriptError, ModelError, and what the engine of `lm` raises.
    """
    found, material = extract_by_rules(transcript, scope), read_material(transcript, scope)
    earlier = [EarlierClaim(one.title, one.turn) for one in found if one.signal not in RANKED_SIGNALS]
    brief = make_brief(material, scope.project.name, Guidance(tuple(one.title for one in earlier)))
    candidates, problems = {(one.turn, one.title): one for one in found}, []
    most, overlap = model.max_window_tokens, model.window_overlap_tokens
    questions = SessionExtraction(
        lm, material, brief, earlier, max_tokens=most, overlap_tokens=overlap, model=model.label
    )
    for result in questions.run():
        match result:
            case TurnsRead(turns):  # what only the ranker found in them gives way to the model
                ranked = [one for one in candidates.values() if one.turn in turns and one.signal in RANKED_SIGNALS]
                for one in ranked:
                    del candidates[one.turn, one.title]
            case Candidate():
                candidates[result.turn, result.title] = result
            case JoinedCandidates(merged, withdrawn):
                candidates.pop((withdrawn.turn, withdrawn.title), None)
                candidates[merged.turn, merged.title] = merged
            case Problem():
                problems.append(result)
    return ModelAnswers(order_candidates(candidates.values()), problems)


def read_material(transcript: Transcript, scope: ReadingScope) -> Material:
    """Returns the turns of a session as a model is shown them. Raises TranscriptError."""
    material = make_material(scope.project, transcript, exists=scope.exists)
    for turn in SessionReading(transcript, scope):
        material.add(turn)
    return material
