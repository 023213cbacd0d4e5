"""A machine on which the store of every agent is damaged in its own way: the rest is read, and each problem told."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import claude_lines
import codex_lines
import cursor_store
import opencode_store
from desk import Desk, correction
from lerim.jobs.agent_states import examine_agents
from lerim.sessions.catalog.catalog import Catalog
from rights import Terminal, bound
from stories import FIRST
from story_stores import AGENTS

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and links")


def whole(desk: Desk, more: int = 0) -> None:
    """A sync that took in every session that is in order, in this sync or an earlier one."""
    report = desk.sync()
    assert report.sessions.found == len(AGENTS) + more
    assert report.sessions.failed == 0
    assert report.state == "done"


PIPES = (
    ".claude/projects/-x/s.jsonl",
    ".codex/sessions/2026/03/02/rollout-2026-03-02T00-00-00-11111111-1111-4111-8111-111111111111.jsonl",
    ".codex/session_index.jsonl",
    ".config/Cursor/User/workspaceStorage/a/state.vscdb",
    ".config/Cursor/User/workspaceStorage/a/workspace.json",
    ".cursor/projects/p/.workspace-trusted",
    ".cursor/projects/p/agent-transcripts/s.jsonl",
    ".cursor/chats/c/s/store.db",
    ".cursor/chats/c/s/meta.json",
    ".local/share/opencode/opencode-x.db",
    ".local/share/opencode/storage/session/p/s.json",
    ".gemini/projects.json",
    ".gemini/tmp/a/.project_root",
    ".gemini/tmp/a/chats/session-2026-05-01T00-00-s.json",
    ".gemini/tmp/a/chats/session-2026-05-01T00-00-s.jsonl",
    ".copilot/session-state/s/events.jsonl",
    ".copilot/session-state/s.jsonl",
    ".config/Code/User/workspaceStorage/a/workspace.json",
    ".config/Code/User/workspaceStorage/a/chatSessions/s.json",
    ".config/Code/User/workspaceStorage/a/chatSessions/s.jsonl",
)
"""A pipe without a writer: who opens it waits for ever."""


def test_nobody_waits_for_a_pipe_that_lies_where_a_store_has_a_file(machine: Desk, isolated: Path) -> None:
    for name in PIPES:
        (isolated / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(isolated / name)
    whole(machine)


def loop(path: Path) -> None:
    """A link to itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path)


LOOPS = (
    ".claude/projects/-x",
    ".codex/sessions/2026/x",
    ".codex/archived_sessions",
    ".config/Cursor/User/workspaceStorage/x",
    ".cursor/chats/x",
    ".cursor/projects/x",
    ".gemini/tmp/x",
    ".gemini/antigravity/brain/x",
    ".copilot/session-state/x",
    ".config/Code/User/workspaceStorage/x",
)


def test_a_link_to_itself_hides_nothing_that_lies_beside_it(machine: Desk, isolated: Path) -> None:
    editor = cursor_store.Editor(isolated / ".config" / "Cursor" / "User")
    old = {"version": 1, "tabs": [{"tabId": "t1", "bubbles": [{"type": "user", "id": "b1", "text": "An old chat"}]}]}
    place = machine.repo.as_uri()
    editor.workspace("w1", place, workbench__panel__aichat__view__aichat__chatdata=old)
    for name in LOOPS:
        loop(isolated / name)
    whole(machine, more=1)


def test_stores_that_are_damaged_in_every_way_at_once_cost_only_themselves_and_heal(
    machine: Desk, isolated: Path
) -> None:
    data = isolated / ".local" / "share" / "opencode"
    good = (data / "opencode.db").read_bytes()
    (data / "opencode-torn.db").write_bytes(good[:9000])
    (data / "opencode-none.db").write_bytes(b"This is no database. " * 500)
    (data / "opencode-empty.db").write_bytes(b"")
    (data / "opencode-folder.db").mkdir()
    with closing(sqlite3.connect(data / "opencode-new.db")) as db, db:
        db.execute("CREATE TABLE session (id TEXT, tomorrow TEXT)")
        db.execute("INSERT INTO session VALUES ('ses_new', 'x')")
    rollout = isolated / ".codex/sessions/2026/rollout-2026-03-03T00-00-00-22222222-2222-4222-8222-222222222222.jsonl"
    rollout.parent.mkdir(parents=True, exist_ok=True)
    head = codex_lines.encoded(codex_lines.meta("22222222", cwd=str(machine.repo)), codex_lines.prompt("Before it"))
    rollout.write_bytes(head + b'"' + b"x" * 40_000_000 + b'"\n' + codex_lines.encoded(codex_lines.prompt("After it")))
    report = machine.sync()
    assert report.sessions.found == len(AGENTS) + 1
    assert report.state == "done"
    names = sorted(Path(problem.path).name.partition("@")[0] for problem in report.problems)
    assert names == ["opencode-folder.db", "opencode-new.db", "opencode-none.db", "opencode-torn.db", rollout.name]
    with Catalog.open(machine.home) as catalog:
        assert {turn.text for word in ("Before", "After") for turn in catalog.search_turns(word)} == {
            "Before it",
            "After it",
        }

    again = machine.sync()
    assert sorted(Path(problem.path).name for problem in again.problems) == names[:4]
    assert again.sessions.unchanged == again.sessions.found

    (data / names[0]).rmdir()
    for name in names[1:4]:
        (data / name).unlink()
    store = opencode_store.Store("ses_healed", directory=str(machine.repo))
    store.say("user", opencode_store.text("It is whole again"))
    store.rows(data / "opencode-torn.db")
    healed = machine.sync()
    assert healed.problems == []
    assert (healed.sessions.found, healed.sessions.new) == (len(AGENTS) + 2, 1)


