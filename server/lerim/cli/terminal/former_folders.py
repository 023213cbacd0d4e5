"""Checks the former folders of a repository: which ones it may have had, and whether a given folder can be one."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import replace

from lerim.cli.terminal import output
from lerim.errors import ProjectError
from lerim.jobs import OtherFolder, SyncContext, SyncEvent, find_other_folders, sync
from lerim.project import is_inside_folder
from lerim.sessions import Catalog, split_likely_transcripts
from lerim.views import ProjectContext

SHOWN_FOLDERS = 5


def check_aliases(
    context: ProjectContext, aliases: list[str], emit: Callable[[SyncEvent], None], cancelled: Callable[[], bool]
) -> None:
    """Raises ProjectError for an alias in which no agent's session ran.

    If the catalog does not know the folder, the sessions of the whole machine are indexed first. Raises CatalogError
    and SettingsError.
    """
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
    sync.index_other_sessions(
        replace(sync_context, project=replace(context.project, aliases=())), 0
    )  # the aliases belong to no project yet
    with Catalog.open(context.home) as catalog:
        for folder in unknown:
            if not cancelled() and not _has_sessions(catalog, folder):
                similar = difflib.get_close_matches(folder, catalog.list_folders(), n=1)
                suggestion = f"Did you mean {similar[0]}? " if similar else ""
                todo = f"{suggestion}`lerim sessions list --all` shows where sessions ran."
                raise ProjectError("No session of any agent ran in this folder.", where=folder, todo=todo)


def describe_missing_sessions(context: ProjectContext) -> list[str]:
    """Returns lines that say why a repository has no sessions and what to do about it: the folders that it may have
    been in before, or else where to look. Raises CatalogError and ProjectError."""
    folders = find_other_folders(context.project, context.home)
    if not folders:
        return [
            "No agent's session ran in this repository. `lerim connect list` shows where sessions are looked for, and "
            "`lerim sessions list --all` shows where they ran."
        ]
    hidden = len(folders) - SHOWN_FOLDERS
    return [
        "No agent's session ran in this repository. If it was moved, renamed or cloned anew, they may be in:",
        *(f"  {folder.path} ({_describe_folder(folder)})" for folder in folders[:SHOWN_FOLDERS]),
        *([f"  and {output.pluralize(hidden, 'more folder')}"] if hidden > 0 else []),
        "`lerim project alias FOLDER` makes the sessions of a folder this repository's.",
    ]


def _describe_folder(folder: OtherFolder) -> str:
    same = "first commit" if folder.reason == "commit" else folder.reason
    return f"{output.pluralize(folder.sessions, 'session')}, the same {same}"


def _has_sessions(catalog: Catalog, folder: str) -> bool:
    return any(is_inside_folder(session_folder, folder) for session_folder in catalog.list_folders())
