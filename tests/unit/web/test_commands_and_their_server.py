"""What a command does if the running server is killed, hangs or stops, what Ctrl-C does to the server's answer, and
what the terminal asks first. Each test has a server of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from between import stand_between
from chat_server import streams
from desk import Desk
from hang import HANG
from lerim.cli.terminal import EXIT_CODES
from lerim.views import RunningServer, find_running_server
from model_desk import SERVER, environ, model
from served_home import served_home
from terminal import answer, run
from warm_python import warm_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="waits for the server as a child and kills it")


@pytest.fixture
def server(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """The server of a filled home, for this test alone."""
    monkeypatch.setenv("PYTHONPATH", str(SERVER))
    with served_home(desk) as running:
        yield running


def test_a_server_that_hangs_is_waited_for_briefly_and_once_by_a_command_and_one_that_was_killed_not_at_all(
    desk: Desk, server: RunningServer
) -> None:
    here = ("--repo", str(desk.repo))
    ids = [one["id"] for one in answer("memory", "list", *here)["memories"]]
    os.kill(server.pid, signal.SIGSTOP)
    archived = run("memory", "archive", *ids, *here)
    assert (archived.exit_code, len(ids), archived.stderr.count("does not answer")) == (0, 3, 1)
    note = "note: The running server does not answer: timed out. The command goes on without"
    assert archived.stderr.startswith(note)
    assert "lerim down" in archived.stderr
    assert desk.memories() == []

    os.kill(server.pid, signal.SIGKILL)
    listed = run("memory", "list", *here)
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert run("memory", "add", "--title", "After the kill", *here).exit_code == 0
    assert desk.memories() == ["After the kill"]


@pytest.mark.parametrize("ends", ["killed", "stopped"])
def test_an_answer_that_was_begun_is_not_given_a_second_time(desk: Desk, server: RunningServer, ends: str) -> None:
    deadline = time.monotonic() + HANG
    with model(desk, streams("We use `uv`. [1]\nThe reason", end="hangs")) as service:
        command = [warm_python(), "-m", "lerim", "ask", "Do we use uv or pip?", "--repo", str(desk.repo)]
        asking = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ())
        assert asking.stdout
        first = asking.stdout.readline().decode()
        if ends == "killed":
            os.kill(server.pid, signal.SIGKILL)
        else:
            answer("down")
        rest, error = asking.communicate(timeout=HANG)
    while find_running_server(desk.home) is not None:  # the kernel frees the lock of a killed process a little later
        assert time.monotonic() < deadline
    assert (first, asking.returncode, rest) == ("We use `uv`. [1]\n", 1, b""), error.decode()
    assert b"running server" in error
    assert len(service.asked) == 1


def test_the_terminal_asks_how_quotes_are_kept_and_hears_ctrl_c_while_the_server_does_the_work(
    desk: Desk, server: RunningServer
) -> None:
    with (
        stand_between(desk.home, server) as between,
        model(desk, streams("We use `uv`. [1]\nThe reason", end="hangs")) as service,
    ):
        candidate = answer("review", "list", "--repo", str(desk.repo))["candidates"][0]["id"]
        accepted = run("review", "accept", candidate, "--repo", str(desk.repo))
        assert accepted.exit_code == 0, accepted.output
        assert "`--quotes local` keeps them on this machine" in accepted.stderr
        assert between.requests[-2:] == 2 * [between.requests[-1]]

        command = [sys.executable, "-m", "lerim", "ask", "Do we use uv or pip?", "--repo", str(desk.repo)]
        asking = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ())
        assert asking.stdout
        first = asking.stdout.readline().decode()
        asking.send_signal(signal.SIGINT)
        rest = asking.communicate(timeout=HANG)[0].decode()
    assert (first, asking.returncode, len(service.asked)) == ("We use `uv`. [1]\n", EXIT_CODES["cancelled"], 1)
    assert rest.startswith("Cancelled.\n\n[1]\n")
    assert "lerim memory show" in rest
    assert "--meaning" not in rest
    assert between.requests[-1].endswith("/ask")
