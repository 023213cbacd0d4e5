"""Brings everything that shows memories up to date after Lerim has changed them."""

from __future__ import annotations

from lerim.lsp.features import rules_files
from lerim.lsp.window import Repo, Sidecar, candidate_counts, notifications, rescan_repo, uses


async def update_after_change(sidecar: Sidecar, repo: Repo | None) -> None:
    """Updates hovers, lenses, views and agents' files after any memory of a repository may have changed, or after a
    personal one has, which every repository shows (`repo` is None)."""
    for one in sidecar.repos.known if repo is None else [repo]:
        await uses.refresh_memory_marks(sidecar, one)
        if await sidecar.run_in_thread(rescan_repo, one, True) or repo is None:
            notifications.announce_memories(sidecar, one)
        rules_files.refresh_agent_files(sidecar, one)  # even if nothing was found: a watcher may have been faster
        await candidate_counts.announce_candidates(sidecar, one)  # the action that can be undone has changed
