"""A database of Cursor that another process writes while it is read: every committed row once, and nobody waits."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from cursor_store import Editor, found
from hang import HANG
from lerim.sessions.model import Turn
from lerim.sessions.readers.cursor import store
from long import at_most

CHATS = 6
ROUNDS = at_most(300, 80)
WRITER = """
import json, sqlite3, sys
path, chats, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
db = sqlite3.connect(path, timeout=0, isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA busy_timeout = 0")
busy = 0
def run(sql, given=()):
    global busy
    try:
        return db.execute(sql, given)
    except sqlite3.OperationalError as error:
        busy += 1
        raise
heads = {f"c{at}": [] for at in range(chats)}
print("ready", flush=True)
for number in range(rounds):
    cid = f"c{number % chats}"
    put = "INSERT INTO cursorDiskKV VALUES (?, ?)"
    # a transaction that comes to nothing
    run("BEGIN IMMEDIATE")
    run(put, (f"bubbleId:{cid}:never{number}", json.dumps({"type": 1, "bubbleId": f"never{number}", "text": "Never"})))
    composer = {"composerId": cid, "fullConversationHeadersOnly": [{"bubbleId": f"never{number}"}]}
    run(put, (f"composerData:{cid}", json.dumps(composer)))
    run("ROLLBACK")
    # the order first, the bubble in a transaction of its own; then the answer grows
    heads[cid] += [f"u{number}", f"a{number}"]
    order = [{"bubbleId": one} for one in heads[cid]]
    composer = {"composerId": cid, "lastUpdatedAt": 1771742000000, "fullConversationHeadersOnly": order}
    run(put, (f"composerData:{cid}", json.dumps(composer)))
    text = f"Question {number} " + "x" * 3000
    run(put, (f"bubbleId:{cid}:u{number}", json.dumps({"type": 1, "bubbleId": f"u{number}", "text": text})))
    for length in (1, 2):
        answer = {"type": 2, "bubbleId": f"a{number}", "text": " ".join(["answer"] * length) + f" {number}"}
        run(put, (f"bubbleId:{cid}:a{number}", json.dumps(answer)))
    if number % 40 == 20:
        run("PRAGMA wal_checkpoint(PASSIVE)")
    sys.stdin.readline() if number % 10 == 0 else None
print(json.dumps({"busy": busy, "written": {cid: order for cid, order in heads.items()}}), flush=True)
sys.stdin.readline()
"""


class Cycles:
    """Syncs, one after another, over the chats of a root: what each session had handed out, by turn."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stamps: dict[str, tuple[int, int, int]] = {}
        self.resumes: dict[str, bytes] = {}
        self.turns: dict[str, dict[str, Turn]] = {}
        self.read = 0

    def run(self) -> int:
        """One cycle; how many chats had changed."""
        transcripts, problems = found(self.root)
        assert problems == []
        changed = [one for one in transcripts if self.stamps.get(one.place) != one.stamp]
        for one in changed:
            reading = store.open_session(one, self.resumes.get(one.place))
            kept = self.turns.setdefault(one.session_id, {})
            for turn in reading:
                kept[turn.id] = turn
            for gone in [key for key in kept if key not in reading.ids]:
                del kept[gone]
            assert reading.problems == []
            self.resumes[one.place] = reading.resume
            self.stamps[one.place] = one.stamp
        self.read += len(changed)
        return len(changed)


def test_every_committed_row_is_read_once_while_the_writer_never_waits(tmp_path: Path):
    editor = Editor(tmp_path)
    given = [sys.executable, "-c", WRITER, str(editor.all), str(CHATS), str(ROUNDS)]
    cycles = Cycles(tmp_path)
    with subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(ROUNDS // 10):
            writer.stdin.write("\n")
            writer.stdin.flush()
            cycles.run()
        told = writer.stdout.readline()
        assert told, "the writer failed"
        report = json.loads(told)
        before = {one.name: one.read_bytes() for one in editor.all.parent.iterdir() if not one.name.endswith("-shm")}
        deadline = time.monotonic() + HANG
        while cycles.run():
            assert time.monotonic() < deadline, "chats seem to change while nobody writes"
        after = {one.name: one.read_bytes() for one in editor.all.parent.iterdir() if not one.name.endswith("-shm")}
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.wait(30) == 0
    assert report["busy"] == 0
    assert after == before
    assert set(after) == {"state.vscdb", "state.vscdb-wal"}
    for cid, order in report["written"].items():
        turns = sorted(cycles.turns[cid].values(), key=lambda turn: turn.ordinal)
        texts = [f"Question {one[1:]} " + "x" * 3000 if one[0] == "u" else f"answer answer {one[1:]}" for one in order]
        assert [turn.text for turn in turns] == texts
