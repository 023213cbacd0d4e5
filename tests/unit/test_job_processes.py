"""Jobs as processes: joined, cancelled, killed. The job is a small program of the test that speaks the same lines."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hang import HANG
from lerim.assistant.answers import Question
from lerim.jobs.processes import EditorAsker, JobError, JobProcesses
from lerim.jobs.report import SyncReport
from lerim.jobs.worker import JobLine
from lerim.models.editor import EditorAnswer, EditorQuestion, EditorRefusal

pytestmark = pytest.mark.asyncio

REPORT = (
    '{"event":"report","report":{"project":"p","sessions":{},"candidates":[],"dropped":{},"dropped_items":[],'
    '"withdrawn":[],"problems":[],"state":"STATE"}}'
)
PROGRESS = '{"event":"progress","stage":"reading","sessions_done":0,"sessions_total":1,"candidates":0}'


async def nobody(line: EditorQuestion, _explicit: bool, _hear: Callable[[str], None]) -> EditorRefusal:
    """An editor without models."""
    return EditorRefusal(line.id, "not-found")


@pytest.fixture
def jobs(tmp_path: Path):
    """Jobs whose program is the given body; `say` prints a line, `log` is a file every start is noted in."""

    def make(body: str, asker: EditorAsker = nobody) -> JobProcesses:
        program = tmp_path / "job"
        program.write_text(
            f"#!{sys.executable}\nimport os, signal, sys, time\n"
            f"def say(line): print(line, flush=True)\n"
            f"open({str(tmp_path / 'log')!r}, 'a').write(str(os.getpid()) + ' ' + ' '.join(sys.argv[1:]) + '\\n')\n"
            f"PROGRESS, REPORT = {PROGRESS!r}, {REPORT!r}\n{body}\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
        return JobProcesses(lambda: dict(os.environ), tmp_path, asker, str(program))

    return make


def starts(folder: Path) -> list[str]:
    return (folder / "log").read_text(encoding="utf-8").splitlines()


async def begun(jobs: JobProcesses, *, explicit: bool = True) -> asyncio.Task[SyncReport]:
    """A sync that has said its first line."""
    first = asyncio.Event()
    task = asyncio.create_task(jobs.sync("key", Path("/repo"), lambda _: first.set(), explicit=explicit))
    await asyncio.wait_for(first.wait(), HANG)
    return task


async def synced(jobs: JobProcesses) -> SyncReport:
    """The report of a sync that a person started."""
    return await jobs.sync("key", Path("/repo"), lambda _: None, explicit=True)


WAITS = "say(PROGRESS)\nsys.stdin.readline()\nsay(REPORT.replace('STATE', 'cancelled'))"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(PROGRESS)\nwhile True: time.sleep(1)"


async def test_its_lines_come_up_and_its_report_is_the_answer(jobs, tmp_path: Path) -> None:
    told: list[JobLine] = []
    made = jobs("say(PROGRESS)\nsay('not a line')\nsay(REPORT.replace('STATE', 'done'))")
    report = await made.sync("key", Path("/a b/$(x)"), told.append, explicit=True)
    assert (report.project, report.state, len(told)) == ("p", "done", 1)
    assert made.running == {}
    assert starts(tmp_path)[0].endswith("-m lerim worker sync --repo /a b/$(x) --explicit")


@pytest.mark.parametrize(("body", "code"), [(WAITS, 0), (DEAF, -9)])
async def test_a_cancelled_job_is_asked_first_and_killed_if_it_does_not_listen(jobs, body: str, code: int) -> None:
    made = jobs(body)
    task = await begun(made)
    process = made.running["key"].process
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (process.returncode, made.running) == (code, {})


async def test_a_second_caller_joins_and_cancelling_one_of_two_leaves_the_job(jobs, tmp_path: Path) -> None:
    made = jobs(WAITS)
    first = await begun(made)
    second = asyncio.create_task(synced(made))
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
    cancelled = await begun(made)
    cancelled.cancel()
    await asyncio.sleep(0)
    report = await synced(made)
    assert (report.state, len(starts(tmp_path))) == ("done", 2)
    with pytest.raises(asyncio.CancelledError):
        await cancelled


async def test_a_sync_does_not_wait_for_ever_for_a_cancelled_one(jobs) -> None:
    made = jobs(WAITS)
    made.cancel_wait_seconds = 0.01
    first = await begun(made)
    made.running["key"].cancelled = True  # and nobody ends it, as where a kill has no effect
    with pytest.raises(JobError, match="cancelled"):
        await synced(made)
    made.kill_all()
    assert (await first).state == "cancelled"


async def test_an_explicit_sync_runs_again_after_the_idle_one_it_waited_for(jobs, tmp_path: Path) -> None:
    made = jobs("say(PROGRESS)\n'--explicit' in sys.argv or sys.stdin.readline()\nsay(REPORT.replace('STATE', 'done'))")
    idle = await begun(made, explicit=False)
    asked = asyncio.create_task(synced(made))
    await asyncio.sleep(0)
    made.running["key"].process.stdin.write(b"\n")
    await asyncio.gather(idle, asked)
    assert [line.endswith("--explicit") for line in starts(tmp_path)] == [False, True]


async def test_a_job_that_dies_or_does_not_start_is_an_error(jobs, tmp_path: Path) -> None:
    with pytest.raises(JobError, match="exit code 3"):
        await synced(jobs("sys.exit(3)"))
    with pytest.raises(JobError, match="could not be started"):
        await synced(JobProcesses(dict, tmp_path, nobody, str(tmp_path / "none")))


async def test_a_busy_project_is_a_report_and_another_error_keeps_its_code(jobs) -> None:
    busy = jobs('say(\'{"event":"error","code":"busy","message":"process 7 is syncing"}\')')
    for report in (
        await synced(busy),
        await busy.maintain("key", Path("/repo"), lambda _: None),
    ):
        assert (report.state, report.message) == ("busy", "process 7 is syncing")
    failed = jobs('say(\'{"event":"error","code":"catalog","message":"The catalog is broken."}\')')
    with pytest.raises(JobError, match="catalog is broken") as caught:
        await synced(failed)
    assert caught.value.code == "catalog"
    with pytest.raises(JobError, match="The maintenance ended without a report"):
        await jobs("sys.exit(3)").maintain("key", Path("/repo"), lambda _: None)


async def test_everything_is_killed_at_the_end(jobs) -> None:
    made = jobs(DEAF)
    task = await begun(made)
    made.kill_all()
    with pytest.raises(JobError):
        await task


QUESTION = '{"event":"ask","id":%d,"model":"a/b","system":"","prompt":"%s","max_tokens":null}'
ASKS = "say('" + QUESTION % (1, "one") + "')\nsay('" + QUESTION % (2, "two") + "')\n"
TELLS = "open({!r}, 'w').write(sys.stdin.readline() + sys.stdin.readline())\nsay(REPORT.replace('STATE', 'done'))"


async def test_questions_to_the_editors_models_are_asked_at_once_and_answered_to_the_job(jobs, tmp_path: Path) -> None:
    asked: list[tuple[str, bool]] = []
    both = asyncio.Event()

    async def asker(line: EditorQuestion, explicit: bool, _hear: Callable[[str], None]) -> EditorAnswer | EditorRefusal:
        asked.append((line.prompt, explicit))
        if len(asked) == 2:
            both.set()
        await both.wait()
        return EditorAnswer(line.id, "yes\n") if line.prompt == "one" else EditorRefusal(line.id, "quota", "monthly")

    heard = tmp_path / "heard"
    report = await jobs(ASKS + TELLS.format(str(heard)), asker).sync("key", Path("/repo"), print, explicit=False)
    assert (report.state, asked) == ("done", [("one", False), ("two", False)])
    lines = sorted(heard.read_text(encoding="utf-8").splitlines())
    assert lines == [
        '{"event":"answer","id":1,"text":"yes\\n"}',
        '{"event":"refused","id":2,"why":"quota","message":"monthly"}',
    ]


async def test_what_the_job_takes_back_and_what_it_leaves_open_is_asked_no_longer(jobs) -> None:
    ended: list[int] = []
    waiting: list[int] = []
    second = asyncio.Event()

    async def asker(line: EditorQuestion, _explicit: bool, _hear: Callable[[str], None]) -> EditorAnswer:
        waiting.append(line.id)
        if line.id == 2:
            second.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(line.id)
        raise AssertionError

    unask = """say('{"event":"unask","id":1}')\nsay('{"event":"unask","id":7}')\n"""
    made = jobs(ASKS + unask + WAITS, asker)
    task = await begun(made)
    await asyncio.wait_for(second.wait(), HANG)
    assert ended == waiting[:-1]  # the first was taken back, perhaps before its turn came
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert ended == waiting


async def test_an_asker_that_fails_is_an_answer_to_the_job_all_the_same(jobs, tmp_path: Path) -> None:
    async def asker(_line: EditorQuestion, _explicit: bool, _hear: Callable[[str], None]) -> EditorAnswer:
        raise RuntimeError("secret")

    heard = tmp_path / "heard"
    await jobs(ASKS + TELLS.format(str(heard)), asker).sync("key", Path("/repo"), print, explicit=True)
    assert heard.read_text(encoding="utf-8").count('"why":"failed","message":""') == 2


SENTENCE = '{"event":"said","sentence":{"text":"It is so.","citations":[]}}'


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("", "without an answer"),
        ('say(\'{"event":"result","result":{"text":"of another version"}}\')', "without an answer"),
        ('say(\'{"event":"error","code":"catalog","message":"It is damaged."}\')', "damaged"),
    ],
)
async def test_a_question_without_an_answer_is_an_error(jobs, end: str, message: str) -> None:
    made = jobs(f"sys.stdin.readline()\n{end}")
    with pytest.raises(JobError, match=message):
        await made.ask(Path("/repo"), Question("why?"), lambda _: None)


async def test_a_question_that_is_cancelled_is_gone_also_if_its_process_is_deaf(jobs, tmp_path: Path) -> None:
    first = asyncio.Event()
    made = jobs(f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay({SENTENCE!r})\nwhile True: time.sleep(1)")
    task = asyncio.create_task(made.ask(Path("/repo"), Question("why?"), lambda _: first.set()))
    await asyncio.wait_for(first.wait(), HANG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, HANG)
    pid = int(starts(tmp_path)[0].split()[0])
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("the process lives")
    assert made.one_off_processes == set()
