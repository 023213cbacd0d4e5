"""A Lerim home that cannot be read or written, or that is a file: a clear error, never a fault in Lerim; what needs no
home goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest
from pygls.exceptions import JsonRpcException  # noqa: TID251

from desk import Desk, correction
from lerim.lsp.protocol import core
from rights import Terminal, bound, without_rights
from window import Editor, server_environ, write_memory

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
REQUESTS: tuple[tuple[str, dict[str, object]], ...] = (
    (core.SYNC, {}),
    (core.REVIEW_LIST, {}),
    (core.REVIEW_ACT, {"id": "20260801-none", "action": "accept", "quotes": "shared"}),
    (core.REVIEW_UNDO, {}),
    (core.MEMORY_SEARCH, {"query": "load"}),
    (core.MEMORY_TITLES, {}),
    (core.MEMORY_TREE, {}),
    (core.MAINTAIN, {}),
    (core.ASK, {"question": "Why is load small?", "token": "t"}),
    (core.BENEFIT, {}),
    (core.SESSIONS_DAYS, {}),
    (core.SESSIONS_LIST, {"day": "2026-03-01"}),
    (core.SESSIONS_SEARCH, {"query": "load"}),
    (core.AGENTS, {}),
    (core.MODEL_STATUS, {}),
    (core.MODEL_CHOICES, {}),
    (core.MODEL_ALLOW, {"label": "none"}),
    (core.DEBUG, {}),
)
INTERNAL_ERROR = -32603
WORDS_OF_A_FAULT = ("unexpected", "Traceback", "fault in Lerim", "fault of Lerim")


SPOILT = ("closed", "not to be listed", "not to be written", "a file", "below a file", "closed inside")
# Those where a process can start and go on are few: the others end at its first look at the home. What a home that
# cannot be written allows is in test_read_only.
RUNNING = ("closed", "closed inside")


@pytest.fixture
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


@pytest.mark.parametrize("spoilt", SPOILT, indirect=True)
def test_every_command_says_what_is_wrong_with_the_home(spoilt: Desk, terminal: Terminal) -> None:
    faults = []
    for command in COMMANDS:
        with bound():
            done = terminal(*command, "--json")
        said = done.stdout + done.stderr
        if any(word in said for word in WORDS_OF_A_FAULT):
            faults.append((command, said[-600:]))
        elif done.returncode not in (0, 2):
            json.loads(done.stdout)
    assert faults == []


@pytest.mark.asyncio
@pytest.mark.parametrize("spoilt", RUNNING, indirect=True)
async def test_every_request_to_the_sidecar_is_answered_or_says_what_is_wrong_with_the_home(
    spoilt: Desk, window: Callable[..., Awaitable[Editor]]
) -> None:
    try:
        editor = await window(through=without_rights())
    except JsonRpcException as error:  # it does not start where nobody can tell which folder is the person's own
        assert "LERIM_HOME" in error.message and error.code != INTERNAL_ERROR
        return
    app = editor.open("src/app.py")
    assert "Keep load small" in (await editor.hover(app, 0, 5) or "")
    faults: list[object] = []
    for method, params in REQUESTS:
        try:
            answer = str(await editor.ask(method, {"root": editor.root, **params}))
        except JsonRpcException as error:
            answer = error.message
            if error.code == INTERNAL_ERROR:
                faults.append((method, answer))
        if any(word in answer for word in WORDS_OF_A_FAULT):
            faults.append((method, answer))
    assert faults == []
    editor.look_around()
    assert "Keep load small" in (await editor.hover(app, 0, 5) or "")


@pytest.mark.parametrize("spoilt", ["closed", "a file"], indirect=True)
def test_a_sync_job_says_what_is_wrong_with_the_home(spoilt: Desk) -> None:
    job = [*without_rights(), sys.executable, "-P", "-m", "lerim", "worker", "sync", "--repo", str(spoilt.repo)]
    pipe = subprocess.PIPE
    with subprocess.Popen(job, env=server_environ(), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin and process.stdout and process.stderr  # a job ends when its input does
        out, err = process.stdout.read(), process.stderr.read()
        process.stdin.close()
    assert not any(word in out + err for word in WORDS_OF_A_FAULT), out + err
    last = json.loads(out.splitlines()[-1])
    problems = last["report"]["problems"] if "report" in last else [last]
    assert all(one["message"] for one in problems), last
