"""Sync over the wire: a job process of its own, its progress, its end."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shutil
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251

from claude_lines import prompt, reply, text
from desk import correction, desk_in
from finished import finish
from lerim.jobs.progress import share_progress
from lerim.jobs.report import SyncProgress
from lerim.lsp.protocol import core
from lerim.memory.record import Evidence
from lerim.project.lock import hold_project_lock
from lerim.sessions.settling import SETTLE_SECONDS
from lerim.times import format_moment
from proposals import review_paths
from terminal import answer as cli
from warm_python import warm_python
from window import RECORD, Editor, opened_in_thread, server_environ, write_memory

pytestmark = pytest.mark.asyncio


def corrected(home: Path, repo: Path, subject: str = "pathlib") -> Path:
    """A session of the repository that is over: the person corrects the agent, and the agent does as told."""
    desk = desk_in(home, repo)
    return desk.session(subject, *correction(desk, subject))


def long_work(home: Path, repo: Path) -> None:
    """So many sessions that a sync is still at work when a test looks at it."""
    words = "It uses `load` in src/app.py and goes on about it at some length. " * 100
    for number in range(6):
        turns = [(prompt(f"What is next, {turn}?"), reply(f"{number}-{turn}", text(words))) for turn in range(10)]
        desk_in(home, repo).session(f"s{number}", *itertools.chain(*turns))


def ask_sync(editor: Editor) -> asyncio.Future[Any]:
    params = {"root": editor.root}
    return asyncio.ensure_future(editor.client.protocol.send_request_async(core.SYNC, params, msg_id="sync"))


async def test_a_sync_finds_a_candidate_tells_its_progress_and_the_turns_open(editor: Editor, isolated: Path) -> None:
    corrected(isolated, editor.repo)
    await editor.start()
    report = await editor.ask(core.SYNC, {"root": editor.root})
    assert report.state == "done"
    assert report.sessions.found == 1
    assert len(report.candidates) == 1
    assert "pathlib" in report.candidates[0].title
    stages = [event.stage for event in editor.told[core.SYNC_PROGRESS]]
    assert stages[0] == "looking"
    assert stages[-1] == "done"
    assert {event.root for event in editor.told[core.SYNC_PROGRESS]} == {editor.root}
    await editor.until(lambda: editor.told[core.CANDIDATES_CHANGED])
    assert editor.told[core.CANDIDATES_CHANGED][-1].pending == 1
    about = await editor.ask(core.DEBUG, {})
    assert editor.told[core.CANDIDATES_CHANGED][-1].project == about.roots[0].key

    found = report.candidates[0]
    shown = await editor.ask(core.TURN, {"root": None, "session": found.session, "turn": found.turn})
    assert (shown.found, shown.session, shown.turn) == ("catalog", found.session, found.turn)
    opened = await editor.ask(core.SESSION_OPEN, {"id": shown.id, "turn": shown.turn})
    page = await editor.ask(core.SESSION_TURNS, {"id": shown.id, "start": opened.at, "count": 1})
    assert "No, use pathlib" in page.turns[0].text
    gone = await editor.ask(core.TURN, {"root": None, "session": "s", "turn": "ffffffffffff"})
    assert gone.found == "gone"
    assert "not on this machine" in gone.text

    editor.changed(write_memory(editor.repo))
    await editor.until(lambda: editor.memories() == 1)
    again = await editor.ask(core.SYNC, {"root": editor.root})
    assert (again.candidates, again.sessions.unchanged) == ([], 1)
    assert not editor.jobs()

    app = editor.open("src/app.py")
    gone = await editor.ask(core.TURN, {"handle": handle_in(await editor.hover(app, 0, 5))})
    assert gone.found == "gone"
    assert "Claude Code session 11111111-2222-3333-4444-555555555555" in gone.text
    assert f"last read on {format_moment(RECORD.created)}" in gone.text
    evidence = (Evidence("use pathlib", found.turn, "user"),)
    path = write_memory(editor.repo, source=f"claude:{found.session}#{found.turn}", evidence=evidence)
    editor.changed(path)
    shown = await editor.ask(core.TURN, {"handle": handle_in(await editor.hover(app, 0, 5))})
    assert (shown.found, shown.session, shown.turn) == ("catalog", found.session, found.turn)
    assert (await editor.refused(core.TURN, {"handle": "0" * 18})).data["kind"] == "not-found"


async def test_a_cancelled_sync_is_gone_and_the_next_one_carries_on(editor: Editor, isolated: Path) -> None:
    long_work(isolated, editor.repo)
    await editor.start()
    waiting = ask_sync(editor)
    await editor.until(lambda: [event for event in editor.told[core.SYNC_PROGRESS] if event.sessionsDone])
    app = editor.open("src/app.py")
    assert await editor.hover(app, 0, 5) is None  # answered meanwhile
    assert len(editor.jobs()) == 1
    editor.client.cancel_request(types.CancelParams(id="sync"))
    with pytest.raises(JsonRpcException) as caught:
        await waiting
    assert caught.value.code == -32800
    assert not editor.jobs()
    await editor.until(lambda: editor.told[core.SYNC_PROGRESS][-1].stage == "cancelled")
    assert (await editor.ask(core.DEBUG, {})).version


async def test_killing_the_sidecar_leaves_no_job(process_editor: Editor, isolated: Path) -> None:
    editor = process_editor
    long_work(isolated, editor.repo)
    await editor.start()
    waiting = ask_sync(editor)
    jobs = await editor.until(editor.jobs)
    os.kill(editor.server_pid, signal.SIGKILL)
    await editor.until(lambda: not any(job.is_running() and job.status() != "zombie" for job in jobs))
    waiting.cancel()
    editor.client.capabilities = None


async def test_an_idle_editor_syncs_what_changed_and_only_once(editor: Editor, isolated: Path) -> None:
    corrected(isolated, editor.repo)
    await editor.start({"trusted": True, "settings": {"idleSeconds": 0.2}})
    told = editor.told[core.CANDIDATES_CHANGED]
    await editor.until(lambda: told and told[-1].pending == 1)
    await editor.until(lambda: editor.told[core.SYNC_PROGRESS][-1].stage == "done")
    stages = len(editor.told[core.SYNC_PROGRESS])

    editor.open("README.md")
    corrected(isolated, editor.repo, "tomllib")
    await editor.until(lambda: told[-1].pending == 2)
    assert len(editor.told[core.SYNC_PROGRESS]) > stages


async def test_the_rest_is_read_by_itself_when_it_settles_and_the_agents_stores_are_watched(
    repo: Path, isolated: Path
) -> None:
    desk = desk_in(isolated, repo)
    path = desk.session("s1", *correction(desk)[:6])
    os.utime(path)
    async with opened_in_thread(repo, ahead=timedelta(seconds=SETTLE_SECONDS)) as editor:  # so it comes back at once
        await editor.start({"trusted": True, "settings": {"idleSeconds": 0.2}})
        told = editor.told[core.SYNC_PROGRESS]
        await editor.until(lambda: any(event.stage == "done" and event.settling == 1 for event in told))
        await editor.until(lambda: (isolated.joinpath(".claude/projects").as_uri(), "**/*") in editor.globs())
        finish(path)
        await editor.until(lambda: told[-1].stage == "done" and told[-1].settling == 0)
        await editor.until(lambda: editor.told[core.CANDIDATES_CHANGED][-1].pending == 1)


async def test_the_sessions_of_a_folder_that_is_gone_are_offered_by_its_name_and_used(
    editor: Editor, isolated: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old" / editor.repo.name
    corrected(isolated, old)
    await editor.start()
    nothing = await editor.ask(core.SYNC, {"root": editor.root})
    assert nothing.sessions.found == 0
    offered = await editor.ask(core.SESSIONS_ELSEWHERE, {"root": editor.root})
    assert [(one.path, one.sessions, one.reason) for one in offered.folders] == [(str(old), 1, "name")]
    assert (await editor.ask(core.SESSIONS_USE, {"root": editor.root, "folder": str(old)})).ok
    used = await editor.ask(core.SYNC, {"root": editor.root})
    assert (used.sessions.found, len(used.candidates)) == (1, 1)
    assert (await editor.ask(core.SESSIONS_ELSEWHERE, {"root": editor.root})).folders == []
    assert (await editor.refused(core.SESSIONS_USE, {"root": editor.root, "folder": "old"})).data["kind"] == "project"


async def test_a_sync_that_finds_nothing_offers_the_sessions_of_a_repository_with_the_same_first_commit(
    editor: Editor, isolated: Path, tmp_path: Path, git: Any
) -> None:
    git(editor.repo, "add", "-A")
    git(editor.repo, "commit", "-qm", "Start", "--allow-empty")
    old = tmp_path / "former" / "place"
    git(tmp_path, "clone", "-q", str(editor.repo), str(old))
    git(old, "remote", "remove", "origin")
    git(old, "commit", "-qm", "Later", "--allow-empty")
    corrected(isolated, old)
    assert cli("sync", "--repo", str(old))["sessions"]["found"] == 1
    other = tmp_path / "former" / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-qm", "Another start", "--allow-empty")
    corrected(isolated, other)
    assert cli("sync", "--repo", str(other))["sessions"]["found"] == 1
    await editor.start()
    assert (await editor.ask(core.SYNC, {"root": editor.root})).sessions.found == 0
    assert (await editor.ask(core.SESSIONS_ELSEWHERE, {"root": editor.root})).folders == [], "it keeps its sessions"
    for folder in (old, other):
        shutil.rmtree(folder)
    offered = await editor.ask(core.SESSIONS_ELSEWHERE, {"root": editor.root})
    assert [(one.path, one.sessions, one.reason) for one in offered.folders] == [(str(old), 1, "commit")]
    assert (await editor.ask(core.SESSIONS_USE, {"root": editor.root, "folder": str(old)})).ok
    assert (await editor.ask(core.SYNC, {"root": editor.root})).sessions.found == 1


async def test_a_sync_that_finds_nothing_offers_the_sessions_of_a_repository_with_the_same_remote(
    editor: Editor, isolated: Path, tmp_path: Path, git: Any
) -> None:
    old = tmp_path / "former" / "place"
    old.mkdir(parents=True)
    git(old, "init", "-q")
    git(old, "commit", "-qm", "Another start", "--allow-empty")
    for folder in (editor.repo, old):
        git(folder, "remote", "add", "origin", "https://example.invalid/team/app.git")
    corrected(isolated, old)
    assert cli("sync", "--repo", str(old))["sessions"]["found"] == 1
    shutil.rmtree(old)
    await editor.start()
    assert (await editor.ask(core.SYNC, {"root": editor.root})).sessions.found == 0
    offered = await editor.ask(core.SESSIONS_ELSEWHERE, {"root": editor.root})
    assert [(one.path, one.sessions, one.reason) for one in offered.folders] == [(str(old), 1, "remote")]


async def test_an_idle_editor_carries_on_next_time_where_a_sync_was_cancelled(editor: Editor, isolated: Path) -> None:
    long_work(isolated, editor.repo)
    await editor.start({"trusted": True, "settings": {"idleSeconds": 0.2}})
    told = editor.told[core.SYNC_PROGRESS]
    await editor.until(lambda: told and told[-1].stage == "learning")
    joined = ask_sync(editor)
    await editor.ask(core.DEBUG, {})
    editor.client.cancel_request(types.CancelParams(id="sync"))
    with pytest.raises(JsonRpcException):
        await joined
    await editor.until(lambda: told[-1].stage == "cancelled")
    editor.open("README.md")
    await editor.until(lambda: told[-1].stage == "done")


async def test_a_busy_repository_does_not_keep_an_idle_editor_from_the_others(
    editor: Editor, isolated: Path, tmp_path: Path, git: object
) -> None:
    assert callable(git)
    other = tmp_path / "other"
    (other / "src").mkdir(parents=True)
    (other / "src" / "app.py").write_text("def load(path): ...\n", encoding="utf-8")
    git(other, "init", "-q")
    corrected(isolated, editor.repo)
    corrected(isolated, other)
    await editor.start()
    added = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(other.as_uri(), "other")], [])
    editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(added))
    place = review_paths(editor.repo)
    found: dict[str, int] = {}

    def waiting() -> dict[str, int]:
        found.update({told.root: told.pending for told in editor.told[core.CANDIDATES_CHANGED]})
        return found

    with hold_project_lock(place.home, place.project.key, "syncing"):
        editor.configure(idleSeconds=0.2)
        await editor.until(lambda: waiting().get(other.as_uri()) == 1)
        busy = [told for told in editor.told[core.SYNC_PROGRESS] if told.root == editor.root][-1]
        assert f"process {os.getpid()} is syncing" in busy.message
    editor.open("README.md")
    await editor.until(lambda: waiting().get(editor.root) == 1)


async def test_a_sync_shows_the_progress_of_another_process_and_then_finds_its_own(
    editor: Editor, isolated: Path
) -> None:
    corrected(isolated, editor.repo)
    await editor.start()
    place = review_paths(editor.repo)

    def counts() -> list[tuple[int, int]]:
        return [(told.sessionsDone, told.sessionsTotal) for told in editor.told[core.SYNC_PROGRESS]]

    with (
        hold_project_lock(place.home, place.project.key, "syncing"),
        share_progress(place.home, place.project.key) as share,
    ):
        share(SyncProgress("learning", 3, 7, 2))
        asked = ask_sync(editor)
        await editor.until(lambda: (3, 7) in counts())
        assert not asked.done()
    report = await asked
    assert (report.state, report.sessions.new) == ("done", 1)
    assert editor.told[core.SYNC_PROGRESS][-1].stage == "done"


async def test_an_idle_editor_in_restricted_mode_or_with_idle_off_does_nothing(editor: Editor, isolated: Path) -> None:
    corrected(isolated, editor.repo)
    await editor.start({"trusted": False, "settings": {"idleSeconds": 0.05}})
    for _ in range(10):
        await editor.ask(core.DEBUG, {})
        await asyncio.sleep(0.02)
    assert editor.told[core.SYNC_PROGRESS] == []
    assert not (isolated / ".lerim").exists()
    assert not (editor.repo / ".lerim").exists()


async def test_a_job_ends_when_its_input_does(repo: Path, isolated: Path) -> None:
    long_work(isolated, repo)
    command = [warm_python(), "-P", "-m", "lerim", "worker", "sync", "--repo", str(repo)]
    pipe = asyncio.subprocess.PIPE
    job = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=server_environ())
    assert job.stdout is not None
    assert job.stdin is not None
    assert (await job.stdout.readline()).startswith(b'{"event":"progress"')
    job.stdin.close()
    assert await job.wait() == 1


def handle_in(hover: str | None) -> str:
    return re.findall(r"lerim\.openTurn\?%5B%22([0-9a-f]+)%22%5D", hover or "")[0]