def test_a_store_that_is_closed_to_us_for_a_while_loses_nothing_and_is_read_when_it_is_open(
    machine: Desk, isolated: Path
) -> None:
    whole(machine)
    stores = [
        isolated / name for name in (".codex", ".config/Cursor", ".config/Code", ".local/share/opencode", ".gemini")
    ]
    for store in stores:
        store.chmod(0)
    try:
        with bound():
            report = machine.sync()
    finally:
        for store in stores:
            store.chmod(0o755)
    assert report.sessions.found == len(AGENTS)
    assert report.problems
    assert [problem for problem in report.problems if "Check that" not in problem.message][1:] == []
    for agent, write in AGENTS.items():
        write(isolated, machine.repo, f"later-{agent}", FIRST[:2])
    report = machine.sync()
    assert report.problems == []
    assert report.sessions.new == len(AGENTS)


def test_troubles_of_other_projects_are_told_by_the_doctor_alone(machine: Desk, isolated: Path) -> None:
    storage = isolated / ".config" / "Cursor" / "User" / "workspaceStorage"
    for name, folder in (("other", isolated / "elsewhere"), ("own", machine.repo)):
        (storage / name).mkdir(parents=True)
        (storage / name / "workspace.json").write_text(json.dumps({"folder": folder.as_uri()}), encoding="utf-8")
        (storage / name / "state.vscdb").write_bytes(b"This is no database. " * 500)
    loop(isolated / ".claude" / "projects" / "-home-ana-other" / "s.jsonl")
    loop(isolated / ".gemini" / "tmp" / ("a" * 64) / "chats" / "session-2026-01-01T00-00-s.json")
    assert [problem.path for problem in machine.sync().problems] == [str(storage / "own" / "state.vscdb")]
    told = {view.platform: sum(one.count for one in view.skipped) for view in examine_agents(machine.home, os.environ)}
    assert (told["cursor"], told["claude"], told["gemini"]) == (2, 1, 1)


def test_many_troubles_of_one_kind_are_counted(machine: Desk, isolated: Path) -> None:
    storage = isolated / ".config" / "Cursor" / "User" / "workspaceStorage"
    for number in range(20):
        (storage / f"w{number}").mkdir(parents=True)
        (storage / f"w{number}" / "state.vscdb").write_bytes(b"This is no database. " * 500)
    problems = machine.sync().problems
    assert len(problems) == 4
    assert "17 more" in problems[-1].message


def test_a_file_that_is_closed_for_good_does_not_have_every_database_listed_anew(machine: Desk) -> None:
    closed = machine.session("closed", claude_lines.prompt("Hello"))
    closed.chmod(0)
    with bound():
        machine.sync()
    with Catalog.open(machine.home) as catalog:
        assert {path.name for path in catalog.load_store_stamps()} == {"opencode.db", "state.vscdb"}


def test_names_that_are_no_unicode_are_read_and_told(machine: Desk, terminal: Terminal) -> None:
    folder = os.fsencode(machine.projects) + b"/-\xff"
    try:
        Path(os.fsdecode(folder)).mkdir()
    except OSError:
        pytest.skip("this system has no such names")
    said = [*correction(machine, "attrs", "src/app.py", "dataclasses")]
    records = [{**one, "cwd": str(machine.repo), "sessionId": "odd"} for one in said]
    Path(os.fsdecode(folder + b"/\xfe.jsonl")).write_bytes(claude_lines.encoded(*records))
    loop(Path(os.fsdecode(folder + b"/-\xfd.jsonl")))
    loop(Path(os.fsdecode(os.fsencode(machine.projects.parent.parent / ".codex/sessions/2026") + b"/\xfd")) / "x")
    done = terminal("sync", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sessions"]["found"] == len(AGENTS) + 1
    assert any("attrs" in title for title in machine.waiting())
    again = machine.sync()
    assert (again.sessions.new, again.sessions.changed, again.candidates) == (0, 0, [])


FOLDERS = (
    "",
    "/",
    ".",
    "C:\\Users\\Ana\\app",
    "\\\\host\\share",
    "relative/app",
    "/" + "a/" * 5000,
    "/a\0b",
    "/a\ud800",
)


def test_working_folders_of_any_kind_are_nobodys_and_stop_nothing(machine: Desk, isolated: Path) -> None:
    rollouts = isolated / ".codex" / "sessions" / "2026" / "03" / "03"
    rollouts.mkdir(parents=True)
    for number, cwd in enumerate(FOLDERS):
        native = f"33333333-3333-4333-8333-{number:012}"
        head = {**codex_lines.meta(native, cwd="@@"), "timestamp": None}
        records = codex_lines.encoded(head, codex_lines.prompt(f"Said to Codex {number}"))
        data = records.replace(b'"@@"', json.dumps(cwd).encode())
        (rollouts / f"rollout-2026-03-03T00-00-00-{native}.jsonl").write_bytes(data)
        store = opencode_store.Store(f"ses_{number}", directory=cwd.replace("\ud800", ""))
        store.mark = f"_{number}"
        store.say("user", opencode_store.text(f"Said in {number}"))
        store.rows(isolated / ".local" / "share" / "opencode" / "opencode-odd.db")
    whole(machine)
    whole(machine)
    with Catalog.open(machine.home) as catalog:
        assert len(catalog.search_turns("Said", limit=100)) == 2 * len(FOLDERS)
