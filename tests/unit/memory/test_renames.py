"""Git is asked about commits, and nothing of a repository or the environment makes it do anything else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.process import CREATE_NO_WINDOW, ProcessLaunch
from lerim.project.git import make_git_launch, open_git, run_git
from lerim.project.tracked import read_merge_stages, read_tracked_paths

Git = Callable[..., str]


@pytest.mark.parametrize(("platform", "flags"), [("linux", 0), ("darwin", 0), ("win32", CREATE_NO_WINDOW)])
def test_git_is_started_alike_everywhere(platform: str, flags: int) -> None:
    environ = {"PATH": "/bin", "GIT_DIR": "/x", "git_external_diff": "evil", "GIT_CONFIG_GLOBAL": "/g", "HOME": "/h"}
    launch = make_git_launch("/usr/bin/git", ("cat-file", "--batch"), environ, platform)
    assert launch.argv[0] == "/usr/bin/git"
    assert launch.argv[-2:] == ("cat-file", "--batch")
    assert {"core.fsmonitor=false", "core.hooksPath=", "--no-pager"} < set(launch.argv)
    assert launch.environ == {
        "PATH": "/bin",
        "HOME": "/h",
        "GIT_CONFIG_GLOBAL": "/g",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
    }
    assert (launch.creationflags, launch.new_session) == (flags, False)


def test_a_machine_without_git_has_none(tmp_path: Path) -> None:
    assert open_git(tmp_path, {"PATH": str(tmp_path)}) is None


def test_renames_and_texts_are_told_and_nothing_of_the_settings_runs(repo: Path, tmp_path: Path, git: Git) -> None:
    trap = tmp_path / "ran"
    script = tmp_path / "trap.sh"
    script.write_text(f'#!/bin/sh\ntouch {trap}\ncat "$1"\n', encoding="utf-8")
    script.chmod(0o755)
    for key in (
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
    ):
        git(repo, "config", key, str(script))
    git(repo, "config", "core.hooksPath", str(tmp_path))
    (repo / ".gitattributes").write_text("* diff=x filter=x\n", encoding="utf-8")
    git(repo, "config", "filter.x.smudge", str(script))
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "mv", "src/app.py", "src/ä b.py")
    git(repo, "commit", "-q", "-m", "Move", "--no-verify")
    trap.unlink(missing_ok=True)
    found = open_git(repo, os.environ)
    assert found is not None
    assert found.find_moves(first[:10], git(repo, "rev-parse", "HEAD")) == {"src/app.py": "src/ä b.py"}
    wanted = [(first, "src/app.py"), (first, "none.py"), ("f" * 40, "src/app.py"), ("--output=x", "a"), (first, "src")]
    texts = found.read_texts(wanted)
    assert set(texts) == {(first, "src/app.py")}
    assert texts[first, "src/app.py"].startswith("def load(path):")
    assert not trap.exists()
    assert found.find_moves("--output=evil", "HEAD") == {}


def test_a_file_that_is_gone_is_followed_through_commits_and_the_index(repo: Path, git: Git) -> None:
    found = open_git(repo, os.environ)
    assert found is not None and found.find_renamed_file("src/app.py") == ""
    git(repo, "mv", "src/app.py", "src/main.py")
    assert found.find_renamed_file("src/app.py") == "src/main.py", "nothing is committed yet"
    git(repo, "commit", "-q", "-m", "Rename")
    (repo / "README.md").write_text("Later.\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Something else")
    git(repo, "mv", "src/main.py", "src/start.py")
    git(repo, "commit", "-q", "-m", "Rename again")
    assert found.find_renamed_file("src/app.py") == "src/start.py"
    git(repo, "rm", "-q", "src/start.py")
    assert [found.find_renamed_file(path) for path in ("src/app.py", "src/never.py", "--output=x")] == ["", "", ""]
    assert not (repo / "x").exists()


def program(text: str) -> ProcessLaunch:
    return ProcessLaunch((sys.executable, "-c", text), dict(os.environ), 0, new_session=False)


def test_what_is_too_much_too_slow_or_fails_is_none(tmp_path: Path) -> None:
    assert run_git(program("print('x' * 100)"), tmp_path, most_bytes=1000) == b"x" * 100 + os.linesep.encode()
    assert run_git(program("print('x' * 100_000)"), tmp_path, most_bytes=1000) is None
    assert run_git(program("import sys; print(1); sys.exit(3)"), tmp_path) is None
    assert run_git(ProcessLaunch((str(tmp_path / "none"),), {}, 0, new_session=False), tmp_path) is None
    assert run_git(program("import time; time.sleep(3600)"), tmp_path, seconds=0.3) is None


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_index_lists_what_git_lists(repo: Path, git: Git, version: str) -> None:
    for name in ("a", "src/deep/er/x.py", "src/deep/er/y.py", "ünï/ç.txt", "z" * 200):
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    git(repo, "add", ".")
    (repo / "later.py").write_text("later", encoding="utf-8")
    git(repo, "add", "-N", ".")
    git(repo, "update-index", "--index-version", version)
    listed = git(repo, "-c", "core.quotePath=false", "ls-files").split("\n")
    assert sorted(read_tracked_paths(repo, repo / ".git")) == sorted(listed)


def test_the_index_that_git_keeps_in_two_files_lists_what_git_lists(repo: Path, git: Git) -> None:
    def listed(*options: str) -> list[str]:
        return sorted(git(repo, "ls-files", *options).split("\n"))

    git(repo, "config", "splitIndex.maxPercentChange", "100")
    (repo / "many").mkdir()
    for number in range(200):
        (repo / "many" / f"{number:03}.py").write_text(str(number), encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "Many")
    git(repo, "update-index", "--split-index")
    assert sorted(read_tracked_paths(repo, repo / ".git")) == listed()
    git(repo, "rm", "-q", "many/000.py", "many/070.py", *(f"many/{number}.py" for number in range(100, 180)))
    (repo / "many" / "065.py").write_text("changed", encoding="utf-8")
    (repo / "more.py").write_text("more", encoding="utf-8")
    git(repo, "add", ".")
    assert list((repo / ".git").glob("sharedindex.*")) and "more.py" in listed()
    assert sorted(read_tracked_paths(repo, repo / ".git")) == listed()
    git(repo, "commit", "-qam", "Ours")
    git(repo, "checkout", "-qb", "theirs", "HEAD~")
    (repo / "many" / "065.py").write_text("theirs", encoding="utf-8")
    git(repo, "commit", "-qam", "Theirs")
    subprocess.run(["git", "merge", "-q", "main"], cwd=repo, capture_output=True, check=False)
    assert read_merge_stages(repo, repo / ".git", "many/065.py") == {"many/065.py": {1, 2, 3}}
    assert sorted(set(read_tracked_paths(repo, repo / ".git"))) == listed("--deduplicate")
    for shared in (repo / ".git").glob("sharedindex.*"):
        shared.write_bytes(b"DIRC")
    assert read_tracked_paths(repo, repo / ".git") == []


@pytest.mark.parametrize(
    "data", [b"", b"DIRC", b"DIRC\0\0\0\2\xff\xff\xff\xff", b"DIRC\0\0\0\4\0\0\0\2" + b"\xff" * 90]
)
def test_a_broken_index_lists_nothing_and_raises_nothing(repo: Path, data: bytes) -> None:
    (repo / ".git" / "index").write_bytes(data)
    assert read_tracked_paths(repo, repo / ".git") == []
