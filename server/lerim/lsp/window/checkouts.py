"""What changed behind the editor's back: a checkout or a pull, and candidates decided elsewhere."""

from __future__ import annotations

from lerim.lsp.window import drift, pending
from lerim.lsp.window.announcing import announce_memories
from lerim.lsp.window.repos import rescan_repo
from lerim.lsp.window.state import Sidecar


async def look_around(sidecar: Sidecar) -> None:
    """What changed behind the editor's back: a stat of each HEAD tells of a checkout or pull, one of each candidate of
    decisions made elsewhere."""
    await look_for_checkouts(sidecar)
    for repo in sidecar.repos.known:
        drift.check_drift(sidecar, repo)
    await pending.announce_changed_candidates(sidecar, sidecar.repos.known)


async def look_for_checkouts(sidecar: Sidecar) -> None:
    """A stat of each HEAD tells of a checkout or pull: memories and how they stand are read again."""
    for repo in sidecar.repos.known:
        head = repo.head
        if await sidecar.run(rescan_repo, repo):
            announce_memories(sidecar, repo)
        if repo.head != head:
            drift.check_drift(sidecar, repo, whole=True)
