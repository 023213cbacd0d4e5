"""Sessions in a form that no reader knows, as an agent's next version may write them."""

from __future__ import annotations

import gzip
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from catalog_dump import listed
from desk import Desk, desk_in
from lerim.jobs import examine_agents
from lerim.sessions.catalog.catalog import Catalog
from stories import FIRST
from story_stores import AGENTS
from terminal import answer, run

NAME = "11111111-2222-4333-8444-555555555555"


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot-cli", "gemini"])
def test_a_session_of_an_unknown_form_is_reported_and_costs_no_other(
    desk: Desk, repo: Path, isolated: Path, agent: str
) -> None:
    AGENTS[agent](isolated, repo, "known", FIRST)
    known = set(files_of(isolated))
    AGENTS[agent](isolated, repo, "unknown", FIRST)
    for path in files_of(isolated):
        if path not in known:
            path.write_text(path.read_text(encoding="utf-8").replace('"type"', '"sort"'), encoding="utf-8")
    desk_in(isolated, repo).session(NAME, {"type": "mode", "mode": "plan"}, {"type": "a-later-one"})
    report = desk.sync()
    [problem] = report.problems  # none of the one whose records are known and make no turn
    assert "Nothing of this session" in problem.message and "the form of none of its records" in problem.message
    with Catalog.open(desk.home) as catalog:
        assert [row.turns > 0 for row in listed(catalog, desk.place.project.key)] == [True]


def test_sessions_that_stay_unread_are_counted_by_every_sync_and_named_by_the_agents_state(
    desk: Desk, isolated: Path
) -> None:
    desk.session(NAME, {"sort": "user"}, {"sort": "assistant"})
    folder = isolated / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "opencode.db")) as db:
        db.execute("CREATE TABLE conversations (id)")
    here = ("--repo", str(desk.repo))
    for _ in range(2):
        assert "2 sessions or stores are not read; `lerim connect list` says why." in run("sync", *here).stdout
    for command in (("agents", "status"), ("connect", "list")):
        told = run(*command, *here).stdout
        assert f"{NAME}.jsonl: Nothing of this session of Claude Code could be read." in told
        assert "that this version of Lerim does not know. Update Lerim." in told
    unread = answer("agents", "status", *here)["unread"]
    assert [(one["platform"], one["reason"], one["count"]) for one in unread] == [
        ("claude", "failed", 1),
        ("opencode", "unreadable", 1),
    ]


def test_a_sync_says_nothing_of_sessions_that_only_their_agent_can_read(desk: Desk, isolated: Path) -> None:
    conversations = isolated / ".gemini" / "antigravity" / "conversations"
    conversations.mkdir(parents=True)
    (conversations / "0000aaaa.pb").write_bytes(b"\x0a\x01")
    here = ("--repo", str(desk.repo))
    assert "not read" not in run("sync", *here).stdout
    assert "kept in a form that only Antigravity reads" in run("connect", "list", *here).stdout
    assert "kept in a form that only Antigravity reads" in run("agents", "status", *here).stdout


def test_a_compressed_session_is_counted_and_named_until_it_is_unpacked(desk: Desk, repo: Path, isolated: Path) -> None:
    for agent in ("claude", "codex", "copilot-cli", "gemini"):
        AGENTS[agent](isolated, repo, "packed", FIRST)
    packed = files_of(isolated)
    for path in packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    report = desk.sync()
    assert (report.sessions.found, report.problems) == (0, [])
    agents = examine_agents(desk.home, os.environ)
    skipped = [(one.platform, each.reason, each.count) for one in agents for each in one.skipped]
    assert skipped == [(name, "compressed", 1) for name in ("claude", "codex", "copilot", "gemini")]
    for path in packed:
        path.write_bytes(gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes()))
    assert desk.sync().sessions.found == 4
    assert [each for one in examine_agents(desk.home, os.environ) for each in one.skipped] == []


def files_of(home: Path) -> list[Path]:
    return [path for path in sorted(home.rglob("*.json*")) if ".lerim" not in path.parts]
