"""Tells the editor that memories changed: their number, their problems, their lenses."""

from __future__ import annotations

from lerim.lsp.protocol import MEMORIES_CHANGED, MemoriesChangedParams
from lerim.lsp.window import diagnostics
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar


def announce_memories(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor that a repository's memories are what they are now."""
    memories = len(repo.references)
    sidecar.notify(repo, MEMORIES_CHANGED, lambda root: MemoriesChangedParams(root, memories))
    diagnostics.publish_diagnostics(sidecar, repo)
    refresh_lenses(sidecar)


def refresh_lenses(sidecar: Sidecar) -> None:
    """Asks the editor to ask for its lenses again."""
    asked = sidecar.server.client_capabilities.workspace
    if asked is not None and asked.code_lens is not None and asked.code_lens.refresh_support:
        sidecar.spawn("Refreshing lenses", _refresh(sidecar))


async def _refresh(sidecar: Sidecar) -> None:
    await sidecar.server.workspace_code_lens_refresh_async(None)
