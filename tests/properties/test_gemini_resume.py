"""Damage costs what it touches, reading in pieces gives what reading at once gives, no bytes raise out of a reader."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import gemini_files as files
from lerim.errors import TranscriptError
from reading_laws import SETTINGS, appends_give_the_same, told, with_byte

words = st.sampled_from(
    ["use uv, not pip", "ok", "", "<session_context>x</session_context>", "ünï \u2028 code", '{"id": "x"', "a\\b"]
)
calls = st.builds(
    lambda name, output, status: files.call(name, output, status, command="make", file_path="/a/b.md", content="x"),
    st.sampled_from(["run_shell_command", "write_file", "exit_plan_mode", "ask_user"]),
    st.sampled_from(["Output: x\nExit Code: 1\nProcess Group PGID: 3", "done", ""]),
    st.sampled_from(["success", "error", "cancelled", "executing"]),
)
messages = st.one_of(
    words.map(files.prompt),
    st.builds(lambda said, made: files.reply(said, *made), words, st.lists(calls, max_size=2)),
    words.map(lambda said: files.message("info", said)),
)


def named(made: list[Any]) -> list[Any]:
    """The messages under ids of which no two are one byte apart."""
    return [one | {"id": hashlib.sha256(str(at).encode()).hexdigest()} for at, one in enumerate(made)]


def lines(made: list[Any]) -> list[bytes]:
    return [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in (files.header(), *made)]


@SETTINGS
@given(data=st.data(), made=st.lists(messages, max_size=12))
def test_reading_at_once_equals_reading_any_appends_at_any_byte(tmp_path: Path, data: st.DataObject, made: list[Any]):
    made = named(made)
    rewound = data.draw(st.lists(st.integers(0, max(0, len(made) - 1)), max_size=2)) if made else []
    records = [*made, *({"$rewindTo": made[at]["id"]} for at in rewound), *made[-1:]]
    written = b"".join(lines(records))
    cuts = data.draw(st.lists(st.integers(0, len(written)), max_size=4))
    appends_give_the_same(files.reading, tmp_path / "session.jsonl", written, cuts)


@SETTINGS
@given(data=st.data(), made=st.lists(messages, min_size=1, max_size=8))
def test_a_byte_changed_in_a_log_costs_the_lines_it_is_in(tmp_path: Path, data: st.DataObject, made: list[Any]):
    parts = lines(named(made))
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(parts))
    before = told(files.reading(path)[0])
    hit = data.draw(st.integers(1, len(parts) - 1))
    at = data.draw(st.integers(0, len(parts[hit]) - 1))
    byte = data.draw(st.integers(0, 255))
    touched = {parts[hit], parts[min(hit + 1, len(parts) - 1)]} if at == len(parts[hit]) - 1 else {parts[hit]}
    path.write_bytes(with_byte(parts, hit, at, byte))
    after = told(files.reading(path)[0])
    whole = {json.loads(one).get("id") for one in parts[1:] if one not in touched}
    untouched = {files_id(native) for native in whole if native}
    assert [one for one in before if one[0] in untouched] == [one for one in after if one[0] in untouched]


def files_id(native: str) -> str:
    return hashlib.sha256(f"gemini:{native}".encode()).hexdigest()[:12]


@SETTINGS
@given(data=st.data(), made=st.lists(messages, min_size=1, max_size=8))
def test_a_whole_file_cut_or_changed_anywhere_gives_what_is_whole_in_it(
    tmp_path: Path, data: st.DataObject, made: list[Any]
):
    path = files.whole(tmp_path / "session.json", *named(made))
    before = told(files.reading(path)[0])
    written = path.read_bytes()
    at = data.draw(st.integers(0, len(written) - 1))
    changed = written[:at] if data.draw(st.booleans()) else written[:at] + b'"' + written[at + 1 :]
    path.write_bytes(changed)
    files.long_ago(path)
    try:
        after = told(files.reading(path)[0])
    except TranscriptError:
        after = []
    if len(changed) == len(written) and after:
        assert len([one for one in before if one not in after]) <= 1
    assert len(after) <= len(before) + 1


@SETTINGS
@given(data=st.data(), made=st.lists(messages, max_size=6))
def test_lines_in_any_order_from_two_sessions_and_any_bytes_leave_the_reader_standing(
    tmp_path: Path, data: st.DataObject, made: list[Any]
):
    parts = [*lines(named(made)), *lines(made), data.draw(st.binary(max_size=60)) + b"\n", b'{"$set": 3}\n', b"[]\n"]
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(data.draw(st.permutations(parts))))
    other = files.log(tmp_path / "other.jsonl", files.prompt("untouched"))
    turns, done = files.reading(path)
    assert [turn.ordinal for turn in turns] == list(range(len(turns)))
    assert done.session.turns == len(turns) == len({turn.id for turn in turns})
    assert [turn.text for turn in files.reading(other)[0]] == ["untouched"]
