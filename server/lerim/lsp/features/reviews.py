"""The review panel's requests: list, accept, edit, reject, undo, and what was left out.

`lerim.review` does the work. This module also updates hovers and the panel after each step, without waiting for the
editor to report the changed files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Literal

import msgspec

from lerim.errors import MemoryError_, NotFoundError, Problem, StaleError
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features import checking
from lerim.lsp.features.changes import update_after_change
from lerim.lsp.features.language import list_entries, suggest_references, suggest_tags
from lerim.lsp.protocol import (
    ActOnManyParams,
    ActParams,
    CompleteParams,
    ItemParams,
    LeftOutParams,
    QuotesParams,
    RootParams,
    UndoParams,
)
from lerim.lsp.window import Repo, Sidecar, candidate_counts
from lerim.memory import ReferenceProblem, Scope, check_references, parse_reference, reference_text
from lerim.review import (
    CandidateView,
    LeftOutView,
    ReviewPaths,
    UndoView,
    candidate_view,
    make_action_id,
    queue,
    undo_view,
)
from lerim.views import DroppedListOutput, load_left_out

MAX_SUGGESTIONS = 12
"""Most suggestions for a field; more are found by typing on."""


class ReviewList(msgspec.Struct, frozen=True):
    """The candidates that wait for review. `left_out` counts the items left out of the review; `undo` is the action
    that can be undone."""

    candidates: list[CandidateView]
    blocked: int
    left_out: int
    problems: list[Problem]
    undo: UndoView | None


class ManyResult(msgspec.Struct, frozen=True):
    """The outcome of an action on several candidates: `decided` no longer wait, `action` undoes them together. `note`
    says which others still wait, and why. `ask_quotes`: nothing was changed; the person must first decide whether
    quotes are shared in git."""

    ok: bool
    message: str
    action: str | None
    decided: list[str]
    note: str = ""
    ask_quotes: bool = False


class ReferenceCheck(msgspec.Struct, frozen=True):
    """What is wrong with the references of a candidate."""

    problems: list[ReferenceProblem]


class FieldCompletion(msgspec.Struct, frozen=True):
    """A tag or reference that can be written, and a note about it or ""."""

    value: str
    note: str = ""


class FieldCompletions(msgspec.Struct, frozen=True):
    """What can be written in a field of a candidate, the likeliest first."""

    items: list[FieldCompletion]


class QuotesView(msgspec.Struct, frozen=True):
    """Where quotes are kept: in the memories' files (`shared`) or on this machine (`local`); "" if not chosen yet."""

    quotes: Literal["shared", "local", ""]


async def list_review(sidecar: Sidecar, params: RootParams) -> ReviewList:
    """Lists the candidates that wait, with the number blocked or left out, problems, and what can be undone."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    return await sidecar.run_in_thread(_load_review_list, sidecar, repo)


async def act_on_candidate(sidecar: Sidecar, params: ActParams) -> queue.ReviewResult:
    """Accepts, edits or rejects one candidate."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    own = candidate_counts.find_review_paths(sidecar, repo)
    result = await sidecar.run_in_thread(_act, own if params.scope == "project" else own.personal(), params)
    if params.action == "accept" and result.ok:
        await update_after_change(sidecar, repo if params.scope == "project" else None)
    else:
        await candidate_counts.announce_changed_candidates(sidecar, [repo])
        checking.recheck_open_files(sidecar)
    return result


async def act_on_many(sidecar: Sidecar, params: ActOnManyParams) -> ManyResult:
    """Accepts or rejects several candidates, so that one undo takes back all of them."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    own = candidate_counts.find_review_paths(sidecar, repo)
    result = await sidecar.run_in_thread(_act_on_many, own, params)
    await update_after_change(sidecar, repo)
    checking.recheck_open_files(sidecar)
    return result


async def check_candidate_references(sidecar: Sidecar, params: ItemParams) -> ReferenceCheck:
    """Checks whether the references of a candidate are found in the checkout. One that no longer waits has no
    problems."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    own = candidate_counts.find_review_paths(sidecar, repo)
    if params.scope == "global":
        return ReferenceCheck([])
    return await sidecar.run_in_thread(_check_references, own, params.id)


