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
    at: CommandContext, aliases: list[str], emit: Callable[[SyncEvent], None], cancelled: Callable[[], bool]
) -> None:
    """Raises ProjectError for an alias in which no session of any agent ran; the sessions of the machine are read first
    where that is not known otherwise. Raises CatalogError, SettingsError."""
    context = SyncContext(at.project, at.home, os.environ, sync.SyncOptions(), emit, cancelled)
    with Catalog.open(at.home) as catalog:
        _, stale = context.find_stale_transcripts(catalog, context.folder_owners())
        unknown = [
            old for old in aliases if not _ran(catalog, old) and not split_likely_transcripts(stale, (), (old,))[0]
        ]
    if not unknown:
        return
    sync.index_other_sessions(replace(context, project=replace(at.project, aliases=())), 0)  # nobody's yet
    with Catalog.open(at.home) as catalog:
        for old in unknown:
            if not cancelled() and not _ran(catalog, old):
                near = difflib.get_close_matches(old, catalog.list_folders(), n=1)
                told = f"The nearest is {near[0]}. " if near else ""
                todo = f"{told}`lerim sessions list --all` shows where sessions ran."
                raise ProjectError("No session of any agent ran in this folder.", where=old, todo=todo)


def _ran(catalog: Catalog, old: str) -> bool:
    return any(is_inside_folder(folder, old) for folder in catalog.list_folders())
