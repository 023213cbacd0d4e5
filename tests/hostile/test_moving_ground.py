"""The ground moves under a review: worktrees go, branches switch, clocks go back, files change while one decides."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException  # noqa: TID251

from claude_lines import Fields, prompt, reply, text
from desk import Desk, correction
from hang import HANG
from lerim.errors import LerimError, StaleError
from lerim.jobs.sync_context import SyncOptions
from lerim.lsp.protocol import core
from lerim.project import project
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from rights import Terminal
from warm_python import warm_python
from window import Editor, server_environ, write_memory

Window = Callable[..., Awaitable[Editor]]
Git = Callable[..., str]


def in_worktree(desk: Desk, worktree: Path) -> ReviewPaths:
    found = project.locate_project(worktree, desk.home)
    assert found
    return ReviewPaths(found, desk.home)


@pytest.mark.asyncio
async def test_a_removed_worktree_takes_no_candidate_with_it_and_is_not_made_again(
    desk: Desk, git: Git, window: Window, tmp_path: Path
) -> None:
    worktree = tmp_path / "side"
    git(desk.repo, "worktree", "add", "-q", str(worktree))
    desk.session("s1", *correction(desk), cwd=worktree)
    editor = await window(worktree)
    report = await editor.ask(core.SYNC, {"root": editor.root})
    (view,) = report.candidates
    git(desk.repo, "worktree", "remove", "--force", str(worktree))
    wanted = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}

    with pytest.raises(JsonRpcException, match="no longer exists"):
        await editor.ask(core.REVIEW_ACT, wanted)
    assert not worktree.exists()
    assert desk.waiting() == [view.title]

    assert queue.accept_candidate(desk.place, view.id, quotes="shared").ok
    assert desk.memories() == [view.title]
    assert desk.sync().candidates == []


def test_sessions_of_a_removed_worktree_are_still_read(desk: Desk, git: Git, tmp_path: Path) -> None:
    worktree = tmp_path / "side"
    git(desk.repo, "worktree", "add", "-q", str(worktree))
    desk.session("s1", *correction(desk), cwd=worktree)
    shutil.rmtree(worktree)
    assert len(desk.sync().candidates) == 1
    assert desk.sync().candidates == []


@pytest.mark.asyncio
async def test_a_branch_switch_under_the_open_sidecar_leaves_candidates_to_be_accepted_on_the_new_branch(
    desk: Desk, git: Git, window: Window
) -> None:
    git(desk.repo, "switch", "-q", "-c", "feature")
    known = write_memory(desk.repo)
    git(desk.repo, "add", ".lerim")
    git(desk.repo, "commit", "-q", "-m", "A memory")
    editor = await window()
    app = editor.open("src/app.py")
    assert await editor.hover(app, 0, 5)
    desk.session("s1", *correction(desk))
    await editor.ask(core.SYNC, {"root": editor.root})

    git(desk.repo, "switch", "-q", "main")
    editor.changed(known)
    await editor.until(lambda: editor.memories() == 0)
    assert await editor.hover(app, 0, 5) is None
    (view,) = (await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates
    wanted = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}
    result = await editor.ask(core.REVIEW_ACT, wanted)
    assert result.ok
    assert desk.memories() == [view.title]
    git(desk.repo, "add", ".lerim")
    git(desk.repo, "commit", "-q", "-m", "Another")
    git(desk.repo, "switch", "-q", "feature")
    assert desk.memories() == ["Keep load small"]
    assert desk.waiting() == []
    assert (await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates == []


def rule(number: int) -> list[Fields]:
    said = f"Always retry the upload in src/app.py {number} times before `Store` gives up"
    return [
        prompt(said),
        reply(f"r{number}", text("Understood, I will.")),
        prompt("thanks"),
        reply(f"q{number}", text("Fine.")),
    ]


def update_of(desk: Desk) -> tuple[queue.Proposal, Path]:
    """A memory, and a waiting candidate that would change it."""
    desk.session("s1", *rule(3))
    (first,) = desk.sync().candidates
    queue.accept_candidate(desk.place, first.id, quotes="shared")
    (memory,) = (desk.repo / ".lerim" / "memory").glob("*/*.md")
    desk.session("s2", *rule(5))
    desk.sync()
    (waiting,) = queue.list_pending(desk.place)[0]
    proposal = queue.suggest_answer(desk.place, waiting.id, "changes", memory.stem, "The number changed.")
    assert proposal.action == "update"
    return proposal, memory


def test_a_switch_to_a_branch_without_the_memory_an_update_was_for_says_so_and_keeps_the_candidate(
    desk: Desk, git: Git
) -> None:
    git(desk.repo, "switch", "-q", "-c", "feature")
    proposal, _ = update_of(desk)
    git(desk.repo, "add", ".lerim")
    git(desk.repo, "commit", "-q", "-m", "A memory")
    git(desk.repo, "switch", "-q", "main")
    with pytest.raises(StaleError):
        queue.accept_candidate(desk.place, proposal.id, quotes="shared")
    assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    assert desk.memories() == [proposal.record.title]


def test_a_memory_edited_while_accept_waits_for_its_turn_is_not_overwritten(desk: Desk) -> None:
    proposal, memory = update_of(desk)
    with desk.place.lock():
        accept = subprocess.Popen(
            [warm_python(), "-P", "-m", "lerim", "review", "accept", proposal.id, "--quotes", "shared", "--json"],
            cwd=desk.repo,
            env=server_environ(),
            stdout=subprocess.PIPE,
            text=True,
        )
        mine = memory.read_text(encoding="utf-8") + "\nA line of my own.\n"
        memory.write_text(mine, encoding="utf-8")
    out, _ = accept.communicate(timeout=HANG)
    assert '"stale"' in out
    assert memory.read_text(encoding="utf-8") == mine
    assert desk.waiting() == [proposal.record.title]


def test_a_hand_that_writes_before_each_accept_and_undo_loses_no_line(desk: Desk) -> None:
    proposal, memory = update_of(desk)
    before = memory.read_text(encoding="utf-8")
    memory.write_text(before + "\nLine one.\n", encoding="utf-8")
    with pytest.raises(StaleError) as caught:
        queue.accept_candidate(desk.place, proposal.id, quotes="shared")
    assert caught.value.diff
    assert memory.read_text(encoding="utf-8") == before + "\nLine one.\n"
    memory.write_text(before + "\nLine one.\n\nLine two.\n", encoding="utf-8")
    with pytest.raises(StaleError):
        queue.accept_candidate(desk.place, proposal.id, quotes="shared")
    done = queue.accept_candidate(desk.place, proposal.id, quotes="shared")
    both = memory.read_text(encoding="utf-8")
    assert "Line one." in both
    assert "Line two." in both
    memory.write_text(both + "\nAfter it.\n", encoding="utf-8")
    with pytest.raises(StaleError):
        queue.undo_last(desk.place, done.action)
    assert memory.read_text(encoding="utf-8") == both + "\nAfter it.\n"
    memory.write_text(both, encoding="utf-8")
    assert queue.undo_last(desk.place, done.action).ok
    assert memory.read_text(encoding="utf-8") == before + "\nLine one.\n\nLine two.\n"


def test_a_clock_that_goes_backwards_between_two_syncs_loses_and_doubles_nothing(desk: Desk) -> None:
    day = timedelta(days=1)
    now = datetime.now(UTC)
    one = desk.session("s1", *correction(desk))
    assert len(desk.sync(clock=lambda: now).candidates) == 1
    desk.session("s1", *correction(desk, "tomllib", "tests/test_app.py", "configparser"))
    earlier = (now - 3 * day).timestamp() - 3600  # its last exchange is over
    os.utime(one, (earlier, earlier))
    assert [view.title for view in desk.sync(clock=lambda: now - 3 * day).candidates] == desk.waiting()[1:]
    late = [
        {**record, "timestamp": "2020-01-01T00:00:00.000Z"}
        for record in correction(desk, "attrs", "README.md", "dataclasses")
    ]
    two = desk.session("s2", *late)
    os.utime(two, (earlier - 86400, earlier - 86400))
    assert len(desk.sync(clock=lambda: now - 4 * day).candidates) == 1
    titles = desk.waiting()
    assert len(titles) == len(set(titles)) == 3
    assert desk.sync(clock=lambda: now - 5 * day).candidates == []
    for proposal in queue.list_pending(desk.place)[0]:
        assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    assert desk.sync(clock=lambda: now).candidates == []
    assert len(desk.memories()) == 3


def test_a_session_that_waits_for_its_time_is_learned_from_although_the_clock_went_back(desk: Desk) -> None:
    now = datetime.now(UTC)
    desk.session("s1", *correction(desk))
    idle = SyncOptions(explicit=False)
    desk.sync(idle, clock=lambda: now)
    desk.sync(idle, clock=lambda: now - timedelta(days=400))
    desk.sync(SyncOptions(explicit=True), clock=lambda: now - timedelta(days=400))
    assert len(desk.waiting()) == 1
    assert desk.sync(idle, clock=lambda: now + timedelta(hours=1)).candidates == []


def test_the_repository_is_removed_while_a_window_has_candidates(
    desk: Desk, terminal: Terminal, tmp_path: Path
) -> None:
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    place = desk.place
    shutil.rmtree(desk.repo)
    with pytest.raises(LerimError):
        queue.accept_candidate(place, view.id, quotes="shared")
    assert not desk.repo.exists()
    desk.repo.mkdir()
    done = terminal("sync", "--json")
    assert '"project"' in done.stdout
    assert list(desk.repo.iterdir()) == []
