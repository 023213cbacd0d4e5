"""Starting, misuse and ending of the sidecar."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from hang import HANG
from lerim.lsp.protocol import core
from lerim.lsp.server import LAZY_HANDLERS, create_server
from lerim.paths import Home
from window import Editor, server_environ, write_memory

NOISE = """
import os, sys, threading, time
def talk():
    while sys.stdout is not sys.stderr:
        time.sleep(0.001)
    for _ in range(50):
        print("Content-Length: 5\\r\\n\\r\\nstray", flush=True)
        os.write(1, b"raw noise\\n")
        time.sleep(0.005)
threading.Thread(target=talk, daemon=True).start()
"""


HEAVY = {"pydantic", "typer", "dspy", "yaml", "frontmatter", "sqlite3", "filelock", "tiktoken"}


@pytest.fixture
def noisy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that prints into whatever process imports it."""
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "sitecustomize.py").write_text(NOISE, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "noise"))


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process to be the editor: it can be killed."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.asyncio
async def test_a_bad_setting_is_one_message_and_the_server_goes_on(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start()
    assert editor.client.messages == []
    editor.configure(hover="maybe")
    await editor.until(lambda: editor.client.messages)
    assert [message.message for message in editor.client.messages] == [
        "`lerim.hover` cannot be 'maybe'; True is used instead."
    ]
    assert await editor.hover(editor.open("src/app.py"), 0, 5) is not None
    told = await editor.ask(core.DEBUG, {})
    assert told.version and told.python.startswith("3.")
    assert (told.roots[0].uri, told.roots[0].memories) == (editor.root, 1)
    assert "load" not in str(told)


@pytest.mark.asyncio
async def test_nothing_that_is_printed_reaches_the_protocol(noisy: None, process_editor: Editor) -> None:
    editor = process_editor
    write_memory(editor.repo)
    await editor.start()
    app = editor.open("src/app.py")
    for _ in range(100):
        assert await editor.hover(app, 0, 5) is not None
    assert editor.client.error is None
    editor.client.protocol.notify(core.EDITOR_MODELS, {"models": "nonsense"})
    await editor.until(lambda: any("models was not understood" in one.message for one in editor.client.log_messages))


@pytest.mark.asyncio
async def test_it_ends_when_the_editor_is_killed_although_its_pipes_stay_open(
    process_editor: Editor, bystander: subprocess.Popen[bytes]
) -> None:
    editor = process_editor
    await editor.start(process_id=bystander.pid)
    server = editor.client._server
    assert server is not None
    assert server.returncode is None
    os.kill(bystander.pid, signal.SIGKILL)
    bystander.wait()
    await editor.until(lambda: not psutil.pid_exists(server.pid) or server.returncode is not None)
    editor.client.capabilities = None  # nobody is left to say goodbye to


def test_it_ends_when_its_input_ends() -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "lerim", "lsp", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=server_environ(),
    )
    out, err = process.communicate(b"", timeout=HANG)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_it_refuses_arguments_it_does_not_know() -> None:
    command = [sys.executable, "-P", "-m", "lerim", "lsp", "--port=1"]
    done = subprocess.run(command, capture_output=True, text=True, env=server_environ(), check=False, timeout=HANG)
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_nothing_heavy_is_imported_before_initialize_is_answered() -> None:
    code = (
        "import sys, os\n"
        "from lerim.lsp.server import create_server\n"
        "from lerim.paths import Home\n"
        "create_server(Home.from_environ(os.environ), os.environ)\n"
        f"print(*{HEAVY!r} & sys.modules.keys())\n"
    )
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, env=server_environ(), check=True, timeout=HANG, capture_output=True, text=True)
    assert done.stdout == "\n"


def test_every_handler_that_is_imported_late_is_there(isolated: Path) -> None:
    create_server(Home(isolated), {})
    assert len(LAZY_HANDLERS) > 10
    for module, name in LAZY_HANDLERS:
        assert callable(getattr(importlib.import_module(f"lerim.lsp.{module}"), name))
