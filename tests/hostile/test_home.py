"""A home that is none, or lies in a hostile clone: no command reads, writes or runs anything."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251

import terminal
from claude_lines import encoded
from desk import Desk, correction, desk_in
from hang import HANG
from lerim.lsp.protocol import core
from lerim.paths import Home
from rights import tree
from warm_python import warm_python
from window import opened, opened_in_thread, server_environ

COMMANDS = (
    ("status",),
    ("sync",),
    ("maintain",),
    ("ask", "what did we decide?"),
    ("config", "show"),
    ("model", "list"),
    ("model", "test", "--yes"),
    ("connect", "list"),
    ("memory", "list"),
    ("memory", "list", "--global"),
    ("review", "list"),
    ("sessions", "list"),
    ("project", "list"),
    ("queue", "list"),
    ("stats",),
)
WORKERS = (("sync", "--repo", "."), ("maintain", "--repo", "."), ("model",))
AGENTS = ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
MARKER = "a-clone-ran-this"


@pytest.fixture
def clone(repo: Path, tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository whose files would be a person's settings and sessions, were it taken for their home."""
    marker = tmp_path / MARKER
    config = (
        '[roles.extract]\nprovider = "command"\n'
        f"command = [{json.dumps(sys.executable)}, '-c', \"open({str(marker)!r}, 'w')\"]\n"
    )
    for home in (repo, repo / "inside"):
        (home / ".lerim").mkdir(parents=True)
        (home / ".lerim" / "config.toml").write_text(config, encoding="utf-8")
        sessions = home / ".claude" / "projects" / "p"
        sessions.mkdir(parents=True)
        desk = Desk(repo, Home(home / ".lerim"), sessions.parent)
        records = ({**record, "cwd": str(repo), "sessionId": "s1"} for record in correction(desk))
        (sessions / "s1.jsonl").write_bytes(encoded(*records))
    git(repo, "add", "-A", "-f")
    git(repo, "commit", "-q", "-m", "A trap")
    return repo


def environ(**changes: str | None) -> dict[str, str]:
    """The test's environment without its own places of agents' stores, and with these changes."""
    changed = {**server_environ(), **dict.fromkeys((*AGENTS, "LERIM_HOME", "USERPROFILE")), **changes}
    return {name: value for name, value in changed.items() if value is not None}


def run(clone: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in this process."""
    with mock.patch.dict(os.environ, environ, clear=True), contextlib.chdir(clone):
        done = terminal.run(*arguments)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def started(clone: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    command = [warm_python(), "-P", "-m", "lerim", *arguments]
    source, held = os.pipe()  # a job whose input ends has lost its parent, and ends at once
    try:
        return subprocess.run(
            command, cwd=clone, env=environ, capture_output=True, text=True, check=False, timeout=HANG, stdin=source
        )
    finally:
        os.close(source)
        os.close(held)


def homes(clone: Path, tmp_path: Path) -> dict[str, dict[str, str | None]]:
    """Environments with a home that must not be used, by what is wrong with it."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (tmp_path / "link").symlink_to(clone / "inside")
    (tmp_path / "link-to-root").symlink_to(clone)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / ".lerim").mkdir()
    owned: dict[str, dict[str, str | None]] = {}
    if os.geteuid() == 0:
        for folder in (theirs, theirs / ".lerim"):
            os.chown(folder, 4711, 4711)
        own = {"HOME": str(mine), "LERIM_HOME": str(theirs / ".lerim")}
        owned = {"of another": {"HOME": str(theirs)}, "Lerim's of another": {**own}}
    wrong = {
        "unset": None,
        "empty": "",
        "relative": "inside",
        "dot": ".",
        "clone": str(clone),
        "inside": str(clone / "inside"),
        "link inside": str(tmp_path / "link"),
        "link to the clone": str(tmp_path / "link-to-root"),
        "process": "/proc/self/cwd/inside",
        "process root": "/proc/self/cwd",
        "missing": str(tmp_path / "nowhere"),
    }
    ours = {name: value for name, value in wrong.items() if name not in ("unset", "empty", "missing")}
    return {
        **{name: {"HOME": value} for name, value in wrong.items()},
        **{f"Lerim's {name}": {"HOME": str(mine), "LERIM_HOME": value} for name, value in ours.items()},
        **owned,
    }


