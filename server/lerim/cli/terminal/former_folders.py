"""Folders a repository was in before, as `lerim sync --alias` takes them: sessions must have run there."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import replace

from lerim.cli.terminal.repository import CommandContext
from lerim.errors import ProjectError
from lerim.jobs import SyncContext, SyncEvent, sync
from lerim.project import is_inside_folder
from lerim.sessions import Catalog, split_likely_transcripts


def refuse_unknown_aliases(
    context: CommandContext, aliases: list[str], emit: Callable[[SyncEvent], None], cancelled: Callable[[], bool]
) -> None:
    """Raises ProjectError for an alias in which no session of any agent ran; the sessions of the machine are read first
    where that is not known otherwise. Raises CatalogError, SettingsError."""
    sync_context = SyncContext(context.project, context.home, os.environ, sync.SyncOptions(), emit, cancelled)
    with Catalog.open(context.home) as catalog:
        _, stale = sync_context.find_stale_transcripts(catalog, sync_context.folder_owners())
        unknown = [
            folder
            for folder in aliases
            if not _has_sessions(catalog, folder) and not split_likely_transcripts(stale, (), (folder,))[0]
        ]
    if not unknown:
        return
    sync.index_other_sessions(replace(sync_context, project=replace(context.project, aliases=())), 0)  # nobody's yet
    with Catalog.open(context.home) as catalog:
        for folder in unknown:
            if not cancelled() and not _has_sessions(catalog, folder):
                similar = difflib.get_close_matches(folder, catalog.list_folders(), n=1)
                suggestion = f"The nearest is {similar[0]}. " if similar else ""
                todo = f"{suggestion}`lerim sessions list --all` shows where sessions ran."
                raise ProjectError("No session of any agent ran in this folder.", where=folder, todo=todo)


def _has_sessions(catalog: Catalog, folder: str) -> bool:
    return any(is_inside_folder(session_folder, folder) for session_folder in catalog.list_folders())
