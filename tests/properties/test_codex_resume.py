"""Reading a rollout in any pieces gives what reading it at once gives; no bytes whatever raise out of the reader."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import codex_lines as lines
from claude_lines import kept
from lerim.sessions.codex import probe

SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

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


@SETTINGS
@given(data=st.data(), start=starts, parts=st.lists(records, max_size=30))
def test_reading_at_once_equals_reading_any_appends_at_any_byte(tmp_path: Path, data: Any, start: Any, parts: Any):
    whole = lines.encoded(start, *parts)
    path = tmp_path / "whole.jsonl"
    path.write_bytes(whole)
    expected, at_once = lines.reading(path)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    grown = tmp_path / "grown.jsonl"
    turns: dict[str, Any] = {}
    resume = None
    for cut in [*cuts, len(whole)]:
        grown.write_bytes(whole[:cut])
        some, done = lines.reading(grown, resume)
        assert not done.restarted
        assert done.problems == []
        turns.update((turn.id, turn) for turn in some)
        resume = done.resume
    assert sorted(turns.values(), key=lambda turn: turn.ordinal) == expected
    assert len({turn.id for turn in expected}) == len(expected) == at_once.session.turns
    ours, theirs = done.session, at_once.session
    fields = [field for field in ours.__dataclass_fields__ if field not in ("id", "path")]
    assert [getattr(ours, field) for field in fields] == [getattr(theirs, field) for field in fields]


@SETTINGS
@given(start=starts, parts=st.lists(records, max_size=30))
def test_a_reading_left_after_any_turn_and_taken_up_there_gives_the_same(tmp_path: Path, start: Any, parts: Any):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(start, *parts))
    expected, at_once = lines.reading(path)
    for left_after in range(1, len(expected) + 1):
        first = lines.read(lines.transcript(path))
        open_ = iter(first)
        turns = {turn.id: turn for turn in itertools.islice(open_, left_after)}
        if not first.checkpoint():
            break
        rest, second = lines.reading(path, first.resume)
        assert not second.restarted
        assert list((turns | {turn.id: turn for turn in rest}).values()) == expected
        assert (second.session, second.resume) == (at_once.session, at_once.resume)


@SETTINGS
@given(start=starts, parts=st.lists(records, max_size=30))
def test_a_brief_reading_tells_all_that_the_catalog_keeps(tmp_path: Path, start: Any, parts: Any):
    path = tmp_path / "one.jsonl"
    path.write_bytes(lines.encoded(start, *parts))
    turns, whole = lines.reading(path)
    brief, done = lines.reading(path, brief=True)
    assert [kept(turn) for turn in brief] == [kept(turn) for turn in turns]
    assert (done.session, done.problems) == (whole.session, whole.problems)


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
@given(
    parts=st.lists(records, min_size=1, max_size=12),
    changes=st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(max_size=4), st.integers(0, 40)), max_size=6),
)
def test_mutated_bytes_never_raise(tmp_path: Path, parts: Any, changes: Any):
    whole = lines.encoded(lines.meta(), *parts)
    for place, put, taken in changes:
        at = place % (len(whole) + 1)
        whole = whole[:at] + put + whole[at + taken :]
    path = tmp_path / "mutated.jsonl"
    path.write_bytes(whole)
    _, done = lines.reading(path)
    lines.reading(path, done.resume)
    probe(lines.transcript(path))


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud83d") | st.just("\0"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "id", "command", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@SETTINGS
@given(data=st.data(), parts=st.lists(records, min_size=1, max_size=10), resume=st.none() | st.binary(max_size=40))
def test_fields_of_any_type_never_raise(tmp_path: Path, data: Any, parts: Any, resume: Any):
    flat = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    flat = json.loads(json.dumps([lines.meta(), *flat]))
    for record in flat:
        for _ in range(data.draw(st.integers(0, 2))):
            place = record["payload"] if isinstance(record.get("payload"), dict) and record["payload"] else record
            place[data.draw(st.sampled_from(sorted(place)))] = data.draw(junk)
    path = tmp_path / "odd.jsonl"
    path.write_bytes(b"".join(json.dumps(part).encode() + b"\n" for part in flat))
    turns, done = lines.reading(path, resume)
    for turn in turns:
        turn.text.encode()
        assert "\0" not in turn.text
    assert all("could not be read" in one.message for one in done.problems)
    probe(lines.transcript(path))


@SETTINGS
@given(whole=st.binary(max_size=400), name=st.sampled_from(["a.jsonl", "a.jsonl.zst", "a.json"]))
def test_random_bytes_bring_no_turn(tmp_path: Path, whole: bytes, name: str):
    path = tmp_path / name
    path.write_bytes(whole)
    probe(lines.transcript(path))
    if name == "a.jsonl":
        turns, _ = lines.reading(path)
        assert turns == []
