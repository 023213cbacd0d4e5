"""Jobs as processes: joined, cancelled, killed. The job is a small program of the test that speaks the same lines."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from lerim.lsp.jobs import JobError, Jobs
from lerim.report import SyncReport
from lerim.worker import Line

pytestmark = pytest.mark.asyncio

REPORT = (
    '{"event":"report","report":{"project":"p","sessions":{},"candidates":[],"dropped":{},"dropped_items":[],'
    '"withdrawn":[],"problems":[],"state":"STATE"}}'
)
PROGRESS = '{"event":"progress","stage":"reading","sessions_done":0,"sessions_total":1,"candidates":0}'


@pytest.fixture
def jobs(tmp_path: Path):
    """Jobs whose program is the given body; `say` prints a line, `log` is a file every start is noted in."""

    def make(body: str) -> Jobs:
        program = tmp_path / "job"
        program.write_text(
            f"#!{sys.executable}\nimport os, signal, sys, time\n"
            f"def say(line): print(line, flush=True)\n"
            f"open({str(tmp_path / 'log')!r}, 'a').write(str(os.getpid()) + ' ' + ' '.join(sys.argv[1:]) + '\\n')\n"
            f"PROGRESS, REPORT = {PROGRESS!r}, {REPORT!r}\n{body}\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
        return Jobs(dict(os.environ), tmp_path, str(program))

    return make


def starts(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


async def begun(jobs: Jobs, told: list[Line], *, explicit: bool = True) -> asyncio.Task[SyncReport]:
    """A sync that has said its first line."""
    first = asyncio.Event()

    def tell(line: Line) -> None:
        told.append(line)
        first.set()

    task = asyncio.create_task(jobs.sync("key", Path("/repo"), tell, explicit=explicit))
    await asyncio.wait_for(first.wait(), 30)
    return task


WAITS = "say(PROGRESS)\nsys.stdin.readline()\nsay(REPORT.replace('STATE', 'cancelled'))"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(PROGRESS)\nwhile True: time.sleep(1)"


async def test_its_lines_come_up_and_its_report_is_the_answer(jobs, tmp_path: Path) -> None:
    told: list[Line] = []
    made = jobs("say(PROGRESS)\nsay('not a line')\nsay(REPORT.replace('STATE', 'done'))")
    report = await made.sync("key", Path("/a b/$(x)"), told.append, explicit=True)
    assert (report.project, report.state, len(told)) == ("p", "done", 1)
    assert made.running == {}
    assert starts(tmp_path)[0].endswith("-m lerim worker sync --repo /a b/$(x) --explicit")


async def test_a_cancelled_job_is_asked_first(jobs) -> None:
    made = jobs(WAITS)
    task = await begun(made, [])
    process = made.running["key"].process
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert process.returncode == 0
    assert made.running == {}


async def test_a_job_that_does_not_listen_is_killed(jobs) -> None:
    made = jobs(DEAF)
    task = await begun(made, [])
    process = made.running["key"].process
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert process.returncode == -9
    assert made.running == {}


async def test_a_second_caller_joins_and_cancelling_one_of_two_leaves_the_job(jobs, tmp_path: Path) -> None:
    made = jobs(WAITS)
    first = await begun(made, [])
    second = asyncio.create_task(made.sync("key", Path("/repo"), lambda _: None, explicit=True))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert made.running["key"].process.returncode is None
    made.running["key"].process.stdin.write(b"\n")
    assert (await second).project == "p"
    assert len(starts(tmp_path)) == 1


async def test_a_sync_right_after_a_cancel_waits_for_the_end_and_is_a_new_one(jobs, tmp_path: Path) -> None:
    again = f"if len(open({str(tmp_path / 'log')!r}).readlines()) > 1: say(REPORT.replace('STATE', 'done'))\nelse:\n"
    made = jobs(again + "\n".join(f"    {line}" for line in WAITS.split("\n")))
    cancelled = await begun(made, [])
    cancelled.cancel()
    await asyncio.sleep(0)
    report = await made.sync("key", Path("/repo"), lambda _: None, explicit=True)
    assert (report.state, len(starts(tmp_path))) == ("done", 2)
    with pytest.raises(asyncio.CancelledError):
        await cancelled


async def test_a_sync_does_not_wait_for_ever_for_a_cancelled_one(jobs) -> None:
    made = jobs(WAITS)
    made.patience = 0.01
    first = await begun(made, [])
    made.running["key"].cancelled = True  # and nobody ends it, as where a kill has no effect
    with pytest.raises(JobError, match="cancelled"):
        await made.sync("key", Path("/repo"), lambda _: None, explicit=True)
    made.kill_all()
    assert (await first).state == "cancelled"


async def test_an_explicit_sync_runs_again_after_the_idle_one_it_waited_for(jobs, tmp_path: Path) -> None:
    made = jobs("say(PROGRESS)\n'--explicit' in sys.argv or sys.stdin.readline()\nsay(REPORT.replace('STATE', 'done'))")
    idle = await begun(made, [], explicit=False)
    asked = asyncio.create_task(made.sync("key", Path("/repo"), lambda _: None, explicit=True))
    await asyncio.sleep(0)
    made.running["key"].process.stdin.write(b"\n")
    await asyncio.gather(idle, asked)
    assert [line.endswith("--explicit") for line in starts(tmp_path)] == [False, True]


async def test_a_job_that_dies_or_does_not_start_is_an_error(jobs, tmp_path: Path) -> None:
    with pytest.raises(JobError, match="exit code 3"):
        await jobs("sys.exit(3)").sync("key", Path("/repo"), lambda _: None, explicit=True)
    with pytest.raises(JobError, match="could not be started"):
        await Jobs({}, tmp_path, str(tmp_path / "none")).sync("key", Path("/repo"), lambda _: None, explicit=True)


async def test_a_busy_project_is_a_report_and_another_error_keeps_its_code(jobs) -> None:
    busy = jobs('say(\'{"event":"error","code":"busy","message":"process 7 is syncing"}\')')
    report = await busy.sync("key", Path("/repo"), lambda _: None, explicit=True)
    assert (report.state, report.message) == ("busy", "process 7 is syncing")
    failed = jobs('say(\'{"event":"error","code":"catalog","message":"The catalog is broken."}\')')
    with pytest.raises(JobError, match="catalog is broken") as caught:
        await failed.sync("key", Path("/repo"), lambda _: None, explicit=True)
    assert caught.value.code == "catalog"


async def test_everything_is_killed_at_the_end(jobs) -> None:
    made = jobs(DEAF)
    task = await begun(made, [])
    made.kill_all()
    with pytest.raises(JobError):
        await task
