"""Sessions of a repository that was elsewhere before, for once and for good; and forks, counted as they are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from claude_lines import encoded, prompt
from finished import finish
from killer import KILLED, in_child
from lerim.jobs import SyncOptions, SyncProgress
from lerim.jobs.report import SyncEvent
from lerim.jobs.sync import sync_project
from lerim.project import Git
from lerim.project.project import add_alias
from lerim.review.review_paths import ReviewPaths
from terminal import answer, run


@pytest.fixture
def sessions() -> Path:
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-somewhere"
    folder.mkdir(parents=True)
    return folder


def session(folder: Path, name: str, *records: Any) -> None:
    path = folder / f"{name}.jsonl"
    path.write_bytes(encoded(*records))
    finish(path)


@pytest.fixture
def old(tmp_path: Path, sessions: Path) -> str:
    """A folder that is gone, in which two sessions ran."""
    gone = tmp_path / "old" / "place"
    for name in ("aaaa", "bbbb"):
        session(sessions, name, prompt(f"Say {name}", cwd=str(gone)))
    return str(gone)


def test_a_sync_that_finds_no_session_names_the_folders_they_may_be_in(
    repo: Path, old: str, sessions: Path, tmp_path: Path
) -> None:
    synced = run("sync", "--repo", str(repo)).stdout
    assert "No agent's session ran in this repository. `lerim connect list` shows where" in synced
    former = tmp_path / "before" / repo.name
    for name in ("cccc", "dddd"):
        session(sessions, name, prompt(f"Say {name}", cwd=str(former / "src")))
    synced = run("sync", "--repo", str(repo)).stdout
    assert f"{former} (2 sessions, the same name)" in synced
    assert "`lerim project alias FOLDER`" in synced
    run("project", "alias", str(former), "--repo", str(repo))
    synced = run("sync", "--repo", str(repo)).stdout
    assert "2 sessions: 2 new" in synced
    assert str(former) not in synced


def test_an_alias_that_is_given_while_a_sync_asks_git_is_kept(
    repo: Path, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_slowly(git: Git) -> str:
        answer("project", "alias", old, "--repo", str(repo))
        return find(git)

    find = Git.find_first_commit
    monkeypatch.setattr(Git, "find_first_commit", find_slowly)
    answer("sync", "--repo", str(repo))
    assert answer("project", "list")["projects"][0]["aliases"] == [old]


def sessions_of(repo: Path) -> int:
    listed = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert answer("status", "--repo", str(repo))["sessions"] == len(listed)
    return len(listed)


@pytest.mark.parametrize("known", [True, False])
def test_an_alias_for_once_brings_its_sessions_into_one_sync_alone(repo: Path, old: str, known: bool):
    here = ("--repo", str(repo))
    if known:
        answer("sync", *here)
    for new in (2, 0):
        found = answer("sync", *here, "--alias", old)["sessions"]
        assert (found["found"], found["new"]) == (2, new)
        assert sessions_of(repo) == 0
    assert answer("sync", *here)["sessions"]["found"] == 0
    assert answer("queue", "list", *here)["jobs"] == []
    answer("project", "alias", old, *here)
    assert (answer("status", *here)["sessions"], answer("status", *here)["waiting"]) == (2, 2)
    assert answer("sync", *here)["sessions"]["found"] == sessions_of(repo) == 2
    assert answer("sync", *here, "--alias", old)["sessions"]["found"] == sessions_of(repo) == 2


def counts(repo: Path, *more: str) -> tuple[int, int, int]:
    found = answer("sync", "--repo", str(repo), *more)["sessions"]
    return found["new"], found["changed"], found["unchanged"]


RULE = "No, always use pathlib instead of os.path in this project."


@pytest.mark.parametrize("between", [True, False], ids=["known before", "new to this sync"])
def test_a_second_sync_with_the_same_alias_reads_only_what_is_new(repo: Path, old: str, sessions: Path, between: bool):
    assert counts(repo, "--alias", old) == (2, 0, 0)
    session(sessions, "aaaa", prompt("Say aaaa", cwd=old), prompt(RULE, cwd=old))
    if between:
        assert counts(repo) == (0, 0, 0)
    again = answer("sync", "--repo", str(repo), "--alias", old)
    assert again["sessions"]["new"] == 0
    assert len(again["candidates"]) == 1
    assert counts(repo, "--alias", old) == (0, 0, 2)
    assert len(answer("review", "list", "--repo", str(repo))["candidates"]) == 1


def test_a_session_of_both_places_is_not_read_again_either_and_nothing_of_it_is_missed(
    repo: Path, sessions: Path, tmp_path: Path
):
    old = str(tmp_path / "old")
    records = [prompt("Say hello", cwd=str(repo)), prompt("Say more", cwd=old)]
    session(sessions, "aaaa", *records)
    assert counts(repo) == (1, 0, 0)
    assert counts(repo, "--alias", old) == (1, 0, 0)  # its turns there were passed over before
    assert counts(repo, "--alias", old) == (0, 0, 1)
    session(sessions, "aaaa", *records, prompt(RULE, cwd=old))
    answer("sync", "--repo", str(repo))
    assert len(answer("sync", "--repo", str(repo), "--alias", old)["candidates"]) == 1


def test_what_is_one_s_own_is_not_read_again_after_it_was_a_repository_s_for_once(
    repo: Path, sessions: Path, tmp_path: Path
):
    plain = tmp_path / "plain"
    plain.mkdir()
    session(sessions, "aaaa", prompt(RULE, cwd=str(plain)))
    assert answer("sync", "--global")["sessions"]["new"] == 1
    assert counts(repo, "--alias", str(plain)) == (1, 0, 0)
    found = answer("sync", "--global")["sessions"]
    assert (found["new"], found["unchanged"]) == (0, 1)
    assert counts(repo, "--alias", str(plain)) == (0, 0, 1)


def test_a_folder_that_comes_for_the_first_time_is_read_from_the_start(repo: Path, sessions: Path, tmp_path: Path):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    session(sessions, "aaaa", prompt(RULE, cwd=second), prompt("Say hello", cwd=first))
    assert counts(repo, "--alias", first) == (1, 0, 0)
    report = answer("sync", "--repo", str(repo), "--alias", first, "--alias", second)
    assert report["sessions"]["new"] == 1
    assert len(report["candidates"]) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_a_killed_sync_was_lent_is_given_back_by_the_next(place: ReviewPaths, repo: Path, old: str):
    def hear(event: SyncEvent) -> None:
        if isinstance(event, SyncProgress) and event.stage == "learning":
            os._exit(KILLED)

    lent = add_alias(place.project, old)
    assert in_child(lambda: sync_project(lent, place.home, os.environ, SyncOptions(), hear, lambda: False)) == KILLED
    assert answer("sync", "--repo", str(repo))["sessions"]["found"] == sessions_of(repo) == 0


def test_a_folder_in_which_no_session_ran_is_refused_with_the_nearest(repo: Path, old: str, tmp_path: Path):
    here = ("--repo", str(repo))
    for _ in range(2):
        error = answer("sync", *here, "--alias", f"{old[:-2]}ec", code=1)["error"]
        assert (error["code"], error["where"]) == ("project", f"{old[:-2]}ec")
        assert old in error["todo"]
    assert answer("review", "list", *here)["candidates"] == []
    assert answer("sync", *here, "--alias", str(Path(old).parent))["sessions"]["found"] == 2


def test_an_alias_that_cannot_be_one_is_refused_for_once_too(repo: Path):
    for command in ("sync", "status"):
        error = answer(command, "--repo", str(repo), "--alias", "old/place", code=1)["error"]
        assert (error["code"], error["where"]) == ("project", "old/place")


def test_a_live_repository_cannot_be_an_alias_of_another(repo: Path, tmp_path: Path, git: Any):
    other = tmp_path / "other"
    shutil.copytree(repo, other)
    (other / "deep").mkdir()
    for folder in (other, other / "deep"):
        for command in (("project", "alias", str(folder)), ("sync", "--alias", str(folder))):
            error = answer(*command, "--repo", str(repo), code=1)["error"]
            assert error["code"] == "project"
            assert error["where"] == str(folder)
            assert f"lerim sync --repo {other}" in error["todo"]
    assert answer("project", "list", "--repo", str(repo))["projects"] == []
    gone = other / "was" / "here"  # once a worktree in the other repository's folder
    assert answer("project", "alias", str(gone), "--repo", str(repo))["project"]["aliases"] == [str(gone)]
