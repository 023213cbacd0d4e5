"""Scores candidates with labels: precision, recall, faithfulness, negative precision, duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from lerim.extraction.candidate import Candidate
from lerim.memory.claims.claim_words import claim_words, mean_overlap
from lerim.sessions.model import Platform
from lerim_evals.extractors import MeasuredExtraction
from lerim_evals.labels import ExpectedMemory, Label, Verdict, verdict_key
from lerim_evals.raw_text import contains_quote

DUPLICATE_SIMILARITY = 0.72
Judged = Literal["expected", "right", "wrong", "unjudged"]
Verdicts = Mapping[tuple[str, str, str], Verdict]


class Proposal(msgspec.Struct, frozen=True):
    """One candidate and its judgment: `expected` by the labels, `right` or `wrong` by a reader, else `unjudged`."""

    session: str
    turn: str
    signal: str
    title: str
    judged: Judged
    faithful: bool
    claim: str = ""


class MissedMemory(msgspec.Struct, frozen=True):
    """A memory with weight "must" that no candidate states."""

    session: str
    claim: str


class Figures(msgspec.Struct, frozen=True):
    """The figures of one run. Shares are in 0..1, and 1 where there is nothing to count. `cost` is in US dollars.

    `precision` counts unjudged candidates as wrong. `recall` covers the memories with weight "must".
    `negative_precision` is the share of sessions with nothing to learn in which nothing was proposed. `duplicates` is
    the number of candidates that repeat another candidate of the run.
    """

    sessions: int
    candidates: int
    precision: float
    recall: float
    faithfulness: float
    negative_precision: float
    duplicates: int
    unjudged: int
    tokens: int
    cost: float
    seconds: float


class SignalFigures(msgspec.Struct, frozen=True):
    """The number of candidates of one signal, and how many of them are right."""

    signal: str
    candidates: int
    right: int


class Evaluation(msgspec.Struct, frozen=True):
    """One run over a labelled set: figures in total, by signal and by platform, all proposals, and missed memories."""

    extractor: str
    figures: Figures
    signals: list[SignalFigures]
    proposals: list[Proposal]
    missed: list[MissedMemory]
    platforms: dict[Platform, Figures] = {}


def score(extractor: str, runs: list[tuple[Label, MeasuredExtraction, str]], verdicts: Verdicts) -> Evaluation:
    """Scores a run: for each session its label, the extraction's result, and the text of its file (`read_all_text`)."""
    proposals: list[Proposal] = []
    missed: list[MissedMemory] = []
    must_count = found = nothing_count = silent_count = 0
    for label, extracted, file_text in runs:
        met: set[str] = set()
        for candidate in extracted.candidates:
            proposals.append(_proposal(candidate, label, extracted, file_text, verdicts))
            met.add(proposals[-1].claim)
        must = [one for one in label.expected if one.weight == "must"]
        must_count += len(must)
        found += sum(one.claim in met for one in must)
        missed += (MissedMemory(label.session, one.claim) for one in must if one.claim not in met)
        if label.nothing:
            nothing_count += 1
            silent_count += not extracted.candidates
    right_count = sum(one.judged in ("expected", "right") for one in proposals)
    figures = Figures(
        sessions=len(runs),
        candidates=len(proposals),
        precision=_ratio(right_count, len(proposals)),
        recall=_ratio(found, must_count),
        faithfulness=_ratio(sum(one.faithful for one in proposals), len(proposals)),
        negative_precision=_ratio(silent_count, nothing_count),
        duplicates=_duplicates([one for _, extracted, _ in runs for one in extracted.candidates], proposals),
        unjudged=sum(one.judged == "unjudged" for one in proposals),
        tokens=sum(extracted.tokens for _, extracted, _ in runs),
        cost=round(sum(extracted.cost for _, extracted, _ in runs), 4),
        seconds=round(sum(extracted.seconds for _, extracted, _ in runs), 2),
    )
    platforms = {label.platform for label, _, _ in runs}
    by_platform = {
        one: score(extractor, [run for run in runs if run[0].platform == one], verdicts).figures
        for one in sorted(platforms)
        if len(platforms) > 1
    }
    return Evaluation(extractor, figures, _by_signal(proposals), proposals, missed, by_platform)


def matches(candidate: Candidate, expected: ExpectedMemory, turn_of: Mapping[str, str]) -> bool:
    """Whether a candidate states an expected memory.

    It does if it contains a term of every group, or of half of the groups and quotes a turn that the label names.
    """
    text = f"{candidate.title}\n{candidate.body}".lower()
    hits = sum(any(term.lower() in text for term in group) for group in expected.terms)
    if hits == len(expected.terms):
        return True
    named = {turn_of.get(native, "") for native in expected.turns}
    return hits * 2 >= len(expected.terms) and any(quote.turn in named for quote in candidate.evidence)


def _find_claim(candidate: Candidate, label: Label, turn_of: Mapping[str, str]) -> str:
    """The label's claim that the candidate states best: first one whose turn it quotes, then by the share of terms."""
    text = f"{candidate.title}\n{candidate.body}".lower()
    best, found = (False, 0.0), ""
    for one in label.expected:
        if matches(candidate, one, turn_of):
            hits = sum(any(term.lower() in text for term in group) for group in one.terms) / max(1, len(one.terms))
            rank = (
                any(turn_of.get(native) == quote.turn for native in one.turns for quote in candidate.evidence),
                hits,
            )
            if rank > best or not found:
                best, found = rank, one.claim
    return found


def _proposal(
    candidate: Candidate, label: Label, extracted: MeasuredExtraction, file_text: str, verdicts: Verdicts
) -> Proposal:
    met = _find_claim(candidate, label, extracted.turn_of)
    verdict = verdicts.get(verdict_key(label.session, candidate.turn, candidate.title))
    judged: Judged = "expected" if met else "unjudged"
    if verdict is not None:
        judged = ("expected" if met else "right") if verdict.right else "wrong"
    faithful = bool(candidate.evidence) and all(contains_quote(quote.quote, file_text) for quote in candidate.evidence)
    return Proposal(
        label.session,
        candidate.turn,
        candidate.signal,
        candidate.title,
        judged,
        faithful,
        met if judged == "expected" else "",
    )


def _duplicates(candidates: list[Candidate], proposals: list[Proposal]) -> int:
    """The number of candidates that state a claim already stated, or are similar to an earlier one, whichever is
    larger."""
    claims = [(one.session, one.claim) for one in proposals if one.claim]
    again = len(claims) - len(set(claims))
    word_sets = [claim_words(one.title, one.body) for one in candidates]
    alike = sum(
        any(mean_overlap(one, old) >= DUPLICATE_SIMILARITY for old in word_sets[:at])
        for at, one in enumerate(word_sets)
    )
    return max(again, alike)


def _by_signal(proposals: list[Proposal]) -> list[SignalFigures]:
    return [
        SignalFigures(
            signal,
            sum(one.signal == signal for one in proposals),
            sum(one.signal == signal and one.judged in ("expected", "right") for one in proposals),
        )
        for signal in sorted({one.signal for one in proposals})
    ]


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0