def test_no_command_reads_writes_or_runs_anything_with_a_home_that_is_none(clone: Path, tmp_path: Path) -> None:
    before = tree(clone)
    found = homes(clone, tmp_path)
    tries = [(name, ("sync",)) for name in found] + [("clone", one) for one in COMMANDS]

    for name, arguments in tries:
        done = run(clone, environ(**found[name]), *arguments, "--json")
        assert done.returncode == 1, (name, arguments, done.stdout, done.stderr)
        assert json.loads(done.stdout)["error"]["code"] == "home", (name, arguments, done.stdout)
    assert "what to do" in run(clone, environ(HOME=None), "status").stderr
    assert tree(clone) == before
    assert not (tmp_path / MARKER).exists()


def test_a_job_stops_before_it_reads_anything_with_a_home_that_is_none(clone: Path, tmp_path: Path) -> None:
    before = tree(clone)
    found = homes(clone, tmp_path)
    for name, arguments in zip(("clone", "unset", "link inside"), WORKERS, strict=True):
        done = started(clone, environ(**found[name]), "worker", *arguments)
        assert done.returncode == 1, (name, arguments, done.stdout, done.stderr)
        assert json.loads(done.stdout.splitlines()[-1])["code"] == "home", (name, arguments, done.stdout)
    assert tree(clone) == before
    assert not (tmp_path / MARKER).exists()


