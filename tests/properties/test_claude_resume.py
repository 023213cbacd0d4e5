"""Reading in any pieces gives what reading at once gives; and no bytes whatever raise out of the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import claude_lines as lines
import reading_laws as laws
from lerim.sessions.readers.claude.files import find_first_cwd
from lerim.sessions.readers.claude.store import ClaudeReading
from lerim.sessions.readers.engine.line_stream import HEAD_BYTES
from reading_laws import SETTINGS

words = st.sampled_from(
    [
        "use uv, not pip",
        "ok",
        "",
        "<system-reminder>x</system-reminder>hi",
        "ünï \u2028 code",
        "/model",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>",
    ]
)
messages = st.sampled_from(["m1", "m2", "m3", "m4"])
natives = st.sampled_from(["t1", "t2", "t3", "t4", "REDACTED"])
usages = st.builds(lambda i, o: {"input_tokens": i, "output_tokens": o}, st.integers(0, 9), st.integers(0, 99))
blocks = st.one_of(
    words.map(lines.text),
    natives.map(lambda native: lines.call(native, "Bash", command="pytest -q")),
    natives.map(lambda native: lines.call(native, "Edit", file_path="/a/b.py", old_string="a", new_string="b")),
    words.map(lambda said: {"type": "thinking", "thinking": said}),
)
operations = st.sampled_from(["enqueue", "dequeue", "remove", "popAll"])
records = st.one_of(
    st.builds(lines.prompt, words),
    st.builds(lambda said: lines.prompt([lines.text(said)], promptSource="queued"), words),
    st.builds(lambda message, block, usage: lines.reply(message, block, usage=usage), messages, blocks, usages),
    st.builds(lambda message, block: lines.reply(message, block, isSidechain=True), messages, blocks),
    st.builds(lambda native, said, bad: lines.answer(native, said, is_error=bad), natives, words, st.booleans()),
    natives.map(lambda native: lines.reply("m1", lines.call(native, "ExitPlanMode", plan="Cache it"))),
    natives.map(lambda native: lines.reply("m2", lines.call(native, "AskUserQuestion", question="Which?"))),
    st.builds(lambda native, said: lines.answer(native, said, toolDenialKind="user-rejected"), natives, words),
    st.builds(lines.queued, words),
    st.builds(lambda kind, said: lines.queue(kind, content=said), operations, words),
    st.just({"type": "summary", "summary": "A title", "leafUuid": "00000001-0000-4000-8000-000000000000"}),
    st.just(lines.prompt([lines.text("[Request interrupted by user]")])),
    st.just(lines.envelope("progress", data={"type": "bash_progress"})),
    st.just(lines.envelope("system", subtype="api_error", version="2.1.40")),
)


def written(parts: list[Any], glue: list[bool]) -> bytes:
    return b"".join(
        lines.encoded(part)[:-1] + (b"" if joined else b"\n") for part, joined in zip(parts, glue, strict=False)
    )


def opened(path: Path, resume: bytes | None = None) -> ClaudeReading:
    return ClaudeReading(lines.transcript(path), resume)


@SETTINGS
@given(data=st.data(), parts=st.lists(records, max_size=30))
def test_reading_at_once_equals_reading_any_appends_at_any_byte(tmp_path: Path, data: st.DataObject, parts: list[Any]):
    whole = written(parts, data.draw(st.lists(st.sampled_from([False] * 9 + [True]), min_size=30, max_size=30)))
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=6))
    laws.grows_to_the_same(opened, tmp_path, whole, cuts)


@SETTINGS
@given(parts=st.lists(records, max_size=30), glue=st.lists(st.booleans(), min_size=30, max_size=30))
def test_a_reading_left_after_any_turn_and_taken_up_there_gives_the_same(tmp_path: Path, parts, glue):
    path = tmp_path / "one.jsonl"
    path.write_bytes(written(parts, glue))
    laws.is_taken_up_after_any_turn(opened, path)


@SETTINGS
@given(parts=st.lists(records, max_size=30))
def test_a_brief_reading_tells_all_that_the_catalog_keeps(tmp_path: Path, parts: list[Any]):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(*parts))
    whole, brief = opened(path), ClaudeReading(lines.transcript(path), brief=True)
    laws.is_brief_without_loss(brief, whole)
    assert brief.resume == whole.resume


@SETTINGS
@given(parts=st.lists(records, min_size=1, max_size=20), change=st.integers(0, 10_000), byte=st.integers(1, 255))
def test_a_file_rewritten_at_its_head_is_read_from_the_start(tmp_path, parts, change, byte):
    path = tmp_path / "one.jsonl"
    whole = lines.encoded(*parts)
    path.write_bytes(whole)
    _, first = lines.reading(path)
    offset = json.loads(first.resume)["offset"]
    if offset == 0:
        return
    at = change % min(offset, HEAD_BYTES)
    path.write_bytes(whole[:at] + bytes([whole[at] ^ byte]) + whole[at + 1 :])
    turns, second = lines.reading(path, first.resume)
    assert second.restarted
    assert turns == lines.reading(path)[0]


junk = laws.junk("type", "text", "id", "input", "x")


@st.composite
def odd_records(draw: Any) -> dict[str, Any]:
    """A real-looking record with some fields, at any depth, replaced by junk."""
    record = json.loads(json.dumps(draw(records)))
    for _ in range(draw(st.integers(0, 3))):
        place: Any = record
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = draw(junk)
            break
    extra = ["toolUseResult", "origin", "attachment", "message", "content", "planContent", "toolDenialKind"]
    for key in draw(st.lists(st.sampled_from(extra), max_size=2)):
        record[key] = draw(junk)
    return record


@SETTINGS
@given(parts=st.lists(odd_records(), max_size=12), resume=st.none() | st.binary(max_size=40))
def test_fields_of_any_type_never_raise(tmp_path, parts, resume):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b"".join(json.dumps(part).encode() + b"\n" for part in parts))
    done = laws.stands(opened, path, resume)
    assert all("text" in one.message or "could not be read" in one.message for one in done.problems)
    find_first_cwd(path)


@SETTINGS
@given(parts=st.lists(records, min_size=1, max_size=8), changes=laws.CHANGES)
def test_mutated_bytes_never_raise(tmp_path, parts, changes):
    path = tmp_path / "mutated.jsonl"
    path.write_bytes(laws.changed(lines.encoded(*parts), changes))
    laws.stands(opened, path)
    find_first_cwd(path)


@SETTINGS
@given(whole=st.binary(max_size=400))
def test_random_bytes_never_raise(tmp_path, whole):
    path = tmp_path / "random.jsonl"
    path.write_bytes(whole)
    turns, done = lines.reading(path)
    assert turns == []
    assert done.session.turns == 0
    find_first_cwd(path)
