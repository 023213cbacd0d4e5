"""The waiting candidates that speak of a file, found without reading every candidate each time."""

from __future__ import annotations

from typing import NamedTuple

from lerim.errors import BoundaryError
from lerim.memory import parse_reference
from lerim.review import queue
from lerim.review.candidates import Proposal, load_each_candidate
from lerim.review.review_paths import ReviewPaths

CandidateStamp = tuple[int, int, int]
"""Modification time, size and inode of a candidate's file."""


class ReferencedPaths(NamedTuple):
    """The files that a candidate refers to, and the stamp of its own file when it was read."""

    stamp: CandidateStamp
    paths: frozenset[str]


def list_file_candidates(paths: ReviewPaths, path: str, known: dict[str, ReferencedPaths]) -> list[Proposal]:
    """The waiting candidates with a reference to this file or to something in it, the most confident first.

    `known` is what earlier calls found, by candidate, and is updated: only candidates that are new or changed are read.
    One that cannot be read is left out, since the review lists it as a problem. Raises MemoryError_ where the ledger
    cannot be used.
    """
    ids = queue.list_pending_page(paths, 0, 0).ids
    for gone in known.keys() - set(ids):
        known.pop(gone, None)
    store = paths.store()
    for name in ids:
        stamp, entry = _stamp(paths, name), known.get(name)
        if stamp is not None and (entry is None or entry.stamp != stamp):
            found, _ = load_each_candidate(paths, [name], store)
            referenced = frozenset(one for proposal in found for one in _referenced_paths(proposal))
            known[name] = ReferencedPaths(stamp, referenced)
    referring = [name for name in ids if (entry := known.get(name)) is not None and path in entry.paths]
    found, _ = load_each_candidate(paths, referring, store)
    return sorted(found, key=lambda proposal: (-proposal.record.confidence, proposal.time, proposal.id))


def _stamp(paths: ReviewPaths, name: str) -> CandidateStamp | None:
    try:
        state = paths.candidate_path(name).stat(follow_symlinks=False)
    except (OSError, BoundaryError):
        return None  # decided meanwhile, or replaced by a link
    return state.st_mtime_ns, state.st_size, state.st_ino


def _referenced_paths(proposal: Proposal) -> list[str]:
    return [parsed.path for text in proposal.record.references if (parsed := parse_reference(text)) is not None]
