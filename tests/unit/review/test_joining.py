"""One memory out of what git could not merge, and out of two files of one id."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from test_acts import DECISION, NAME, files_of, put

from lerim.errors import ConflictError, MemoryError_, NotFoundError, StaleError
from lerim.memory.claims.merge_text import merge_bodies
from lerim.review import merge_conflict, queue
from lerim.review.acts import find_unmerged_problems
from lerim.review.review_paths import ReviewPaths

Git = Callable[..., str]


def conflict(place: ReviewPaths, git: Git, ours: str, theirs: str) -> Path:
    """Two branches add or change the same memory; git leaves both in the file."""
    repo = place.project.root
    for branch, text in (("theirs", theirs), ("main", ours)):
        git(repo, "checkout", "-q", "-B", branch, *(() if branch == "theirs" else ("start",)))
        if branch == "theirs":
            git(repo, "branch", "-f", "start")
        path = put(place, text)
        git(repo, "add", "-A", ".lerim")
        git(repo, "commit", "-q", "-m", branch)
    merge = subprocess.run(["git", "merge", "-q", "theirs"], cwd=repo, check=False, capture_output=True)
    assert merge.returncode and b"<<<<<<<" in path.read_bytes()
    return path


THEIRS = (
    DECISION.replace("updated: 2026-08-01T10", "updated: 2026-08-01T11")
    .replace("It is fast.", "It is very fast.")
    .replace("tags: [ packaging ]", "tags: [ci]")
    .replace("reviewer: Ada", "reviewer: Ada\nticket: 7")
)
OURS = DECISION.replace("It is fast.", "It is fast. We measured 4 s for a sync.")


def test_both_sides_are_joined_after_a_look_at_the_difference(place: ReviewPaths, git: Git) -> None:
    path = conflict(place, git, OURS, THEIRS)
    before = files_of(place)
    look = merge_conflict(place, path, preview=True)
    assert (look.kind, look.result) == ("sides", None) and files_of(place) == before
    assert "-<<<<<<< HEAD" in look.diff and "+It is fast. We measured 4 s for a sync." in look.diff
    assert "uv pip sync" not in look.diff.replace(" uv pip", "")
    done = merge_conflict(place, path)
    assert done.diff == look.diff and done.result and done.result.ok
    text, record = path.read_text(), place.store().load_by_id(NAME).record
    assert record.body.startswith("It is very fast.") and "We measured 4 s for a sync." in record.body
    assert set(record.tags) == {"packaging", "ci"} and "ticket: 7\n" in text and "reviewer: Ada\n" in text
    assert queue.undo_last(place).ok and files_of(place) == before


def test_two_files_of_one_id_become_one(place: ReviewPaths) -> None:
    live = put(place, OURS)
    put(place, THEIRS, "archived/decisions")
    before = files_of(place)
    look = merge_conflict(place, live)
    assert look.kind == "files"
    assert f"+++ b/decisions/{NAME}.md" in look.diff and "@@ -1,20 +0,0 @@" not in look.diff
    assert f"archived/decisions/{NAME}.md is removed" in look.diff.splitlines()[-1]
    assert place.store().paths_of(NAME) == [live]
    record = place.store().load_by_id(NAME).record
    assert record.body.startswith("It is very fast.") and "We measured 4 s" in record.body
    assert queue.undo_last(place).ok and files_of(place) == before


def test_what_git_is_to_be_told_next_is_said(place: ReviewPaths, git: Git) -> None:
    path = conflict(place, git, OURS, THEIRS)
    done = merge_conflict(place, path).result
    assert done and done.message.endswith(f"Tell git with `git add {path}`.")
    git(place.project.root, "add", str(path))
    live = put(place, OURS, name="20260802-other")
    put(place, THEIRS.replace(NAME, "20260802-other"), "archived/decisions", name="20260802-other")
    other = merge_conflict(place, live).result
    assert other and "git" not in other.message


def test_of_a_memory_that_both_branches_moved_git_is_told_all_three_places(place: ReviewPaths, git: Git) -> None:
    repo = place.project.root
    base = put(place, DECISION)
    git(repo, "add", "-A", ".lerim")
    git(repo, "commit", "-q", "-m", "both")
    git(repo, "branch", "theirs")
    for branch, folder, text in (("main", "learnings", OURS), ("theirs", "archived/decisions", THEIRS)):
        git(repo, "checkout", "-q", branch)
        base.unlink()
        put(place, text, folder)
        git(repo, "add", "-A", ".lerim")
        git(repo, "commit", "-q", "-m", branch)
    git(repo, "checkout", "-q", "main")
    assert subprocess.run(["git", "merge", "-q", "theirs"], cwd=repo, check=False, capture_output=True).returncode
    [live, _] = place.store().paths_of(NAME)
    done = merge_conflict(place, live).result
    assert done and place.store().paths_of(NAME) == [live]
    told = done.message.partition("Tell git with `")[2].removesuffix("`.")
    subprocess.run(shlex.split(told), cwd=repo, check=True, capture_output=True)
    assert git(repo, "ls-files", "--unmerged") == ""
    git(repo, "commit", "-q", "-m", "merged")
    assert git(repo, "status", "--porcelain") == ""


def test_markers_do_not_come_back_into_what_git_was_told_is_merged(place: ReviewPaths, git: Git) -> None:
    earlier = queue.add_memory(place, "decision", "Pin the ports", "They are fixed.")
    path = conflict(place, git, OURS, THEIRS)
    done = merge_conflict(place, path).result
    assert done and queue.undo_last(place).ok and b"<<<<<<<" in path.read_bytes(), "git waits for it still"
    done = merge_conflict(place, path).result
    git(place.project.root, "add", "-A", ".lerim")
    git(place.project.root, "commit", "-q", "-m", "merged")
    joined_file = path.read_bytes()
    for action in (None, done.action if done else None):
        with pytest.raises(StaleError, match="git has merged it") as told:
            queue.undo_last(place, action)
        assert path.read_bytes() == joined_file and "<<<<<<<" not in told.value.diff
    assert queue.list_steps(place)[0].state == "changed"
    assert queue.undo_last(place).action == earlier.action, "plain undo goes on to the step before it"


@pytest.mark.parametrize("removed", ["ours", "theirs"])
def test_a_memory_that_one_branch_removed_and_the_other_changed_is_told(
    place: ReviewPaths, git: Git, removed: str
) -> None:
    repo = place.project.root
    path = put(place, DECISION)
    git(repo, "add", "-A", ".lerim")
    git(repo, "commit", "-q", "-m", "both")
    git(repo, "branch", "theirs")
    for branch, gone in (("main", removed == "ours"), ("theirs", removed == "theirs")):
        git(repo, "checkout", "-q", branch)
        path.unlink() if gone else path.write_text(OURS)
        git(repo, "commit", "-qam", branch)
    git(repo, "checkout", "-q", "main")
    assert subprocess.run(["git", "merge", "-q", "theirs"], cwd=repo, check=False, capture_output=True).returncode
    assert path.read_text() == OURS
    with pytest.raises(ConflictError, match="the other removed it") as told:
        merge_conflict(place, path, preview=True)
    assert f"git add {path}" in told.value.todo and f"git rm {path}" in told.value.todo
    assert [(one.code, one.path) for one in find_unmerged_problems(place)] == [("memory-conflict", str(path))]
    git(repo, "add", str(path))
    assert find_unmerged_problems(place) == []
    with pytest.raises(MemoryError_, match="Only one file"):
        merge_conflict(place, path, preview=True)


def test_what_one_side_says_is_over_is_over_and_one_sound_file_is_not_joined(place: ReviewPaths) -> None:
    live = put(place, OURS)
    put(place, THEIRS.replace("source:", "superseded_by: 20260901-x\nsource:"), "archived/decisions")
    merge_conflict(place, live)
    [path] = place.store().paths_of(NAME)
    assert "archived" in path.parts and place.store().load_by_id(NAME).status == "superseded"
    before = files_of(place)
    with pytest.raises(MemoryError_, match="Only one file"):
        merge_conflict(place, path)
    with pytest.raises(NotFoundError):
        merge_conflict(place, path.with_name("20260101-x.md"))
    assert files_of(place) == before


def test_a_code_block_that_both_have_is_not_said_twice() -> None:
    block = "```\nmake ci\n```"
    assert merge_bodies(f"Ours.\n\n{block}\n\n```\nmake all\n```", "Run it", f"Theirs.\n\n{block}") == (
        f"Theirs.\n\n{block}\n\nOurs.\n\n```\nmake all\n```"
    )
