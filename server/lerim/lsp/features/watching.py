"""Reacts to changes on disk: memories, candidates, git checkouts and workspace folders. Nothing here polls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.errors import HomeError
from lerim.heap import limit_malloc_arenas
from lerim.lsp.boundary import path_to_uri, uri_to_path
from lerim.lsp.protocol import WATCH_FOLDERS, WatchFoldersParams, to_wire
from lerim.lsp.window import (
    FileLocation,
    IdleClock,
    LookTimer,
    Repo,
    Repos,
    Sidecar,
    announce_memories,
    candidate_counts,
    check_for_changes,
    drift,
    file_watchers,
    head_stamp,
    parse_options,
    refresh_lenses,
    reread_files,
    schedule_hook_refresh,
    uses,
)
from lerim.memory import LIVE_FOLDERS
from lerim.project import check_home_outside_repository
from lerim.redaction import limit_clean_texts

MEMORY_FILES = ".lerim/memory/**/*.md"
CANDIDATE_FILES = ".lerim/review/*.md"
FILE_CHECK_DELAY_SECONDS = 0.2
MAX_CLEAN_TEXTS = 12_000
"""How many texts without secrets are remembered: enough to list the titles of ten thousand memories again and again."""


async def start_watching(sidecar: Sidecar) -> None:
    """Starts the idle clock, and watches the window's repositories, after `initialized`."""
    loop = asyncio.get_running_loop()
    limit_malloc_arenas()  # must come before our first thread
    limit_clean_texts(MAX_CLEAN_TEXTS)
    sidecar.idle_clock = IdleClock(
        loop, _idle_seconds(sidecar), lambda: sidecar.spawn("The idle look", _run_idle_work(sidecar))
    )
    sidecar.look_timer = LookTimer(loop, lambda: sidecar.spawn("Checking the agents' stores", _look_at_stores(sidecar)))
    if (sidecar.home.root / "bin").exists():  # the person has given memories to agents
        sidecar.spawn("Updating the agents' programs", _update_agent_programs(sidecar))
    await _show_repos(sidecar)


async def _show_repos(sidecar: Sidecar) -> None:
    """Reads and watches the memories and candidates of the window's folders, and compares the memories with the
    code."""
    repos = await sidecar.repos.load()
    sidecar.spawn("Watching files", watch_repos(sidecar, repos))
    _announce_folders(sidecar, repos)
    for repo in repos:
        announce_memories(sidecar, repo)
        drift.check_drift(sidecar, repo, whole=True)
    await candidate_counts.announce_changed_candidates(sidecar, repos)
    for repo in repos:
        await uses.refresh_memory_marks(sidecar, repo)


async def _update_agent_programs(sidecar: Sidecar) -> None:
    from lerim.lsp.features import agent_setup  # imported late to save memory

    await sidecar.run_in_thread(agent_setup.update_programs, sidecar)


async def _run_idle_work(sidecar: Sidecar) -> None:
    from lerim.lsp.features import maintaining, syncing  # imported late to save memory

    await syncing.sync_when_idle(sidecar)
    await maintaining.arm_idle_maintenance(sidecar)


async def _look_at_stores(sidecar: Sidecar) -> None:
    from lerim.lsp.features import syncing  # imported late to save memory

    if sidecar.idle_clock is None or not sidecar.idle_clock.is_waiting:  # else the person is active: it comes later
        await syncing.sync_when_idle(sidecar)


async def watch_repos(sidecar: Sidecar, repos: Iterable[Repo]) -> None:
    """Asks the editor to watch memories and candidates, also outside the window's folders.

    A repository may contain the opened folder, and a worktree's candidates are in the main worktree.
    """
    if not file_watchers.can_watch(sidecar):
        return
    globs: list[types.GlobPattern] = [f"**/{MEMORY_FILES}", f"**/{CANDIDATE_FILES}"]
    if file_watchers.can_watch_outside(sidecar):
        globs += await sidecar.run_in_thread(_outside_globs, sidecar, list(repos))
    await file_watchers.watch_files(sidecar, globs)


def _announce_folders(sidecar: Sidecar, repos: list[Repo]) -> None:
    """Sends the folders of candidates and memories: the editor's watcher can miss a folder made inside a new folder."""
    folders = []
    for repo in repos:
        folders += [
            candidate_counts.find_review_paths(sidecar, repo).review,
            *(repo.project.memory_dir / name for name in LIVE_FOLDERS),
        ]
    uris = dict.fromkeys(map(path_to_uri, folders))  # worktrees of one project have the same candidates
    sidecar.server.protocol.notify(WATCH_FOLDERS, to_wire(WatchFoldersParams(list(uris))))


async def handle_changed_files(sidecar: Sidecar, params: types.DidChangeWatchedFilesParams) -> None:
    """Rereads the memories that were created, changed or removed, and announces changed candidates."""
    changed = [Path(path) for event in params.changes if (path := uri_to_path(event.uri)) is not None]
    if sidecar.store_folders:
        from lerim.lsp.features import syncing  # imported late to save memory

        syncing.note_changed_files(sidecar, changed)
    paths = [path for path in changed if path.suffix == ".md"]
    if not paths:
        return
    await sidecar.repos.wait_for_openings()
    memories, reviewed = await sidecar.run_in_thread(_group_by_repo, sidecar, sidecar.repos, paths)
    for repo, files in memories:
        if taken := await reread_files(sidecar, repo, files):
            announce_memories(sidecar, repo)
            drift.check_drift(sidecar, repo, memories=taken)
    await candidate_counts.announce_changed_candidates(sidecar, reviewed)


