"""Rollouts of every era and kind: what a person typed, what is one turn, and whose turns they are."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import codex_lines as lines
from lerim.sessions.model import Tokens
from lerim.sessions.readers.codex.store import open_session

CONTEXT = "<environment_context>\n<cwd>/home/ana/app</cwd>\n</environment_context>"
PARENT = "0199dddd-0000-7000-8000-00000000000d"
LATER = "019a0000-0000-7000-8000-00000000000f"
OWN_TASK = "019ff000-0000-7000-8000-000000000002"


def texts(turns):
    return [(turn.kind, turn.text) for turn in turns]


def test_a_bare_rollout_tells_its_folder_in_the_first_message_and_one_time_for_all(tmp_path):
    records = [
        lines.message("user", CONTEXT),
        lines.message("user", "Use uv"),
        lines.call("c1", "shell", command=["bash", "-lc", "ls"]),
        lines.output("c1", '{"output":"","metadata":{"exit_code":2}}'),
        lines.message("assistant", "Done"),
    ]
    turns, done = lines.turns_of(
        tmp_path,
        {"id": lines.THREAD, "timestamp": "2025-08-01T10:00:00.000Z", "instructions": None, "git": {"branch": "dev"}},
        {"record_type": "state"},
        *(one["payload"] for one in records),
    )
    assert texts(turns) == [("prompt", "Use uv"), ("reply", ""), ("reply", "Done")]
    assert {turn.time for turn in turns} == {datetime(2025, 8, 1, 10, tzinfo=UTC)}
    assert {turn.cwd for turn in turns} == {"/home/ana/app"}
    assert turns[1].tool_calls[0].command == "ls"
    assert (done.session.prompts, done.session.tool_errors, done.session.tokens) == (1, 1, None)
    assert done.session.branches == ("dev",)
    _, done = lines.turns_of(tmp_path, {"id": lines.THREAD}, lines.message("user", "Use uv")["payload"])
    assert done.session.started == datetime(2026, 3, 1).astimezone()  # as its name says, for there is no time in it


def test_a_flattened_rollout_is_read_as_a_wrapped_one(tmp_path):
    records = [
        lines.meta(),
        *lines.prompt("Use uv"),
        *lines.said("Yes"),
        lines.run("c1", "ls"),
        lines.ran("c1", 0, "a"),
    ]
    wrapped, _ = lines.turns_of(tmp_path, *records)
    flat = [{"timestamp": one["timestamp"], "type": one["type"], **one["payload"]} for one in records]
    assert lines.turns_of(tmp_path, *flat)[0] == wrapped


def test_a_rollout_of_the_first_codex_is_one_object(tmp_path):
    path = tmp_path / "rollout-2025-04-20-5d0c4c0e-6a0e-4a55-9b7e-3a0f7a1f0c47.json"
    records = [
        lines.message("user", "List it"),
        lines.item("reasoning", id="rs_1", summary=[]),
        lines.call("c1", "shell", command=["ls", "-a b"]),
        lines.output("c1", '{"output":"x","metadata":{"exit_code":0}}'),
        lines.message("assistant", "x", id="msg_1"),
    ]
    stored = {
        "session": {"id": "5d", "timestamp": "2025-04-20T10:00:00Z"},
        "items": [one["payload"] for one in records],
    }
    path.write_text(json.dumps(stored, indent=2))
    turns, done = lines.reading(path)
    assert texts(turns) == [("prompt", "List it"), ("reply", ""), ("reply", "x")]
    assert turns[1].tool_calls[0].command == "ls '-a b'"
    assert turns[1].tool_calls[0].exit_code == 0
    assert done.session.title == "List it"
    again, second = lines.reading(path, done.resume)
    assert (again, second.restarted) == (turns, False)
    path.write_text(json.dumps(stored | {"session": {"id": 5}}))
    assert texts(lines.reading(path)[0]) == texts(turns)
    path.write_text('{"session": {"id": "5d"')
    turns, done = lines.reading(path)
    assert turns == []
    assert [one.code for one in done.problems] == ["bad-line"]


def test_an_event_and_its_item_are_one_turn_and_the_same_words_typed_twice_are_two_also_after_a_compaction(tmp_path):
    said = [lines.prompt("go on"), lines.said("Yes")]
    kept = [one["payload"] for one in lines.prompt("go on")]
    compacted = lines.line("compacted", message="Summary", replacement_history=kept)
    rolled_back = lines.event("thread_rolled_back", num_turns=1)  # what was rolled back was typed
    turns, done = lines.turns_of(tmp_path, lines.meta(), *said, compacted, rolled_back, *said)
    assert texts(turns) == [("prompt", "go on"), ("reply", "Yes")] * 2
    assert (len({turn.id for turn in turns}), done.session.prompts) == (4, 2)


def test_what_an_event_leaves_out_of_its_item_is_said_once(tmp_path):
    plan = "<proposed_plan>\n# Use uv\n</proposed_plan>"
    cited = "Done\n<oai-mem-citation>\n<citation_entries>a.md</citation_entries>\n</oai-mem-citation>"
    completed = lines.event("item_completed", item={"type": "Plan", "id": "p1", "text": "# Use uv"})
    exchanges = [
        (lines.event("agent_message", message="Here it is:\n\nWell?"), f"Here it is:\n{plan}\n\nWell?"),
        (completed, plan),
        (lines.event("agent_message", message="Done\n"), cited),
    ]
    records = [[*lines.prompt("Go"), event, lines.message("assistant", item)] for event, item in exchanges]
    parts = [lines.prompt("On"), lines.event("agent_message", message="A. B."), lines.message("assistant", "A. ", "B.")]
    thought = lines.item("reasoning", summary=[{"type": "summary_text", "text": "**Looking**"}], encrypted_content="x")
    turns, _ = lines.turns_of(tmp_path, lines.meta(), *records, parts[0], thought, *parts[1:])
    assert turns[-1].reasoning == "**Looking**"  # thoughts stand with the answer they led to
    assert [turn.text.strip() for turn in turns[1::2]] == [f"Here it is:\n\nWell?\n\n{plan}", plan, "Done", "A. B."]


def test_the_same_words_in_two_threads_are_two_turns_where_tasks_are_but_numbered_or_no_head_is_told(tmp_path):
    def ids(native, *before):
        path = tmp_path / f"rollout-2026-03-01T00-00-00-{native}.jsonl"
        path.write_bytes(lines.encoded(*before, *lines.prompt("go on"), *lines.said("Yes")))
        return {turn.id for turn in open_session(replace(lines.transcript(path), session_id=native))}

    task = lines.event("task_started", turn_id="1")
    assert not ids(PARENT, lines.meta(PARENT), task) & ids(LATER, lines.meta(LATER), task)
    assert not ids(PARENT) & ids(LATER)


def test_a_fork_keeps_the_ids_of_its_parent_and_does_not_count_its_tokens_again(tmp_path):
    task = lines.event("task_started", turn_id="0199aaab-0000-7000-8000-000000000001")
    said = [lines.prompt("go on"), lines.said("Yes")]
    copied = [task, *said, lines.run("c1", "ls"), lines.ran("c1", 0), lines.spent(90, 0, 9)]
    parent, _ = lines.turns_of(tmp_path, lines.meta(), *copied)
    forked = lines.meta("0199bbbb-0000-7000-8000-00000000000b", forked_from_id=lines.THREAD)
    forked["payload"]["timestamp"] = "2026-03-02T00:00:00.000Z"
    own = lines.event("task_started", turn_id=OWN_TASK)
    fork, done = lines.turns_of(tmp_path, forked, lines.meta(), *copied, own, *said, lines.spent(100, 0, 10))
    assert [turn.id for turn in fork[:2]] == [turn.id for turn in parent]
    assert len({turn.id for turn in fork}) == 4
    assert done.session.tokens == Tokens(10, 1, 0, 0)
    assert done.session.parent == ""


def at(time, *records):
    """These records, written within a second from this time on."""
    for number, record in enumerate(records):
        record["timestamp"] = f"2026-03-01T{time}.{100 + number}Z"
    return records


def test_a_fork_of_before_tasks_had_ids_does_not_count_the_tokens_of_its_parent_again(tmp_path):
    head = lines.meta("5d0c4c0e-6a0e-4a55-9b7e-3a0f7a1f0c47")
    copied = at("00:00:00", head, lines.meta(), *lines.prompt("Use uv"), *lines.said("Yes"), lines.spent(90, 30, 9))
    own = at("00:01:00", *lines.prompt("And a test"), *lines.said("Done"), lines.spent(200, 80, 20))
    turns, done = lines.turns_of(tmp_path, *copied, *own)
    assert [turn.text for turn in turns] == ["Use uv", "Yes", "And a test", "Done"]
    assert done.session.tokens == Tokens(60, 11, 50, 0)
    second_head = at("00:00:00", lines.meta(), lines.meta(), *lines.said("Yes"), lines.spent(90, 30, 9))
    assert lines.turns_of(tmp_path, *second_head)[1].session.tokens == Tokens(60, 9, 30, 0)


SPAWN = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}


def test_a_subagent_goes_on_from_the_total_of_its_parent_without_counting_it(tmp_path):
    def used(total, last):
        whole, one = (lines.spent(entry, 0, 1)["payload"]["info"]["total_token_usage"] for entry in (total, last))
        return lines.event("token_count", info={"total_token_usage": whole, "last_token_usage": one})

    child = lines.meta(LATER, source=SPAWN, forked_from_id=PARENT)
    own = [lines.event("task_started", turn_id=OWN_TASK), lines.said("I looked"), used(9_000_100, 100)]
    _, done = lines.turns_of(tmp_path, child, lines.meta(PARENT), *own, lines.said("More"), used(9_000_300, 200))
    assert done.session.tokens == Tokens(300, 1, 0, 0)


def test_a_subagents_rollout_has_no_prompt_and_leaves_out_what_was_copied_from_its_parent(tmp_path):
    child = lines.meta("0199bbbb-0000-7000-8000-00000000000b", source=SPAWN)
    child["payload"]["timestamp"] = "2026-03-02T00:00:00.000Z"
    copied = [lines.prompt("What a person typed"), lines.said("What the parent said"), lines.run("c0", "ls")]
    turns, done = lines.turns_of(
        tmp_path,
        child,
        lines.meta(PARENT),
        lines.event("task_started", turn_id="0199aaab-0000-7000-8000-000000000001"),
        *copied,
        lines.ran("c0", 0),
        lines.event("task_started", turn_id=OWN_TASK),
        lines.prompt("Look into it"),
        lines.said("I looked"),
    )
    assert texts(turns) == [("reply", "I looked")]
    assert turns[0].sidechain
    assert (done.session.parent, done.session.prompts, done.session.tool_calls) == (PARENT, 0, 0)
    assert done.session.cwds[0] == "/home/ana/app"


def test_what_a_person_types_to_a_subagent_in_their_editor_is_theirs(tmp_path):
    typed = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nUse uv here"
    child = lines.meta("0199bbbb-0000-7000-8000-00000000000b", source=SPAWN)
    records = (lines.prompt("Look into it"), lines.said("I looked"), lines.prompt(typed), lines.said("Done"))
    turns, done = lines.turns_of(tmp_path, child, *records)
    assert texts(turns) == [("reply", "I looked"), ("prompt", "Use uv here"), ("reply", "Done")]
    assert [turn.sidechain or turn.unattended for turn in turns] == [True, False, True]
    assert (done.session.prompts, done.session.title) == (1, "Look into it")


@pytest.mark.parametrize(
    ("source", "replies", "parent"),
    [({"internal": "memory_consolidation"}, ["Allowed"], ""), ({"subagent": {"other": "guardian"}}, [], PARENT)],
)
def test_a_thread_that_codex_runs_for_itself_has_no_prompt_and_one_that_judges_another_no_turn(
    tmp_path, source, replies, parent
):
    meta = lines.meta(LATER, source=source, parent_thread_id=parent)
    said = [lines.prompt("The history"), lines.said("Allowed"), lines.spent(9, 0, 1)]
    turns, done = lines.turns_of(tmp_path, meta, *said)
    assert [turn.text for turn in turns] == replies
    assert (done.session.parent, done.session.prompts, done.session.tokens) == (parent, 0, Tokens(9, 1, 0, 0))


def test_folder_and_model_follow_the_context_of_each_turn(tmp_path):
    contexts = [("/home/ana/app", "gpt-5.4"), ("/home/ana/lib", "gpt-5.5")]
    records = [
        [lines.line("turn_context", cwd=cwd, model=model), *lines.prompt("Use uv"), *lines.said("Yes")]
        for cwd, model in contexts
    ]
    turns, done = lines.turns_of(tmp_path, lines.meta(), *records)
    assert [(turn.cwd, turn.model) for turn in turns[1::2]] == contexts
    assert (done.session.cwds, done.session.models) == tuple(zip(*contexts, strict=True))
    assert done.session.branches == ("main",)


def test_tokens_are_the_last_running_total_however_often_it_is_told_and_the_sum_if_it_begins_anew(tmp_path):
    null = lines.event("token_count", info=None)
    turns, done = lines.turns_of(
        tmp_path,
        lines.meta(),
        null,
        lines.prompt("Use uv"),
        lines.said("Yes"),
        lines.spent(100, 60, 5),
        lines.run("c1", "ls"),
        lines.ran("c1", 0),
        lines.said("Done"),
        lines.spent(100, 60, 5),
        lines.spent(250, 160, 9),
        null,
    )
    assert done.session.tokens == Tokens(90, 9, 160, 0)
    assert [turn.tokens for turn in turns[1:]] == [Tokens(40, 5, 60, 0), Tokens(50, 4, 100, 0)]
    anew = [lines.said("A"), lines.spent(100, 0, 5), lines.spent(40, 0, 2)]
    assert lines.turns_of(tmp_path, lines.meta(), *anew)[1].session.tokens == Tokens(140, 7, 0, 0)


def test_a_thread_kept_by_pages_tells_of_prompts_answers_and_failures_in_completed_items(tmp_path):
    def completed(type_, native, **fields):
        return lines.event("item_completed", item={"type": type_, "id": native, **fields})

    picture = {"type": "local_image", "path": "/a.png"}
    turns, done = lines.turns_of(
        tmp_path,
        lines.meta(history_mode="paginated"),
        lines.message("user", "Use uv"),
        completed("UserMessage", "i1", content=[picture, {"type": "text", "text": "Use uv"}]),
        completed("AgentMessage", "i2", content=[{"type": "Text", "text": "Yes"}]),
        lines.message("assistant", "Yes"),
        lines.call("c1", "mcp__x__y"),
        completed("McpToolCall", "c1", status="failed"),
        lines.output("c1", "Wall time: 0.1 seconds\nOutput:\nno such issue"),
        completed("UserMessage", "i3", content=[picture]),
    )
    assert texts(turns) == [("prompt", "Use uv"), ("reply", "Yes"), ("prompt", "[image]")]
    assert (turns[1].tool_calls[0].status, done.session.tool_errors) == ("error", 1)
