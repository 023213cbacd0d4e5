"""The review panel's requests: list, accept, edit, reject, undo, and what was left out.

The work is `review/`'s; here it meets the window: hovers and the panel follow each step at once, not only when the
editor sees the files."""

from __future__ import annotations

import msgspec

from lerim.errors import MemoryError_, Problem
from lerim.lsp.boundary import from_path
from lerim.lsp.protocol import ActParams, LeftOutParams, ProposeParams, RootParams, UndoParams
from lerim.lsp.window import Repo, Sidecar, announcing, pending, rescan_repo
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
    """What waits for review. `left_out` is how much was left out of the review and is not proposed;
    `undo` the action that can be taken back."""

    candidates: list[CandidateView]
    blocked: int
    left_out: int
    problems: list[Problem]
    undo: UndoView | None


class LeftOutList(msgspec.Struct, frozen=True):
    """What was left out of the review, newest first; `total` is how much there is."""

    items: list[LeftOutView]
    total: int


async def list_review(sidecar: Sidecar, params: RootParams) -> ReviewList:
    """What waits, how much was blocked or left out, what could not be read, and what can be undone."""
    sidecar.trust("Review")
    repo = await sidecar.repo(params.root)
    return await sidecar.run(_listed, sidecar, repo)


async def act_on_candidate(sidecar: Sidecar, params: ActParams) -> queue.ReviewResult:
    """Accepts, edits or rejects one candidate."""
    sidecar.trust("Review")
    repo = await sidecar.repo(params.root)
    own = pending.find_review_paths(sidecar, repo)
    result = await sidecar.run(_act, own if params.scope == "project" else own.personal(), params)
    if params.action == "accept" and result.ok and await sidecar.run(rescan_repo, repo, True):  # it may end others, too
        announcing.announce_memories(sidecar, repo)
    await pending.announce_candidates(sidecar, repo)
    return result


async def list_left_out(sidecar: Sidecar, params: LeftOutParams) -> LeftOutList:
    """What was left out of the review, the newest first, and how much there is."""
    sidecar.trust("Review")
    repo = await sidecar.repo(params.root)
    return await sidecar.run(_left_out, sidecar, repo, params.session, max(0, params.most))


async def propose_left_out(sidecar: Sidecar, params: ProposeParams) -> queue.ReviewResult:
    """Makes a candidate of what was left out."""
    sidecar.trust("Review")
    repo = await sidecar.repo(params.root)
    own = pending.find_review_paths(sidecar, repo)
    where = own if params.scope == "project" else own.personal()
    result = await sidecar.run(queue.propose_anyway, where, params.id)
    await pending.announce_candidates(sidecar, repo)
    return result


async def undo_action(sidecar: Sidecar, params: UndoParams) -> queue.ReviewResult:
    """Takes back an action, the last one where none is named."""
    sidecar.trust("Review")
    if params.root == from_path(sidecar.home.root):  # an act on the person's own memories
        own = ReviewPaths(make_personal_project(sidecar.home), sidecar.home)
        return await sidecar.run(queue.undo_last, own, params.action)
    repo = await sidecar.repo(params.root)
    result = await sidecar.run(_undo, pending.find_review_paths(sidecar, repo), params.action)
    if await sidecar.run(rescan_repo, repo, True):  # what it took back may be any file
        announcing.announce_memories(sidecar, repo)
    await pending.announce_candidates(sidecar, repo)
    return result


def _listed(sidecar: Sidecar, repo: Repo) -> ReviewList:
    candidates: list[CandidateView] = []
    problems: list[Problem] = []
    blocked = left = 0
    for where in pending.find_shown_review_paths(sidecar, repo):
        scope: Scope = "global" if where.project.is_personal else "project"
        proposals, more, times = queue.list_pending(where)
        candidates += (candidate_view(proposal, scope) for proposal in queue.with_neighbours(where, proposals))
        problems += more
        blocked += times
        left += queue.list_left_out(where, most=0)[1]
    return ReviewList(
        candidates=candidates,
        blocked=blocked,
        left_out=left,
        problems=problems,
        undo=undo_view(queue.find_undoable(pending.find_review_paths(sidecar, repo))),
    )


def _left_out(sidecar: Sidecar, repo: Repo, session: str, most: int) -> LeftOutList:
    items: list[LeftOutView] = []
    total = 0
    for where in pending.find_shown_review_paths(sidecar, repo):
        scope: Scope = "global" if where.project.is_personal else "project"
        found, count = queue.list_left_out(where, session, most)
        items += (left_out_view(item, scope) for item in found)
        total += count
    items.sort(key=lambda item: item.time, reverse=True)
    return LeftOutList(items[:most], total)


def _undo(where: ReviewPaths, action: str | None) -> queue.ReviewResult:
    """Takes back an action of the project, or one that is named and was of the person's own."""
    result = queue.undo_last(where, action)
    return queue.undo_last(where.personal(), action) if action and result.code == "nothing" else result


def _act(where: ReviewPaths, params: ActParams) -> queue.ReviewResult:
    given = params.edit
    edit = queue.CandidateEdit(given.title, given.body, tuple(given.tags)) if given is not None else None
    match params.action:
        case "accept":
            chosen = params.choice
            choice = queue.NeighbourChoice(chosen.answer, chosen.memory, chosen.hash) if chosen is not None else None
            return queue.accept_candidate(where, params.id, edit, params.quotes, choice=choice)
        case "reject":
            return queue.reject_candidate(where, params.id)
        case "edit" if edit is not None:
            return queue.edit_candidate(where, params.id, edit)
    raise MemoryError_("There is nothing to change.", where=params.id[:80], todo="Send the new title, body and tags.")
