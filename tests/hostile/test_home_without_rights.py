"""A Lerim home that cannot be read or written, or that is a file: a clear error, never a fault in Lerim."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from desk import Desk, correction
from rights import Terminal, without_rights
from window import write_memory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this system has other permissions")
COMMANDS = (
    ("sync",),
    ("status",),
    ("review", "list"),
    ("review", "undo"),
    ("memory", "search", "load"),
    ("memory", "archive", "20260801-keep-load-small"),
    ("maintain",),
    ("config", "show"),
    ("project", "list"),
    ("sessions", "list"),
    ("queue", "list"),
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
            request.addfinalizer(lambda: [path.chmod(0o700) for path in home.rglob("*") if path.is_dir()])
        case how:
            desk.sync()
            home.chmod({"closed": 0, "not to be listed": 0o300, "not to be written": 0o500}[how])
            request.addfinalizer(lambda: home.chmod(0o700))
    return desk


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
