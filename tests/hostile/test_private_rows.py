"""What lies beside the sessions and is nobody's business: credentials in files, rows and tables are never read."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import cursor_store
from desk import Desk
from lerim.jobs.agent_states import examine_agents
from lerim.jobs.report import SyncEvent
from rights import Terminal
from stories import FIRST
from story_stores import AGENTS
from window import server_environ

CANARY = "canary-3f9a61c0"
FILES = (
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".codex/config.toml",
    ".local/share/opencode/auth.json",
    ".local/share/opencode/mcp-auth.json",
    ".gemini/oauth_creds.json",
    ".gemini/google_accounts.json",
    ".gemini/settings.json",
    ".copilot/config.json",
    ".copilot/mcp-config.json",
    ".config/github-copilot/apps.json",
    ".config/github-copilot/hosts.json",
    ".cursor/mcp.json",
    ".cursor/cli-config.json",
    ".config/Code/User/globalStorage/state.vscdb",
    ".config/Code/User/settings.json",
)
KEYS = (
    "cursorAuth/accessToken",
    "cursorAuth/refreshToken",
    "cursorAuth/cachedEmail",
    'secret://{"extensionId":"anysphere.cursor","key":"token"}',
)
TABLES = ("account", "credential", "control_account", "account_state")


@pytest.fixture
def machine(desk: Desk, isolated: Path) -> Desk:
    """A person who used every agent here and is signed in to each. Whoever reads one of the private rows meets a
    damaged page, which is a problem that is told."""
    for agent, write in AGENTS.items():
        write(isolated, desk.repo, f"s-{agent}", FIRST)
    for name in FILES:
        (isolated / name).parent.mkdir(parents=True, exist_ok=True)
        (isolated / name).write_text(f'{{"access_token": "{CANARY}"}}', encoding="utf-8")
    user = isolated / ".config" / "Cursor" / "User"
    editor = cursor_store.Editor(user)
    for path in (editor.all, editor.workspace("w1", desk.repo.as_uri())):
        for table in ("ItemTable", "cursorDiskKV"):
            for key in KEYS:
                editor.put(key, f"{CANARY}." * 3000, table=table, path=path)
        damage(path)
    database = isolated / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(database)) as db, db:
        for table in TABLES:
            db.execute(f"CREATE TABLE IF NOT EXISTS {table} (id TEXT PRIMARY KEY, access_token TEXT)")
            db.execute(f"INSERT INTO {table} VALUES ('me', ?)", (f"{CANARY}." * 3000,))
    damage(database)
    return desk


def damage(path: Path) -> None:
    """Makes every long value that holds the canary one that cannot be read."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    mark = CANARY.encode()
    broken = 0
    for start in range(0, len(data), size):
        if start and data[start + 4 : start + size].count(mark) > size // len(mark) // 2 and data[start] == 0:
            data[start : start + 4] = b"\xff\xff\xff\xfe"
            broken += 1
    assert broken
    path.write_bytes(data)
    cursor_store.dated_back(path)


def test_the_rows_of_this_test_cannot_be_read_unseen(machine: Desk, isolated: Path) -> None:
    database = isolated / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(database)) as db, pytest.raises(sqlite3.DatabaseError):
        db.execute("SELECT * FROM account").fetchall()


def everything_written(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                yield path, path.read_bytes()


def test_no_credential_is_read_kept_or_told(machine: Desk, isolated: Path, terminal: Terminal) -> None:
    events: list[SyncEvent] = []
    report = machine.sync(emit=events.append)
    assert report.sessions.found == len(AGENTS)
    assert report.problems == []
    told = [repr(report), repr(events), repr(examine_agents(machine.home, os.environ, machine.place.project))]
    for command in (("sync", "--json"), ("connect", "list", "--json"), ("sessions", "search", CANARY), ("status",)):
        done = terminal(*command)
        told += [done.stdout, done.stderr]
    assert [one for one in told if "access_token" in one or f"{CANARY}." in one] == []
    kept = [path for path, data in everything_written(machine.home.root, machine.repo) if CANARY.encode() in data]
    assert kept == []


OPENED = """
import os, sys
opened = set()
sys.addaudithook(lambda event, given: opened.add(os.fsdecode(given[0])) if event in ("open", "sqlite3.connect")
    and isinstance(given[0], (str, bytes)) else None)
from lerim.__main__ import main
try:
    sys.argv = ["lerim", "sync", "--json"]
    main()
finally:
    sys.stderr.write("\\n".join(opened))
"""


def test_no_file_of_credentials_is_opened(machine: Desk, isolated: Path) -> None:
    command = [sys.executable, "-P", "-c", OPENED]
    done = subprocess.run(command, cwd=machine.repo, env=server_environ(), capture_output=True, text=True, check=False)
    opened = done.stderr.splitlines()
    assert any(name.startswith(str(isolated / ".codex" / "sessions")) for name in opened)
    assert [name for name in FILES if any(str(isolated / name) in one for one in opened)] == []
