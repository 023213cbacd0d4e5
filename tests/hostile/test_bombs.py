"""Small files that are a lot of work: where one is not bounded, the test does not end and meets its time limit."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import codex_lines
import copilot_chats
import cursor_store
import gemini_files
from desk import Desk
from lerim.jobs.agent_states import examine_agents
from story_stores import AGENTS

if sys.version_info >= (3, 14) and not TYPE_CHECKING:
    from compression import zstd
else:
    from backports import zstd

MB = 1 << 20


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def test_a_packed_rollout_of_20_kilobytes_does_not_keep_a_sync_busy(machine: Desk, isolated: Path) -> None:
    native = "44444444-4444-4444-8444-444444444444"
    path = isolated / ".codex/sessions/2026/03/01" / f"rollout-2026-03-01T01-00-00-{native}.jsonl.zst"
    said = codex_lines.encoded(codex_lines.meta(native, cwd=str(machine.repo)), codex_lines.prompt("Said before it"))
    path.write_bytes(zstd.compress(said) + zstd.compress(b"{}\n" * 16 * MB) * 4)
    report = machine.sync()
    assert report.sessions.found == len(AGENTS) + 1
    assert [(one.code, one.path) for one in report.problems] == [("cut-short", str(path))]
    assert "too many lines" in report.problems[0].message
    views = {view.platform: view for view in examine_agents(machine.home, os.environ, machine.place.project)}
    assert [(one.reason, one.example) for one in views["codex"].skipped] == [("in-part", str(path))]


def test_plans_that_are_begun_and_never_ended_are_read_once(tmp_path: Path) -> None:
    said = "<proposed_plan>" * 200_000
    turns, _ = codex_lines.turns_of(tmp_path, codex_lines.meta(), codex_lines.said(said))
    assert turns[0].text.startswith("<proposed_plan>")


def test_what_stands_around_proposed_plans_is_told_before_them(tmp_path: Path) -> None:
    said = "One <proposed_plan>\nFirst</proposed_plan>two <proposed_plan>\nSecond</proposed_plan> three"
    turns, _ = codex_lines.turns_of(tmp_path, codex_lines.meta(), codex_lines.said(said))
    (turn,) = turns
    assert turn.text.index("One two  three") < turn.text.index("First") < turn.text.index("Second")


def test_objects_without_end_on_one_line_are_told_and_left(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-03-01T00-00-00-x.jsonl"
    path.write_bytes(codex_lines.encoded(codex_lines.meta()) + (b"{}" * 2 * MB + b"\n") * 20)
    _, done = codex_lines.reading(path)
    assert len(done.problems) == 20
    assert "too many objects" in done.problems[0].message


def test_a_history_that_is_shortened_and_rewound_all_the_time_is_read(tmp_path: Path) -> None:
    made = gemini_files
    said = [made.prompt(f"Step {at}", id=f"m{at}") for at in range(20_000)]
    shortened = {"$set": {"messages": [made.prompt("Step 1", id="again")], "lastUpdated": "2026-01-01T00:00:00Z"}}
    path = tmp_path / "s.jsonl"
    data = lines(made.header(), *said)
    path.write_bytes(data + lines(shortened) * 10_000 + lines({"$rewindTo": "nothing"}) * 10_000)
    turns, _ = made.reading(path)
    assert len(turns) >= 20_000


@pytest.mark.parametrize("ending", [b'{"id":[1,', b'{"id":{"id":'])
def test_a_log_of_damaged_lines_is_given_up(tmp_path: Path, ending: bytes) -> None:
    made = gemini_files
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(made.header(), made.prompt("Use uv")) + (ending * 1000 + b"\n") * 110)
    made.long_ago(path)
    turns, done = made.reading(path)
    assert [turn.text for turn in turns] == ["Use uv"]
    assert any(one.code == "many" for one in done.problems)


def test_a_damaged_line_of_nested_objects_is_searched_a_few_times_and_not_from_each_of_them(tmp_path: Path) -> None:
    """Searched 200 times, a line of two megabytes would take as many as 30 seconds."""
    made = gemini_files
    whole = json.dumps(made.prompt("Use pip")).encode()
    for depth, found in ((2, ["Use uv", "Use pip"]), (100, ["Use uv"])):
        path = tmp_path / f"{depth}.jsonl"
        damaged = b'{"id":1,"x":' * depth + b"[" + b"1," * 10_000 + b"x" + whole + b"\n"
        path.write_bytes(lines(made.header(), made.prompt("Use uv")) + damaged)
        made.long_ago(path)
        turns, done = made.reading(path)
        assert [turn.text for turn in turns] == found
        assert done.problems


def test_a_chat_log_of_damaged_lines_is_given_up(tmp_path: Path) -> None:
    made = copilot_chats
    path = tmp_path / "s.jsonl"
    damaged = b'{"kind":0,"v":{"requests":[' + b'{"requestId":[1,' * 1000 + b"\n"
    path.write_bytes(lines(made.initial(made.request("Use uv"))) + damaged * 110)
    made_turns, done = made.reading(path)
    assert any(one.code == "many" for one in done.problems)
    assert len(made_turns) <= 2


def test_a_chat_whose_tree_names_one_long_message_again_and_again_loads_it_once(tmp_path: Path) -> None:
    path = tmp_path / "chats" / "c" / "s" / "store.db"
    cursor_store.cli_chat(path, [{"role": "user", "content": "Use uv"}])
    long = json.dumps({"role": "assistant", "content": [{"type": "text", "text": "x" * MB}]}).encode()
    digest = hashlib.sha256(long)
    root = (b"\x0a\x20" + digest.digest()) * 100_000
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO blobs VALUES (?, ?)", (digest.hexdigest(), long))
        db.execute("INSERT INTO blobs VALUES (?, ?)", (hashlib.sha256(root).hexdigest(), root))
        told = json.dumps({"latestRootBlobId": hashlib.sha256(root).hexdigest()})
        db.execute("UPDATE meta SET value = ?", (told.encode().hex(),))
    cursor_store.dated_back(path)
    turns, _, _ = cursor_store.only(tmp_path)
    assert [len(turn.text) for turn in turns] == [MB]
