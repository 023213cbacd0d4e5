"""Reading a rollout in any pieces gives what reading it at once gives; no bytes whatever raise out of the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import codex_lines as lines
import reading_laws as laws
from lerim.sessions.model import Readable
from lerim.sessions.readers.codex.files import probe_folder
from lerim.sessions.readers.codex.store import open_session
from reading_laws import SETTINGS

words = st.sampled_from(
    [
        "use uv, not pip",
        "ok",
        "",
        "<environment_context><cwd>/elsewhere</cwd></environment_context>",
        "<user_shell_command><command>ls</command><result>Exit code: 1\nOutput:\nno</result></user_shell_command>",
        "ünï \u2028 code",
        "# Context from my IDE setup:\n## My request for Codex:\nuse uv, not pip",
    ]
)
natives = st.sampled_from(["c1", "c2", "c3", "c4", "REDACTED"])
tasks = st.sampled_from(["0199aaaa-0000-7000-8000-000000000001", "0199ffff-0000-7000-8000-000000000002", None])
codes = st.sampled_from([0, 1, 124])
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch"
records = st.one_of(
    words.map(lines.prompt),
    words.map(lambda text: lines.message("user", text)),
    words.map(lambda text: lines.event("user_message", message=text)),
    words.map(lines.said),
    words.map(lambda text: lines.message("assistant", text)),
    words.map(lambda text: lines.event("agent_message", message=text)),
    words.map(lambda text: lines.item("reasoning", summary=[{"type": "summary_text", "text": text}])),
    natives.map(lambda native: lines.run(native, "pytest -q")),
    natives.map(lambda native: lines.patch(native, PATCH)),
    natives.map(lambda native: lines.call(native, "write_stdin", session_id=7, chars="")),
    natives.map(lambda native: lines.call(native, "update_plan", plan=[{"step": "Test", "status": "pending"}])),
    natives.map(lambda native: lines.call(native, "request_user_input", questions=[{"id": "q", "question": "Which?"}])),
    st.builds(lines.ran, natives, codes, words),
    st.builds(lines.runs_on, natives, st.just(7), words),
    natives.map(lambda native: lines.output(native, '{"answers":{"q":{"answers":["uv"]}}}')),
    natives.map(lambda native: lines.output(native, "aborted by user after 2s")),
    natives.map(lambda native: lines.event("exec_command_end", call_id=native, exit_code=3)),
    natives.map(lambda native: lines.event("patch_apply_end", call_id=native, changes={"/w/a.py": {}}, success=True)),
    natives.map(lambda native: lines.event("patch_apply_end", call_id=native, changes={}, success=False)),
    natives.map(lambda native: lines.event("mcp_tool_call_end", call_id=native, result={"Err": "no"})),
    natives.map(lambda native: lines.event("mcp_tool_call_end", call_id=native, result={"Err": "user rejected it"})),
    natives.map(lambda native: lines.item("web_search_call", id=native, action={"query": "uv"})),
    st.builds(lines.spent, st.integers(0, 99), st.integers(0, 9), st.integers(0, 9)),
    tasks.map(lambda task: lines.event("task_started", turn_id=task)),
    tasks.map(lambda task: lines.line("turn_context", turn_id=task, cwd="/home/ana/lib", model="gpt-5.5")),
    st.just(lines.event("task_complete")),
    st.just(lines.event("turn_aborted", reason="interrupted")),
    st.just(lines.event("error", message="overloaded")),
    st.just(lines.meta("0199bbbb-0000-7000-8000-00000000000b")),
    st.just(lines.line("compacted", message="", replacement_history=[])),
    st.just(lines.event("agent_reasoning", text="**Thinking**")),
)
starts = st.sampled_from(
    [
        lines.meta(),
        lines.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),
        lines.meta(source={"subagent": {"other": "guardian"}}),
        lines.meta(forked_from_id="0199bbbb-0000-7000-8000-00000000000b"),
        {"id": lines.THREAD, "timestamp": "2025-08-01T00:00:00Z", "instructions": None},
    ]
)


def opened(path: Path, resume: bytes | None = None) -> Readable:
    return open_session(lines.transcript(path), resume)


@SETTINGS
@given(data=st.data(), start=starts, parts=st.lists(records, max_size=30))
def test_reading_at_once_equals_reading_any_appends_at_any_byte(tmp_path: Path, data: Any, start: Any, parts: Any):
    whole = lines.encoded(start, *parts)
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=6))
    assert laws.grows_to_the_same(opened, tmp_path, whole, cuts).problems == []


@SETTINGS
@given(start=starts, parts=st.lists(records, max_size=30))
def test_a_reading_left_after_any_turn_and_taken_up_there_gives_the_same(tmp_path: Path, start: Any, parts: Any):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(start, *parts))
    laws.is_taken_up_after_any_turn(opened, path)


@SETTINGS
@given(start=starts, parts=st.lists(records, max_size=30))
def test_a_brief_reading_tells_all_that_the_catalog_keeps(tmp_path: Path, start: Any, parts: Any):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(start, *parts))
    whole, brief = opened(path), open_session(lines.transcript(path), brief=True)
    laws.is_brief_without_loss(brief, whole)


@SETTINGS
@given(parts=st.lists(records, max_size=20))
def test_a_fork_gives_the_turns_it_copied_the_ids_they_have(tmp_path: Path, parts: Any):
    parts = [part for part in parts if not (isinstance(part, dict) and part["type"] == "session_meta")]
    path = tmp_path / "parent.jsonl"
    path.write_bytes(lines.encoded(lines.meta(), *parts))
    parent, _ = lines.reading(path)
    forked = lines.meta("0199cccc-0000-7000-8000-00000000000c", forked_from_id=lines.THREAD)
    path = tmp_path / "fork.jsonl"
    path.write_bytes(lines.encoded(forked, lines.meta(), *parts, lines.prompt("and now?")))
    fork, _ = lines.reading(path)
    assert [turn.id for turn in fork][: len(parent)] == [turn.id for turn in parent]


@SETTINGS
@given(parts=st.lists(records, min_size=1, max_size=12), changes=laws.CHANGES)
def test_mutated_bytes_never_raise(tmp_path: Path, parts: Any, changes: Any):
    path = tmp_path / "mutated.jsonl"
    path.write_bytes(laws.changed(lines.encoded(lines.meta(), *parts), changes))
    laws.stands(opened, path)
    probe_folder(lines.transcript(path))


junk = laws.junk("type", "text", "id", "command", "x")


@SETTINGS
@given(data=st.data(), parts=st.lists(records, min_size=1, max_size=10), resume=st.none() | st.binary(max_size=40))
def test_fields_of_any_type_never_raise(tmp_path: Path, data: Any, parts: Any, resume: Any):
    flat = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    path = tmp_path / "odd.jsonl"
    path.write_bytes(laws.with_junk(data, [lines.meta(), *flat], "payload", junk))
    done = laws.stands(opened, path, resume)
    assert all("could not be read" in one.message for one in done.problems)
    probe_folder(lines.transcript(path))


@SETTINGS
@given(whole=st.binary(max_size=400), name=st.sampled_from(["a.jsonl", "a.jsonl.zst", "a.json"]))
def test_random_bytes_bring_no_turn(tmp_path: Path, whole: bytes, name: str):
    path = tmp_path / name
    path.write_bytes(whole)
    probe_folder(lines.transcript(path))
    if name == "a.jsonl":
        turns, _ = lines.reading(path)
        assert turns == []
