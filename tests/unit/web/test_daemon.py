"""The daemon over a real repository and real jobs; only its clocks are the test's."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import watchfiles

from desk import Desk, correction
from hang import HANG
from lerim.hook import find_hook_index
from lerim.jobs import FailureLine, SyncReportLine
from lerim.jobs.progress import find_sync_elsewhere, share_progress, wait_for_other_sync
from lerim.jobs.report import SyncProgress
from lerim.project import project
from lerim.project.lock import hold_project_lock
from lerim.web.daemon import watching
from lerim.web.daemon.daemon import Daemon
from lerim.web.daemon.schedule import Timings
from lerim.web.running_jobs import Work
from reviews import added
from warm_python import warm_python

pytestmark = pytest.mark.asyncio
QUICK = Timings(quiet=0.01, longest_wait=0.05, settle=0.05, tick=0.05, jump=120, retry=0.05, longest_retry=0.1)


@asynccontextmanager
async def daemon(desk: Desk, timings: Timings = QUICK, hours: float = 0.0) -> AsyncIterator[Daemon]:
    """A daemon at work, whose clock is some hours ahead."""
    project.add_project(desk.place.project, desk.home)
    work = Work(desk.home, dict(os.environ))
    work.processes.executable = warm_python()
    made = Daemon(
        desk.home, dict(os.environ), work, lambda: datetime.now(UTC) + timedelta(hours=hours), timings=timings
    )
    task = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.wait({task})
        await work.close()


async def until(what: str, check: Callable[[], bool]) -> None:
    """Waits until this is true."""
    async with asyncio.timeout(HANG):
        while not check():  # noqa: ASYNC110 - what is waited for happens in other processes, too
            await asyncio.sleep(0.02)


async def test_a_new_session_is_found_and_its_candidates_wait(desk: Desk) -> None:
    desk.projects.mkdir(parents=True)
    async with daemon(desk):
        desk.session("s1", *correction(desk))
        await until("the candidate waits", lambda: len(desk.waiting()) == 1)


async def test_work_that_is_cancelled_before_it_begins_has_ended_and_can_be_started_again(desk: Desk) -> None:
    work = Work(desk.home, dict(os.environ))
    for _ in range(2):
        assert work.start("maintain", desk.place.project, explicit=True)
        assert work.cancel("maintain", desk.place.project)
        outcome = await work.wait("maintain", desk.place.project)
        assert isinstance(outcome, FailureLine)
        assert outcome.code == "cancelled"
        assert not work.is_running("maintain", desk.place.project)


async def test_a_sync_is_good_even_if_the_files_of_agents_cannot_be_refreshed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen.__init__

    def refuse_refresh(process: subprocess.Popen[bytes], argv: Sequence[str], **options: Any) -> None:
        if "hook-refresh" in argv:
            raise RuntimeError("can't start new thread")
        start(process, argv, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse_refresh)
    index = find_hook_index(desk.place.project.root, desk.home)
    index.parent.mkdir(parents=True)
    index.touch()
    work = Work(desk.home, dict(os.environ))
    work.processes.executable = warm_python()
    desk.session("s1", *correction(desk))
    assert work.start("sync", desk.place.project, explicit=True)
    outcome = await work.wait("sync", desk.place.project)
    await work.close()
    assert isinstance(outcome, SyncReportLine), outcome
    assert len(desk.waiting()) == 1


@pytest.fixture
def list_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders of the stores are listed all the time, not every quarter of an hour."""
    monkeypatch.setattr(watching, "LIST_AGAIN_SECONDS", 0.01)


async def test_the_store_of_the_first_agent_is_noticed_when_it_appears(desk: Desk, list_often: None) -> None:
    changed = asyncio.Event()
    task = asyncio.create_task(watching.watch_stores(dict(os.environ), desk.home, changed.set))
    try:
        desk.session("s1", *correction(desk))
        async with asyncio.timeout(HANG):
            await changed.wait()
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_new_sessions_are_found_where_the_system_cannot_watch_folders(
    desk: Desk, list_often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_folders: object, **_options: object) -> AsyncIterator[object]:
        raise OSError("OS file watch limit reached")
        yield  # the function watches, as an iterator

    monkeypatch.setattr(watchfiles, "awatch", refuse)
    desk.session("s1", *correction(desk))
    async with daemon(desk):
        await until("the first candidate waits", lambda: len(desk.waiting()) == 1)
        desk.session("s2", *correction(desk, "httpx", "src/net.py", "requests"))
        await until("the second one waits, too", lambda: len(desk.waiting()) == 2)


async def test_memories_are_maintained_once_a_day(desk: Desk) -> None:
    added(desk.place)
    stamp = desk.home.project(desk.place.project.key) / "maintained.json"
    async with daemon(desk):
        await until("the memories were maintained", stamp.exists)
        first = stamp.read_bytes()
    async with daemon(desk) as running:
        for _ in range(3):
            await running.step()
        assert stamp.read_bytes() == first
    async with daemon(desk, hours=-30):
        await until("the clock was set back", lambda: stamp.read_bytes() != first)


async def test_it_leaves_a_project_alone_while_another_process_holds_it(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    key = desk.place.project.key
    async with daemon(desk) as running:
        with hold_project_lock(desk.home, key, "syncing in an editor"):
            await until("it says who is at work", lambda: "syncing in an editor" in running.state.last)
            assert desk.waiting() == []
        await until("it tried again", lambda: len(desk.waiting()) == 1)


async def test_it_waits_for_a_sync_of_another_process_and_others_see_its_progress(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    key = desk.place.project.key
    with share_progress(desk.home, key):
        found = find_sync_elsewhere(desk.home, key)
        assert found is not None
        assert found.pid == os.getpid()
        async with daemon(desk) as running:
            await until("it says who syncs", lambda: f"process {os.getpid()} is syncing" in running.state.last)
    assert find_sync_elsewhere(desk.home, key) is None


async def test_a_sync_in_the_terminal_waits_for_that_of_the_server_and_shows_its_progress(desk: Desk) -> None:
    key = desk.place.project.key
    seen: list[SyncProgress] = []
    progress = SyncProgress("reading", 3, 9, 1)
    with share_progress(desk.home, key) as share:
        share(progress)
        waiting = asyncio.create_task(
            asyncio.to_thread(wait_for_other_sync, desk.home, key, seen.append, lambda: False)
        )
        await until("its progress is seen", lambda: seen == [progress])
        assert not waiting.done()
    await asyncio.wait_for(waiting, HANG)
