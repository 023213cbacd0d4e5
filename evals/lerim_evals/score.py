"""From candidates and labels to figures: precision, recall, faithfulness, negative precision, duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from lerim.extraction.candidate import Candidate
from lerim.memory.claims.claim_words import claim_words, mean_overlap
from lerim.sessions.model import Platform
from lerim_evals.extractors import Extracted
from lerim_evals.labels import Expected, Label, Verdict, key
from lerim_evals.raw import stands

ALIKE = 0.72
Judged = Literal["expected", "right", "wrong", "unjudged"]
Verdicts = Mapping[tuple[str, str, str], Verdict]


class Proposal(msgspec.Struct, frozen=True):
    """One candidate and what it is worth: `expected` by the labels, `right` or `wrong` by a reader, else `unjudged`."""

    session: str
    turn: str
    signal: str
    title: str
    judged: Judged
    faithful: bool
    claim: str = ""


class Missed(msgspec.Struct, frozen=True):
    """A memory that was asked for and did not come."""

    session: str
    claim: str


class Figures(msgspec.Struct, frozen=True):
    """The figures of one run, each share in 0..1; a share of nothing is 1. Cost is in US dollars.

    `precision` counts what is unjudged as wrong. `recall` is over what the readers said must come;
    `negative_precision` is the share of the sessions with nothing to learn that yield nothing; `duplicates` counts
    candidates that say again what another of the run says.
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
    """How often a signal spoke, and how often rightly."""

    signal: str
    candidates: int
    right: int


class Evaluation(msgspec.Struct, frozen=True):
    """One run over a labelled set: its figures, each signal's, every proposal, and what was missed."""

    extractor: str
    figures: Figures
    signals: list[SignalFigures]
    proposals: list[Proposal]
    missed: list[Missed]
    platforms: dict[Platform, Figures] = {}


def score(extractor: str, runs: list[tuple[Label, Extracted, str]], verdicts: Verdicts) -> Evaluation:
    """The figures of a run: for each session its label, what came of it, and everything its file says (`raw.texts`)."""
    proposals: list[Proposal] = []
    missed: list[Missed] = []
    asked = found = empty = silent = 0
    for label, extracted, said in runs:
        met: set[str] = set()
        for candidate in extracted.candidates:
            proposals.append(_proposal(candidate, label, extracted, said, verdicts))
            met.add(proposals[-1].claim)
        must = [one for one in label.expected if one.weight == "must"]
        asked += len(must)
        found += sum(one.claim in met for one in must)
        missed += (Missed(label.session, one.claim) for one in must if one.claim not in met)
        if label.nothing:
            empty += 1
            silent += not extracted.candidates
    good = sum(one.judged in ("expected", "right") for one in proposals)
    figures = Figures(
        sessions=len(runs),
        candidates=len(proposals),
        precision=_share(good, len(proposals)),
        recall=_share(found, asked),
        faithfulness=_share(sum(one.faithful for one in proposals), len(proposals)),
        negative_precision=_share(silent, empty),
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


def matches(candidate: Candidate, expected: Expected, turn_of: Mapping[str, str]) -> bool:
    """Whether a candidate says what was expected: something of every group of terms; of half of them, where it also
    rests on a turn the reader named."""
    text = f"{candidate.title}\n{candidate.body}".lower()
    hits = sum(any(term.lower() in text for term in group) for group in expected.terms)
    if hits == len(expected.terms):
        return True
    named = {turn_of.get(native, "") for native in expected.turns}
    return hits * 2 >= len(expected.terms) and any(quote.turn in named for quote in candidate.evidence)


def _met(candidate: Candidate, label: Label, turn_of: Mapping[str, str]) -> str:
    """The claim of the label that the candidate says best: one whose turn it rests on, then the most terms."""
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


def _proposal(candidate: Candidate, label: Label, extracted: Extracted, said: str, verdicts: Verdicts) -> Proposal:
    met = _met(candidate, label, extracted.turn_of)
    verdict = verdicts.get(key(label.session, candidate.turn, candidate.title))
    judged: Judged = "expected" if met else "unjudged"
    if verdict is not None:
        judged = ("expected" if met else "right") if verdict.right else "wrong"
    faithful = bool(candidate.evidence) and all(stands(quote.quote, said) for quote in candidate.evidence)
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
    """Candidates that meet what another met already, or say what an earlier one says."""
    claims = [(one.session, one.claim) for one in proposals if one.claim]
    again = len(claims) - len(set(claims))
    said = [claim_words(one.title, one.body) for one in candidates]
    alike = sum(any(mean_overlap(one, old) >= ALIKE for old in said[:at]) for at, one in enumerate(said))
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


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0
