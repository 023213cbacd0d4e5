"""`lerim review accept --all` and `reject --all`: decide on all candidates that wait, with one undo for all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from lerim.cli.review.output import show_results
from lerim.cli.terminal import output
from lerim.review import ReviewPaths, flag_text, make_action_id, queue
from lerim.views import ResultView, make_result_view

QuoteSharing = Literal["shared", "local"]


def accept_all_safe(
    paths: ReviewPaths,
    quotes: QuoteSharing | None,
    choose_quotes: Callable[[], QuoteSharing],
    *,
    as_json: bool,
    personal: bool,
) -> None:
    """Accepts all waiting candidates except those that need the person's review, and prints the results.

    `choose_quotes` is called if the person never said how quotes are kept. Exits with the same codes as
    `show_results`. Raises MemoryError_, BusyError.
    """
    ids = _list_safe_candidates(paths)
    if not ids and not as_json:
        output.print_line("No waiting candidate can be accepted without review.")
    _decide(paths, "accept", ids, quotes, choose_quotes, as_json=as_json, personal=personal)


def reject_all_waiting(paths: ReviewPaths, *, as_json: bool, personal: bool) -> None:
    """Rejects all waiting candidates, and prints the results. Exits with the same codes as `show_results`. Raises
    MemoryError_, BusyError."""
    proposals, problems, _ = queue.list_pending(paths)
    output.print_problems(problems)
    if not proposals and not as_json:
        output.print_line("No candidates wait for review.")
    _decide(paths, "reject", [proposal.id for proposal in proposals], as_json=as_json, personal=personal)


def _list_safe_candidates(paths: ReviewPaths) -> list[str]:
    """Returns the ids of the pending candidates, oldest turn first, without those that need the person's review. Prints
    a note for each of these."""
    proposals, problems, _ = queue.list_pending(paths)
    output.print_problems(problems)
    for proposal in proposals:
        if doubt := queue.doubt_reason(proposal):
            doubt = " ".join(map(flag_text, proposal.flags)) or doubt
            output.print_note(f"note: {output.escape_controls(f'{proposal.id} needs your review: {doubt}')}")
    return [proposal.id for proposal in proposals if not queue.doubt_reason(proposal)]


def _decide(
    paths: ReviewPaths,
    decision: Literal["accept", "reject"],
    ids: list[str],
    quotes: QuoteSharing | None = None,
    choose_quotes: Callable[[], QuoteSharing] = lambda: "shared",
    *,
    as_json: bool,
    personal: bool,
) -> None:
    bulk_id = make_action_id()
    result = queue.decide_in_bulk(paths, decision, ids, bulk_id, quotes) if ids else queue.BulkResult()
    if result.ask_quotes:
        result = queue.decide_in_bulk(paths, decision, ids, bulk_id, choose_quotes())
    views = [make_result_view(name, done) for name, done in zip(result.decided, result.results, strict=True)]
    views += [ResultView(one.path, False, one.code, one.message) for one in result.problems]
    show_results(views, paths=paths, as_json=as_json, personal=personal, undo=bulk_id if views else "")
