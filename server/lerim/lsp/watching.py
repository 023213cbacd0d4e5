"""Staying true to the disk: memories and candidates that change, git checkouts, folders. Nothing here polls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types

from lerim.lsp import diagnostics, pending, standing
from lerim.lsp.idle import IdleClock
from lerim.lsp.protocol import MEMORIES_CHANGED, WATCH_FOLDERS, wire
from lerim.lsp.repos import Place, Repo, head_stamp, refresh, rescan, share_memory
from lerim.lsp.settings import read
from lerim.lsp.sidecar import Sidecar
from lerim.lsp.uris import from_path, to_path
from lerim.memory.store import LIVE

MEMORY_FILES = ".lerim/memory/**/*.md"
CANDIDATE_FILES = ".lerim/review/*.md"
GLANCE_SECONDS = 0.2


async def begin(sidecar: Sidecar) -> None:
    """After `initialized`: reads the memories of the window's repositories, watches them, starts the idle clock."""
    loop = asyncio.get_running_loop()
    share_memory()  # before the first thread of ours
    sidecar.idle = IdleClock(loop, _idle_seconds(sidecar), lambda: sidecar.spawn("The idle look", _idle(sidecar)))
    repos = await sidecar.repos.load()
    sidecar.spawn("Watching files", watch(sidecar, repos))
    _name_folders(sidecar, repos)
    for repo in repos:
        announce(sidecar, repo)
        sidecar.spawn("Looking how memories stand", standing.look(sidecar, repo, whole=True))
    await pending.look(sidecar, repos)


async def _idle(sidecar: Sidecar) -> None:
    from lerim.lsp import lookafter, syncing  # what only a sync needs is not in memory before one

    await syncing.idle(sidecar)
    await lookafter.arm(sidecar)


async def watch(sidecar: Sidecar, repos: Iterable[Repo]) -> None:
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
        folders += [pending.place(sidecar, repo).review, *(repo.project.memory_dir / name for name in LIVE)]
    uris = dict.fromkeys(map(from_path, folders))  # worktrees of one project have the same candidates
    sidecar.server.protocol.notify(WATCH_FOLDERS, wire({"folders": list(uris)}))


async def changed(sidecar: Sidecar, params: types.DidChangeWatchedFilesParams) -> None:
    """Memories or candidates were made, changed or removed: only these memories are read again."""
    paths = [path for event in params.changes if (path := to_path(event.uri)) is not None and path.suffix == ".md"]
    by_repo: dict[int, tuple[Repo, list[Path]]] = {}
    reals = await sidecar.run(_real, [Path(path) for path in paths])
    for real in reals:
        repo = sidecar.repos.of_memory(real)
        if repo is not None:
            by_repo.setdefault(id(repo), (repo, []))[1].append(real)
    for repo, files in by_repo.values():
        await sidecar.run(refresh, repo, files)
        announce(sidecar, repo)
        sidecar.spawn("Looking how memories stand", standing.look(sidecar, repo, memories=files))
    await pending.look(sidecar, await sidecar.run(_reviewed, sidecar, sidecar.repos.known, reals))


async def folders(sidecar: Sidecar, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders came or went."""
    gone = {folder.uri for folder in params.event.removed}
    kept = [uri for uri in sidecar.folders if uri not in gone]
    sidecar.folders = list(dict.fromkeys([*kept, *(folder.uri for folder in params.event.added)]))
    sidecar.repos.set_folders(sidecar.folders)
    repos = await sidecar.repos.load()
    sidecar.spawn("Watching files", watch(sidecar, repos))
    _name_folders(sidecar, repos)
    for repo in repos:
        announce(sidecar, repo)
    await pending.look(sidecar, repos)


async def configured(sidecar: Sidecar, params: types.DidChangeConfigurationParams) -> None:
    """Settings or trust changed."""
    sidecar.options, problems = read(params.settings, sidecar.options)
    for problem in problems:
        sidecar.warn(problem)
    if sidecar.idle is not None:
        sidecar.idle.change(_idle_seconds(sidecar))
    refresh_lenses(sidecar)


async def look_around(sidecar: Sidecar) -> None:
    """What changed behind the editor's back: a stat of each HEAD tells of a checkout or pull, one of each candidate of
    decisions made elsewhere."""
    for repo in sidecar.repos.known:
        head = repo.head
        if await sidecar.run(rescan, repo):
            announce(sidecar, repo)
        sidecar.spawn("Looking how memories stand", standing.look(sidecar, repo, whole=repo.head != head))
    await pending.look(sidecar, sidecar.repos.known)


async def opened(sidecar: Sidecar, uri: str) -> None:
    """A file was opened or saved: HEAD may have moved, and the file's memories may stand otherwise."""
    await look_around(sidecar)
    place = await sidecar.repos.place(uri)
    if place is not None:
        await standing.look(sidecar, place.repo, (place.path,))


def glance(sidecar: Sidecar, place: Place) -> None:
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
        await standing.look(sidecar, repo, changed)


def _otherwise(repo: Repo, paths: Iterable[str]) -> tuple[list[str], bool]:
    """The files that are not as they were when looked at, and whether HEAD moved (in the executor)."""
    return [path for path in paths if standing.differs(repo, path)], head_stamp(repo.project.root) != repo.head


def announce(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor that a repository's memories are what they are now."""
    sidecar.notify(repo, MEMORIES_CHANGED, memories=len(repo.references))
    diagnostics.publish(sidecar, repo)
    refresh_lenses(sidecar)


def refresh_lenses(sidecar: Sidecar) -> None:
    """Asks the editor to ask for its lenses again."""
    asked = sidecar.server.client_capabilities.workspace
    if asked is not None and asked.code_lens is not None and asked.code_lens.refresh_support:
        sidecar.spawn("Refreshing lenses", _refresh(sidecar))


async def _refresh(sidecar: Sidecar) -> None:
    await sidecar.server.workspace_code_lens_refresh_async(None)


def _idle_seconds(sidecar: Sidecar) -> float:
    return sidecar.options.settings.idle_seconds if sidecar.options.settings.enabled else 0.0


def _outside(sidecar: Sidecar, repos: list[Repo]) -> list[types.GlobPattern]:
    paths = [path for uri in sidecar.folders if (path := to_path(uri)) is not None]
    folders = [Path(os.path.realpath(path)) for path in paths]
    globs: list[types.GlobPattern] = []
    for repo in repos:
        review = pending.place(sidecar, repo).review
        for base, pattern in ((repo.project.root, MEMORY_FILES), (review, "*.md")):
            if not any(base.is_relative_to(folder) for folder in folders):
                globs.append(types.RelativePattern(from_path(base), pattern))
    return globs


def _reviewed(sidecar: Sidecar, repos: list[Repo], files: list[Path]) -> list[Repo]:
    folders = {file.parent for file in files}
    return [repo for repo in repos if Path(os.path.realpath(pending.place(sidecar, repo).review)) in folders]


def _real(paths: list[Path]) -> list[Path]:
    # The file may be gone, its folder may be a link: the folder is resolved, the name is kept.
    return [Path(os.path.realpath(path.parent)) / path.name for path in paths]
