"""Two terminals that use one running server at the same moment: each is answered as if it were alone, and nothing is
lost or done twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from between import Between, stand_between
from desk import Desk, correction
from hang import HANG
from lerim.project import project
from lerim.views import find_running_server
from model_desk import SERVER, environ
from terminal import answer
from warm_python import warm_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="waits for the server as a child")


@pytest.fixture
def between(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    """A running server whose requests are noted, and sessions that wait in a registered project."""
    monkeypatch.setenv("PYTHONPATH", str(SERVER))
    for number in range(3):
        desk.session(f"s{number}", *correction(desk, f"library{number}", "src/app.py", f"module{number}"))
    project.add_project(desk.place.project, desk.home)
    answer("up", "--port", "0")
    running = find_running_server(desk.home)
    assert running is not None
    with stand_between(desk.home, running) as one:
        yield one
    answer("down")
    os.waitpid(running.pid, 0)


def at_once(desk: Desk, *commands: tuple[str, ...]) -> list[tuple[int, Any]]:
    """Runs commands at the same time, each in a process of its own; their exit codes and what they print as JSON."""
    line = [warm_python(), "-m", "lerim"]
    here = ["--repo", str(desk.repo), "--json"]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen([*line, *one, *here], cwd=desk.repo, stdout=pipe, stderr=pipe, env=environ())
        for one in commands
    ]
    outputs = [process.communicate(timeout=HANG) for process in started]
    assert [error for _, error in outputs if b"Traceback" in error] == []
    return [(process.returncode, json.loads(out)) for process, (out, _) in zip(started, outputs, strict=True)]


def test_what_two_terminals_sync_decide_and_add_at_once_is_done_once_and_both_are_answered(
    desk: Desk, between: Between
) -> None:
    first, second = at_once(desk, *[("sync", "--model", "none")] * 2)
    assert [first[0], second[0]] == [0, 0]
    titles = sorted(one["title"] for one in (*first[1]["candidates"], *second[1]["candidates"]))
    assert sorted(desk.waiting()) == sorted(set(titles)) != []
    assert any(one.endswith("/sync") for one in between.requests)

    [candidate, *_] = answer("review", "list", "--repo", str(desk.repo))["candidates"]
    done = at_once(desk, *[("review", "accept", candidate["id"], "--quotes", "local")] * 2)
    results = [one for code, out in done for one in out["results"] if code == 0]
    assert sorted(one["code"] for one in results) == ["accepted", "already"]
    assert desk.memories() == [candidate["title"]]

    between.requests.clear()
    done = at_once(desk, *[("memory", "add", "--title", "Retry uploads twice")] * 2)
    assert sorted((code, out["message"].partition(":")[0]) for code, out in done) == [
        (0, "Added"),
        (0, "It exists already"),
    ]
    assert desk.memories().count("Retry uploads twice") == 1
    assert sum(one.startswith("POST ") for one in between.requests) == 2
