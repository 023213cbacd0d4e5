"""Measures a sync cycle when nothing changed and when one session grew, with the sessions of all agents.

    python benchmarks/sync_cycle.py [--sessions 10000] [--json FILE]

Of ten sessions four are Claude Code's, two Codex's, one each Gemini CLI's, Copilot's (command line), Cursor's and
OpenCode's, the last two in one database each. Each session is one prompt and one answer, since a cycle does not read
more. The baseline only calls `stat` on the files in the same folders. Each figure is the best of five.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from lerim.jobs import agent_states
from lerim.paths import Home
from lerim.project.project import FolderOwners
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import (
    DiscoveredStores,
    TranscriptChanges,
    compare_stamps,
    discover_stores,
    open_databases,
)
from lerim.sessions.platforms import find_platform_roots
from lerim.sessions.readers.platform_readers import read_session
from lerim.statistics.figures import compute_statistics

FOLDERS = [f"/home/dev/project{number}" for number in range(100)]
TIME = "2026-03-01T10:00:00.000Z"
MILLISECONDS = 1_772_359_200_000
TRIES = 5

Record = dict[str, object]


def write_lines(path: Path, *records: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def write_claude(home: Path, name: str, cwd: str) -> None:
    common = {"sessionId": name, "timestamp": TIME, "cwd": cwd}
    usage = {"input_tokens": 10, "output_tokens": 5}
    answer = {"id": f"msg_{name}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    write_lines(
        home / ".claude" / "projects" / cwd.replace("/", "-") / f"{name}.jsonl",
        {**common, "type": "user", "uuid": f"u{name}", "message": {"role": "user", "content": f"Say {name}"}},
        {
            **common,
            "type": "assistant",
            "uuid": f"a{name}",
            "message": {**answer, "content": [{"type": "text", "text": f"Said {name}"}]},
        },
    )


def write_codex(home: Path, name: str, cwd: str) -> None:
    def record(type_: str, **payload: object) -> Record:
        return {"timestamp": TIME, "type": type_, "payload": payload}

    said = [{"type": "input_text", "text": f"Say {name}"}]
    write_lines(
        home / ".codex" / "sessions" / "2026" / "03" / name[6:8] / f"rollout-2026-03-01T10-00-00-{name}.jsonl",
        record("session_meta", id=name, timestamp=TIME, cwd=cwd, cli_version="0.142.5", source="cli"),
        record("response_item", type="message", role="user", content=said),
        record("event_msg", type="user_message", message=f"Say {name}", images=[]),
    )


def write_gemini(home: Path, name: str, cwd: str) -> None:
    key = hashlib.sha256(cwd.encode()).hexdigest()
    chat = {"sessionId": name, "projectHash": key, "startTime": TIME, "lastUpdated": TIME}
    messages = [{"id": name, "timestamp": TIME, "type": "user", "content": f"Say {name}"}]
    path = home / ".gemini" / "tmp" / key / "chats" / f"session-2026-03-01T10-00-{name[:8]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**chat, "messages": messages}), encoding="utf-8")


def write_copilot(home: Path, name: str, cwd: str) -> None:
    def event(type_: str, **data: object) -> Record:
        return {"type": type_, "data": data, "id": str(uuid.uuid5(uuid.NAMESPACE_URL, name + type_)), "timestamp": TIME}

    write_lines(
        home / ".copilot" / "session-state" / name / "events.jsonl",
        event("session.start", sessionId=name, context={"cwd": cwd}),
        event("user.message", content=f"Say {name}", attachments=[]),
    )


def write_cursor(home: Path, names: list[tuple[str, str]]) -> None:
    path = home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    for table in ("ItemTable", "cursorDiskKV"):
        db.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    for name, cwd in names:
        window = {"id": "w", "uri": {"fsPath": cwd, "scheme": "file"}}
        order = [{"bubbleId": name, "type": 1}]
        head = {"_v": 13, "composerId": name, "createdAt": MILLISECONDS, "lastUpdatedAt": MILLISECONDS}
        head |= {"fullConversationHeadersOnly": order, "workspaceIdentifier": window}
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{name}", json.dumps(head)))
        bubble = {"_v": 3, "type": 1, "bubbleId": name, "text": f"Say {name}", "createdAt": TIME}
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:{name}:{name}", json.dumps(bubble)))
    db.commit()
    db.close()


def write_opencode(home: Path, names: list[tuple[str, str]]) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
        CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
          title text NOT NULL, version text NOT NULL, revert text, time_created integer, time_updated integer);
        CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
          time_updated integer NOT NULL, data text NOT NULL);
        CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
          time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
        CREATE INDEX message_of ON message (session_id, time_created, id);
        CREATE INDEX part_of ON part (message_id, id);
        CREATE INDEX part_in ON part (session_id);
        """
    )
    at = MILLISECONDS
    for name, cwd in names:
        info = (f"ses_{name}", "p", None, cwd, name, "1.2.3", None, at, at)
        db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", info)
        said = json.dumps({"role": "user", "time": {"created": at}})
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (f"msg_{name}", f"ses_{name}", at, at, said))
        part = json.dumps({"type": "text", "text": f"Say {name}"})
        row = (f"prt_{name}", f"msg_{name}", f"ses_{name}", at, at, part)
        db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)
    db.commit()
    db.close()


