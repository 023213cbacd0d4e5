"""Staying true to the disk: memories and candidates that change, git checkouts, folders. Nothing here polls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.errors import HomeError
from lerim.lsp.boundary import from_path, to_path
from lerim.lsp.protocol import WATCH_FOLDERS, WatchFoldersParams, to_wire
from lerim.lsp.window import (
    FileLocation,
    IdleClock,
    Repo,
    Repos,
    Sidecar,
    announce_memories,
    drift,
    head_stamp,
    look_around,
    look_for_checkouts,
    parse_options,
    pending,
    refresh_lenses,
    reread_files,
    share_memory,
)
from lerim.memory import LIVE_FOLDERS
from lerim.project import check_home_outside_repository

MEMORY_FILES = ".lerim/memory/**/*.md"
CANDIDATE_FILES = ".lerim/review/*.md"
GLANCE_SECONDS = 0.2


async def start_watching(sidecar: Sidecar) -> None:
    """After `initialized`: reads the memories of the window's repositories, watches them, starts the idle clock."""
    loop = asyncio.get_running_loop()
    share_memory()  # before the first thread of ours
    sidecar.idle = IdleClock(loop, _idle_seconds(sidecar), lambda: sidecar.spawn("The idle look", _idle(sidecar)))
    repos = await sidecar.repos.load()
    sidecar.spawn("Watching files", watch_repos(sidecar, repos))
    _name_folders(sidecar, repos)
    for repo in repos:
        announce_memories(sidecar, repo)
        drift.check_drift(sidecar, repo, whole=True)
    await pending.announce_changed_candidates(sidecar, repos)


async def _idle(sidecar: Sidecar) -> None:
    from lerim.lsp.features import idle_maintenance, syncing  # what only a sync needs is not in memory before one

    await syncing.sync_when_idle(sidecar)
    await idle_maintenance.arm_idle_maintenance(sidecar)


