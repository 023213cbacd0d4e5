"""Measures how fast one changed chat is found and read again in a large Cursor database, and the memory that needs.

    python benchmarks/cursor_database.py [--gigabytes 2] [--keep FILE] [--json FILE]

The database is in WAL mode with some content in the log. It has chats of 54 bubbles, as many as the size requires, and
a list with the headers of all chats. The same is measured without that list, when every chat's own row is read. Each
figure is the best of several in a separate process, with the file in the system's cache.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from lerim.sessions.model import Database
from lerim.sessions.readers.cursor import store
from lerim.sessions.readers.live.live import find_databases

WORDS = "the parser keeps what it read because a later line may still belong to the same message and order matters "
BUBBLES = 54
EMPTY: dict[str, object] = {
    name: [] for name in ("lints", "commits", "pullRequests", "attachedCodeChunks", "gitDiffs", "images", "notepads")
}
HEADS = "composer.composerHeaders"
TRIES = 7


def make_bubble(number: int, at: int) -> dict[str, object]:
    """A bubble of about the size of real ones: a prompt, words, or a tool call."""
    made: dict[str, object] = {"_v": 3, **EMPTY, "createdAt": "2026-02-22T06:33:44.533Z", "tokenCount": {}}
    if at % 27 == 0:
        return made | {"type": 1, "text": f"Question {number}.{at}: {WORDS * 3}", "richText": WORDS * 10}
    if at % 3:
        result = json.dumps({"output": f"{number} " + WORDS * 40, "exitCodeV2": at % 2, "rejected": False})
        call = {"tool": 15, "name": "run_terminal_command_v2", "toolCallId": f"t{at}", "status": "completed"}
        call |= {"params": json.dumps({"command": f"make target-{number}-{at}"}), "result": result}
        return made | {"type": 2, "text": "", "capabilityType": 15, "toolFormerData": call}
    return made | {"type": 2, "text": f"Answer {number}.{at}: {WORDS * 8}"}


def make_composer(cid: str, number: int, ids: list[str]) -> dict[str, object]:
    window = {"id": "w", "uri": {"fsPath": f"/home/dev/project{number % 40}", "scheme": "file"}}
    return {
        "_v": 13,
        "composerId": cid,
        "name": f"Chat {number}",
        "fullConversationHeadersOnly": [{"bubbleId": one, "type": 2} for one in ids],
        "status": "completed",
        "conversationState": "~" + "A" * 8_000,
        "originalFileStates": {"file:///a": {"content": WORDS * 20}},
        "createdAt": 1771682203557,
        "lastUpdatedAt": 1771742091550 + number,
        "modelConfig": {"modelName": "composer-1.5"},
        "workspaceIdentifier": window,
    }


def write_database(path: Path, gigabytes: float) -> int:
    """Writes the database; how many chats it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")
    for table in ("ItemTable", "cursorDiskKV"):
        db.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    written = number = 0
    heads: list[dict[str, object]] = []
    while written < gigabytes * 1e9:
        db.execute("BEGIN")
        for _ in range(50):
            cid = str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))
            ids = [str(uuid.uuid5(uuid.NAMESPACE_OID, f"{number}.{at}")) for at in range(BUBBLES)]
            rows = [
                (f"bubbleId:{cid}:{one}", json.dumps(make_bubble(number, at) | {"bubbleId": one}))
                for at, one in enumerate(ids)
            ]
            whole = make_composer(cid, number, ids)
            rows.append((f"composerData:{cid}", json.dumps(whole)))
            db.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
            written += sum(len(key) + len(value) for key, value in rows)
            heads.append(
                {key: whole[key] for key in ("composerId", "name", "createdAt", "lastUpdatedAt", "workspaceIdentifier")}
            )
            number += 1
        db.execute("COMMIT")
    insert_json(db, "ItemTable", HEADS, {"allComposers": heads})
    db.execute("PRAGMA wal_checkpoint (TRUNCATE)")
    db.close()
    return number


def insert_json(db: sqlite3.Connection, table: str, key: str, value: object) -> None:
    db.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, json.dumps(value)))


def add_prompt(db: sqlite3.Connection, number: int, at: int) -> str:
    """One more prompt in one chat, as Cursor writes it; the id of the chat."""
    cid = str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))
    (row,) = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (f"composerData:{cid}",)).fetchone()
    whole = json.loads(row)
    new = f"new-{at}"
    insert_json(db, "cursorDiskKV", f"bubbleId:{cid}:{new}", {"type": 1, "bubbleId": new, "text": f"One more {at}"})
    whole["fullConversationHeadersOnly"].append({"bubbleId": new, "type": 1})
    insert_json(db, "cursorDiskKV", f"composerData:{cid}", whole)
    return cid


