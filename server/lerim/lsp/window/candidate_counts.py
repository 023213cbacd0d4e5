"""Counts the candidates that wait for review and notifies the editor when that may have changed.

The counts come from the file system alone; no candidate is read.
"""

from __future__ import annotations

from collections.abc import Iterable

from lerim.lsp.protocol import CANDIDATES_CHANGED, CandidatesChangedParams
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar
from lerim.project import make_personal_project
from lerim.review import ReviewPaths, pending_count


def find_review_paths(sidecar: Sidecar, repo: Repo | None) -> ReviewPaths:
    """Returns the paths of a repository's review, or of the personal one (None)."""
    return ReviewPaths(repo.project if repo is not None else make_personal_project(sidecar.home), sidecar.home)


def find_shown_review_paths(sidecar: Sidecar, repo: Repo) -> list[ReviewPaths]:
    """Returns the reviews whose candidates are shown with a repository.

    These are its own and, with the first repository of the window, the personal one, whose candidates come from
    sessions outside any repository.
    """
    own = find_review_paths(sidecar, repo)
    return [own, own.personal()] if repo is sidecar.repos.first else [own]


def count_candidates(sidecar: Sidecar, repo: Repo) -> int:
    """Returns how many candidates wait for review; 0 in Restricted Mode."""
    return (
        sum(map(pending_count.count_pending, find_shown_review_paths(sidecar, repo))) if sidecar.options.trusted else 0
    )


def candidates_stamp(sidecar: Sidecar, repo: Repo) -> int:
    """Returns a number that changes when a candidate is added, changed or removed; 0 if none waits."""
    stamp = tuple(map(pending_count.pending_stamp, find_shown_review_paths(sidecar, repo)))
    return hash(stamp) if any(stamp) else 0


async def announce_candidates(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor how many candidates wait and that the list may have changed."""
    async with repo.announce_lock:
        await _send_count(sidecar, repo, await sidecar.run_in_thread(candidates_stamp, sidecar, repo))


async def announce_changed_candidates(sidecar: Sidecar, repos: Iterable[Repo]) -> None:
    """Notifies the editor about each repository whose candidates changed since the last notification."""
    if not sidecar.options.trusted:
        return
    for repo in repos:
        async with repo.announce_lock:  # two checks at once would both announce the same change
            if (stamp := await sidecar.run_in_thread(candidates_stamp, sidecar, repo)) != repo.announced_stamp:
                await _send_count(sidecar, repo, stamp)


async def _send_count(sidecar: Sidecar, repo: Repo, stamp: int) -> None:
    waiting = await sidecar.run_in_thread(count_candidates, sidecar, repo)
    repo.announced_stamp = stamp
    key = repo.project.key
    sidecar.notify(repo, CANDIDATES_CHANGED, lambda root: CandidatesChangedParams(root, key, waiting))
