"""Names of folders that are no UTF-8, names that are too long, and words that no file can hold."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import terminal as command_line
from hang import HANG
from rights import Terminal
from window import server_environ

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")


def ran(cwd: Path, *arguments: str | bytes) -> tuple[int, Any]:
    """A command in this process, with the arguments as a process would get them."""
    with contextlib.chdir(cwd):
        done = command_line.run(*map(os.fsdecode, arguments), "--json")
    return done.exit_code, json.loads(done.stdout)


def ran_apart(cwd: Path, *arguments: str | bytes, **changes: bytes) -> tuple[int, Any]:
    """A command in a process of its own."""
    environ = {**{os.fsencode(name): os.fsencode(value) for name, value in server_environ().items()}}
    environ |= {os.fsencode(name): value for name, value in changes.items()}
    command = [sys.executable, "-P", "-m", "lerim", *arguments, "--json"]
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, timeout=HANG, check=False)
    assert b"Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_missing_home_whose_name_is_no_utf8_is_told(repo: Path) -> None:
    code, said = ran_apart(repo, "status", HOME=b"/nowhere/caf\xe9")
    assert (code, said["error"]["code"], said["error"]["where"]) == (1, "home", "/nowhere/caf\\xe9")


def test_a_repository_below_a_folder_whose_name_is_no_utf8_works(tmp_path: Path, git: Callable[..., str]) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9") / "repo"
    path.mkdir(parents=True)
    git(path, "init", "-q")
    assert ran_apart(path, "sync")[0] == 0
    for arguments in (("status",), ("sync",), ("maintain",), ("connect",), ("project", "add")):
        assert ran(path, *arguments)[0] == 0, arguments
    code, added = ran(path, "memory", "add", "--title", "Use uv", "--body", "It is fast.")
    assert code == 0
    assert ran(path, "memory", "edit", added["id"], "--tag", "ci")[0] == 0
    [listed] = ran(path, "project", "list")[1]["projects"]
    assert listed["root"].endswith("caf\\xe9/repo")
    assert "problems" not in listed or not listed["problems"]
    assert ran(path, "review", "undo")[0] == 0
    assert [one["tags"] for one in ran(path, "memory", "list")[1]["memories"]] == [[]]


def test_words_that_no_file_can_hold_are_kept_as_far_as_they_can(repo: Path) -> None:
    words = (b"memory", b"add", b"--title", b"Use \xff uv", b"--body", b"Fast \xff.", b"--tag", b"c\xffi")
    code, added = ran_apart(repo, *words)
    assert (code, added["title"], added["body"], added["tags"]) == (0, "Use ? uv", "Fast ?.", ["c?i"])
    assert ran(repo, "memory", "edit", added["id"], "--body", b"Slow \xff.", "--tag", b"\xff")[0] == 0
    assert ran(repo, "memory", "archive", added["id"], "--reason", b"no \xff")[0] == 0
    assert [ran(repo, "review", "undo")[0] for _ in range(3)] == [0, 0, 0]


def test_a_name_that_is_too_long_is_no_file(repo: Path, terminal: Terminal) -> None:
    long = "x" * 300
    for arguments in (
        ("memory", "add", "--title", "Use uv", "--reference", long),
        ("memory", "list", "--file", long),
        ("memory", "list", "--file", f"./{long}"),
    ):
        done = terminal(*arguments, "--json")
        assert "unexpected" not in done.stdout.lower(), done.stdout + done.stderr
        assert json.loads(done.stdout)
