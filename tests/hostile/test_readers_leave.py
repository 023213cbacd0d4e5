"""What a command still writes is read by nobody any more, as after `… | head -1`: the command ends by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from asker import known
from chat_server import KEY, streams
from desk import Desk
from lerim.project import project
from lerim.views import find_running_server
from model_desk import SERVER, environ, model
from terminal import answer
from warm_python import warm_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pipe does not tell that its reader has left")

SENTENCE = "Amounts of `Money` are integer cents. [1]\n"


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", str(SERVER))
    known(desk)
    project.add_project(desk.place.project, desk.home)
    return desk


@pytest.fixture(params=["the command itself", "a running server"])
def answered_by(desk: Desk, request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "the command itself":
        yield request.param
        return
    answer("up", "--port", "0")
    running = find_running_server(desk.home)
    assert running is not None
    yield request.param
    answer("down")
    os.waitpid(running.pid, 0)


def test_an_answer_that_nobody_reads_any_more_ends_quietly_while_the_model_still_writes(
    desk: Desk, answered_by: str
) -> None:
    with model(desk, streams(SENTENCE, "The reason", end="hangs")) as service:
        command = [warm_python(), "-m", "lerim", "ask", "Why are amounts of Money cents?", "--repo", str(desk.repo)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ()) as asking:
            assert asking.stdout
            assert asking.stderr
            first = asking.stdout.readline().decode()
            asking.stdout.close()
            error = asking.stderr.read()
    assert (first, error, len(service.asked)) == (SENTENCE, b"", 1), answered_by