async def watch_repos(sidecar: Sidecar, repos: Iterable[Repo]) -> None:
    """Asks the editor to tell of changed memories and candidates, also outside the window's folders: a repository may
    lie around them, and a worktree's candidates are in the main one."""
    asked = sidecar.server.client_capabilities.workspace
    able = asked.did_change_watched_files if asked else None
    if able is None or not able.dynamic_registration:
        return
    globs: list[types.GlobPattern] = [f"**/{MEMORY_FILES}", f"**/{CANDIDATE_FILES}"]
    if able.relative_pattern_support:
        globs += await sidecar.run(_outside, sidecar, list(repos))
    watchers = [types.FileSystemWatcher(glob) for glob in globs if str(glob) not in sidecar.watched]
    if not watchers:
        return
    sidecar.watched.update(map(str, globs))
    registration = types.Registration(
        id=f"lerim-files-{len(sidecar.watched)}",
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    await sidecar.server.client_register_capability_async(types.RegistrationParams([registration]))


def _name_folders(sidecar: Sidecar, repos: list[Repo]) -> None:
    """Tells where candidates and memories will lie: the editor's own watcher can miss a folder made in a new folder."""
    folders = []
    for repo in repos:
        folders += [
            pending.find_review_paths(sidecar, repo).review,
            *(repo.project.memory_dir / name for name in LIVE_FOLDERS),
        ]
    uris = dict.fromkeys(map(from_path, folders))  # worktrees of one project have the same candidates
    sidecar.server.protocol.notify(WATCH_FOLDERS, to_wire(WatchFoldersParams(list(uris))))


async def handle_changed_files(sidecar: Sidecar, params: types.DidChangeWatchedFilesParams) -> None:
    """Memories or candidates were made, changed or removed: only these memories are read again."""
    paths = [path for event in params.changes if (path := to_path(event.uri)) is not None and path.suffix == ".md"]
    memories, reviewed = await sidecar.run(_sorted, sidecar, sidecar.repos, [Path(path) for path in paths])
    for repo, files in memories:
        if taken := await reread_files(sidecar, repo, files):
            announce_memories(sidecar, repo)
            drift.check_drift(sidecar, repo, memories=taken)
    await pending.announce_changed_candidates(sidecar, reviewed)


async def handle_changed_folders(sidecar: Sidecar, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders came or went."""
    gone = {folder.uri for folder in params.event.removed}
    kept = [uri for uri in sidecar.folders if uri not in gone]
    sidecar.folders = list(dict.fromkeys([*kept, *(folder.uri for folder in params.event.added)]))
    for path in filter(None, (to_path(folder.uri) for folder in params.event.added)):
        try:
            await sidecar.run(check_home_outside_repository, sidecar.home, Path(path))
        except HomeError as error:
            sidecar.warn(str(error))
    sidecar.repos.set_folders(sidecar.folders)
    repos = await sidecar.repos.load()
    sidecar.spawn("Watching files", watch_repos(sidecar, repos))
    _name_folders(sidecar, repos)
    for repo in repos:
        announce_memories(sidecar, repo)
    await pending.announce_changed_candidates(sidecar, repos)


async def handle_configuration(sidecar: Sidecar, params: types.DidChangeConfigurationParams) -> None:
    """Settings or trust changed."""
    sidecar.options, problems = parse_options(params.settings, sidecar.options)
    for problem in problems:
        sidecar.warn(problem)
    if sidecar.idle is not None:
        sidecar.idle.change(_idle_seconds(sidecar))
    refresh_lenses(sidecar)


async def handle_opened_file(sidecar: Sidecar, uri: str) -> None:
    """A file was opened or saved: HEAD may have moved, and the file's memories may stand otherwise."""
    await look_for_checkouts(sidecar)
    place = await sidecar.repos.place(uri)
    if place is not None:
        drift.check_drift(sidecar, place.repo, (place.path,))
    await pending.announce_changed_candidates(sidecar, sidecar.repos.known)


def check_file_soon(sidecar: Sidecar, place: FileLocation) -> None:
    """A file's lenses are asked for, as an editor does whenever its text became another one: a moment later it is
    looked at by stat, in the executor. If it or HEAD is not as it was, it is as if the file had been saved."""
    known = place.repo.standings
    if sidecar.options.trusted and place.path not in known.glances:
        known.glances.add(place.path)
        if len(known.glances) == 1:
            asyncio.get_running_loop().call_later(GLANCE_SECONDS, _glanced, sidecar, place.repo)


def _glanced(sidecar: Sidecar, repo: Repo) -> None:
    paths, repo.standings.glances = repo.standings.glances, set()
    sidecar.spawn("Looking at files", _settle(sidecar, repo, paths))


async def _settle(sidecar: Sidecar, repo: Repo, paths: set[str]) -> None:
    changed, moved = await sidecar.run(_otherwise, repo, paths)
    if moved:
        await look_around(sidecar)
    if changed:
        drift.check_drift(sidecar, repo, changed)


def _otherwise(repo: Repo, paths: Iterable[str]) -> tuple[list[str], bool]:
    """The files that are not as they were when looked at, and whether HEAD moved (in the executor)."""
    return [path for path in paths if drift.has_file_changed(repo, path)], head_stamp(repo.project.root) != repo.head


def _idle_seconds(sidecar: Sidecar) -> float:
    return sidecar.options.settings.idle_seconds if sidecar.options.settings.enabled else 0.0


def _outside(sidecar: Sidecar, repos: list[Repo]) -> list[types.GlobPattern]:
    paths = [path for uri in sidecar.folders if (path := to_path(uri)) is not None]
    folders = [Path(os.path.realpath(path)) for path in paths]
    globs: list[types.GlobPattern] = []
    for repo in repos:
        review = pending.find_review_paths(sidecar, repo).review
        for base, pattern in ((repo.project.root, MEMORY_FILES), (review, "*.md")):
            if not any(base.is_relative_to(folder) for folder in folders):
                globs.append(types.RelativePattern(from_path(base), pattern))
    return globs


def _sorted(sidecar: Sidecar, repos: Repos, paths: Sequence[Path]) -> tuple[list[tuple[Repo, list[Path]]], list[Repo]]:
    """The repositories whose memories are among these files, each with them, and those whose candidates are (in the
    executor)."""
    reals = _real(paths)
    memories: dict[int, tuple[Repo, list[Path]]] = {}
    for real in reals:
        repo = repos.of_memory(real)
        if repo is not None:
            memories.setdefault(id(repo), (repo, []))[1].append(real)
    folders = {file.parent for file in reals}
    reviews = [(repo, pending.find_review_paths(sidecar, repo).review) for repo in repos.known]
    return list(memories.values()), [repo for repo, review in reviews if Path(os.path.realpath(review)) in folders]


def _real(paths: Sequence[Path]) -> list[Path]:
    # The file may be gone, its folder may be a link: the folder is resolved, the name is kept.
    reals = {folder: Path(os.path.realpath(folder)) for folder in {path.parent for path in paths}}
    return [reals[path.parent] / path.name for path in paths]
