"""What changed behind the editor's back: a checkout or a pull, and candidates decided elsewhere."""

from __future__ import annotations

from lerim.lsp import pending, standing
from lerim.lsp.announcing import announce
from lerim.lsp.repos import rescan
from lerim.lsp.sidecar import Sidecar


async def look_around(sidecar: Sidecar) -> None:
    """What changed behind the editor's back: a stat of each HEAD tells of a checkout or pull, one of each candidate of
    decisions made elsewhere."""
    await look_for_checkouts(sidecar)
    for repo in sidecar.repos.known:
        standing.look(sidecar, repo)
    await pending.look(sidecar, sidecar.repos.known)


async def look_for_checkouts(sidecar: Sidecar) -> None:
    """A stat of each HEAD tells of a checkout or pull: memories and how they stand are read again."""
    for repo in sidecar.repos.known:
        head = repo.head
        if await sidecar.run(rescan, repo):
            announce(sidecar, repo)
        if repo.head != head:
            standing.look(sidecar, repo, whole=True)
