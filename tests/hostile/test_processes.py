"""Windows, terminals and jobs that are killed or meet on one repository."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import psutil
import pytest

from claude_lines import prompt, reply, text
from desk import Desk, correction
from hang import HANG
from lerim.lsp.protocol import core
from long import times
from warm_python import warm_python
from window import Editor, opened, server_environ

pytestmark = pytest.mark.asyncio
Window = Callable[..., Awaitable[Editor]]
KILLS = CANDIDATES = times(1)


def rules(desk: Desk, count: int) -> None:
    """Sessions in each of which the person corrects the agent, of a file of its own, between long talk."""
    words = "It uses `load` in src/app.py and goes on about it at some length. " * 40
    for number in range(count):
        file = f"src/part{number}.py"
        (desk.repo / file).write_text("def load(): ...\n", encoding="utf-8")
        talk = [(prompt(f"What is next, {turn}?"), reply(f"{number}-{turn}", text(words))) for turn in range(10)]
        said = correction(desk, f"library{number}", file, f"module{number}")
        desk.session(f"s{number}", *said, *(record for pair in talk for record in pair))


def in_terminal(desk: Desk, *arguments: str) -> subprocess.Popen[str]:
    """A command that was just started."""
    command = [warm_python(), "-P", "-m", "lerim", *arguments, "--json"]
    return subprocess.Popen(command, cwd=desk.repo, env=server_environ(), stdout=subprocess.PIPE, text=True)


def pid_of(editor: Editor) -> int:
    assert editor.client._server is not None
    return editor.client._server.pid


def processes_of(mark: str) -> list[psutil.Process]:
    """Every process that was started with this home, wherever it hangs in the tree."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != "zombie" and process.environ().get("LERIM_HOME") == mark:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return [process for process in found if process.pid != os.getpid()]


async def test_a_sidecar_killed_at_any_instant_of_a_sync_leaves_no_job_and_the_next_start_is_clean(
    desk: Desk, repo: Path
) -> None:
    rules(desk, 3)
    chance = Random(7)
    for _ in range(KILLS):
        async with opened(repo) as editor:
            await editor.start()
            asked = asyncio.ensure_future(editor.ask(core.SYNC, {"root": editor.root}))
            await editor.until(lambda: psutil.Process(pid_of(editor)).children())
            await asyncio.sleep(chance.uniform(0, 0.3))  # the instant, not a wait for something
            os.kill(pid_of(editor), signal.SIGKILL)
            async with asyncio.timeout(HANG):
                while processes_of(str(desk.home.root)):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            asked.cancel()
            editor.client.capabilities = None
    async with opened(repo) as editor:
        await editor.start()
        report = await editor.ask(core.SYNC, {"root": editor.root})
        assert (report.state, report.problems) == ("done", [])
        listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
        assert listed.problems == []
        assert sorted(view.title for view in listed.candidates) == sorted(set(desk.waiting()))
        assert len(listed.candidates) == 3


async def test_two_windows_and_a_terminal_that_sync_at_once_do_the_work_once_and_the_others_say_who(
    desk: Desk, window: Window
) -> None:
    rules(desk, 3)
    windows = [await window(process=True), await window()]
    terminal = in_terminal(desk, "sync")
    asked = [editor.ask(core.SYNC, {"root": editor.root}) for editor in windows]
    reports = await asyncio.gather(*asked)
    out, _ = await asyncio.to_thread(terminal.communicate, timeout=HANG)
    answer = json.loads(out)

    states = [*((report.state, report.message) for report in reports)]
    states.append(("busy", answer["error"]["message"]) if "error" in answer else (answer["state"], answer["message"]))
    assert [state for state, _ in states].count("done") >= 1
    for state, message in states:
        assert state in ("done", "busy"), states
        if state == "busy":
            assert "process" in message
            assert "is syncing" in message
    waiting = desk.waiting()
    assert len(waiting) == len(set(waiting)) == 3
    for editor in windows:
        assert len((await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates) == 3


async def test_one_candidate_accepted_by_two_windows_and_a_terminal_is_one_memory(desk: Desk, window: Window) -> None:
    rules(desk, CANDIDATES)
    desk.sync()
    windows = [await window(process=True), await window()]
    listed = await windows[0].ask(core.REVIEW_LIST, {"root": windows[0].root})
    for view in listed.candidates:
        terminal = in_terminal(desk, "review", "accept", view.id, "--quotes", "shared")
        wanted = {"root": windows[0].root, "id": view.id, "action": "accept", "quotes": "shared"}
        results = await asyncio.gather(*(editor.ask(core.REVIEW_ACT, wanted) for editor in windows))
        out, _ = await asyncio.to_thread(terminal.communicate, timeout=HANG)
        codes = sorted([*(result.code for result in results), json.loads(out)["results"][0]["code"]])
        assert codes == ["accepted", "already", "already"]
    assert len(desk.memories()) == len(set(desk.memories())) == CANDIDATES
    assert desk.waiting() == []
