"""Acts by hand on accepted memories, from the editor. The work is `review/acts.py`'s; here it meets the window: hovers,
lenses and the views follow at once."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from lerim.errors import MemoryError_
from lerim.lsp.boundary import from_path
from lerim.lsp.features.memories import views
from lerim.lsp.protocol import ActedView, MemoryActParams, MergeParams, MergeView
from lerim.lsp.window import Repo, Sidecar, announcing, pending, rescan_repo
from lerim.memory import KINDS, Primitive
from lerim.project import make_personal_project
from lerim.review import CandidateEdit, ConflictMerge, ReviewPaths, ReviewResult, acts, merge_conflict


async def act_on_memory(sidecar: Sidecar, params: MemoryActParams) -> ActedView:
    """Carries out one act on the memory that a handle names.

    Raises NotFoundError, MemoryError_, StaleError, BusyError.
    """
    sidecar.trust("Changing memories")
    repo, stored = await views.find_memory(sidecar, params.id)
    place = (
        pending.find_review_paths(sidecar, repo)
        if repo
        else ReviewPaths(make_personal_project(sidecar.home), sidecar.home)
    )
    result = await sidecar.run(_act, place, stored.record.id, params)
    return await _followed(sidecar, repo, result)


async def merge_memory(sidecar: Sidecar, params: MergeParams) -> MergeView:
    """Joins both sides of a memory's file in which git left a conflict, or the files that have one id."""
    sidecar.trust("Changing memories")
    repo = await sidecar.repo(params.root)
    place = pending.find_review_paths(sidecar, repo)
    joined = await sidecar.run(_join, place, Path(params.path), params.preview)
    acted = None if joined.result is None else await _followed(sidecar, repo, joined.result)
    return MergeView(joined.diff, acted)


async def _followed(sidecar: Sidecar, repo: Repo | None, result: ReviewResult) -> ActedView:
    for one in sidecar.repos.known if repo is None else [repo]:
        if await sidecar.run(rescan_repo, one, True) or repo is None:
            announcing.announce_memories(sidecar, one)
        await pending.announce_candidates(sidecar, one)  # what can be undone is another thing now
    root = from_path(sidecar.home.root) if repo is None else repo.uris[0]
    return ActedView(result.ok, result.code, result.message, result.action, result.path, root)


def _join(place: ReviewPaths, path: Path, preview: bool) -> ConflictMerge:
    return merge_conflict(place, path, preview=preview)


def _act(place: ReviewPaths, memory: str, params: MemoryActParams) -> ReviewResult:
    match params.action:
        case "edit":
            tags = None if params.tags is None else tuple(params.tags)
            return acts.edit_memory(place, memory, CandidateEdit(params.title, params.body, tags))
        case "archive":
            return acts.archive_memory(place, memory, params.reason)
        case "restore":
            return acts.restore_memory(place, memory)
        case "promote":
            return acts.promote_question(place, memory, params.title, params.body)
        case "globalize":
            return acts.globalize_memory(place, memory)
        case "verify":
            return acts.verify_memory(place, memory)
        case "delete":
            return acts.delete_theme(place, memory)
        case "feedback" if params.feedback is not None:
            return acts.give_feedback(place, memory, params.feedback)
        case "kind":
            primitive = next((one for one in get_args(Primitive) if one == params.primitive), None)
            kind = next((one for one in KINDS if one == params.kind), None)
            if primitive is not None and (kind is not None or params.kind is None):
                return acts.change_kind(place, memory, primitive, kind)
    raise MemoryError_("The request lacks a parameter.", where=memory, todo="docs/PROTOCOL.md lists the parameters.")
