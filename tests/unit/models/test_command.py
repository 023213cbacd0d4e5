"""A command of the person's own as the model: real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from engines import COMMAND, REQUEST, asking, never
from hang import HANG
from lerim.errors import ModelGoneError
from lerim.models import lm15
from lerim.models.agents.command import build_command_launch
from lerim.models.engine import Engine
from lerim.paths import Home
from lerim.process import CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, find_executable

SERVER = Path(__file__).resolve().parents[3] / "server"
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"

Made = Callable[..., Engine]


@pytest.fixture
def home(isolated: Path) -> Home:
    (isolated / ".lerim").mkdir()
    return Home(isolated / ".lerim")


@pytest.fixture
def made(home: Home) -> Made:
    """An engine whose command is a Python program."""

    def make(program: str, *arguments: str, cancelled: Callable[[], bool] = never, timeout: float = 20.0) -> Engine:
        command = (sys.executable, "-c", program, *arguments)
        return Engine(replace(COMMAND, command=command, timeout=timeout), cancelled, home=home)

    return make


FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.replace(sys.argv[1] + ".part", sys.argv[1])
"""
HANGS = FAMILY + "time.sleep(600)"
LEAVES = FAMILY + "print('ok')"


def test_no_shell_reads_its_arguments(made: Made, tmp_path: Path) -> None:
    odd = f"; touch {tmp_path}/made; $(touch {tmp_path}/made) `id` %PATH% *"
    assert made("import sys; print(sys.argv[1])", odd).complete(REQUEST).text == f"{odd}\n"
    assert list(tmp_path.iterdir()) == []


def test_output_without_end_is_left_at_a_size(made: Made) -> None:
    with pytest.raises(lm15.InvalidRequestError, match="more than 8 MB"):
        made("import sys\nwhile True: sys.stdout.write('x' * 100_000)").complete(REQUEST)


@pytest.mark.parametrize("name", ["no-such-program-anywhere", "/no/such/program", "./here", "", "a\0b"])
def test_a_program_that_is_not_there_is_told_with_what_to_do(home: Home, name: str) -> None:
    with pytest.raises(ModelGoneError, match="full path"):
        Engine(replace(COMMAND, command=(name,)), never, home=home).complete(REQUEST)


