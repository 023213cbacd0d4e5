"""Reading a session of Copilot CLI in any pieces gives what reading it at once gives; no bytes raise out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import copilot_cli_lines as lines
import reading_laws as laws
from lerim.sessions.model import Readable
from lerim.sessions.readers.copilot_cli.store import open_cli_session, probe_cli_folder
from reading_laws import SETTINGS

words = st.sampled_from(["use uv, not pip", "ok", "", "ünï \u2028 code", '<skill-context name="x">a</skill-context>'])
natives = st.sampled_from(["t1", "t2", "t3", "t4", "REDACTED"])
messages = st.sampled_from(["m1", "m2", "m3"])
calls = st.one_of(
    natives.map(lambda native: lines.asked(native, "bash", {"command": "make"})),
    natives.map(lambda native: lines.asked(native, "read_bash", {"shellId": "7"})),
    natives.map(lambda native: lines.asked(native, "stop_bash", {"shellId": "7"})),
    natives.map(lambda native: lines.asked(native, "edit", {"path": "/a", "old_str": "a", "new_str": "b"})),
    natives.map(lambda native: lines.asked(native, "ask_user", {"question": "Which?", "choices": ["a"]})),
)
RUNNING = "<command with shellId: 7 is still running after 30 seconds.>"
DENIED = {"kind": "denied-interactively-by-user", "feedback": "no"}
records = st.one_of(
    st.builds(lines.prompt, words),
    st.builds(lambda text: lines.prompt(text, source="system"), words),
    st.builds(
        lambda message, text, asked: lines.reply(message, text, *asked), messages, words, st.lists(calls, max_size=2)
    ),
    st.builds(lambda text: lines.reply("m9", text, parentToolCallId="t1"), words),
    st.builds(lambda native: lines.started(native, "bash", {"command": "ls"}), natives),
    st.builds(lines.ran, natives, st.sampled_from([0, 1]), words, st.just(7)),
    st.builds(lambda native: lines.done(native, RUNNING), natives),
    st.builds(lambda native: lines.done(native, "User selected: a"), natives),
    st.builds(lambda native: lines.done(native, "no", success=False), natives),
    st.builds(lambda native: lines.event("permission.completed", toolCallId=native, result=DENIED), natives),
    st.builds(
        lambda native: lines.event(
            "tool.user_requested", toolCallId=native, toolName="bash", arguments={"command": "ls"}
        ),
        natives,
    ),
    st.builds(lambda: lines.event("abort", reason="user")),
    st.builds(lambda: lines.event("session.error", message="x")),
    st.builds(lambda: lines.event("session.resume", context={"cwd": "/home/ana/lib", "branch": "dev"})),
    st.builds(lambda: lines.event("session.model_change", newModel="gpt-5.5")),
    st.builds(lambda: lines.event("hook.start", input={"x": [{}, {}]})),
    st.builds(lambda: lines.shut(inputTokens=9)),
)


def opened(path: Path, resume: bytes | None = None) -> Readable:
    return open_cli_session(lines.transcript(path), resume)


@SETTINGS
@given(data=st.data(), parts=st.lists(records, max_size=30))
def test_reading_at_once_equals_reading_any_appends_at_any_byte(tmp_path: Path, data: Any, parts: Any):
    whole = lines.encoded(lines.start(), *parts)
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=6))
    assert laws.grows_to_the_same(opened, tmp_path, whole, cuts).problems == []


@SETTINGS
@given(parts=st.lists(records, max_size=30))
def test_a_reading_left_after_any_turn_and_taken_up_there_gives_the_same(tmp_path: Path, parts: Any):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(lines.start(), *parts))
    laws.is_taken_up_after_any_turn(opened, path)


@SETTINGS
@given(parts=st.lists(records, max_size=30))
def test_a_brief_reading_tells_all_that_the_catalog_keeps(tmp_path: Path, parts: Any):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(lines.start(), *parts))
    whole, brief = opened(path), open_cli_session(lines.transcript(path), brief=True)
    laws.is_brief_without_loss(brief, whole)
    assert brief.resume == whole.resume


@SETTINGS
@given(parts=st.lists(records, min_size=1, max_size=12), changes=laws.CHANGES)
def test_mutated_bytes_never_raise(tmp_path: Path, parts: Any, changes: Any):
    path = tmp_path / "mutated.jsonl"
    path.write_bytes(laws.changed(lines.encoded(lines.start(), *parts), changes))
    laws.stands(opened, path)
    probe_cli_folder(lines.transcript(path))


junk = laws.junk("type", "text", "id", "command", "usage")


@SETTINGS
@given(data=st.data(), parts=st.lists(records, min_size=1, max_size=10), resume=st.none() | st.binary(max_size=40))
def test_fields_of_any_type_never_raise(tmp_path: Path, data: Any, parts: Any, resume: Any):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(laws.with_junk(data, [lines.start(), *parts], "data", junk))
    done = laws.stands(opened, path, resume)
    assert all("could not be read" in one.message for one in done.problems)
    probe_cli_folder(lines.transcript(path))


@SETTINGS
@given(whole=st.binary(max_size=400), name=st.sampled_from(["a.jsonl", "a.json"]))
def test_random_bytes_bring_no_turn(tmp_path: Path, whole: bytes, name: str):
    path = tmp_path / name
    path.write_bytes(whole)
    probe_cli_folder(lines.transcript(path))
    assert lines.reading(path)[0] == []
