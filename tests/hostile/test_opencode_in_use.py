"""OpenCode's database while another process writes it: each message once, no writer that waits, nothing left behind."""

from __future__ import annotations

import json
import select
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from hang import HANG
from lerim.sessions.model import Stamp, Turn
from lerim.sessions.readers.opencode import store
from opencode_store import SCHEMA
from rights import bound, close

ROUNDS = 60
CYCLES = 5

WRITER = """
import json, os, select, sqlite3, sys
path, rounds = sys.argv[1], int(sys.argv[2])  # it writes on beyond them until it is told that it was read often enough
db = sqlite3.connect(path, isolation_level=None, timeout=0)
db.execute("PRAGMA journal_mode = wal")
db.execute("PRAGMA wal_autocheckpoint = 20")
busy, said = 0, {}

def run(sql, given=()):
    global busy
    while True:
        try:
            return db.execute(sql, given)
        except sqlite3.OperationalError:
            busy += 1

def message(session, native, when, **data):
    run("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (native, session, when, when, json.dumps(data)))

def part(session, native, message, when, words):
    data = json.dumps({"type": "text", "text": words, "filler": "x" * 3000})
    run("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (native, message, session, when, when, data))

print("ready", flush=True)
os.read(0, 1)
at = -1
while at + 1 < rounds or not select.select([0], [], [], 0)[0]:
    at += 1
    session, when = f"ses_{at % 3}", 1_780_000_000_000 + at * 1000
    run("BEGIN")
    if at < 3:
        row = (session, "p1", None, "/w/app", "A task", "1", None, when, when)
        run("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    message(session, f"msg_u{at:04}", when, role="user", time={"created": when})
    part(session, f"prt_u{at:04}", f"msg_u{at:04}", when, f"prompt {at}")
    run("COMMIT")
    said.setdefault(session, []).append(f"prompt {at}")
    answer, open_time = f"msg_v{at:04}", {"created": when + 1}
    message(session, answer, when + 1, role="assistant", time=open_time)
    part(session, f"prt_v{at:04}", answer, when + 1, f"answer {at}")
    run("BEGIN")
    message(session, f"msg_x{at:04}", when + 2, role="user", time={"created": when + 2})
    part(session, f"prt_x{at:04}", f"msg_x{at:04}", when + 2, f"never {at}")
    run("ROLLBACK")
    done = json.dumps({"role": "assistant", "finish": "stop", "time": {**open_time, "completed": when + 3}})
    run("UPDATE message SET data = ?, time_updated = ? WHERE id = ?", (done, when + 3, answer))
    said[session].append(f"answer {at}")
    if at % 10 == 9:
        run("PRAGMA wal_checkpoint(%s)" % ("PASSIVE" if at % 20 == 9 else "RESTART"))
print(json.dumps({"busy": busy, "said": said}), flush=True)
os.read(0, 1)
os.read(0, 1)
"""


class Cycles:
    """What a catalog does in every sync: list, read what changed from where it was, keep what came."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stamps: dict[str, Stamp] = {}
        self.resumes: dict[str, bytes] = {}
        self.turns: dict[str, dict[int, Turn]] = {}
        self.given: Counter[str] = Counter()
        self.runs = 0

    def run(self) -> int:
        """One cycle; how many sessions were read."""
        self.runs += 1
        read = 0
        (database,) = store.scan_root(self.folder, ()).databases
        transcripts, problems = store.list_database(database, ())
        assert problems == []
        for one in transcripts:
            if self.stamps.get(one.place) == one.stamp:
                continue
            reading = store.open_session(one, self.resumes.get(one.place))
            kept = self.turns.setdefault(one.session_id, {})
            for turn in reading:
                assert turn.ordinal not in kept or kept[turn.ordinal].id == turn.id
                kept[turn.ordinal] = turn
                self.given[turn.id] += 1
            assert reading.problems == []
            assert not reading.restarted
            self.stamps[one.place], self.resumes[one.place] = one.stamp, reading.resume
            read += 1
        return read

    def said(self) -> dict[str, list[str]]:
        return {native: [kept[at].text for at in sorted(kept)] for native, kept in self.turns.items()}


def begin(path: Path, rounds: int) -> subprocess.Popen[str]:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA)
    command = [sys.executable, "-c", WRITER, str(path), str(rounds)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(writer: subprocess.Popen[str]) -> str:
    assert writer.stdout is not None
    return writer.stdout.readline()


def let_go(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("\n")
    writer.stdin.flush()


def until(done: Callable[[], bool], step: Callable[[], object]) -> None:
    deadline = time.monotonic() + HANG
    while not done():
        assert time.monotonic() < deadline
        step()


def test_every_committed_message_comes_once_while_the_writer_never_waits(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with begin(path, ROUNDS) as writer:
        assert line(writer).strip() == "ready"
        cycles = Cycles(tmp_path)
        let_go(writer)
        expected: dict[str, list[str]] = {}

        def newest() -> bool:
            nonlocal expected
            if cycles.runs == CYCLES:
                let_go(writer)
            if not expected and _readable(writer):
                told = json.loads(line(writer))
                assert told["busy"] == 0
                expected = told["said"]
            return bool(expected)

        until(newest, cycles.run)
        cycles.run()
        assert cycles.said() == expected
        ids = [turn.id for kept in cycles.turns.values() for turn in kept.values()]
        assert len(ids) == len(set(ids)) == sum(map(len, expected.values())) >= 2 * ROUNDS
        before = dict(cycles.given)
        assert cycles.run() == 0
        assert dict(cycles.given) == before
        assert {one.name for one in tmp_path.iterdir()} <= {"opencode.db", "opencode.db-wal", "opencode.db-shm"}
        let_go(writer)


def _readable(writer: subprocess.Popen[str]) -> bool:
    assert writer.stdout is not None
    return bool(select.select([writer.stdout], [], [], 0)[0])


def test_a_database_in_use_in_a_folder_nobody_may_write_to_is_read_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    folder.mkdir()
    path = folder / "opencode.db"
    with begin(path, 6) as writer:
        assert line(writer).strip() == "ready"
        for _ in range(2):
            let_go(writer)
        expected = json.loads(line(writer))["said"]
        before = {one.name: one.read_bytes() for one in folder.iterdir()}
        assert len(before) == 3
        close(folder)
        try:
            with bound():
                cycles = Cycles(folder)
                cycles.run()
                assert cycles.said() == expected
        finally:
            close(folder, mode=0o755)
        assert {one.name: one.read_bytes() for one in folder.iterdir()} == before
        let_go(writer)
