"""Acts by hand on accepted memories, from the editor. The work is `review/acts.py`'s; here it meets the window: hovers,
lenses and the views follow at once."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from lerim.errors import MemoryError_
from lerim.lsp import announcing, memories, pending
from lerim.lsp.lives_protocol import ActedView, MemoryActParams, MergeParams, MergeView
from lerim.lsp.repos import Repo, rescan
from lerim.lsp.sidecar import Sidecar
from lerim.lsp.uris import from_path
from lerim.memory.record import KINDS, Primitive
from lerim.project import personal
from lerim.review import acts, joining
from lerim.review.place import Place
from lerim.review.queue import Edit, ReviewResult


async def act(sidecar: Sidecar, params: MemoryActParams) -> ActedView:
    """Carries out one act on the memory that a handle names.

    Raises NotFoundError, MemoryError_, StaleError, BusyError.
    """
    sidecar.trust("Changing memories")
    repo, stored = await memories.find(sidecar, params.id)
    place = pending.place(sidecar, repo) if repo else Place(personal(sidecar.home), sidecar.home)
    result = await sidecar.run(_act, place, stored.record.id, params)
    return await _followed(sidecar, repo, result)


async def merge(sidecar: Sidecar, params: MergeParams) -> MergeView:
    """Joins both sides of a memory's file in which git left a conflict, or the files that have one id."""
    sidecar.trust("Changing memories")
    repo = await sidecar.repo(params.root)
    place = pending.place(sidecar, repo)
    joined = await sidecar.run(_join, place, Path(params.path), params.preview)
    acted = None if joined.result is None else await _followed(sidecar, repo, joined.result)
    return MergeView(joined.diff, acted)


async def _followed(sidecar: Sidecar, repo: Repo | None, result: ReviewResult) -> ActedView:
    for one in sidecar.repos.known if repo is None else [repo]:
        if await sidecar.run(rescan, one, True) or repo is None:
            announcing.announce(sidecar, one)
        await pending.announce(sidecar, one)  # what can be undone is another thing now
    root = from_path(sidecar.home.root) if repo is None else repo.uris[0]
    return ActedView(result.ok, result.code, result.message, result.action, result.path, root)


def _join(place: Place, path: Path, preview: bool) -> joining.Joined:
    return joining.merge_conflict(place, path, preview=preview)


def _act(place: Place, memory: str, params: MemoryActParams) -> ReviewResult:
    match params.action:
        case "edit":
            tags = None if params.tags is None else tuple(params.tags)
            return acts.edit(place, memory, Edit(params.title, params.body, tags))
        case "archive":
            return acts.archive(place, memory, params.reason)
        case "restore":
            return acts.restore(place, memory)
        case "promote":
            return acts.promote(place, memory, params.title, params.body)
        case "globalize":
            return acts.globalize(place, memory)
        case "verify":
            return acts.verify(place, memory)
        case "delete":
            return acts.delete_theme(place, memory)
        case "feedback" if params.feedback is not None:
            return acts.feedback(place, memory, params.feedback)
        case "kind":
            primitive = next((one for one in get_args(Primitive) if one == params.primitive), None)
            kind = next((one for one in KINDS if one == params.kind), None)
            if primitive is not None and (kind is not None or params.kind is None):
                return acts.change_kind(place, memory, primitive, kind)
    raise MemoryError_("This act lacks what it needs.", where=memory, todo="Send what docs/PROTOCOL.md names for it.")
