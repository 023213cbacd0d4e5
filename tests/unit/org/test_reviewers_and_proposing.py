"""Who reviews what was found, by CODEOWNERS, and the branch that asks a repository for its new memories."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from desk import Desk
from lerim.errors import OrgError
from lerim.org import Worker
from lerim.paths import Home
from lerim.review import queue
from lerim.team import TeamDatabase, propose_branch
from organisation import make_organisation
from reviews import accepted, made_candidate
from terminal import answer, run
from window import write_memory

Git = Callable[..., str]
TODAY = date(2026, 3, 2)


def test_what_was_found_is_taken_and_counted_by_its_owners(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    organisation, repo = make_organisation(desk, monkeypatch), str(desk.repo)
    organisation.write_sessions(2)
    organisation.send()
    Worker(TeamDatabase(organisation.url, "platform"), os.environ, until_done=True).run()
    [nobody] = organisation.status()["reviewers"]
    assert nobody["reviewer"] == "" and nobody["candidates"] == len(organisation.candidates()) > 0
    (desk.repo / ".github").mkdir()
    (desk.repo / ".github" / "CODEOWNERS").write_text("* @all\n/src/ @Ana @shop/core\n", encoding="utf-8")
    git(desk.repo, "config", "user.email", "7+ana@users.noreply.github.com")
    reader = organisation.url.replace("_worker@", "_reader@")
    assert answer("org", "pull", "--repo", repo, "--reviewer", "@ben", "--database", reader)["candidates"] == []
    assert organisation.status()["reviewers"] == [nobody]  # who only reads assigns nobody
    assert answer("org", "pull", "--repo", repo, "--reviewer", "@all")["candidates"] == []
    counts = {one["reviewer"]: one["candidates"] for one in organisation.status()["reviewers"]}
    assert counts == {"@Ana": nobody["candidates"], "@shop/core": nobody["candidates"]}
    pulled = run("org", "pull", "--repo", repo, "--mine").stdout
    assert f"{nobody['candidates']} candidate" in pulled and "@ana" in pulled
    assert "@shop/core" in run("org", "status").stdout
    place = desk.place
    first, *others = [one.id for one in queue.list_pending(place)[0]]
    done = queue.accept_candidate(place, first, quotes="shared")
    assert others and done.ok and done.path
    text = Path(done.path).read_text(encoding="utf-8")
    Path(done.path).write_text(re.sub(r"(?m)^title: .*", "title: In other words", text), encoding="utf-8")
    git(desk.repo, "add", ".")
    git(desk.repo, "commit", "-q", "-m", "memory")
    for _ in range(2):
        assert answer("org", "share", "--repo", repo)["shared"] == 1
        status = organisation.status()
        assert (status["proposed"], status["accepted"]) == (len(others), 1)
        assert {one["candidates"] for one in status["reviewers"]} == {len(others)}
    git(desk.repo, "reset", "-q", "--hard", "HEAD~1")  # a colleague's checkout, without what was accepted
    shutil.rmtree(desk.repo / ".lerim")
    monkeypatch.setenv("LERIM_HOME", str(tmp_path / "colleague"))
    assert len(answer("org", "pull", "--repo", repo)["candidates"]) == len(others)


@pytest.fixture
def proposer(desk: Desk, git: Git) -> Desk:
    """A desk with accepted memories, of which one was committed and is archived by now, and with hooks in its way."""
    git(desk.repo, "config", "user.name", "Ana")
    git(desk.repo, "config", "user.email", "ana@example.org")
    old = write_memory(desk.repo, id="20260701-old", title="Old")
    git(desk.repo, "add", ".lerim/memory")
    git(desk.repo, "commit", "-q", "-m", "old")
    (desk.repo / "CODEOWNERS").write_text("requirements.lock @deps\n", encoding="utf-8")
    place = desk.place
    accepted(place, made_candidate(title="Use `uv` @everyone"))
    accepted(place, made_candidate(title="Ship on Mondays", turn="1a1b2c3d4e5f", references=()))
    archived = place.project.memory_dir / "archived" / "decisions"
    archived.mkdir(parents=True)
    old.rename(archived / old.name)
    (desk.repo / "src" / "app.py").write_text("mine\n", encoding="utf-8")
    git(desk.repo, "add", "src/app.py")
    for hook in ("reference-transaction", "post-commit", "pre-commit", "post-index-change"):
        path = desk.repo / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {hook} >> '{desk.repo}/../ran'\nexit 1\n", encoding="utf-8")
        path.chmod(0o755)
    return desk


def propose(desk: Desk) -> str:
    place = desk.place
    return propose_branch(place.project, place.home, os.environ, TODAY).branch


def test_new_memories_are_put_on_a_branch_and_nothing_else_changes(proposer: Desk, git: Git) -> None:
    repo = proposer.repo
    before = [git(repo, "status", "--porcelain"), git(repo, "rev-parse", "HEAD"), git(repo, "symbolic-ref", "HEAD")]
    index = (repo / ".git" / "index").read_bytes()
    (repo.parent / "ran").unlink(missing_ok=True)  # our own questions may have run a hook
    proposed = answer("org", "propose", "--repo", str(repo))
    assert not (repo.parent / "ran").exists()
    assert proposed["title"] == "Memories: 2 decisions, 1 that no longer holds" and proposed["problems"] == []
    assert proposed["reviewers"] == ["@deps"] and proposed["push"].endswith(f"origin {proposed['branch']}")
    changes = git(repo, "diff", "--name-status", "--no-renames", "HEAD", proposed["branch"]).splitlines()
    ids = [one for one in proposed["memories"] if "old" not in one]
    assert sorted(changes) == sorted(
        [
            *(f"A\t.lerim/memory/decisions/{one}.md" for one in ids),
            "A\t.lerim/memory/archived/decisions/20260701-old.md",
            "D\t.lerim/memory/decisions/20260701-old.md",
        ]
    )
    text = proposed["text"]
    assert "`Use 'uv' @everyone` about `requirements.lock`" in text and "### No longer holds" in text
    assert "a person said `no: Use 'uv' @everyone`" in text and "session `s1` of `claude`" in text
    assert git(repo, "log", "-1", "--format=%an %s", proposed["branch"]) == f"Ana {proposed['title']}"
    index_after = (repo / ".git" / "index").read_bytes()
    after = [git(repo, "status", "--porcelain"), git(repo, "rev-parse", "HEAD"), git(repo, "symbolic-ref", "HEAD")]
    assert (after, index_after) == (before, index)
    again = run("org", "propose", "--repo", str(repo))
    assert f"branch {proposed['branch']}." in again.stderr and "### Decided" in again.stdout


def test_a_changed_proposal_gets_a_branch_of_its_own_and_two_at_once_agree(proposer: Desk, git: Git) -> None:
    with ThreadPoolExecutor(2) as pool:
        attempts = [pool.submit(propose, proposer) for _ in range(2)]
    done = [one.result() for one in attempts if one.exception() is None]
    assert done and set(done) == {"lerim/memories-2026-03-02"}  # the other may have been told that it is busy
    write_memory(proposer.repo, id="20260801-more", title="More")
    assert propose(proposer) == "lerim/memories-2026-03-02-2" == propose(proposer)
    git(proposer.repo, "-c", "core.hooksPath=/none", "branch", "-m", "lerim/memories-2026-03-02", "lerim-taken")
    git(proposer.repo, "-c", "core.hooksPath=/none", "branch", "-D", "lerim/memories-2026-03-02-2")
    git(proposer.repo, "-c", "core.hooksPath=/none", "branch", "-m", "lerim-taken", "lerim")
    with pytest.raises(OrgError, match="could not create the branch"):
        propose(proposer)


def test_a_branch_that_the_git_of_a_killed_process_still_holds_is_waited_for(proposer: Desk, git: Git) -> None:
    lock = proposer.repo / ".git" / "refs" / "heads" / "lerim" / f"memories-{TODAY}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    ending = threading.Timer(1, lock.unlink)  # git itself waits for a tenth of a second
    ending.start()
    try:
        proposed = propose_branch(proposer.place.project, proposer.home, os.environ, TODAY)
    finally:
        ending.join()
    assert git(proposer.repo, "rev-parse", proposed.branch).strip() == proposed.commit


def test_nothing_new_and_a_name_with_a_line_end_are_no_trouble(desk: Desk, git: Git) -> None:
    git(desk.repo, "config", "user.name", "Ana")
    git(desk.repo, "config", "user.email", "ana@example.org")
    assert "committed already" in run("org", "propose", "--repo", str(desk.repo)).stderr
    good = write_memory(desk.repo, id="20260801-good", title="Good")
    hostile = good.with_name('20260801-a"\nD README.md\n.md')
    hostile.write_bytes(good.read_bytes())
    proposed = propose_branch(desk.place.project, Home(desk.home.root), os.environ, TODAY)
    command = ["git", "ls-tree", "-r", "-z", "--name-only", proposed.branch]
    listed = subprocess.run(command, cwd=desk.repo, check=True, capture_output=True).stdout.split(b"\0")
    assert b"README.md" in listed and b".lerim/memory/decisions/20260801-good.md" in listed
    assert f".lerim/memory/decisions/{hostile.name}" in [one.path for one in proposed.problems]
    again = propose_branch(desk.place.project, Home(desk.home.root), os.environ, TODAY)
    assert (again.branch, again.commit) == (proposed.branch, proposed.commit)