async def complete_field(sidecar: Sidecar, params: CompleteParams) -> FieldCompletions:
    """Lists what can be written for a part of a candidate's tags or references, as in a memory's file."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    return await sidecar.run_in_thread(_suggest, sidecar, repo if params.scope == "project" else None, params)


async def choose_quotes(sidecar: Sidecar, params: QuotesParams) -> QuotesView:
    """Changes where quotes are kept, if the parameters say where, and returns it."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    return await sidecar.run_in_thread(_choose_quotes, candidate_counts.find_review_paths(sidecar, repo), params)


async def list_left_out(sidecar: Sidecar, params: LeftOutParams) -> DroppedListOutput:
    """Lists items left out of the review, newest first, and their total number."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    return await sidecar.run_in_thread(_load_left_out, sidecar, repo, params.session, max(0, params.most))


async def propose_left_out(sidecar: Sidecar, params: ItemParams) -> queue.ReviewResult:
    """Makes a candidate of an item that was left out."""
    repo = await sidecar.find_trusted_repo(params.root, "Review")
    own = candidate_counts.find_review_paths(sidecar, repo)
    paths = own if params.scope == "project" else own.personal()
    result = await sidecar.run_in_thread(queue.propose_anyway, paths, params.id)
    await candidate_counts.announce_changed_candidates(sidecar, [repo])
    return result


async def undo_action(sidecar: Sidecar, params: UndoParams) -> queue.ReviewResult:
    """Undoes an action, by default the last one."""
    sidecar.require_trust("Review")
    is_personal = params.root == path_to_uri(sidecar.home.root)
    repo = None if is_personal else await sidecar.find_repo(params.root)
    result = await sidecar.run_in_thread(_undo, candidate_counts.find_review_paths(sidecar, repo), params.action)
    await update_after_change(sidecar, repo)
    checking.recheck_open_files(sidecar)
    return result


def _load_review_list(sidecar: Sidecar, repo: Repo) -> ReviewList:
    candidates: list[CandidateView] = []
    problems: list[Problem] = []
    blocked = left_out = 0
    for paths in candidate_counts.find_shown_review_paths(sidecar, repo):
        scope: Scope = "global" if paths.project.is_personal else "project"
        proposals, unreadable, blocked_count = queue.list_pending(paths)
        candidates += (candidate_view(proposal, scope) for proposal in queue.with_neighbours(paths, proposals))
        problems += unreadable
        blocked += blocked_count
        left_out += queue.list_left_out(paths, most=0)[1]
    return ReviewList(
        candidates=candidates,
        blocked=blocked,
        left_out=left_out,
        problems=problems,
        undo=undo_view(queue.find_undoable(candidate_counts.find_review_paths(sidecar, repo))),
    )


def _load_left_out(sidecar: Sidecar, repo: Repo, session: str, limit: int) -> DroppedListOutput:
    items: list[LeftOutView] = []
    total = 0
    for paths in candidate_counts.find_shown_review_paths(sidecar, repo):
        found = load_left_out(paths, session, limit)
        items += found.items
        total += found.total
    items.sort(key=lambda item: item.time, reverse=True)
    return DroppedListOutput(items[:limit], total)


def _act_on_many(own: ReviewPaths, params: ActOnManyParams) -> ManyResult:
    bulk_id = make_action_id()
    decided: list[str] = []
    doubtful = 0
    problems: list[Problem] = []
    for paths, scope in ((own, "project"), (own.personal(), "global")):
        ids = [item.id for item in params.items if item.scope == scope]
        if not ids:
            continue
        result = queue.decide_in_bulk(paths, params.action, ids, bulk_id, params.quotes)
        if result.ask_quotes and not decided:
            return ManyResult(False, "Share the quotes of memories in git?", None, [], ask_quotes=True)
        decided += result.decided
        doubtful += len(result.doubtful)
        problems += result.problems
    notes = [f"{doubtful} with warnings still wait: look at them one by one."] if doubtful else []
    notes += [f"{len(problems)} failed: {problems[0].message}"] if problems else []
    verb = "Accepted" if params.action == "accept" else "Rejected"
    message = f"{verb} {len(decided)} candidate{'' if len(decided) == 1 else 's'}"
    if not decided and notes:
        return ManyResult(False, " ".join(notes), None, [])
    return ManyResult(True, message, bulk_id, decided, " ".join(notes))


def _choose_quotes(paths: ReviewPaths, params: QuotesParams) -> QuotesView:
    kept = paths.store().quotes
    if params.quotes is not None:
        paths.make_private_folder()
        kept.write_choice(params.quotes)
    return QuotesView(kept.read_choice() or "")


def _suggest(sidecar: Sidecar, repo: Repo | None, params: CompleteParams) -> FieldCompletions:
    found: Iterable[FieldCompletion] = ()
    if params.field == "tags":
        found = (FieldCompletion(tag, note) for tag, note in _suggest_tags(sidecar, repo, params))
    elif repo is not None:
        references = suggest_references(sidecar, repo, params.typed)
        found = (FieldCompletion(reference) for reference in references if reference not in params.present)
    return FieldCompletions(list(islice(found, MAX_SUGGESTIONS)))


def _suggest_tags(sidecar: Sidecar, repo: Repo | None, params: CompleteParams) -> Iterator[tuple[str, str]]:
    """Yields the tags of memories, then those that only candidates have: before the first memory, these are all."""
    present = set(params.present)
    for tag, note in suggest_tags(params.typed, present, list_entries(sidecar, repo)):
        present.add(tag)
        yield tag, note
    pending = queue.list_pending(candidate_counts.find_review_paths(sidecar, repo))[0]
    records = (proposal.record for proposal in pending)
    yield from suggest_tags(params.typed, present, records, ("candidate", "candidates"))


def _check_references(paths: ReviewPaths, candidate_id: str) -> ReferenceCheck:
    try:
        references = queue.load_pending(paths, candidate_id).record.references
    except NotFoundError:  # it was decided meanwhile, and the panel is told so by another message
        return ReferenceCheck([])
    found = check_references(paths.project.root, references)
    # a reference is shown as it is written, which the check normalises
    written = {reference_text(parsed): text for text in references if (parsed := parse_reference(text))}
    return ReferenceCheck([replace(one, reference=written.get(one.reference, one.reference)) for one in found])


def _undo(paths: ReviewPaths, action: str | None) -> queue.ReviewResult:
    """Undoes an action of the project. A named action may also be one on personal memories, and actions of a bulk on
    both. Raises StaleError with a message that is short enough for a notification."""
    try:
        result = queue.undo_last(paths, action)
        if not action or result.code not in ("nothing", "undone"):
            return result
        personal = queue.undo_last(paths.personal(), action)
    except StaleError as error:
        message = "It cannot be undone: the file was changed since."
        raise StaleError(message, todo="Undo again to take back the action before it.", diff=error.diff) from error
    if personal.code == "nothing":
        return result
    return personal if result.code == "nothing" else replace(result, waiting=result.waiting + personal.waiting)


def _act(paths: ReviewPaths, params: ActParams) -> queue.ReviewResult:
    edit = params.edit
    match params.action:
        case "accept":
            return queue.accept_candidate(paths, params.id, edit, params.quotes, choice=params.choice)
        case "reject":
            return queue.reject_candidate(paths, params.id)
        case "edit" if edit is not None:
            return queue.edit_candidate(paths, params.id, edit)
    raise MemoryError_("There is nothing to change.", where=params.id[:80], todo="Send the new title, body and tags.")
