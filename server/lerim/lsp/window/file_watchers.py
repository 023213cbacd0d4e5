"""Asks the editor to report changed files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from lerim.lsp.window.state import Sidecar


def can_watch(sidecar: Sidecar) -> bool:
    """Returns whether the editor reports changed files on request."""
    return bool(sidecar.capability("workspace", "did_change_watched_files", "dynamic_registration"))


def can_watch_outside(sidecar: Sidecar) -> bool:
    """Returns whether the editor also reports files outside the window's folders."""
    return can_watch(sidecar) and bool(
        sidecar.capability("workspace", "did_change_watched_files", "relative_pattern_support")
    )


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
