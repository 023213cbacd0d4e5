"""Manual actions on accepted memories. `lerim.review.acts` does the work; this module also updates hovers, lenses and
views at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import get_args

from lerim.errors import MemoryError_, MissingReferenceError
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.changes import update_after_change
from lerim.lsp.features.memories import loading
from lerim.lsp.protocol import MemoryActParams, MemoryActView, MergeParams, MergeView
from lerim.lsp.window import Repo, Sidecar, candidate_counts
from lerim.memory import KINDS, Primitive
from lerim.review import MemoryEdit, ReviewPaths, ReviewResult, acts, merge_conflict


async def act_on_memory(sidecar: Sidecar, params: MemoryActParams) -> MemoryActView:
    """Performs one action on the memory with a handle.

    Raises NotFoundError, MemoryError_, StaleError, BusyError.
    """
    sidecar.require_trust("Changing memories")
    repo, stored = await loading.find_memory(sidecar, params.id)
    paths = candidate_counts.find_review_paths(sidecar, repo)
    try:
        result = await sidecar.run_in_thread(_act, paths, stored.record.id, params)
    except MissingReferenceError as error:  # the editor offers to show the places it may mean now
        result = ReviewResult(False, error.code, error.message, path=error.where)
    return await announce_result(sidecar, repo, result)


async def merge_memory(sidecar: Sidecar, params: MergeParams) -> MergeView:
    """Merges both sides of a memory file with git conflict markers, the files that share one id, or the memories that
    say the same. The repository does not matter for one of the person's own memories."""
    sidecar.require_trust("Changing memories")
    is_personal = Path(params.path).is_relative_to(sidecar.home.memory)
    repo = None if is_personal else await sidecar.find_repo(params.root)
    paths = candidate_counts.find_review_paths(sidecar, repo)
    joined = await sidecar.run_in_thread(partial(merge_conflict, paths, Path(params.path), preview=params.preview))
    acted = None if joined.result is None else await announce_result(sidecar, repo, joined.result)
    return MergeView(joined.kind, joined.diff, acted)


async def announce_result(sidecar: Sidecar, repo: Repo | None, result: ReviewResult) -> MemoryActView:
    """Updates hovers, lenses and views after an action, and returns its result for the editor."""
    await update_after_change(sidecar, repo)
    root = path_to_uri(sidecar.home.root) if repo is None else repo.uris[0]
    return MemoryActView(result.ok, result.code, result.message, result.action, result.path, root)


def _act(paths: ReviewPaths, memory: str, params: MemoryActParams) -> ReviewResult:
    match params.action:
        case "edit":
            tags = None if params.tags is None else tuple(params.tags)
            return acts.edit_memory(paths, memory, MemoryEdit(params.title, params.body, tags))
        case "archive":
            return acts.archive_memory(paths, memory, params.reason)
        case "restore":
            return acts.restore_memory(paths, memory)
        case "promote":
            return acts.promote_question(paths, memory, params.title, params.body)
        case "globalize":
            return acts.globalize_memory(paths, memory)
        case "move":
            return acts.globalize_memory(paths, memory, move=True)
        case "verify":
            return acts.verify_memory(paths, memory)
        case "delete":
            return acts.delete_theme(paths, memory)
        case "feedback" if params.feedback is not None:
            return acts.give_feedback(paths, memory, params.feedback)
        case "kind":
            primitive = next((one for one in get_args(Primitive) if one == params.primitive), None)
            kind = next((one for one in KINDS if one == params.kind), None)
            if primitive is not None and (kind is not None or params.kind is None):
                return acts.change_kind(paths, memory, primitive, kind)
    raise MemoryError_("The request lacks a parameter.", where=memory, todo="docs/PROTOCOL.md lists the parameters.")
