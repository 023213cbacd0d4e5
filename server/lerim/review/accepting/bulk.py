"""Accepts or rejects many candidates at once: under one lock, and so that they are undone together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from lerim.errors import LerimError, Problem
from lerim.memory import QuoteChoice
from lerim.review import actions
from lerim.review.accepting.accept import accept_candidate
from lerim.review.accepting.automatic import doubt_reason
from lerim.review.accepting.edit_or_reject import HeldBulk, reject_candidate
from lerim.review.candidates import load_candidate
from lerim.review.ledger import Ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

Decision = Literal["accept", "reject"]


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The results for candidates that were decided together, by their ids.

    `decided` no longer wait; `results` has what was done with each of them, in the same order. `doubtful` were not
    accepted, because they have warnings or rest only on a tool or web page. `problems` has one entry for each that
    failed. `ask_quotes`: nothing was changed; the person must first decide whether quotes are shared in git.
    """

    decided: tuple[str, ...] = ()
    results: tuple[ReviewResult, ...] = ()
    doubtful: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    ask_quotes: bool = False


def decide_in_bulk(
    paths: ReviewPaths,
    decision: Decision,
    candidate_ids: Sequence[str],
    bulk_id: str,
    quotes: QuoteChoice | None = None,
) -> BulkResult:
    """Accepts or rejects these candidates, in this order. `undo_last` with `bulk_id` undoes all of them.

    A failure does not stop the others. If the process is killed, the decisions made until then remain and can be
    undone. Raises MemoryError_, BusyError.
    """
    with actions.locked_ledger(paths) as ledger:
        bulk = HeldBulk(bulk_id, ledger)
        if decision == "reject":
            return _decide_each(candidate_ids, partial(reject_candidate, paths, bulk=bulk), set())
        if quotes is None and candidate_ids and paths.store().quotes.read_choice() is None:
            return BulkResult(ask_quotes=True)
        doubtful = set(_find_doubtful(paths, ledger, candidate_ids))
        accept = partial(accept_candidate, paths, quotes=quotes, bulk=bulk)
        return _decide_each(candidate_ids, accept, doubtful)


def _decide_each(
    candidate_ids: Sequence[str], decide: Callable[[str], ReviewResult], doubtful: Collection[str]
) -> BulkResult:
    results: dict[str, ReviewResult] = {}
    problems: list[Problem] = []
    for name in dict.fromkeys(candidate_ids):
        if name in doubtful:
            continue
        try:
            results[name] = decide(name)
        except LerimError as error:
            problems.append(Problem(error.code, name, error.explanation))
    left = tuple(name for name in candidate_ids if name in doubtful)
    return BulkResult(tuple(results), tuple(results.values()), left, tuple(problems))


def _find_doubtful(paths: ReviewPaths, ledger: Ledger, candidate_ids: Sequence[str]) -> Iterator[str]:
    """Yields the candidates that a person has to look at one by one. A candidate that cannot be read is not among
    them: accepting it fails."""
    store = paths.store()
    states = ledger.states()
    for name in candidate_ids:
        if states.get(name) == "pending":
            with suppress(LerimError):
                if doubt_reason(load_candidate(paths, name, store)):
                    yield name
