"""Notices through the editor's file watcher that an agent wrote to its store.

What is said in a terminal is then learned although nobody types in the editor
(docs/decisions/0050-what-was-said-last.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from lerim.jobs import StoreFolder
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.window import Sidecar, file_watchers

LOOK_DELAY_SECONDS = 60.0
"""How long after a change the stores are looked at: an agent at work writes every few seconds."""


async def watch_stores(sidecar: Sidecar, folders: Iterable[StoreFolder]) -> None:
    """Asks the editor to report what agents write to these folders."""
    if not file_watchers.can_watch_outside(sidecar):
        return
    folders = sorted(folders, key=lambda one: (one.path, one.pattern))
    sidecar.store_folders = tuple(f"{folder.path}{os.sep}" for folder in folders)
    globs = [types.RelativePattern(path_to_uri(folder.path), folder.pattern) for folder in folders]
    await file_watchers.watch_files(sidecar, globs)


def note_changed_files(sidecar: Sidecar, paths: Iterable[Path]) -> None:
    """Looks at the stores in a while if one of the files is in a store and idle syncs are not turned off."""
    settings = sidecar.options.settings
    if sidecar.look_timer is None or not sidecar.store_folders or not settings.enabled or not settings.idle_seconds:
        return
    if any(str(path).startswith(sidecar.store_folders) for path in paths):
        sidecar.look_timer.look_in(LOOK_DELAY_SECONDS)
