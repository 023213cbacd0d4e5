"""The server is killed at any moment while it syncs: the next one starts, and nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from desk import Desk, correction
from hang import HANG
from lerim.project import project
from lerim.views import find_running_server
from lerim.web import start_server
from lerim.web.binding import ServeOptions
from lerim.web.running import request_server
from long import at_most
from model_desk import environ

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's")
SUBJECTS = ("pathlib", "httpx", "msgspec", "sqlite", "logging", "asyncio")
KILLS = at_most(200, 2)


def test_nothing_is_lost_or_doubled_however_often_the_server_is_killed(desk: Desk) -> None:
    for number, subject in enumerate(SUBJECTS):
        desk.session(f"s{number}", *correction(desk, subject, "src/app.py", f"the old {subject} way"))
    project.add_project(desk.place.project, desk.home)
    path = f"/api/v1/projects/{desk.place.project.key}/sync"
    choose = random.Random(17)
    for _ in range(KILLS):
        server = start_server(desk.home, environ(), ServeOptions(port=0))
        request_server(desk.home, server, "POST", path)
        time.sleep(choose.uniform(0, 1.5))  # the moment of the kill
        os.kill(server.pid, signal.SIGKILL)
        os.waitpid(server.pid, 0)
        assert find_running_server(desk.home) is None
    server = start_server(desk.home, environ(), ServeOptions(port=0))
    try:
        deadline = time.monotonic() + HANG
        report = None
        while report is None or report["state"] != "done":
            assert time.monotonic() < deadline, report
            request_server(desk.home, server, "POST", path)
            events = request_server(desk.home, server, "GET", f"{path}/events").decode().splitlines()
            last = json.loads(next(line for line in reversed(events) if line.startswith("data: "))[6:])
            report = last.get("report")
    finally:
        os.kill(server.pid, signal.SIGTERM)
        os.waitpid(server.pid, 0)
    killed = desk.waiting()
    assert len(killed) == len(set(killed))
    assert sorted(killed) == sorted(uninterrupted(desk))


@pytest.fixture
def terminal() -> Iterator[None]:
    """What is started gets SIGHUP as from a terminal, also where `nohup` runs the tests, which ignores it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_server_that_is_asked_to_stop_or_whose_terminal_closes_leaves_no_address_behind(
    desk: Desk, terminal: None, number: str
) -> None:
    server = start_server(desk.home, environ(), ServeOptions(port=0))
    os.kill(server.pid, getattr(signal, number))
    _, status = os.waitpid(server.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [file.name for file in desk.home.root.rglob("address.json")] == []


def uninterrupted(desk: Desk) -> list[str]:
    """What one sync proposes of the same sessions, in a home where nothing was killed."""
    import shutil

    shutil.rmtree(desk.home.root)
    shutil.rmtree(desk.repo / ".lerim")
    desk.sync()
    return desk.waiting()
