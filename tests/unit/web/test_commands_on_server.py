"""`lerim sync` and `lerim maintain` while a server runs: it does the work, as the command would without one."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from between import stand_between
from desk import Desk, correction
from lerim.cli.jobs.on_server import run_on_server
from lerim.jobs.progress import share_progress
from lerim.jobs.report import SyncProgress, SyncReport
from lerim.project import project
from lerim.views import RunningServer, find_running_server
from lerim.web.running import request_server
from model_desk import SERVER
from reviews import added
from terminal import answer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="waits for the server as a child and kills it")


@pytest.fixture
def server(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A running server, and a session that waits in a registered project."""
    monkeypatch.setenv("PYTHONPATH", str(SERVER))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    desk.session("s1", *correction(desk))
    project.add_project(desk.place.project, desk.home)
    answer("up", "--port", "0")
    running = find_running_server(desk.home)
    assert running is not None
    yield running
    answer("down")
    os.waitpid(running.pid, 0)


def outcome(desk: Desk, server: RunningServer, kind: str) -> Any:
    """The report of the server's latest work of this kind; None without one."""
    path = f"/api/v1/projects/{desk.place.project.key}/{kind}/events"
    events = request_server(desk.home, server, "GET", path).decode().splitlines()
    last = next((line for line in reversed(events) if line.startswith("data: ")), None)
    return json.loads(last[6:])["report"] if last else None


def sync(desk: Desk) -> Any:
    return answer("sync", "--repo", str(desk.repo), "--model", "none")


def test_the_server_syncs_and_maintains_with_the_options_given_but_not_with_a_key_that_only_this_terminal_has(
    desk: Desk, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped = answer("sync", "--repo", str(desk.repo), "--model", "none", "--until", "2020-01-01")
    assert (skipped["left_out"], skipped["candidates"]) == (1, [])
    assert skipped == outcome(desk, server, "sync")

    with monkeypatch.context() as this_terminal:
        this_terminal.setenv("OPENAI_API_KEY", "sk-of-this-terminal")
        report = sync(desk)
    assert (report["state"], [one["title"] for one in report["candidates"]]) == ("done", desk.waiting())
    assert skipped == outcome(desk, server, "sync"), "the sync with the key was not the server's"

    desk.session("s2", *correction(desk, "httpx", "src/app.py", "urllib"))
    report = sync(desk)
    assert report == outcome(desk, server, "sync")
    assert (report["state"], len(report["candidates"]), len(desk.waiting())) == ("done", 1, 2)

    added(desk.place)
    report = answer("maintain", "--repo", str(desk.repo), "--dry-run")
    assert report == outcome(desk, server, "maintain")
    assert (report["dry_run"], report["counts"]["unchanged"]) == (True, 1)


def test_ctrl_c_cancels_a_sync_that_the_command_started(desk: Desk, server: RunningServer) -> None:
    for number in range(20):
        desk.session(f"more{number}", *correction(desk, "httpx", "src/app.py", f"the old way {number}"))
    seen: list[object] = []
    report = run_on_server(desk.home, desk.place.project, "sync", {}, seen.append, lambda: bool(seen))
    assert isinstance(report, SyncReport)
    assert report.state in ("cancelled", "done")  # it may have ended before
    assert sync(desk)["state"] == "done"
    assert len(desk.waiting()) == len(set(desk.waiting())) > 0


def test_waiting_for_the_sync_of_another_process_ends_with_ctrl_c_and_goes_on_without_a_server_that_is_killed(
    desk: Desk, server: RunningServer
) -> None:
    seen: list[object] = []

    def kill_server(event: object) -> None:
        if len(seen) == 1:
            os.kill(server.pid, signal.SIGKILL)
        seen.append(event)

    progress = SyncProgress("reading", 3, 9, 1)
    with share_progress(desk.home, desk.place.project.key) as share:
        share(progress)
        report = run_on_server(desk.home, desk.place.project, "sync", {}, seen.append, lambda: bool(seen))
        assert isinstance(report, SyncReport)
        assert (seen, report.state, desk.waiting()) == ([progress], "cancelled", [])
        assert run_on_server(desk.home, desk.place.project, "sync", {}, kill_server, lambda: False) is None
    assert [one["title"] for one in sync(desk)["candidates"]] == desk.waiting()


def test_a_command_goes_on_without_a_server_whose_connections_break_before_its_process_has_ended(
    desk: Desk, server: RunningServer
) -> None:
    ends: list[int] = []

    def end_server() -> bool:
        if not ends:
            ends.append(server.pid)
            os.kill(server.pid, signal.SIGTERM)
        return False

    with stand_between(desk.home, server) as between:
        between.breaks = "before"
        assert run_on_server(desk.home, desk.place.project, "sync", {}, lambda _: None, end_server) is None
        assert between.requests == [f"POST /api/v1/projects/{desk.place.project.key}/sync"]
    assert find_running_server(desk.home) is None