def write_stores(home: Path, sessions: int) -> None:
    """The stores of all agents under a person's home."""
    file_writers = (
        write_claude,
        write_claude,
        write_codex,
        write_gemini,
        write_claude,
        write_codex,
        write_copilot,
        write_claude,
    )
    rows: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for number in range(sessions):
        name, cwd = f"{number:08x}-1111-4000-8000-{number:012x}", FOLDERS[number // 10 % len(FOLDERS)]
        if number % 10 < len(file_writers):
            file_writers[number % 10](home, name, cwd)
        else:
            rows[number % 10 - len(file_writers)].append((name, cwd))
    write_cursor(home, rows[0])
    write_opencode(home, rows[1])


def find_changes(home: Home, environ: dict[str, str]) -> tuple[DiscoveredStores, TranscriptChanges]:
    """One cycle as a sync begins it."""
    with Catalog.open(home) as catalog:
        folders = catalog.list_folders()
        stores = discover_stores(find_platform_roots(environ, home), folders)
        open_databases(stores, catalog.load_store_stamps(), folders)
        return stores, compare_stamps(stores, catalog.load_stamps())


def index_changes(home: Home, environ: dict[str, str]) -> int:
    """A cycle with what it found taken in; how many sessions that were."""
    stores, found = find_changes(home, environ)
    stale = (*found.new, *found.changed)
    with Catalog.open(home) as catalog:
        for done in catalog.index_transcripts(
            ((one, read_session(one, catalog.load_resume(one.place), brief=True)) for one in stale), FolderOwners()
        ):
            if done.failed or done.problems:
                sys.exit(f"a session could not be read: {done.problems}")
        catalog.keep_store_stamps(stores.opened_databases)
    return len(stale)


def stat_files(folder: Path) -> int:
    """A stat of every file below a folder: the least that a look costs."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += stat_files(Path(entry.path))
            else:
                entry.stat()
                count += 1
    return count


def best_ms(work: Callable[[], object]) -> float:
    """The fewest milliseconds of several."""
    spent = []
    for _ in range(TRIES):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return min(spent) * 1000


Row = tuple[str, float, float, float, str, bool]


def make_row(what: str, ours: float, baseline: float, budget: float | None) -> Row:
    limit = f"<= {budget:.0f}" if budget else ""
    return what, ours, baseline, ours / baseline if baseline else 0, limit, budget is None or ours <= budget


def measure_rows(sessions: int, folder: Path) -> list[Row]:
    person, home = folder / f"person{sessions}", Home(folder / f"home{sessions}")
    environ = {"HOME": str(person), "USERPROFILE": str(person)}
    write_stores(person, sessions)
    taken = index_changes(home, environ)
    again = index_changes(home, environ)  # what is named by a digest is known by its folder once another told it
    _, found = find_changes(home, environ)
    if taken != sessions or again > sessions // 10 or found.new or found.changed or found.vanished:
        sys.exit(f"{taken} of {sessions} taken, {again} again; unchanged sessions seemed changed: {found.changed[:3]}")
    least = best_ms(lambda: stat_files(person))
    made = [
        make_row(
            f"unchanged cycle of {sessions} of six agents, ms",
            best_ms(lambda: find_changes(home, environ)),
            least,
            max(50, sessions * 0.03),
        )
    ]
    path = next((person / ".claude").rglob("*.jsonl"))

    def grow() -> None:
        with path.open("a", encoding="utf-8") as file:
            said = {"type": "user", "uuid": str(uuid.uuid4()), "timestamp": TIME, "cwd": FOLDERS[0]}
            file.write(json.dumps({**said, "message": {"role": "user", "content": "More"}}) + "\n")
        if index_changes(home, environ) != 1:
            sys.exit("a session that grew was not the one read")

    made.append(make_row(f"cycle of {sessions} with one grown, ms", best_ms(grow), least, None))
    with Catalog.open(home) as catalog:
        made.append(
            make_row(
                f"statistics of {sessions} sessions, ms", best_ms(lambda: compute_statistics(catalog, "day")), 0, None
            )
        )
    made.append(
        make_row(
            f"states of agents, {sessions} sessions, ms",
            best_ms(lambda: agent_states.examine_agents(home, environ)),
            least,
            None,
        )
    )
    return made


def print_table(found: list[Row]) -> None:
    print(f"{'metric':<48} {'ours':>9} {'baseline':>9} {'ratio':>6}  {'budget':<7} ok")
    for metric, ours, baseline, ratio, budget, ok in found:
        beside = f"{baseline:9.1f} {ratio:6.2f}" if baseline else f"{'-':>9} {'-':>6}"
        print(f"{metric:<48} {ours:9.1f} {beside}  {budget:<7} {'yes' if ok else 'NO'}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures a cycle over the sessions of all agents.")
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [*measure_rows(options.sessions // 10, Path(folder)), *measure_rows(options.sessions, Path(folder))]
    print_table(found)
    if options.json:
        names = ("metric", "ours", "baseline", "ratio", "budget", "ok")
        options.json.write_text(json.dumps([dict(zip(names, row, strict=True)) for row in found], indent=1) + "\n")
    return 0 if all(row[-1] for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
