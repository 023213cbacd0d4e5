"""Pipes under the names of files that Lerim opens: each is told as no file, and no command waits for it."""

from __future__ import annotations

import json
import os
import sys

import pytest

from desk import Desk, correction
from rights import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes with names of files")

OF_THE_REPOSITORY = (".git/index", ".git/packed-refs", ".gitignore", ".lerim/config.toml", "src/app.py")
OF_THE_PERSON = ("activity.log", "config.toml", "models.json", "platforms.json")


def piped(desk: Desk, name: str, ours: bool) -> None:
    path = (desk.home.root if ours else desk.repo) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("names", [OF_THE_REPOSITORY, OF_THE_PERSON], ids=["repository", "person"])
def test_no_command_waits_for_a_pipe(desk: Desk, terminal: Terminal, names: tuple[str, ...]) -> None:
    desk.session("s1", *correction(desk))
    terminal("memory", "add", "--title", "Use uv", "--reference", "src/app.py")
    for name in names:
        piped(desk, name, names is OF_THE_PERSON)
    said = ""
    for command in ("status", "sync", "maintain"):
        done = terminal(command, "--json")
        assert "Traceback" not in done.stderr, done.stderr
        assert "unexpected" not in done.stdout.lower(), done.stdout
        assert json.loads(done.stdout)
        said += done.stdout + done.stderr
    assert "it is not a file" in said