def find_database(path: Path) -> Database:
    return find_databases("cursor", [path], [])[0]


def measure_changes(path: Path, chats: int) -> dict[str, float]:
    """Milliseconds of listing with one changed chat, of reading that chat, of both; peak resident MB; best of TRIES."""
    writer = sqlite3.connect(path, isolation_level=None)  # stays open, so that there is a log
    before = {one.place: one.stamp for one in store.list_database(find_database(path), [])[0]}
    best = {"listing": float("inf"), "reading": float("inf"), "both": float("inf")}
    for at in range(TRIES):
        cid = add_prompt(writer, (at * 37 + 11) % chats, at)
        started = time.perf_counter()
        transcripts, problems = store.list_database(find_database(path), [])
        changed = [one for one in transcripts if before.get(one.place) != one.stamp]
        listed = time.perf_counter()
        if [one.session_id for one in changed] != [cid] or problems:
            sys.exit(f"{len(changed)} chats seemed changed, 1 was: {problems[:3]}")
        turns = list(store.open_session(changed[0], brief=True))
        ended = time.perf_counter()
        if turns[-1].text != f"One more {at}":
            sys.exit("the changed chat does not end with what was said last")
        before[changed[0].place] = changed[0].stamp
        both = (ended - started) * 1000
        if both < best["both"]:
            best = {"listing": (listed - started) * 1000, "reading": (ended - listed) * 1000, "both": both}
    writer.close()
    return best | {"peak": peak_mb()}


def peak_mb() -> float:
    """Peak resident MB of this process."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return int(found[1]) / 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measure_in_process(path: Path, chats: int) -> dict[str, float]:
    """`run` in a process of its own."""
    given = [sys.executable, __file__, "--run", str(path), str(chats)]
    return dict(json.loads(subprocess.run(given, check=True, capture_output=True, text=True).stdout))


def rows(path: Path, chats: int) -> list[dict[str, object]]:
    size = path.stat().st_size / 1e9
    of = f"Cursor, {size:.1f} GB, {chats:,} chats"
    headed = measure_in_process(path, chats)
    rename_key(path, HEADS, "unlisted")
    bare = measure_in_process(path, chats)
    rename_key(path, "unlisted", HEADS)
    return [
        {
            "what": f"{of}: one changed chat found and read again",
            "measured": headed["both"],
            "unit": "ms",
            "budget": 300,
        },
        {"what": "  of this, listing", "measured": headed["listing"], "unit": "ms"},
        {"what": "  of this, reading the chat", "measured": headed["reading"], "unit": "ms"},
        {"what": "  where no list names the chats", "measured": bare["both"], "unit": "ms"},
        {"what": "peak resident memory", "measured": max(headed["peak"], bare["peak"]), "unit": "MB", "budget": 200},
    ]


def rename_key(path: Path, key: str, to: str) -> None:
    """Hides the list of heads, or shows it again."""
    with sqlite3.connect(path) as db:
        db.execute("UPDATE ItemTable SET key = ? WHERE key = ?", (to, key))
    db.close()


def main() -> int:
    """Measures and prints; 1 when a budget is not met."""
    parser = argparse.ArgumentParser(description="A large database of Cursor with one changed chat.")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the database")
    parser.add_argument("--keep", type=Path, help="make the database here and keep it; one that is there is used")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--run", nargs=2, metavar=("FILE", "CHATS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(json.dumps(measure_changes(Path(given.run[0]), int(given.run[1]))))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="lerim-bench-"))
    try:
        path = given.keep or folder / "User" / "globalStorage" / "state.vscdb"
        chats = count_chats(path) if path.exists() else write_database(path, given.gigabytes)
        found = rows(path, chats)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for row in found:
        budget = f"<= {row['budget']} {row['unit']}" if "budget" in row else ""
        print(f"{row['what']:<70} {row['measured']:9.1f} {row['unit']:<3} {budget}")
    if given.json:
        given.json.write_text(json.dumps(found), encoding="utf-8")
    return 0 if all(float(str(row["measured"])) <= float(str(row.get("budget", "inf"))) for row in found) else 1


def count_chats(path: Path) -> int:
    """How many chats a kept database has."""
    with sqlite3.connect(path) as db:
        keys = ("composerData:", "composerData;")
        (chats,) = db.execute("SELECT count(*) FROM cursorDiskKV WHERE key >= ? AND key < ?", keys).fetchone()
    db.close()
    return int(chats)


if __name__ == "__main__":
    raise SystemExit(main())
