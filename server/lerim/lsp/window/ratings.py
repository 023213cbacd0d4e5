"""Which memories the person has called wrong or outdated and did nothing to keep since, so that hovers can say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lerim.lsp.window.repos import Repo
    from lerim.lsp.window.state import Sidecar


async def refresh_ratings(sidecar: Sidecar, repo: Repo) -> None:
    """Reads the ratings of a repository's memories again. Hovers read only what is kept here."""
    repo.unwanted = await sidecar.run_in_thread(_find_unwanted, sidecar, repo)


def _find_unwanted(sidecar: Sidecar, repo: Repo) -> dict[str, str]:
    from lerim.memory import Uses

    found = Uses(sidecar.home.project(repo.project.key)).find_unwanted()
    return {memory: feedback for memory, (feedback, _) in found.items()}