@pytest.mark.asyncio
async def test_the_editor_is_told_of_a_home_that_is_none_and_nothing_is_written(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {
        **dict.fromkeys((*AGENTS, "LERIM_HOME")),
        **homes(clone, tmp_path)["Lerim's inside"],
    }.items():
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    monkeypatch.chdir(clone)
    before = tree(clone)
    async with opened(clone) as editor:
        with pytest.raises(JsonRpcException) as refused:
            await editor.start()
        assert refused.value.data["kind"] == "home"
        assert "HOME" in refused.value.message or "home" in refused.value.message
    assert tree(clone) == before
    assert not (tmp_path / MARKER).exists()


@pytest.mark.asyncio
async def test_a_folder_added_later_that_holds_the_home_is_told_and_not_read(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Callable[..., str]
) -> None:
    monkeypatch.setenv("HOME", str(clone / "inside"))
    monkeypatch.delenv("LERIM_HOME")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    before = tree(clone)
    async with opened_in_thread(other) as editor:
        await editor.start()
        folder = types.WorkspaceFolder(uri=clone.as_uri(), name="clone")
        event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await editor.until(lambda: editor.client.messages)
        assert "is inside the repository" in editor.client.messages[0].message
        refused = await editor.refused(core.SYNC, {"root": clone.as_uri()})
        assert refused.data["kind"] == "project"
    assert tree(clone) == before


def test_version_and_help_need_no_home(clone: Path) -> None:
    for arguments in (("--version",), ("--help",)):
        assert run(clone, environ(HOME=None), *arguments).returncode == 0


def test_work_in_another_repository_goes_on_where_the_home_lies_in_one(
    clone: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    done = run(other, environ(HOME=str(clone / "inside")), "status", "--json")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def dotfiles(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A home folder that is a repository, as of a person who keeps dotfiles in git."""
    home = tmp_path / "dotfiles"
    home.mkdir()
    (home / ".bashrc").write_text("alias ll='ls -l'\n", encoding="utf-8")
    git(home, "init", "-q")
    git(home, "add", ".")
    git(home, "commit", "-q", "-m", "Start")
    (home / ".lerim").mkdir()
    (home / ".lerim" / "config.toml").write_text("[review]\nquotes = 'local'\n", encoding="utf-8")
    return home


def learned(home: Path, folder: Path) -> None:
    desk = desk_in(home, folder)
    desk.session("s1", *correction(desk, file=".bashrc"))


def answered(folder: Path, home: Path, *arguments: str) -> Any:
    done = run(folder, environ(HOME=str(home)), *arguments, "--json")
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return json.loads(done.stdout)


def test_a_home_kept_in_git_works_and_git_sees_nothing_of_ours(dotfiles: Path, git: Callable[..., str]) -> None:
    learned(dotfiles, dotfiles)
    [candidate] = answered(dotfiles, dotfiles, "sync")["candidates"]
    answered(dotfiles, dotfiles, "review", "accept", candidate["id"])
    assert [one["title"] for one in answered(dotfiles, dotfiles, "memory", "list")["memories"]] == [candidate["title"]]
    assert answered(dotfiles, dotfiles, "memory", "list", "--global")["memories"] == []
    settings = {one["name"]: one for one in answered(dotfiles, dotfiles, "config", "show")["settings"]}
    assert settings["review.quotes"]["value"] == "local"
    assert ".lerim" not in git(dotfiles, "status", "--porcelain", "--untracked-files=all")
    git(dotfiles, "add", "-A")
    assert ".lerim" not in git(dotfiles, "ls-files")
    answered(dotfiles, dotfiles, "review", "undo")
    assert answered(dotfiles, dotfiles, "memory", "list")["memories"] == []


def test_a_worktree_of_a_home_kept_in_git_shares_its_review(dotfiles: Path, git: Callable[..., str]) -> None:
    git(dotfiles, "worktree", "add", "-q", str(dotfiles / "wt"))
    learned(dotfiles, dotfiles / "wt")
    [candidate] = answered(dotfiles / "wt", dotfiles, "sync")["candidates"]
    listed = answered(dotfiles, dotfiles, "review", "list")["candidates"]
    assert [one["id"] for one in listed] == [candidate["id"]]
    assert sorted(path.name for path in (dotfiles / ".lerim").iterdir() if path.name in ("review", "workspace")) == []


def test_a_repository_below_a_home_kept_in_git_is_one_of_its_own(dotfiles: Path, git: Callable[..., str]) -> None:
    inner = dotfiles / "work" / "app"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    learned(dotfiles, inner)
    [candidate] = answered(inner, dotfiles, "sync")["candidates"]
    answered(inner, dotfiles, "review", "accept", candidate["id"])
    assert list((inner / ".lerim" / "memory").rglob("*.md"))


def test_what_git_tracks_of_our_folder_in_the_home_is_not_taken_for_the_person_s(
    dotfiles: Path, git: Callable[..., str]
) -> None:
    git(dotfiles, "add", "-f", ".lerim/config.toml")
    done = run(dotfiles, environ(HOME=str(dotfiles)), "status", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "home"
    assert "git rm -r --cached" in json.loads(done.stdout)["error"]["todo"]


def test_an_agent_s_relative_folder_is_told_and_not_looked_for_in_the_clone(clone: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    changes = {"HOME": str(mine), "CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": "inside", "VSCODE_PORTABLE": "."}
    done = run(clone, environ(**changes), "sync", "--json")
    report = json.loads(done.stdout)
    assert report["sessions"]["found"] == 0
    told = {problem["path"] for problem in report["problems"] if problem["code"] == "relative-path"}
    assert told == {"CLAUDE_CONFIG_DIR", "CODEX_HOME", "VSCODE_PORTABLE"}


def test_a_home_kept_in_git_works_through_a_link(dotfiles: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(dotfiles)
    learned(dotfiles, dotfiles)
    [candidate] = answered(dotfiles, link, "sync")["candidates"]
    answered(dotfiles, link, "review", "accept", candidate["id"])
    for arguments in (("status",), ("maintain",)):
        answered(dotfiles, link, *arguments)
    assert [one["id"] for one in answered(dotfiles, link, "memory", "list")["memories"]] == [candidate["id"]]


def test_a_link_in_a_clone_to_the_person_s_folder_makes_it_no_home_of_the_clone(repo: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / ".lerim").mkdir(parents=True, mode=0o700)
    (repo / ".lerim").symlink_to(mine / ".lerim")
    desk = desk_in(mine, repo)
    desk.session("s1", *correction(desk))
    done = run(repo, environ(HOME=str(mine)), "sync", "--json")
    report = json.loads(done.stdout)
    assert report["candidates"] == []
    assert "link" in json.dumps(report["problems"])
    added = run(repo, environ(HOME=str(mine)), "memory", "add", "--title", "Use uv", "--json")
    assert "link" in json.loads(added.stdout)["error"]["message"], added.stdout
    answered(repo, mine, "status")
    assert not list(mine.rglob("*.md"))
