"""The extractors that can be measured: sessions in, candidates and what they cost out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lerim.config import editor, load
from lerim.config.providers import Role
from lerim.errors import Problem, SettingsError
from lerim.extraction.candidate import Candidate, DroppedSignal
from lerim.extraction.pipeline import Extraction
from lerim.extraction.signals.draft import RANKED_SIGNALS
from lerim.models.choose import choose_model
from lerim.models.model import Model
from lerim.models.money.usage import NO_USAGE
from lerim.paths import Home
from lerim.sessions.model import Transcript, Turn, make_turn_id
from lerim.sessions.readers.agents import read_session
from lerim_evals.raw import records


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one session gave. `turn_of` maps what a label may call a turn (of Claude Code the native id of any of its
    records, else the turn's id) to the id of the turn."""

    candidates: tuple[Candidate, ...]
    dropped: tuple[DroppedSignal, ...]
    turn_of: dict[str, str]
    seconds: float
    tokens: int = 0
    cost: float = 0.0
    problems: tuple[str, ...] = field(default_factory=tuple)


Extractor = Callable[[Transcript, str], Extracted]
"""(transcript, what the last record that counts is called, or "") → what it yields."""


def by_rules(transcript: Transcript, until: str) -> Extracted:
    """The deterministic path, on the whole session as one project's. Raises TranscriptError if it cannot be read."""
    began = time.perf_counter()
    turns, turn_of, problems = read(transcript, until)
    extraction = Extraction(None, transcript.session_id, transcript.platform, exists=seen(turns))
    found: list[Candidate | DroppedSignal] = []
    for turn in turns:
        found += (item for item in extraction.feed(turn) if isinstance(item, Candidate | DroppedSignal))
    found += (item for item in extraction.finish(True) if isinstance(item, Candidate | DroppedSignal))
    return Extracted(
        tuple(item for item in found if isinstance(item, Candidate)),
        tuple(item for item in found if isinstance(item, DroppedSignal)),
        turn_of,
        time.perf_counter() - began,
        problems=problems,
    )


def seen(turns: list[Turn]) -> Callable[[str], bool]:
    """Which paths were there, as far as the session's tools tell; the repository itself is not at hand."""
    calls = [call for turn in turns for call in turn.tool_calls]
    told = "\n".join(text for call in calls for text in (*call.paths, call.command, call.output)).replace("\\", "/")
    return lambda path: path in told


def by_model(transcript: Transcript, until: str, answers: Path | None = None) -> Extracted:
    """The rules, then the model that the person's settings name, as a sync asks it, but with no memories to compare.

    `answers`: a folder of recorded answers, which are taken instead; what is not there is asked and kept there.
    Raises TranscriptError, SettingsError where no model can be asked, ModelError where it does not answer.
    """
    from lerim.extraction.model.extractor import ExtractionBrief, extract_candidates
    from lerim.extraction.model.grounding import make_earlier_claim
    from lerim.extraction.model.guidance import Guidance, guidance_json, metadata_json, metrics_json
    from lerim.extraction.model.material import Material
    from lerim.extraction.model.merge import JoinedCandidates
    from lerim.models.engine import Engine
    from lerim.models.lm import wrap_engine
    from lerim_evals.recorded import Recording

    rules = by_rules(transcript, until)
    began = time.perf_counter()
    model = chosen_model(needed=answers is None)
    engine = Engine(model, lambda: False) if model else None
    path = answers / f"{transcript.session_id}.json" if answers else None
    recording = Recording(path, engine, model.label if model else "") if path else None
    material = Material(None, transcript.session_id, transcript.platform)
    for turn in read(transcript, until)[0]:
        material.add(turn)
    brief = ExtractionBrief(metadata_json(material.facts, ""), metrics_json(material.facts), guidance_json(Guidance()))
    # what only ranks high gives way once a model has read it, as in a sync
    stays = tuple(one for one in rules.candidates if one.signal not in RANKED_SIGNALS)
    before = [make_earlier_claim(candidate) for candidate in stays]
    sizes = model or Role()
    most, overlap = sizes.max_window_tokens, sizes.window_overlap_tokens
    answering = recording or engine
    assert answering is not None
    lm = wrap_engine(answering, "lerim/measured")
    results = list(extract_candidates(lm, material, brief, before, max_tokens=most, overlap_tokens=overlap))
    spent = recording.spent if recording else engine.usage if engine else NO_USAGE
    joined = [result.gone for result in results if isinstance(result, JoinedCandidates)]
    found = tuple(item for item in results if isinstance(item, Candidate) and item not in joined)
    return Extracted(
        (*stays, *found),
        (*rules.dropped, *(item for item in results if isinstance(item, DroppedSignal))),
        rules.turn_of,
        rules.seconds + time.perf_counter() - began,
        spent.input_tokens + spent.output_tokens,
        spent.cost,
        (*rules.problems, *(item.message for item in results if isinstance(item, Problem))),
    )


def chosen_model(*, needed: bool = True) -> Model | None:
    """The model the person's settings name. Raises SettingsError where there is none, or no key for it, if `needed`."""
    settings, _ = load.load_settings(os.environ, Home.of(os.environ))
    model, problems = choose_model("extract", settings, os.environ, editor.read_editor_state(os.environ)[0])
    if model is None and needed:
        told = problems[0].message if problems else "The settings name no model to ask."
        raise SettingsError(
            told, where="roles.extract", todo="Set roles.extract.provider and its key, or measure rules."
        )
    return model


def read(transcript: Transcript, until: str) -> tuple[list[Turn], dict[str, str], tuple[str, ...]]:
    """The turns of a session up to what is called `until`, and which turn each record belongs to.

    Raises TranscriptError if it cannot be read.
    """
    pass_ = read_session(transcript)
    turns = list(pass_)
    names = _records(transcript, turns) if transcript.platform == "claude" else {turn.id: turn.id for turn in turns}
    turn_of: dict[str, str] = {}
    for native, turn in names.items():
        turn_of[native] = turn
        if native == until:
            break
    kept = set(turn_of.values())
    counted = [turn for turn in turns if turn.id in kept] if until else turns
    return counted, turn_of, tuple(problem.message for problem in pass_.problems)


def _records(transcript: Transcript, turns: list[Turn]) -> dict[str, str]:
    """The native ids of a Claude Code transcript in the order of the file, each with the turn it is part of."""
    known = {turn.id for turn in turns}
    turn_of: dict[str, str] = {}
    current = ""
    for native in records(transcript.path):
        current = own if (own := make_turn_id("claude", native)) in known else current
        turn_of[native] = current
    return turn_of
