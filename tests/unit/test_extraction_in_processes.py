"""A sync of many sessions extracts in processes beside the one that writes: real processes, killed and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from desk import Desk, correction
from hang import HANG
from lerim.errors import ReaderError
from lerim.jobs.extracting import (
    ExtractedSession,
    ExtractionRequest,
    ReadingScope,
    extract_session,
    process_pool,
)
from lerim.jobs.extracting.process_pool import ProcessPool
from lerim.jobs.report import CandidateFound, SyncEvent, SyncProgress
from lerim.jobs.sync_context import SyncOptions
from lerim.paths import Home
from lerim.project import FolderOwners
from lerim.sessions import Transcript, discover_stores

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals stop and kill the processes")
SUBJECTS = ("pathlib", "tomllib", "httpx", "msgspec", "attrs", "orjson")


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool(1)
    yield pool
    pool.close()


@pytest.fixture
def eager(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A repository with sessions for which a sync starts a process."""
    monkeypatch.setattr("lerim.jobs.steps.rules.count_processes", lambda: 1)
    monkeypatch.setattr("lerim.jobs.steps.rules.MIN_POOL_BYTES", 1)
    write_sessions(desk)
    return desk


def write_sessions(desk: Desk) -> None:
    for number, subject in enumerate(SUBJECTS):
        desk.session(f"s{number}", *correction(desk, subject, f"src/{subject}.py"))


def requests(desk: Desk) -> list[ExtractionRequest]:
    write_sessions(desk)
    found: list[Transcript] = discover_stores({"claude": [desk.projects.parent]}).transcripts
    scope = ReadingScope(desk.place.project, FolderOwners([desk.place.project]), time.time())
    return [ExtractionRequest(one, scope) for one in sorted(found, key=lambda one: one.place)]


def the_process(pool: ProcessPool) -> subprocess.Popen[bytes]:
    return pool._children[-1].process


@pytest.mark.parametrize("explicit", [True, False])
def test_processes_find_the_same_in_the_same_order(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, explicit: bool
) -> None:
    write_sessions(desk)
    submitted = 0
    submit = ProcessPool.submit

    def count(pool: ProcessPool, request: ExtractionRequest) -> Future[ExtractedSession | None]:
        nonlocal submitted
        submitted += 1
        return submit(pool, request)

    def sync(home: str) -> list[str]:
        found: list[str] = []

        def note(event: SyncEvent) -> None:
            if isinstance(event, CandidateFound):
                found.append(event.candidate.title)

        desk.home = Home(tmp_path / home)
        assert desk.sync(SyncOptions(explicit=explicit), note).sessions.new == len(SUBJECTS)
        return found

    monkeypatch.setattr(ProcessPool, "submit", count)
    monkeypatch.setattr("lerim.jobs.steps.rules.count_processes", lambda: 2)
    alone = sync("alone")
    assert (len(alone), submitted) == (len(SUBJECTS), 0)  # so little is not worth a process
    for waiting in (desk.repo / ".lerim" / "review").glob("*.md"):
        waiting.unlink()
    monkeypatch.setattr("lerim.jobs.steps.rules.MIN_POOL_BYTES", 1)
    assert (sync("together"), submitted) == (alone, len(SUBJECTS) - 1)  # all but the first


def test_sessions_are_indexed_and_summarized_while_processes_extract(
    eager: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = eager
    for limit in ("FIRST_BATCH_BYTES", "INDEX_BATCH_BYTES", "BATCH_SIZE"):
        monkeypatch.setattr(f"lerim.jobs.steps.rules.{limit}", 1)
    monkeypatch.setattr(process_pool, "SESSIONS_AHEAD", 1)
    progress: list[SyncProgress] = []
    summarized: list[int] = []
    """How many sessions were summarized when each candidate was found."""

    def note(event: SyncEvent) -> None:
        if isinstance(event, SyncProgress):
            progress.append(event)
        elif isinstance(event, CandidateFound):
            summarized.append(len([*(desk.repo / ".lerim").rglob("summaries/*/*/*.md")]))

    assert len(desk.sync(emit=note).candidates) == len(SUBJECTS)
    assert summarized == [*range(len(SUBJECTS))]
    learning = [one for one in progress if one.stage == "learning"]
    assert [(one.sessions_done, one.sessions_total) for one in learning] == [(at, len(SUBJECTS)) for at in range(6)]
    assert "reading" in [one.stage for one in progress[progress.index(learning[1]) :]]


def test_a_session_that_ends_its_process_fails_alone(desk: Desk, pool: ProcessPool) -> None:
    first, poisoned, last = requests(desk)[:3]
    assert pool.submit(first).result(60) == extract_session(first)
    process = the_process(pool)
    process.send_signal(signal.SIGSTOP)
    waiting = pool.submit(poisoned)
    process.kill()
    with pytest.raises(ReaderError, match="ended before it had finished") as error:
        waiting.result(60)
    assert error.value.where == poisoned.transcript.place
    assert pool.submit(last).result(60) == extract_session(last)
    assert the_process(pool).pid != process.pid


def test_a_session_that_takes_too_long_is_given_up(
    desk: Desk, pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, hanging = requests(desk)[:2]
    pool.submit(first).result(60)
    the_process(pool).send_signal(signal.SIGSTOP)
    monkeypatch.setattr(process_pool, "MIN_HANG_SECONDS", 0.1)
    with pytest.raises(ReaderError, match="took too long"):
        pool.submit(hanging).result(60)


def test_a_process_that_does_not_start_is_done_without(eager: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    report = eager.sync()
    assert (len(report.candidates), report.problems) == (len(SUBJECTS), [])


def test_a_cancelled_sync_ends_a_process_that_hangs_and_the_next_one_finds_everything(
    eager: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, start = eager, ProcessPool.__init__
    pools: list[ProcessPool] = []

    def start_stopped(pool: ProcessPool, size: int) -> None:
        start(pool, size)
        the_process(pool).send_signal(signal.SIGSTOP)
        pools.append(pool)

    monkeypatch.setattr(ProcessPool, "__init__", start_stopped)
    monkeypatch.setattr(process_pool, "SESSIONS_AHEAD", 4)  # fewer than the sessions of this test
    submitted: list[ExtractionRequest] = []
    submit = ProcessPool.submit

    def note(pool: ProcessPool, request: ExtractionRequest) -> Future[ExtractedSession | None]:
        submitted.append(request)
        return submit(pool, request)

    monkeypatch.setattr(ProcessPool, "submit", note)

    def cancelled() -> bool:
        return len(submitted) == process_pool.SESSIONS_AHEAD

    report = desk.sync(SyncOptions(explicit=False), cancelled=cancelled)
    assert (report.state, len(report.candidates)) == ("cancelled", 1)  # the first was extracted by the sync itself
    assert the_process(pools[0]).returncode is not None
    monkeypatch.setattr(ProcessPool, "__init__", start)
    assert len(desk.sync().candidates) == len(SUBJECTS) - 1


def test_processes_end_with_a_parent_that_was_killed() -> None:
    program = (
        "import sys, time\n"
        "from lerim.jobs.extracting import ProcessPool\n"
        "pool = ProcessPool(2)\n"
        "print(*(child.process.pid for child in pool._children), flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + HANG
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_running, pids))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
