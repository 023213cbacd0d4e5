"""Brings everything that shows memories up to date after Lerim has changed them."""

from __future__ import annotations

from lerim.lsp.features import rules_files
from lerim.lsp.window import Repo, Sidecar, candidate_counts, notifications, rescan_repo


async def update_after_change(sidecar: Sidecar, repo: Repo, *, announce: bool = False) -> None:
    """Updates hovers, lenses, views and agents' files after any memory of a repository may have changed. Views are told
    with `announce` even if no file of this repository has changed."""
    if await sidecar.run_in_thread(rescan_repo, repo, True) or announce:
        notifications.announce_memories(sidecar, repo)
    rules_files.refresh_agent_files(sidecar, repo)  # even if the rescan found nothing: a watcher may have been faster
    await candidate_counts.announce_candidates(sidecar, repo)  # the action that can be undone has changed
