"""An hour of the server, an editor and a terminal on one repository, on a clock that only the test moves."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from desk import Desk, correction
from hang import HANG
from lerim.lsp.protocol import core
from lerim.project import project
from lerim.web.daemon.daemon import Daemon
from lerim.web.running_jobs import Work
from long import at_most
from test_processes import in_terminal
from warm_python import warm_python
from window import Editor, opened_in_thread

pytestmark = pytest.mark.asyncio
MINUTES = at_most(60, 5)
START = datetime(2026, 8, 3, 9, tzinfo=UTC)


@dataclass(slots=True)
class _Clock:
    """Minutes since the start."""

    minute: int = 0

    def wall(self) -> datetime:
        return START + timedelta(minutes=self.minute)

    def monotonic(self) -> float:
        return self.minute * 60.0


async def sync_in_terminal(desk: Desk) -> None:
    process = in_terminal(desk, "sync", "--model", "none")
    await asyncio.wait_for(asyncio.to_thread(process.communicate), HANG)
    assert process.returncode in (0, 3, 4), "done, with problems, or another process was at work"


async def accept_one(editor: Editor, desk: Desk) -> None:
    """Accepts a candidate in the editor, if one waits and nothing else is deciding about it."""
    listed = await editor.ask(core.REVIEW_LIST, {"root": editor.root})
    for view in listed.candidates[:1]:
        act = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}
        await editor.ask(core.REVIEW_ACT, act)


async def test_an_hour_of_a_server_an_editor_and_a_terminal_loses_and_doubles_nothing(desk: Desk) -> None:
    project.add_project(desk.place.project, desk.home)
    time, written, chance = _Clock(), 0, Random(17)
    environ = dict(os.environ)
    work = Work(desk.home, environ)
    work.processes.executable = warm_python()
    server = Daemon(desk.home, environ, work, time.wall, time.monotonic)
    async with opened_in_thread(desk.repo) as editor:
        await editor.start()
        while time.minute < MINUTES:
            if time.minute % 4 == 0:
                file = f"src/part{written}.py"
                (desk.repo / file).write_text("def load(): ...\n", encoding="utf-8")
                # one session of two corrections, the second of which is said later
                desk.session(f"s{written // 2}", *correction(desk, f"library{written}", file, f"module{written}"))
                written += 1
                server.note_change()
            acts = [server.step()]
            if chance.random() < 0.3:
                acts.append(sync_in_terminal(desk))
            if chance.random() < 0.3:
                acts.append(editor.ask(core.SYNC, {"root": editor.root}))
            if chance.random() < 0.3:
                acts.append(accept_one(editor, desk))
            outcomes = await asyncio.wait_for(asyncio.gather(*acts, return_exceptions=True), HANG)
            assert all(not isinstance(one, AssertionError) for one in outcomes), outcomes
            time.minute += 1
        for _ in range(at_most(10, 3)):  # until nothing is put off any more
            time.minute += 40
            server.note_change()
            await asyncio.wait_for(server.step(), HANG)
    await work.close()
    found = sorted([*desk.memories(), *desk.waiting()])
    expected = [f"use library{one} instead of module{one} in src/part{one}.py" for one in range(written)]
    assert [title.lower().rstrip(".").removeprefix("no, ") for title in found] == sorted(expected)
    assert desk.sync().candidates == []
    assert sorted([*desk.memories(), *desk.waiting()]) == found
