"""From a session's turns to candidates with a model: one call a window, one more to join what several windows gave.

Results are handed out as each window ends. Nothing the model says is believed: `grounding` gives each claim its turn,
its speaker and its figure, and a merge only ever joins two candidates that code, too, finds to be near.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import dspy

from lerim.errors import ModelError, ModelKeyError, ModelSilentError, Problem
from lerim.extraction.answered import Answered
from lerim.extraction.asking import ask
from lerim.extraction.candidate import Candidate, Dropped
from lerim.extraction.gate import merged
from lerim.extraction.grounding import Said, grounded, repeats, said
from lerim.extraction.material import Material
from lerim.extraction.said import content
from lerim.extraction.signatures import MemoryCandidate, MemoryExtractSignature, MemoryMergeSignature
from lerim.extraction.windows import windows

NEAR = 0.3  # word overlap of titles and bodies from which a merge's word is taken that two say the same


@dataclass(frozen=True, slots=True)
class Asking:
    """The model is about to be asked of one window of several; `number` counts from 1. 0 of 0 is to join them."""

    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Two candidates handed out before say the same: `kept` has the quotes of both now, `gone` is to be taken back."""

    kept: Candidate
    gone: Candidate


Result = Asking | Candidate | Dropped | Joined | Problem


@dataclass(frozen=True, slots=True)
class Brief:
    """What the model is told beside the transcript, each as JSON text (`guidance.py` makes them)."""

    metadata: str
    metrics: str
    guidance: str


def extract(
    lm: dspy.LM,
    material: Material,
    brief: Brief,
    before: Sequence[Said] = (),
    *,
    settled: bool = True,
    max_tokens: int = 300_000,
    overlap_tokens: int = 30_000,
    answered: Answered | None = None,
) -> Generator[Result, None, None]:
    """Asks the model of every turn of `material` that was not sent yet and hands out what holds.

    `before` is what was proposed from this session already. Raises ModelError (ModelKeyError, ModelSilentError) where
    no answer comes, CancelledCallError, SettingsError where tokens cannot be counted.
    """
    answered = answered or Answered(None, "")
    found: list[list[Candidate]] = []
    parts = windows(material.ready(settled), max_tokens, overlap_tokens, material.sent)
    for number, window in enumerate(parts, 1):
        items = answered.find(window.text)
        if items is None:
            yield Asking(number, len(parts))
            answer = ask(lm, MemoryExtractSignature, _inputs(window.text, brief), MemoryCandidate)
            if answer.unread:
                where = f"{material.platform}:{material.session}"
                yield Problem("model-answer", where, f"{_part(number, len(parts))} could not be read: {answer.unread}")
                continue
            first = next((turn.id for turn in window.turns if turn.number == window.first), "")
            yield from (Dropped("invalid", "", material.session, first, fault) for fault in answer.faults)
            items = answer.items
            answered.keep(window.text, items)
        earlier = [said(candidate) for part in found for candidate in part]
        results = grounded(items, window.turns, material, [*before, *earlier])
        yield from results
        found.append([result for result in results if isinstance(result, Candidate)])
    if sum(bool(part) for part in found) > 1:
        yield from _merged(lm, [candidate for part in found for candidate in part], brief, material)


def _inputs(text: str, brief: Brief) -> dict[str, str]:
    return {
        "transcript": text,
        "metadata": brief.metadata,
        "metrics": brief.metrics,
        "guidance": brief.guidance,
    }


def _part(number: int, of: int) -> str:
    return "The model's answer" if of == 1 else f"The model's answer to part {number} of {of}"


def _merged(lm: dspy.LM, found: list[Candidate], brief: Brief, material: Material) -> Iterator[Result]:
    """What a merge joins. Without an answer, or where it leaves out what nothing else says, all stays as it is."""
    listed = json.dumps([_listed(candidate) for candidate in found], ensure_ascii=False)
    yield Asking(0, 0)
    try:
        answer = ask(lm, MemoryMergeSignature, _inputs(listed, brief), MemoryCandidate)
    except (ModelKeyError, ModelSilentError):
        raise
    except ModelError as error:
        yield Problem(error.code, f"{material.platform}:{material.session}", f"Candidates were not joined: {error}")
        return
    if answer.unread:
        where = f"{material.platform}:{material.session}"
        yield Problem("model-answer", where, f"Candidates were not joined, as the answer said: {answer.unread}")
        return
    titles = {item.title.strip() for item in answer.items}
    left = [candidate for candidate in found if candidate.title in titles]
    for gone in [candidate for candidate in found if candidate.title not in titles]:
        at = _nearest(gone, left)
        if at is not None:
            left[at] = merged(left[at], gone)
            yield Joined(left[at], gone)


def _listed(candidate: Candidate) -> dict[str, object]:
    return {
        "primitive": candidate.primitive,
        "kind": candidate.kind,
        "title": candidate.title,
        "body": candidate.body,
        "quote": candidate.evidence[0].quote,
        "time": candidate.time.isoformat(),
    }


def _nearest(gone: Candidate, left: Sequence[Candidate]) -> int | None:
    """Which of those left says what the missing one said; None where nothing does: then it was lost, not joined."""
    words = set(content(f"{gone.title} {gone.body}"))
    best, at = NEAR, None
    for number, other in enumerate(left):
        theirs = set(content(f"{other.title} {other.body}"))
        near = len(words & theirs) / max(1, len(words | theirs))
        if other.primitive == gone.primitive and (near >= best or repeats(said(gone), [said(other)]) is not None):
            best, at = max(near, best), number
    return at
