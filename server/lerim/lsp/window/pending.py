"""How many candidates wait, told whenever that may have changed, whoever changed it. Light: it reads no candidate."""

from __future__ import annotations

from collections.abc import Iterable

from lerim.lsp.protocol import CANDIDATES_CHANGED, CandidatesChangedParams
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar
from lerim.review import ReviewPaths, pending_count


def find_review_paths(sidecar: Sidecar, repo: Repo) -> ReviewPaths:
    """Where the repository's review lies."""
    return ReviewPaths(repo.project, sidecar.home)


def find_shown_review_paths(sidecar: Sidecar, repo: Repo) -> list[ReviewPaths]:
    """Whose candidates a repository shows: its own, and with the first of the window the person's, of sessions outside
    any repository."""
    own = find_review_paths(sidecar, repo)
    first = next(iter(sidecar.repos.known), None)
    return [own, own.personal()] if repo is first else [own]


def count_candidates(sidecar: Sidecar, repo: Repo) -> int:
    """How many candidates wait; none in Restricted Mode."""
    return (
        sum(map(pending_count.count_pending, find_shown_review_paths(sidecar, repo))) if sidecar.options.trusted else 0
    )


def candidates_stamp(sidecar: Sidecar, repo: Repo) -> int:
    """Differs once a candidate was added, changed or removed; 0 where none waits."""
    found = tuple(map(pending_count.pending_stamp, find_shown_review_paths(sidecar, repo)))
    return hash(found) if any(found) else 0


async def announce_candidates(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor how many candidates wait, and that the list may be another one."""
    async with repo.telling:
        await _tell(sidecar, repo, await sidecar.run(candidates_stamp, sidecar, repo))


async def announce_changed_candidates(sidecar: Sidecar, repos: Iterable[Repo]) -> None:
    """Tells of each of these repositories whose waiting candidates are not those told last."""
    if not sidecar.options.trusted:
        return
    for repo in repos:
        async with repo.telling:  # two looks at once would both find, and tell, the same change
            if (found := await sidecar.run(candidates_stamp, sidecar, repo)) != repo.reviewed:
                await _tell(sidecar, repo, found)


async def _tell(sidecar: Sidecar, repo: Repo, found: int) -> None:
    waiting = await sidecar.run(count_candidates, sidecar, repo)
    repo.reviewed = found
    key = repo.project.key
    sidecar.notify(repo, CANDIDATES_CHANGED, lambda root: CandidatesChangedParams(root, key, waiting))
