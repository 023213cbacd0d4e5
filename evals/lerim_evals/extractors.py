"""The extractors that can be measured. Each turns a session into candidates and reports what that cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.config import load
from lerim.config.providers import Role
from lerim.errors import Problem, SettingsError
from lerim.extraction.candidate import Candidate, DroppedSignal
from lerim.extraction.pipeline import Extraction
from lerim.extraction.signals.draft import RANKED_SIGNALS
from lerim.models import DayBudget, choose_allowed
from lerim.models.model import Model
from lerim.models.money.usage import NO_USAGE
from lerim.paths import Home
from lerim.sessions.model import Transcript, Turn, make_turn_id
from lerim.sessions.readers.platform_readers import read_session
from lerim_evals.raw_text import read_record_ids

if TYPE_CHECKING:
    from lerim.models import Engine


@dataclass(frozen=True, slots=True)
class MeasuredExtraction:
    """The result of one session.

    `turn_of` maps the name that a label may use for a turn to the turn's id. For Claude Code that name is the native
    id of any record of the turn, for other agents it is the turn's id. `cost` is in US dollars.
    """

    candidates: tuple[Candidate, ...]
    dropped: tuple[DroppedSignal, ...]
    turn_of: dict[str, str]
    seconds: float
    tokens: int = 0
    cost: float = 0.0
    problems: tuple[str, ...] = field(default_factory=tuple)


Extractor = Callable[[Transcript, str], MeasuredExtraction]
"""(transcript, native id of the last record that counts or "") → result."""


def extract_by_rules(transcript: Transcript, until: str) -> MeasuredExtraction:
    """Extracts with the rules alone; the whole session counts as one project.

    Raises TranscriptError if the session cannot be read.
    """
    began = time.perf_counter()
    turns, turn_of, problems = read_turns(transcript, until)
    extraction = Extraction(None, transcript.session_id, transcript.platform, exists=make_path_check(turns))
    for turn in turns:
        extraction.feed(turn)
    candidates = extraction.finish(True)
    return MeasuredExtraction(
        tuple(item for item in candidates if isinstance(item, Candidate)),
        tuple(item for item in candidates if isinstance(item, DroppedSignal)),
        turn_of,
        time.perf_counter() - began,
        problems=problems,
    )


def make_path_check(turns: list[Turn]) -> Callable[[str], bool]:
    """A stand-in for a file check, since the repository is not available: a path exists if a tool call mentions it."""
    calls = [call for turn in turns for call in turn.tool_calls]
    mentioned_paths = "\n".join(text for call in calls for text in (*call.paths, call.command, call.output)).replace(
        "\\", "/"
    )
    return lambda path: path in mentioned_paths


def extract_with_model(transcript: Transcript, until: str, answers: Path | None = None) -> MeasuredExtraction:
    """Extracts with the rules, then with the model in the person's settings, as a sync does, but without any memories.

    `answers` is a folder of recorded answers that are used instead of the model. A missing answer is requested from
    the model and recorded there.

    Raises TranscriptError, SettingsError if no model is configured, ModelError if the model does not answer.
    """
    from lerim.extraction.model.build_candidates import make_earlier_claim
    from lerim.extraction.model.extractor import SessionExtraction
    from lerim.extraction.model.guidance import Guidance, make_brief
    from lerim.extraction.model.material import Material
    from lerim.extraction.model.merge import JoinedCandidates
    from lerim.models.lm import make_language_model
    from lerim_evals.recorded_answers import RecordedAnswers

    rules = extract_by_rules(transcript, until)
    began = time.perf_counter()
    model, engine = open_chosen_model(needed=answers is None) or (None, None)
    path = answers / f"{transcript.session_id}.json" if answers else None
    recording = RecordedAnswers(path, engine, model.label if model else "") if path else None
    material = Material(None, transcript.session_id, transcript.platform)
    for turn in read_turns(transcript, until)[0]:
        material.add(turn)
    brief = make_brief(material, "", Guidance())
    # as in a sync, a model's reading replaces the candidates that were only ranked high
    rule_candidates = tuple(one for one in rules.candidates if one.signal not in RANKED_SIGNALS)
    earlier_claims = [make_earlier_claim(candidate) for candidate in rule_candidates]
    sizes = model or Role()
    max_tokens, overlap_tokens = sizes.max_window_tokens, sizes.window_overlap_tokens
    answering = recording or engine
    assert answering is not None
    lm = make_language_model(answering)
    results = list(
        SessionExtraction(
            lm, material, brief, earlier_claims, max_tokens=max_tokens, overlap_tokens=overlap_tokens
        ).run()
    )
    spent = recording.spent if recording else engine.usage if engine else NO_USAGE
    replaced = [result.withdrawn for result in results if isinstance(result, JoinedCandidates)]
    candidates = tuple(item for item in results if isinstance(item, Candidate) and item not in replaced)
    return MeasuredExtraction(
        (*rule_candidates, *candidates),
        (*rules.dropped, *(item for item in results if isinstance(item, DroppedSignal))),
        rules.turn_of,
        rules.seconds + time.perf_counter() - began,
        spent.input_tokens + spent.output_tokens,
        spent.cost,
        (*rules.problems, *(item.message for item in results if isinstance(item, Problem))),
    )


def open_chosen_model(*, needed: bool = True) -> tuple[Model, Engine] | None:
    """The model in the person's settings and what asks it, within the day's budget; None if it may not be asked.

    Raises SettingsError if `needed` and there is no model, no key for it, or no approval of its cost.
    """
    from lerim.models import Engine  # it imports DSPy, which takes a second

    settings, _ = load.load_settings(os.environ, Home.from_environ(os.environ))
    choice = choose_allowed("extract", settings, settings.home, os.environ)
    if choice.model is not None and not choice.why:
        budget = DayBudget(settings.home, settings.daily_budget_usd, lambda: datetime.now().astimezone())
        return choice.model, Engine(choice.model, lambda: False, home=settings.home, budget=budget)
    if needed:
        missing = (
            "You have not approved the cost of the model." if choice.model else "The settings name no model to ask."
        )
        message = choice.problems[0].message if choice.problems else missing
        todo = "Set roles.extract.provider and its key, use `lerim model allow`, or measure rules."
        raise SettingsError(message, where="roles.extract", todo=todo)
    return None


def read_turns(transcript: Transcript, until: str) -> tuple[list[Turn], dict[str, str], tuple[str, ...]]:
    """Reads a session up to and including the turn of `until` (all of it if `until` is "").

    Returns the turns, a map from record id to turn id, and the messages of the problems met.
    Raises TranscriptError if the session cannot be read.
    """
    reading = read_session(transcript)
    turns = list(reading)
    turn_by_record = (
        _map_records_to_turns(transcript, turns)
        if transcript.platform == "claude"
        else {turn.id: turn.id for turn in turns}
    )
    turn_of: dict[str, str] = {}
    for native, turn in turn_by_record.items():
        turn_of[native] = turn
        if native == until:
            break
    kept = set(turn_of.values())
    counted = [turn for turn in turns if turn.id in kept] if until else turns
    return counted, turn_of, tuple(problem.message for problem in reading.problems)


def _map_records_to_turns(transcript: Transcript, turns: list[Turn]) -> dict[str, str]:
    """Maps the native record ids of a Claude Code transcript, in file order, to the ids of their turns."""
    known = {turn.id for turn in turns}
    turn_of: dict[str, str] = {}
    current = ""
    for native in read_record_ids(transcript.path):
        current = own if (own := make_turn_id("claude", native)) in known else current
        turn_of[native] = current
    return turn_of
