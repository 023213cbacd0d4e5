"""Joins the candidates of several windows: the model says which ones make the same claim, and code must also find them
similar.

If the model gives no usable answer, or drops a candidate that is not covered by another one, code joins them by
itself, and then only candidates that are nearly identical.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lerim.errors import LerimError
from lerim.extraction.candidate import Candidate
from lerim.extraction.contradictions import content_words
from lerim.extraction.gate import merge_candidates
from lerim.extraction.model.build_candidates import find_repeated_claim, make_earlier_claim
from lerim.extraction.model.model_call import ask_signature
from lerim.extraction.model.signatures import MemoryCandidate, MemoryMergeSignature
from lerim.models import dspy

MIN_JOINABLE_OVERLAP = (
    0.3  # minimum word overlap of titles and bodies for the model to be believed that two claims are the same
)
MIN_SAME_OVERLAP = 0.6  # word overlap from which code alone considers two claims the same


@dataclass(frozen=True, slots=True)
class JoinedCandidates:
    """Two candidates, returned earlier, that make the same claim. `merged` has the quotes of both; `withdrawn` is to
    be withdrawn."""

    merged: Candidate
    withdrawn: Candidate


def join_with_model(
    lm: dspy.LM, candidates: Sequence[Candidate], metadata: str, metrics: str, guidance: str
) -> Iterator[JoinedCandidates | str]:
    """Yields the joins among the candidates of several windows; each keeps the more confident candidate of two.

    If code joined without the model, yields the reason as a text first. Raises StoppedError.
    """
    listed = json.dumps([_describe_candidate(candidate) for candidate in candidates], ensure_ascii=False)
    inputs = {"transcript": listed, "metadata": metadata, "metrics": metrics, "guidance": guidance}
    try:
        answer = ask_signature(lm, MemoryMergeSignature, inputs, MemoryCandidate)
    except LerimError as error:  # the next call will meet the same error; the results so far must not wait for it
        yield f"the parts were joined by rules alone: {error.generic_message}"
        yield from join_without_model(candidates)
        return
    titles = {item.title.strip() for item in answer.items}
    remaining = [at for at, one in enumerate(candidates) if one.title in titles]
    omitted = [at for at, one in enumerate(candidates) if one.title not in titles]
    pairs = [
        (at, near)
        for at in omitted
        if (near := _find_nearest(candidates, at, remaining, MIN_JOINABLE_OVERLAP)) is not None
    ]
    if answer.parse_error or answer.is_truncated or len(pairs) < len(omitted):
        wrong = "leaves out what nothing else says" if answer.items and not answer.is_truncated else "cannot be read"
        yield f"the parts were joined by rules alone: the model's answer {wrong}"
        yield from join_without_model(candidates)
        return
    yield from _join_pairs(candidates, pairs)


def join_without_model(candidates: Sequence[Candidate]) -> Iterator[JoinedCandidates]:
    """Yields the joins that code makes without a model: of candidates that are nearly identical, the more confident
    one is kept."""
    near = ((at, _find_nearest(candidates, at, range(at), MIN_SAME_OVERLAP)) for at in range(len(candidates)))
    yield from _join_pairs(candidates, [(at, other) for at, other in near if other is not None])


def _join_pairs(candidates: Sequence[Candidate], pairs: Sequence[tuple[int, int]]) -> Iterator[JoinedCandidates]:
    """Joins the candidates at these pairs of indexes. The candidate that remains of a pair replaces both in later
    pairs."""
    merged, representative = list(candidates), list(range(len(candidates)))

    def find_representative(at: int) -> int:
        while representative[at] != at:
            at = representative[at]
        return at

    for pair in pairs:
        first, second = sorted(find_representative(at) for at in pair)
        if first == second:
            continue
        kept, gone = (second, first) if merged[second].confidence > merged[first].confidence else (first, second)
        merged[kept], representative[gone] = merge_candidates(merged[kept], merged[gone]), kept
        yield JoinedCandidates(merged[kept], merged[gone])


def _describe_candidate(candidate: Candidate) -> dict[str, object]:
    return {
        "primitive": candidate.primitive,
        "kind": candidate.kind,
        "title": candidate.title,
        "body": candidate.body,
        "quote": candidate.evidence[0].quote,
        "time": candidate.time.isoformat(),
    }


def _find_nearest(candidates: Sequence[Candidate], at: int, others: Iterable[int], least: float) -> int | None:
    candidate, best, nearest = candidates[at], least, None
    words = set(content_words(f"{candidate.title} {candidate.body}"))
    for number in others:
        other = candidates[number]
        theirs = set(content_words(f"{other.title} {other.body}"))
        near = len(words & theirs) / max(1, len(words | theirs))
        if other.primitive == candidate.primitive and (
            near >= best or find_repeated_claim(make_earlier_claim(candidate), [make_earlier_claim(other)]) is not None
        ):
            best, nearest = max(near, best), number
    return nearest
