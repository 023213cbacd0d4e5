"""A Lerim home that cannot be read or written, or that is a file: a clear error, never a fault in Lerim."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from desk import Desk, correction
from lerim.lsp import protocol
from lerim.review import queue
from rights import Terminal, without_rights
from window import Editor, write_memory
from pygls.exceptions import JsonRpcException  # noqa: TID251

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has other permissions")
COMMANDS = (
    ("sync",),
    ("status",),
    ("doctor",),
    ("review", "list"),
    ("review", "undo"),
    ("review", "accept", "20260801-one", "--quotes", "shared"),
    ("memory", "list"),
    ("memory", "search", "load"),
    ("memory", "add", "decision", "--title", "Use it", "--body", "Because."),
    ("memory", "archive", "20260801-keep-load-small"),
    ("maintain",),
    ("config", "show"),
    ("config", "set", "sync.since", "7d"),
    ("project", "list"),
    ("sessions", "list"),
    ("sessions", "search", "load"),
    ("stats",),
    ("usage",),
    ("queue", "list"),
    ("model", "show"),
    ("ask", "what is load"),
)


@pytest.fixture(params=["closed", "not to be listed", "not to be written", "a file", "below a file", "closed inside"])
def spoilt(desk: Desk, request: pytest.FixtureRequest, closed: Callable[..., None]) -> Desk:
    """A desk with a memory and a session, whose home is of no use."""
    write_memory(desk.repo)
    desk.session("s1", *correction(desk))
    home = desk.home.root
    match request.param:
        case "a file":
            home.write_text("", encoding="utf-8")
        case "below a file":
            request.getfixturevalue("monkeypatch").setenv("LERIM_HOME", str(desk.repo / "src" / "app.py" / "home"))
        case "closed inside":
            desk.sync()
            for path in home.rglob("*"):
                if path.is_dir():
                    path.chmod(0)
            request.addfinalizer(lambda: [path.chmod(0o700) for path in home.rglob("*") if path.is_dir()])  # noqa: PT021
        case how:
            desk.sync()
            home.chmod({"closed": 0, "not to be listed": 0o300, "not to be written": 0o500}[how])
            request.addfinalizer(lambda: home.chmod(0o700))  # noqa: PT021
    return desk


@pytest.mark.timeout(300)
def test_every_command_says_what_is_wrong_with_the_home(spoilt: Desk, terminal: Terminal) -> None:
    faults = []
    for command in COMMANDS:
        done = terminal(*command, "--json", through=without_rights())
        said = done.stdout + done.stderr
        if "unexpected" in said or "Traceback" in said or "fault in Lerim" in said:
            faults.append((command, said[-600:]))
        elif done.returncode not in (0, 2):
            json.loads(done.stdout)
    assert faults == []
