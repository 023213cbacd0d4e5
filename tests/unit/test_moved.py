"""A repository that was moved keeps what belongs to its review: rejections, candidates, undo, quotes, run state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from desk import Desk, correction
from lerim.paths import Home
from lerim.project import project, registry
from lerim.project.lock import hold_project_lock
from lerim.review import queue
from terminal import answer


def desk_of(repo: Path) -> Desk:
    return Desk(repo, Home.from_environ(os.environ), Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects")


@pytest.fixture
def before(repo: Path) -> Desk:
    """A repository with one claim accepted (its quotes kept local), one rejected and one waiting."""
    desk = desk_of(repo)
    for subject, over in (("pathlib", "os.path"), ("tomllib", "configparser"), ("httpx", "requests")):
        desk.session(subject, *correction(desk, subject, over=over))
    assert len(answer("sync", "--repo", str(repo))["candidates"]) == 3
    by_title = {proposal.record.title: proposal.id for proposal in queue.list_pending(desk.place)[0]}
    [accepted] = [name for title, name in by_title.items() if "pathlib" in title]
    [rejected] = [name for title, name in by_title.items() if "tomllib" in title]
    answer("review", "reject", rejected, "--repo", str(repo))
    answer("review", "accept", accepted, "--quotes", "local", "--repo", str(repo))
    return desk


def moved(desk: Desk, to: Path) -> Desk:
    to.parent.mkdir(parents=True, exist_ok=True)
    desk.repo.rename(to)
    return desk_of(to.resolve())


def assert_whole(desk: Desk) -> None:
    """Nothing is proposed again, nothing is disowned, and the last step can be taken back in the new place."""
    here = ("--repo", str(desk.repo))
    again = answer("sync", *here)
    assert (again["candidates"], again["problems"]) == ([], [])
    listed = answer("review", "list", *here)
    assert ["httpx" in one["title"] for one in listed["candidates"]] == [True]
    assert listed["problems"] == []
    [memory] = answer("memory", "list", *here)["memories"]
    assert "pathlib" in memory["evidence"][0]["quote"]
    assert desk.place.store().quotes.read_choice() == "local"
    [undone] = answer("review", "undo", *here)["results"]
    assert undone["path"].startswith(str(desk.repo))
    assert desk.memories() == []
    assert len(desk.waiting()) == 2
    answer("review", "undo", *here)  # the rejection
    assert len(desk.waiting()) == 3


WAYS = {
    "sync-alias": (("sync", "--alias", "{old}"),),
    "sync-first": (("sync",), ("project", "alias", "{old}")),
    "status-first": (("status", "--alias", "{old}"), ("project", "alias", "{old}/")),
    "twice": (("project", "add"), ("project", "alias", "{old}"), ("project", "alias", "{old}"), ("project", "add")),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_moved_repository_takes_its_review_along(before: Desk, tmp_path: Path, git: Any, way: str):
    if way == "twice":
        git(before.repo, "remote", "add", "origin", "https://example.invalid/team/app.git")
    desk = moved(before, tmp_path / "new" / "place")
    for step in WAYS[way]:
        kept = entries(desk)
        answered = answer(*(word.format(old=before.repo) for word in step), "--repo", str(desk.repo))
        if step[0] == "status":
            assert answered["candidates"] == 1 and entries(desk) == kept, "it shows the state and changes nothing"
    assert_whole(desk)
    listed = answer("project", "list")
    assert [one["root"] for one in listed["projects"]] == [str(desk.repo)]
    assert listed["problems"] == []


def entries(desk: Desk) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in desk.home.root.rglob("project.json")}


def test_a_repository_that_moves_twice_or_deeper_or_back_keeps_everything(before: Desk, tmp_path: Path):
    first = before.repo
    aside = moved(before, tmp_path / "aside")
    answer("project", "alias", str(first), "--repo", str(aside.repo))
    inner = moved(aside, first / "inner")
    answer("project", "alias", str(aside.repo), "--repo", str(inner.repo))
    out = moved(inner, tmp_path / "out")
    first.rmdir()
    answer("project", "alias", str(inner.repo), "--repo", str(out.repo))
    back = moved(out, first)
    answer("project", "alias", str(out.repo), "--repo", str(back.repo))
    assert_whole(back)


def test_a_new_repository_in_the_old_place_has_nothing_of_the_moved_one(before: Desk, tmp_path: Path, git: Any):
    desk = moved(before, tmp_path / "new")
    answer("project", "alias", str(before.repo), "--repo", str(desk.repo))
    before.repo.mkdir()
    git(before.repo, "init", "-q")
    other = desk_of(before.repo)
    assert other.place.project.key != desk.place.project.key
    answer("project", "add", "--repo", str(other.repo))
    assert other.place.project.key != desk.place.project.key
    assert other.waiting() == []
    owners = project.FolderOwners(project.list_projects(desk.home)[0])
    assert owners.find_owner(str(other.repo)) == other.place.project.key
    assert owners.find_owner(str(desk.repo)) == desk.place.project.key
    assert len(answer("project", "list")["projects"]) == 2


def test_a_kill_after_the_old_entry_was_rewritten_leaves_the_moved_project_with_its_state(before: Desk, tmp_path: Path):
    desk = moved(before, tmp_path / "new")
    here = ("--repo", str(desk.repo))
    with hold_project_lock(desk.home, desk.place.project.key):  # it is worked on: it is not taken over meanwhile
        assert answer("project", "alias", str(before.repo), *here, code=4)["error"]["code"] == "busy"
    own = answer("project", "add", *here)["project"]["key"]
    entry = (desk.home.project(own) / registry.ENTRY_FILE).read_bytes()
    answer("project", "alias", str(before.repo), *here)
    assert not (desk.home.project(own) / registry.ENTRY_FILE).exists()
    (desk.home.project(own) / registry.ENTRY_FILE).write_bytes(entry)  # as if its removal had not come
    assert len(answer("project", "list")["projects"]) == 1
    assert_whole(desk)


def test_candidates_that_were_proposed_in_the_new_place_are_proposed_again_to_the_one_review(
    before: Desk, tmp_path: Path
):
    desk = moved(before, tmp_path / "new")
    here = ("--repo", str(desk.repo))
    desk.session("orjson", *correction(desk, "orjson", over="simplejson"))
    assert len(answer("sync", *here)["candidates"]) == 1
    answer("project", "alias", str(before.repo), *here)
    answer("sync", *here)
    listed = answer("review", "list", *here)
    assert sorted(one["title"].split()[1] for one in listed["candidates"]) == ["httpx", "orjson"]
    assert listed["problems"] == []


@pytest.mark.parametrize("way_out", ["set the new one aside", "forget the old one"])
def test_two_reviews_are_not_made_one_and_both_ways_out_work(before: Desk, tmp_path: Path, way_out: str):
    desk = moved(before, tmp_path / "new")
    here = ("--repo", str(desk.repo))
    desk.session("orjson", *correction(desk, "orjson", over="simplejson"))
    [made] = answer("sync", *here)["candidates"]
    answer("review", "reject", made["id"], *here)
    for refused in (("project", "alias", str(before.repo)), ("sync", "--alias", str(before.repo))):
        error = answer(*refused, *here, code=1)["error"]
        assert (error["code"], error["where"]) == ("project", str(before.repo))
        assert f"lerim project remove --repo {before.repo}" in error["todo"]
        assert str(desk.place.private) in error["todo"]
    if way_out == "set the new one aside":
        desk.place.private.rename(tmp_path / "aside")
    else:
        answer("project", "remove", "--repo", str(before.repo))
    assert str(before.repo) in answer("project", "alias", str(before.repo), *here)["project"]["aliases"]
    if way_out == "set the new one aside":
        assert len(answer("review", "list", *here)["candidates"]) == 1
    else:
        answer("sync", *here)
        assert not any("orjson" in title for title in desk.waiting())


def test_an_entry_of_a_gone_project_names_the_one_step_that_is_needed(before: Desk, tmp_path: Path):
    desk = moved(before, tmp_path / "new place")
    [problem] = answer("project", "list")["problems"]
    assert problem["code"] == "project-gone"
    assert f"lerim project alias {before.repo} --repo NEW_PLACE" in problem["message"]
    assert f"lerim project remove --repo {before.repo}" in problem["message"]
    assert answer("project", "remove", "--repo", str(before.repo))["removed"]
    assert desk.repo.is_dir()


def test_a_bare_repository_that_was_moved_takes_its_review_along(repo: Path, tmp_path: Path, git: Any):
    git(tmp_path, "clone", "-q", "--bare", str(repo), "store.git")
    home = Home.from_environ(os.environ)
    old = project.locate_project(tmp_path / "store.git", home)
    assert old
    project.add_project(old, home)
    (tmp_path / "store.git").rename(tmp_path / "other.git")
    answer("project", "alias", str(tmp_path / "store.git"), "--repo", str(tmp_path / "other.git"))
    now = project.locate_project(tmp_path / "other.git", home)
    assert now
    assert now.state_dir(home) == old.state_dir(home)
