"""Sharing and proposing memories, killed at random instants: done whole or not at all, and never twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from hang import HANG
from killer import Killer
from organisation import Organisation
from terminal import run
from window import write_memory

Git = Callable[..., str]
KILLS = 6
BUSY = 4


@pytest.fixture
def organisation(organisation: Organisation, git: Git) -> Organisation:
    git(organisation.desk.repo, "config", "user.name", "Ana")
    git(organisation.desk.repo, "config", "user.email", "ana@example.org")
    return organisation


def command(*arguments: str) -> None:
    """Runs in a child: a failure is told by its exit code. A git that the killed process was just starting keeps the
    lock until it runs, so a project that is busy is tried again."""
    deadline = time.monotonic() + HANG
    while (done := run(*arguments)).exit_code == BUSY and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    assert done.exit_code == 0, done.output


def test_after_kills_of_share_the_store_has_the_memories_of_one_commit(organisation: Organisation, git: Git) -> None:
    repo, killer = organisation.desk.repo, Killer(7)
    wanted: dict[str, list[str]] = {}
    for number in range(KILLS + 1):
        write_memory(repo, id=f"20260801-{number}", title=f"About {number}")
        if number:
            git(repo, "rm", "-q", f".lerim/memory/decisions/20260801-{number - 1}.md")
        write_memory(repo, id="20260802-stays", title=f"Says {number}")
        git(repo, "add", ".lerim")
        git(repo, "commit", "-q", "-m", str(number))
        wanted[git(repo, "rev-parse", "HEAD").strip()] = [f"20260801-{number}", "20260802-stays"]
        killer.run("share", lambda: command("org", "share", "--repo", str(repo)))
        [(commit, ids)] = organisation.rows("SELECT commit, array_agg(id ORDER BY id) FROM memories GROUP BY commit")
        assert ids == wanted[commit]
    assert killer.killed
    killer.takes.clear()
    killer.run("share", lambda: command("org", "share", "--repo", str(repo)))
    last = list(wanted)[-1]
    assert organisation.rows("SELECT id, commit FROM memories ORDER BY id") == [(one, last) for one in wanted[last]]


def test_after_kills_of_propose_each_branch_is_whole_and_none_is_there_twice(
    organisation: Organisation, git: Git
) -> None:
    repo, killer = organisation.desk.repo, Killer(11)
    before = git(repo, "rev-parse", "HEAD"), git(repo, "ls-files", "--stage")
    wanted: list[str] = []
    whole: list[list[str]] = []
    for number in range(KILLS + 1):
        wanted.append(f".lerim/memory/decisions/20260801-{number}.md")
        write_memory(repo, id=f"20260801-{number}", title=f"About {number}")
        whole.append(list(wanted))
        killer.run("propose", lambda: command("org", "propose", "--repo", str(repo)))
    assert killer.killed
    for _ in range(2):
        killer.takes.clear()
        killer.run("propose", lambda: command("org", "propose", "--repo", str(repo)))
    branches = git(repo, "for-each-ref", "--format=%(refname)", "refs/heads/lerim").split()
    found = [git(repo, "diff", "--name-only", "HEAD", one, "--", ".lerim/memory").split() for one in branches]
    assert all(one in whole for one in found) and whole[-1] in found
    assert len({tuple(one) for one in found}) == len(found)
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "ls-files", "--stage")) == before
    git(repo, "fsck", "--strict")
