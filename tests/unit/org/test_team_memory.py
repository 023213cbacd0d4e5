"""The memories that repositories share with their team, and finding them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from desk import Desk
from lerim.errors import OrgError
from lerim.team import TeamDatabase, share_memories
from organisation import Organisation
from terminal import answer, run
from window import write_memory

Git = Callable[..., str]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def commit(git: Git, desk: Desk, author: str) -> None:
    git(desk.repo, "add", ".")
    git(desk.repo, "commit", "-q", "-m", "memories", f"--author={author} <a@example.org>")


def test_committed_memories_are_shared_with_who_approved_them_and_found(organisation: Organisation, git: Git) -> None:
    desk, repo = organisation.desk, str(organisation.desk.repo)
    git(desk.repo, "remote", "add", "origin", "git@example.org:shop/Tools.git")
    write_memory(
        desk.repo, id="20260801-a", title="Retrying payments is idempotent", references=("src/app.py#load",), body="B."
    )
    commit(git, desk, "Ana")
    write_memory(
        desk.repo,
        id="20260801-b",
        title=f"Never use {SECRET}",
        body="The `httpx.AsyncClient` is shared.",
        references=(),
    )
    write_memory(desk.repo, id="20260801-c", title="Old words of payments", superseded_by="20260801-a")
    commit(git, desk, "Ben\x1f \u202eCarl")
    write_memory(desk.repo, id="20260801-d", title="Not committed")
    broken = desk.repo / ".lerim" / "memory" / "decisions" / "20260801-e.md"
    broken.write_text("no header", encoding="utf-8")
    git(desk.repo, "add", str(broken))
    git(desk.repo, "commit", "-q", "-m", "broken")
    shared = answer("org", "share", "--repo", repo)
    assert (shared["project"], shared["shared"], shared["removed"]) == ("example.org/shop/tools", 2, 0)
    assert [one["path"] for one in shared["problems"]] == [str(broken)]
    assert SECRET not in str(organisation.rows("SELECT * FROM memories"))
    [hit] = answer("org", "search", "retry", "payment")["hits"]
    assert (hit["id"], hit["approved_by"], hit["references"]) == ("20260801-a", "Ana", ["src/app.py#load"])
    assert hit["approved_in"] == git(desk.repo, "log", "--format=%H", "--author=Ana")
    for words in ("AsyncClient", "httpx.AsyncClient", "the", '"asyncclient is shared"', "shared OR nothing"):
        assert [one["id"] for one in answer("org", "search", words)["hits"]] == ["20260801-b"], words
    assert answer("org", "search", "app.py", "--repo", "shop/tools", "--kind", "decision")["hits"] == [hit]
    for wrong in (["payment", "--repo", "shop/t_ols"], ["payment", "--kind", "question"], ["payment -retry"]):
        assert answer("org", "search", *wrong)["hits"] == []
    shown = run("org", "search", "shared").stdout
    assert "approved by Ben" in shown and "\u202e" not in shown
    assert "Nothing was found in the memories of team platform" in run("org", "search", "nothing").stdout
    assert run("org", "search", "x", "--kind", "wish").exit_code == 2
    other = organisation.url.replace("platform_worker@", "payments_worker@")
    assert answer("org", "search", "payment", "--database", other)["hits"] == []


def test_sharing_again_changes_nothing_and_takes_out_what_is_gone(organisation: Organisation, git: Git) -> None:
    desk, database = organisation.desk, TeamDatabase(organisation.url, "platform")
    for name in "abc":
        write_memory(desk.repo, id=f"20260801-{name}", title=f"About {name}")
    commit(git, desk, "Ana")
    project = desk.place.project
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: share_memories(database, project, os.environ).shared, range(2)))
    before = organisation.rows("SELECT * FROM memories ORDER BY id")
    assert both == [3, 3] and len(before) == 3
    archived = desk.repo / ".lerim" / "memory" / "archived" / "decisions"
    archived.mkdir(parents=True)
    git(desk.repo, "mv", ".lerim/memory/decisions/20260801-a.md", str(archived))
    git(desk.repo, "rm", "-q", ".lerim/memory/decisions/20260801-b.md")
    commit(git, desk, "Ben")
    with pytest.raises(OrgError, match="is not allowed"):
        share_memories(TeamDatabase(organisation.url.replace("_worker@", "_reader@"), "platform"), project, os.environ)
    admin = organisation.url.replace("platform_worker@", "admin@")
    with psycopg.connect(admin, autocommit=True) as connection:  # what is removed first comes back if the rest fails
        connection.execute("ALTER TABLE lerim.memories ADD CONSTRAINT late CHECK (approved_in = '') NOT VALID")
        with pytest.raises(OrgError, match="refused"):
            share_memories(database, project, os.environ)
        connection.execute("ALTER TABLE lerim.memories DROP CONSTRAINT late")
    assert organisation.rows("SELECT * FROM memories ORDER BY id") == before
    assert "1 memory of " in run("org", "share", "--repo", str(desk.repo)).stdout
    assert organisation.rows("SELECT id, approved_by FROM memories") == [("20260801-c", "Ana")]
    git(desk.repo, "checkout", "-q", "HEAD~1")
    late = run("org", "share", "--repo", str(desk.repo))
    assert late.exit_code == 1 and "has the memories of a later commit" in late.stderr
    assert organisation.rows("SELECT id, approved_by FROM memories") == [("20260801-c", "Ana")]


def test_a_clone_without_its_history_shares_nothing_rather_than_guess(organisation: Organisation, git: Git) -> None:
    desk = organisation.desk
    write_memory(desk.repo, id="20260801-a", title="About a")
    commit(git, desk, "Ana")
    shallow = desk.repo.parent / "shallow"
    git(desk.repo.parent, "clone", "-q", "--depth", "1", f"file://{desk.repo}", str(shallow))
    refused = run("org", "share", "--repo", str(shallow))
    assert refused.exit_code == 1 and "does not have the whole history" in refused.stderr