def test_a_program_in_the_folder_we_are_in_is_not_run(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent").write_text("#!/bin/sh\necho stolen\n")
    (tmp_path / "agent").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    environ = {**os.environ, "PATH": f":.:{os.environ['PATH']}"}
    with pytest.raises(ModelGoneError):
        Engine(replace(COMMAND, command=("agent",)), never, home=home, environ=environ).complete(REQUEST)
    environ["PATH"] = str(tmp_path)
    engine = Engine(replace(COMMAND, command=("agent",)), never, home=home, environ=environ)
    assert engine.complete(REQUEST).text == "stolen\n"


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes")
def test_what_a_command_leaves_behind_neither_holds_up_its_answer_nor_lives_on(made: Made, tmp_path: Path) -> None:
    assert made(LEAVES, str(tmp_path / "pids")).complete(REQUEST).text == "ok\n"
    assert dies(tmp_path / "pids")


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes")
def test_a_command_dies_with_the_process_that_asked_it(home: Home, tmp_path: Path) -> None:
    code = f"""
import sys
from dataclasses import replace
from pathlib import Path
sys.path[:0] = [{str(SERVER)!r}]
from lerim.models.agents.command import run_command
run_command(({sys.executable!r}, "-c", {HANGS!r}, {str(tmp_path / "pids")!r}), "what?", seconds=100,
    cancelled=lambda: False, environ={{"PATH": "/usr/bin"}}, folder=Path({str(home.root)!r}))
"""
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        assert until((tmp_path / "pids").exists)
        process.kill()
    assert dies(tmp_path / "pids")


def test_how_it_is_started_on_each_system() -> None:
    environ = {"PATH": "/bin", "LERIM_HOME": "/x", "lerim_editor": "{}", "OPENAI_API_KEY": "k"}
    environ |= {"LERIM_KEY_ZAI_API_KEY": "stored", "PYTHONPATH": "/server", "PYTHONSTARTUP": "/x.py"}
    posix = build_command_launch(("/bin/agent", "-p"), environ, "/py", 7, "linux")
    assert posix.argv[:3] == ("/py", "-I", "-S")
    assert posix.argv[4:] == ("7", "/bin/agent", "-p")
    assert posix.environ == {"PATH": "/bin", "OPENAI_API_KEY": "k"}
    assert (posix.creationflags, posix.new_session) == (0, True)
    windows = build_command_launch(("C:\\agent.exe", "-p"), environ, "C:\\py.exe", 7, "win32")
    assert windows.argv == ("C:\\agent.exe", "-p")
    assert (windows.creationflags, windows.new_session) == (CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP, False)


@pytest.mark.parametrize(
    ("name", "environ", "place"),
    [
        ("agent", {"Path": "C:\\tools;D:\\bin"}, "D:\\bin\\agent.CMD"),
        ("agent.cmd", {"PATH": "D:\\bin", "PATHEXT": ".EXE"}, "D:\\bin\\agent.cmd"),
        ("D:\\bin\\agent", {}, "D:\\bin\\agent.CMD"),
        ("agent", {"PATH": ".;bin;"}, None),
        ("bin\\agent", {"PATH": "D:\\"}, None),
        ("D:agent", {"PATH": "D:\\bin"}, None),
        ("agent", {}, None),
    ],
)
def test_where_windows_has_a_program(name: str, environ: dict[str, str], place: str | None) -> None:
    there = {"d:\\bin\\agent.cmd"}
    assert find_executable(name, environ, "win32", lambda path: path.lower() in there) == place


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + HANG
    while not true() and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return true()


def dies(path: Path) -> bool:
    """Whether the two processes whose numbers the test's program wrote are gone before long."""
    assert until(path.exists), "the command did not start"
    return until(lambda: not any(lives(int(pid)) for pid in path.read_text().split()))


def test_the_prompt_is_its_input_and_its_output_the_answer_in_a_neutral_folder_without_our_variables(
    made: Made, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "kept")
    told = "[sys.stdin.buffer.read().decode(), os.getcwd(), dict(os.environ)]"
    engine = made(f"import json, os, sys; print(json.dumps({told}))")
    given, folder, environ = json.loads(engine.complete(REQUEST).text)
    assert (given, Path(folder)) == ("be brief\n\nwhat? 🙂", home.root.resolve())
    assert environ["MINE"] == "kept"
    assert [name for name in environ if name.startswith("LERIM_")] == []
    assert "LERIM_HOME" in os.environ
    assert (engine.usage.calls, engine.usage.cost, engine.usage.unpriced) == (1, 0.0, 0)
    assert engine.usage.input_tokens > 0
    assert engine.usage.output_tokens > 0


def test_a_large_prompt_crosses_without_a_jam_whether_it_is_read_or_not(made: Made) -> None:
    text = "word\n" * 50_000
    assert made("print('ok')").complete(asking(text)).text == "ok\n"
    echo = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=False)\n    sys.stderr.write('x' * 20)"
    assert made(echo).complete(asking(text)).text == text.strip()


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (f"import sys; sys.exit('not logged in with {SECRET}')", "code 1: not logged in"),
        ("import sys; sys.stderr.write('long ' * 9_000 + 'end'); sys.exit(3)", "code 3: …"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "code 137"),
        ("import sys; sys.stderr.write('why'); print(' ')", "printed nothing: why"),
    ],
)
def test_a_command_that_fails_is_told_with_the_end_of_its_errors_and_not_run_again(
    made: Made, program: str, told: str, tmp_path: Path
) -> None:
    engine = made(f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\n{program}")
    with pytest.raises(lm15.ServerError) as caught:
        engine.complete(REQUEST)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 400
    assert SECRET not in str(caught.value)
    assert (tmp_path / "runs").read_text() == "x"
    assert engine.steps == []


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes")
def test_a_command_that_hangs_ends_at_the_deadline_and_at_a_cancel_with_its_children(
    made: Made, tmp_path: Path
) -> None:
    with pytest.raises(lm15.TimeoutError, match="2 seconds"):
        made(HANGS, str(tmp_path / "late"), timeout=2).complete(REQUEST)
    assert dies(tmp_path / "late")
    with pytest.raises(lm15.TransportError) as caught:
        made(HANGS, str(tmp_path / "pids"), cancelled=(tmp_path / "pids").exists).complete(REQUEST)
    assert caught.value.code == "cancelled"
    assert dies(tmp_path / "pids")
