"""A reader that went away is no fault, a full disk is said in words, and a folder that is not there is an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hang import HANG
from lerim import process
from terminal import answer, run

CLONE = Path(__file__).resolve().parents[2]
COMMANDS = (["--help"], ["config", "show"])


def start(arguments: list[str], cwd: Path, stdout: int) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(CLONE / "server")}
    command = [sys.executable, "-m", "lerim", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environ, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=HANG
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_that_went_away_ends_no_command(repo: Path, arguments: list[str]) -> None:
    readable, writable = os.pipe()
    os.close(readable)
    try:
        done = start(arguments, repo, writable)
    finally:
        os.close(writable)
    assert done.stderr == ""
    assert done.returncode in (0, 1) if "--help" in arguments else done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_an_answer_that_finds_no_space_is_said_in_words(repo: Path, arguments: list[str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = start(arguments, repo, full)
    finally:
        os.close(full)
    assert done.returncode == 1
    assert done.stderr.startswith("error: The output could not be written: No space left on device.")
    assert "Traceback" not in done.stderr
    assert "fault" not in done.stderr


@pytest.mark.parametrize(("command", "inner"), [(("sync",), "srcc"), (("config", "show"), "src/app.py")])
def test_a_folder_that_is_not_there_is_not_the_repository_around_it(
    repo: Path, command: tuple[str, ...], inner: str
) -> None:
    result = run(*command, "--repo", str(repo / inner), "--json")
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["code"], error["where"]) == (1, "project", str(repo / inner))
    assert error["message"] in ("This folder does not exist.", "This is a file, not a folder.")
    assert not (repo / ".lerim").exists()
    assert not Path(os.environ["LERIM_HOME"]).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no current folder")
def test_a_folder_that_cannot_even_be_looked_for_does_not_exist(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for folder in (".", "~nobody-of-this-name/x", "a" * 5_000):
        assert answer("memory", "list", "--repo", folder, code=1)["error"]["message"] == "This folder does not exist."
    assert answer("memory", "list", "--file", "src/app.py", "--repo", str(repo))["memories"] == []


def test_make_run_refuses_a_folder_that_is_not_there(repo: Path) -> None:
    command = [sys.executable, str(CLONE / "scripts" / "run.py"), "--repo", str(repo / "srcc")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG)
    assert done.returncode == 1
    assert done.stderr.startswith("error: This folder does not exist.")
    assert not (repo / ".lerim").exists()


def test_a_repository_that_is_not_known_is_not_all_of_them(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    run("project", "add", "--repo", str(repo))
    said = run("project", "list", "--repo", str(other)).stdout
    assert said.startswith("Lerim does not know this repository yet.")
    run("project", "add", "--repo", str(other))
    assert [str(one) in run("project", "list", "--repo", str(other), "--json").stdout for one in (repo, other)] == [
        False,
        True,
    ]


def test_a_command_line_is_quoted_as_the_platform_s_shell_reads_it() -> None:
    assert process.format_command_line("lerim", "--repo", Path("/a b/it's")) == "lerim --repo '/a b/it'\"'\"'s'"
    assert (
        process.format_command_line("lerim", "--repo", "C:\\my work", platform="win32") == 'lerim --repo "C:\\my work"'
    )


@pytest.mark.parametrize("command", [("check",), ("journal",)])
def test_a_command_whose_format_is_json_tells_its_errors_as_json(command: tuple[str, ...], tmp_path: Path) -> None:
    nowhere = ("--repo", str(tmp_path / "missing"))
    for arguments, code in (((*nowhere,), 1), (("--no-such-option",), 2)):
        for form in (("--format", "json"), ("--format=json",)):
            result = run(*command, *arguments, *form)
            assert (result.exit_code, result.stderr) == (code, "")
            assert json.loads(result.stdout)["error"]["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of Windows closes no stream")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_command_runs_with_closed_streams(repo: Path, closed: str) -> None:
    title = f"Close {closed.count('&')}"
    script = f'exec "$@" {closed}'
    environ = {**os.environ, "PYTHONPATH": str(CLONE / "server")}
    command = [sys.executable, "-m", "lerim", "memory", "add", "--kind", "decision", "--title", title, "--body", "x"]
    done = subprocess.run(
        ["sh", "-c", script, "sh", *command], cwd=repo, env=environ, capture_output=True, check=False, timeout=HANG
    )
    assert (done.returncode, done.stderr) == (0, b"")
    [memory] = (repo / ".lerim" / "memory").rglob("*.md")
    assert f"title: {title}" in memory.read_text(encoding="utf-8")
