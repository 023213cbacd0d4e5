"""The entry of every program: quick where it must be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hang import HANG
from lerim import __version__
from lerim.__main__ import main
from terminal import run

SERVER = Path(__file__).resolve().parents[2] / "server"


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_is_said(word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["lerim", word])
    assert main() == 0
    assert capsys.readouterr() == (f"lerim {__version__}\n", "")


def test_the_version_the_server_and_a_job_start_without_the_command_lines_imports() -> None:
    code = "import sys, lerim.__main__ as m; sys.argv[1:] = ['--version']; m.main(); sys.exit('typer' in sys.modules)"
    environ = {**os.environ, "PYTHONPATH": str(SERVER)}
    assert subprocess.run([sys.executable, "-P", "-c", code], env=environ, check=False, timeout=HANG).returncode == 0


def test_a_job_with_wrong_arguments_says_how_it_is_called() -> None:
    environ = {**os.environ, "PYTHONPATH": str(SERVER)}
    command = [sys.executable, "-P", "-m", "lerim", "worker", "explode"]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False, timeout=HANG)
    assert done.returncode == 2
    assert "lerim worker sync --repo PATH" in done.stderr


@pytest.mark.parametrize(
    ("words", "named"), [((), "maintain"), (("--help",), "sync"), (("memory",), "promote"), (("review",), "undo")]
)
def test_help_names_the_commands_and_is_printed_without_one(words: tuple[str, ...], named: str) -> None:
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "") and named in result.stdout
