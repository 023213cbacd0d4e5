"""A session of eight rules that takes several small windows, and a model that finds each rule where it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lerim.extraction.candidate import Candidate, DroppedSignal
from lerim.extraction.model.extractor import ModelResult, SessionExtraction
from lerim.extraction.model.guidance import ExtractionBrief, Guidance, make_brief
from lerim.extraction.model.material import Material
from lerim.sessions.model import Turn
from scripted import ROOT, agent, numbered, you
from scripted_lm import Script, item, marked

LONG = "This is a long story about nothing in particular. " * 12
STORY = tuple(
    turn
    for number in range(8)
    for turn in (you(f"Rule {number}: always use `tool{number}` for part {number}. {LONG}"), agent(f"Fine. {LONG}"))
)
SMALL = 900
"""Tokens of a window, of which the story then takes three."""


def by_turn(prompt: str) -> str:
    """Answers a window with one candidate for each rule that begins in it, and a merge with nothing."""
    if "Join candidates" in prompt:
        return marked([])
    found = [number for number in range(8) if f"Rule {number}: always use `tool{number}`" in prompt]
    return marked(
        [item(f"Always use `tool{n}` for part {n}", f"always use `tool{n}` for part {n}", 2 * n) for n in found]
    )


def material(*turns: Turn, state: bytes | None = None) -> Material:
    out = Material(Path(ROOT), "session-1", "claude", state)
    for turn in numbered(turns):
        out.add(turn)
    return out


def brief(source: Material) -> ExtractionBrief:
    return make_brief(source, "shop", Guidance())


def asked(script: Script, *turns: Turn, small: int = SMALL, overlap: int = 0, **options: Any) -> list[ModelResult]:
    source = material(*(turns or STORY))
    return list(
        SessionExtraction(
            script.lm, source, brief(source), max_tokens=small, overlap_tokens=overlap, model="m", **options
        ).run()
    )


def candidates(results: list[ModelResult]) -> list[Candidate]:
    return [result for result in results if isinstance(result, Candidate)]


def dropped(results: list[ModelResult]) -> list[DroppedSignal]:
    return [result for result in results if isinstance(result, DroppedSignal)]