async def handle_changed_folders(sidecar: Sidecar, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Updates the repositories after workspace folders were added or removed."""
    gone = {folder.uri for folder in params.event.removed}
    kept = [uri for uri in sidecar.folder_uris if uri not in gone]
    sidecar.folder_uris = list(dict.fromkeys([*kept, *(folder.uri for folder in params.event.added)]))
    for path in filter(None, (uri_to_path(folder.uri) for folder in params.event.added)):
        try:
            await sidecar.run_in_thread(check_home_outside_repository, sidecar.home, Path(path))
        except HomeError as error:
            sidecar.warn(str(error))
    sidecar.repos.set_folders(sidecar.folder_uris)
    await _show_repos(sidecar)


async def handle_configuration(sidecar: Sidecar, params: types.DidChangeConfigurationParams) -> None:
    """Settings or trust changed."""
    was_trusted = sidecar.options.trusted
    options, problems = parse_options(params.settings, sidecar.options)
    sidecar.apply_options(options)
    for problem in problems:
        sidecar.warn(problem)
    if sidecar.idle_clock is not None:
        sidecar.idle_clock.set_seconds(_idle_seconds(sidecar))
    refresh_lenses(sidecar)
    for repo in sidecar.repos.known:
        schedule_hook_refresh(sidecar, repo)  # one of the settings is for the hooks
    if options.trusted and not was_trusted:
        await _show_repos(sidecar)


async def look_around(sidecar: Sidecar, _params: object) -> None:
    """Looks for changes that the editor does not report, when the window gets the focus."""
    await check_for_changes(sidecar)


def schedule_file_check(sidecar: Sidecar, place: FileLocation) -> None:
    """Checks a file by stat shortly after its lenses were requested, which editors do whenever its text changes.

    If the file or HEAD changed, its memories are checked as if the file had been saved.
    """
    drift_state = place.repo.drift
    if sidecar.options.trusted and place.path not in drift_state.files_in_view:
        drift_state.files_in_view.add(place.path)
        if len(drift_state.files_in_view) == 1:
            asyncio.get_running_loop().call_later(FILE_CHECK_DELAY_SECONDS, _start_file_check, sidecar, place.repo)


def _start_file_check(sidecar: Sidecar, repo: Repo) -> None:
    paths, repo.drift.files_in_view = repo.drift.files_in_view, set()
    sidecar.spawn("Looking at files", _check_changed_files(sidecar, repo, paths))


async def _check_changed_files(sidecar: Sidecar, repo: Repo, paths: set[str]) -> None:
    changed, moved = await sidecar.run_in_thread(_find_changes, repo, paths)
    if moved:
        await check_for_changes(sidecar)
    if changed:
        drift.check_drift(sidecar, repo, changed)


def _find_changes(repo: Repo, paths: Iterable[str]) -> tuple[list[str], bool]:
    """Returns the files that changed since their last check, and whether HEAD moved (blocking)."""
    return [path for path in paths if drift.has_file_changed(repo, path)], head_stamp(repo.project.root) != repo.head


def _idle_seconds(sidecar: Sidecar) -> float:
    return sidecar.options.settings.idle_seconds if sidecar.options.settings.enabled else 0.0


def _outside_globs(sidecar: Sidecar, repos: list[Repo]) -> list[types.GlobPattern]:
    paths = [path for uri in sidecar.folder_uris if (path := uri_to_path(uri)) is not None]
    folders = [Path(os.path.realpath(path)) for path in paths]
    globs: list[types.GlobPattern] = []
    for repo in repos:
        review = candidate_counts.find_review_paths(sidecar, repo).review
        for base, pattern in ((repo.project.root, MEMORY_FILES), (review, "*.md")):
            if not any(base.is_relative_to(folder) for folder in folders):
                globs.append(types.RelativePattern(path_to_uri(base), pattern))
    return globs


def _group_by_repo(
    sidecar: Sidecar, repos: Repos, paths: Sequence[Path]
) -> tuple[list[tuple[Repo, list[Path]]], list[Repo]]:
    """Groups changed files by repository (blocking).

    Returns each repository with its changed memory files, and the repositories whose candidates changed.
    """
    # The file may no longer exist and its folder may be a symlink, so only the folder is resolved.
    real_folders = {folder: Path(os.path.realpath(folder)) for folder in {path.parent for path in paths}}
    reals = [real_folders[path.parent] / path.name for path in paths]
    memories: dict[int, tuple[Repo, list[Path]]] = {}
    for real in reals:
        repo = repos.find_by_memory(real)
        if repo is not None:
            memories.setdefault(id(repo), (repo, []))[1].append(real)
    folders = {file.parent for file in reals}
    reviews = [(repo, candidate_counts.find_review_paths(sidecar, repo).review) for repo in repos.known]
    return list(memories.values()), [repo for repo, review in reviews if Path(os.path.realpath(review)) in folders]
