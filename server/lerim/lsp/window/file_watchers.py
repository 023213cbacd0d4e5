"""Asks the editor to report changed files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from lerim.lsp.window.state import Sidecar


def can_watch(sidecar: Sidecar) -> bool:
    """Whether the editor reports changed files on request."""
    capability = _get_capability(sidecar)
    return capability is not None and bool(capability.dynamic_registration)


def can_watch_outside(sidecar: Sidecar) -> bool:
    """Whether the editor also reports files outside the window's folders."""
    capability = _get_capability(sidecar)
    return can_watch(sidecar) and capability is not None and bool(capability.relative_pattern_support)


async def watch_files(sidecar: Sidecar, globs: Sequence[types.GlobPattern]) -> None:
    """Asks the editor to report changes of files that match, unless it was asked before."""
    watchers = [types.FileSystemWatcher(glob) for glob in globs if str(glob) not in sidecar.watched_globs]
    if not watchers:
        return
    sidecar.watched_globs.update(map(str, globs))
    registration = types.Registration(
        id=f"lerim-files-{len(sidecar.watched_globs)}",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    await sidecar.server.client_register_capability_async(types.RegistrationParams([registration]))


def _get_capability(sidecar: Sidecar) -> types.DidChangeWatchedFilesClientCapabilities | None:
    workspace = sidecar.server.client_capabilities.workspace
    return workspace.did_change_watched_files if workspace else None
