"""The entry of every program: quick where it must be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hang import HANG
from lerim import __version__

SERVER = Path(__file__).resolve().parents[2] / "server"


def lerim(*arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(SERVER)}
    command = [sys.executable, "-P", "-m", "lerim", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False, timeout=HANG)


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_is_said(word: str) -> None:
    done = lerim(word)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"lerim {__version__}\n", "")


def test_the_version_the_server_and_a_job_start_without_the_command_lines_imports() -> None:
    code = "import sys, lerim.__main__ as m; sys.argv[1:] = ['--version']; m.main(); sys.exit('typer' in sys.modules)"
    environ = {**os.environ, "PYTHONPATH": str(SERVER)}
    assert subprocess.run([sys.executable, "-P", "-c", code], env=environ, check=False, timeout=HANG).returncode == 0


def test_help_names_the_commands() -> None:
    done = lerim("--help")
    assert done.returncode == 0
    assert "sync" in done.stdout


def test_a_job_with_wrong_arguments_says_how_it_is_called() -> None:
    done = lerim("worker", "explode")
    assert done.returncode == 2
    assert "usage: lerim worker sync" in done.stderr


@pytest.mark.parametrize(("words", "named"), [((), "maintain"), (("memory",), "promote"), (("review",), "undo")])
def test_without_a_command_the_help_is_printed_and_nothing_failed(words: tuple[str, ...], named: str) -> None:
    result = lerim(*words)
    assert (result.returncode, result.stderr) == (0, "") and named in result.stdout
