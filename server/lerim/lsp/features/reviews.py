"""The review panel's requests: list, accept, edit, reject, undo, and what was left out.

`lerim.review` does the work. This module also updates hovers and the panel after each step, without waiting for the
editor to report the changed files.
"""

from __future__ import annotations

import msgspec

from lerim.errors import MemoryError_, Problem
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.changes import update_after_change
from lerim.lsp.protocol import ActParams, LeftOutParams, ProposeParams, RootParams, UndoParams
from lerim.lsp.window import Repo, Sidecar, candidate_counts
from lerim.memory import Scope
from lerim.project import make_personal_project
from lerim.review import (
    CandidateView,
    LeftOutView,
    ReviewPaths,
    UndoView,
    candidate_view,
    left_out_view,
    queue,
    undo_view,
)


class ReviewList(msgspec.Struct, frozen=True):
    """The candidates that wait for review. `left_out` counts the items left out of the review; `undo` is the action
    that can be undone."""

    candidates: list[CandidateView]
    blocked: int
    left_out: int
    problems: list[Problem]
    undo: UndoView | None


class LeftOutList(msgspec.Struct, frozen=True):
    """Items left out of the review, newest first; `total` counts all of them."""

    items: list[LeftOutView]
    total: int


async def list_review(sidecar: Sidecar, params: RootParams) -> ReviewList:
    """Lists the candidates that wait, with the number blocked or left out, problems, and what can be undone."""
    sidecar.require_trust("Review")
    repo = await sidecar.find_repo(params.root)
    return await sidecar.run_in_thread(_load_review_list, sidecar, repo)


async def act_on_candidate(sidecar: Sidecar, params: ActParams) -> queue.ReviewResult:
    """Accepts, edits or rejects one candidate."""
    sidecar.require_trust("Review")
    repo = await sidecar.find_repo(params.root)
    own = candidate_counts.find_review_paths(sidecar, repo)
    result = await sidecar.run_in_thread(_act, own if params.scope == "project" else own.personal(), params)
    if params.action == "accept" and result.ok:
        await update_after_change(sidecar, repo)
    else:
        await candidate_counts.announce_candidates(sidecar, repo)
    return result


async def list_left_out(sidecar: Sidecar, params: LeftOutParams) -> LeftOutList:
    """Lists items left out of the review, newest first, and their total number."""
    sidecar.require_trust("Review")
    repo = await sidecar.find_repo(params.root)
    return await sidecar.run_in_thread(_load_left_out, sidecar, repo, params.session, max(0, params.most))


async def propose_left_out(sidecar: Sidecar, params: ProposeParams) -> queue.ReviewResult:
    """Makes a candidate of an item that was left out."""
    sidecar.require_trust("Review")
    repo = await sidecar.find_repo(params.root)
    own = candidate_counts.find_review_paths(sidecar, repo)
    paths = own if params.scope == "project" else own.personal()
    result = await sidecar.run_in_thread(queue.propose_anyway, paths, params.id)
    await candidate_counts.announce_candidates(sidecar, repo)
    return result


async def undo_action(sidecar: Sidecar, params: UndoParams) -> queue.ReviewResult:
    """Undoes an action, by default the last one."""
    sidecar.require_trust("Review")
    if params.root == path_to_uri(sidecar.home.root):  # an action on personal memories
        own = ReviewPaths(make_personal_project(sidecar.home), sidecar.home)
        return await sidecar.run_in_thread(queue.undo_last, own, params.action)
    repo = await sidecar.find_repo(params.root)
    result = await sidecar.run_in_thread(_undo, candidate_counts.find_review_paths(sidecar, repo), params.action)
    await update_after_change(sidecar, repo)
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


def _load_left_out(sidecar: Sidecar, repo: Repo, session: str, limit: int) -> LeftOutList:
    items: list[LeftOutView] = []
    total = 0
    for paths in candidate_counts.find_shown_review_paths(sidecar, repo):
        scope: Scope = "global" if paths.project.is_personal else "project"
        found, count = queue.list_left_out(paths, session, limit)
        items += (left_out_view(item, scope) for item in found)
        total += count
    items.sort(key=lambda item: item.time, reverse=True)
    return LeftOutList(items[:limit], total)


def _undo(paths: ReviewPaths, action: str | None) -> queue.ReviewResult:
    """Undoes an action of the project. A named action may also be one on personal memories."""
    result = queue.undo_last(paths, action)
    return queue.undo_last(paths.personal(), action) if action and result.code == "nothing" else result


def _act(paths: ReviewPaths, params: ActParams) -> queue.ReviewResult:
    raw_edit = params.edit
    edit = queue.CandidateEdit(raw_edit.title, raw_edit.body, tuple(raw_edit.tags)) if raw_edit is not None else None
    match params.action:
        case "accept":
            raw_choice = params.choice
            choice = (
                queue.NeighbourChoice(raw_choice.answer, raw_choice.memory, raw_choice.hash)
                if raw_choice is not None
                else None
            )
            return queue.accept_candidate(paths, params.id, edit, params.quotes, choice=choice)
        case "reject":
            return queue.reject_candidate(paths, params.id)
        case "edit" if edit is not None:
            return queue.edit_candidate(paths, params.id, edit)
    raise MemoryError_("There is nothing to change.", where=params.id[:80], todo="Send the new title, body and tags.")
