"""Sessions of Copilot CLI of every era: what was typed, what was done, how it ended, what was used."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import copilot_cli_lines as lines
from lerim.sessions.model import FileEdit, QuestionAnswer, Tokens
from lerim.sessions.readers.copilot_cli import store
from lerim.sessions.tables.turn_text import StoredCall, parse_stored_calls, render_calls
from reader_checks import CallCase, check_calls

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch\n"


def texts(turns):
    return [(turn.kind, turn.text) for turn in turns]


def test_what_nobody_typed_makes_no_turn_and_our_own_memories_are_never_learned_from_again(tmp_path):
    injected = [
        lines.prompt('<skill-context name="x">\nUse pip\n</skill-context>', source="skill-x"),
        lines.prompt('<skill-context name="x">\nUse pip\n</skill-context>'),
        lines.prompt("A command has ended", source="system"),
        lines.event("user.message", {"agentId": "sub-1"}, content="Look into it"),
        lines.prompt("Look into it", parentToolCallId="t1"),
        lines.prompt("<system_reminder>\nx\n</system_reminder>"),
        lines.prompt("Continue working toward the objective", isAutopilotContinuation=True),
        lines.event("session.compaction_complete", success=True, summaryContent="Use pip"),
    ]
    memories = lines.prompt("<lerim-memories>\nUse pip\n</lerim-memories>\nAdd a test")
    turns, done = lines.turns_of(tmp_path, lines.start(), *injected, memories, lines.reply("m1", "Yes"))
    assert texts(turns) == [("prompt", "Add a test"), ("reply", "Yes")]
    assert done.session.prompts == 1
    begun = lines.start(detachedFromSpawningParentSessionId="p-1")  # by another session
    turns, done = lines.turns_of(tmp_path, begun, lines.prompt("Note what was learned"), lines.reply("m1", "Done"))
    assert texts(turns) == [("reply", "Done")]
    assert (done.session.parent, done.session.prompts) == ("p-1", 0)


Events = list[dict[str, Any]]


def tool(name: str, arguments: Any, ended: str | Events, **expected: Any) -> CallCase:
    """A call, the text of its result or the data of the events that end it, and the fields it has once it is read."""
    events = [{"result": {"content": ended}}] if isinstance(ended, str) else ended
    return {"name": name, "arguments": arguments, "events": events}, expected


def bash(ended: str | Events, status: str, code: int | None = None, **expected: Any) -> CallCase:
    asked = {"command": "make", "description": "Make it"}
    expected |= {"kind": "shell", "command": "make", "description": "Make it"}
    return tool("bash", asked, ended, status=status, exit_code=code, **expected)


def edits(name: str, arguments: Any, kind: str, *expected: FileEdit) -> CallCase:
    return tool(name, arguments, "ok", kind=kind, edits=expected, status="ok")


def denial(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": "permission.completed", "result": {"kind": kind, **data}}


FAILED = {"success": False, "error": {"message": "no", "code": "denied"}}
REFUSED = {"success": False, "error": {"message": "The user rejected this call"}}
BESIDE = {"result": {"content": "no", "contents": [{"type": "shell_exit", "shellId": "3", "exitCode": 2}]}}
OLD_AND_NEW = {"path": "/a.py", "old_str": "a", "new_str": "b"}
CALLS = [
    bash("a\n<shellId: 3 completed with exit code 0>", "ok", 0, output="a"),
    bash("no\n<exited with exit code 2>", "error", 2, output="no"),
    bash("\n<shellId: 51 completed with exit code 128>", "error", 128, output=""),
    bash("no\n<command with id: 4 exited with exit code 1>", "error", 1, output="no"),
    bash("no code", "ok", output="no code"),
    bash([BESIDE], "error", 2, output="no"),
    bash([denial("denied-interactively-by-user", feedback="Use uv"), REFUSED], "denied", feedback="Use uv"),
    bash([FAILED], "denied"),
    bash([denial("approved-for-location"), {"result": {"content": "\n<exited with exit code 0>"}}], "ok", 0),
    bash([], "interrupted"),
    tool(
        "view",
        {"path": "/a"},
        [{"success": False, "error": {"message": "No such file"}}],
        kind="read",
        paths=("/a",),
        status="error",
        output="No such file",
    ),
    edits("edit", OLD_AND_NEW, "edit", FileEdit("/a.py", "a", "b")),
    edits("create", {"path": "/a.py", "file_text": "x"}, "write", FileEdit("/a.py", "", "x")),
    edits("apply_patch", PATCH, "edit", FileEdit("a.py", "a", "b")),
    edits("apply_patch", {"input": PATCH}, "edit", FileEdit("a.py", "a", "b")),
    edits("str_replace_editor", {"command": "str_replace", **OLD_AND_NEW}, "edit", FileEdit("/a.py", "a", "b")),
    edits("str_replace_editor", {"command": "create", "path": "/a.py"}, "write", FileEdit("/a.py", "", "")),
    edits("str_replace_editor", {"command": "view", "path": "/a.py"}, "read"),
    tool("grep", {"pattern": "x", "path": "/src"}, "ok", kind="search", command="x", paths=("/src",)),
    tool("rg", {"pattern": "x", "paths": ["/src", "/lib"]}, "ok", kind="search", paths=("/src", "/lib")),
    tool("task", {"prompt": "Look", "agent_type": "explore"}, "ok", kind="agent", command="Look"),
    tool("web_fetch", {"url": "https://a"}, "ok", kind="web", command="https://a"),
    tool("sql", {"query": "select 1"}, "ok", kind="other", command="select 1"),
    tool(
        "ask_user",
        {"question": "Which?", "choices": ["uv", "pip"], "allow_freeform": True},
        "User selected: uv",
        kind="ask",
        answers=(QuestionAnswer("Which?", ("uv", "pip"), "uv"),),
    ),
    tool(
        "ask_user",
        {"question": "Which?", "choices": ["uv", "pip"]},
        "User responded: The user is not available to respond and reads your work later. Decide yourself.",
        kind="ask",
        answers=(QuestionAnswer("Which?", ("uv", "pip"), ""),),
    ),
    tool("exit_plan_mode", {"summary": "- Use uv"}, "Approved!", kind="plan", plan="- Use uv", output="Approved!"),
]


def test_calls_have_their_kind_input_result_and_end(tmp_path):
    events = []
    for number, (record, _) in enumerate(CALLS):
        native = f"t{number}"
        events.append(lines.reply(f"m{number}", "", lines.asked(native, record["name"], record["arguments"])))
        for one in record["events"]:
            data = {"success": True, **one, "toolCallId": native}
            events.append(lines.event(data.pop("type", "tool.execution_complete"), **data))
    turns, done = lines.turns_of(tmp_path, lines.start(), *events, lines.event("abort", reason="user initiated"))
    check_calls([call for turn in turns for call in turn.tool_calls], CALLS)
    assert (done.session.tool_errors, done.session.denials) == (5, 2)


def test_a_command_that_ran_on_gets_the_exit_code_told_later_and_is_waited_for_no_longer_once_it_was_stopped(tmp_path):
    running = "one\n<command with shellId: 22 is still running after 30 seconds. Use read_bash to continue waiting.>"
    turns, done = lines.turns_of(
        tmp_path,
        lines.start(),
        lines.reply("m1", "", lines.asked("t1", "bash", {"command": "make test"})),
        lines.done("t1", running),
        lines.reply("m2", "", lines.asked("t2", "read_bash", {"shellId": "22"})),
        lines.ran("t2", 1, "failed", 22),
    )
    first, second = (call for turn in turns for call in turn.tool_calls)
    assert (first.status, first.exit_code) == ("error", 1)
    assert first.output.endswith("failed")
    assert (second.status, second.command) == ("ok", "")
    assert done.session.tool_errors == 1
    stopped = lines.asked("t2", "stop_bash", {"shellId": "22"}), lines.done("t2", "<command with id: 22 stopped>")
    asked = lines.reply("m1", "", lines.asked("t1", "bash", {"command": "npm start"})), lines.done("t1", running)
    turns, _ = lines.turns_of(tmp_path, *asked, lines.reply("m2", "", stopped[0]), stopped[1])
    assert [call.status for turn in turns for call in turn.tool_calls] == ["ok", "ok"]


def test_a_call_told_only_when_it_started_is_one_of_the_message_before(tmp_path):
    turns, done = lines.turns_of(
        tmp_path,
        lines.reply("m1", "Looking", lines.asked("t1", "bash", {"command": "ls"})),
        lines.started("t1", "bash", {"command": "ls"}),
        lines.started("t2", "bash", {"command": "pwd"}),
        lines.ran("t1", 0),
        lines.ran("t2", 0),
    )
    assert [call.command for call in turns[0].tool_calls] == ["ls", "pwd"]
    assert done.session.tool_calls == 2


def test_a_persons_own_command_is_a_turn_with_what_it_printed(tmp_path):
    turns, done = lines.turns_of(
        tmp_path,
        lines.event("tool.user_requested", toolCallId="t1", toolName="bash", arguments={"command": "make"}),
        lines.ran("t1", 2, "no rule"),
    )
    assert texts(turns) == [("shell", "make")]
    (call,) = turns[0].tool_calls
    assert (call.name, call.exit_code, call.output) == ("!", 2, "no rule")
    assert parse_stored_calls(render_calls([call])) == [StoredCall("error", 2, "no rule")]
    assert (done.session.prompts, done.session.tool_calls, done.session.tool_errors) == (0, 0, 0)


def test_messages_of_an_agents_own_agent_stand_aside(tmp_path):
    turns, _ = lines.turns_of(
        tmp_path,
        lines.reply("m1", "", lines.asked("t1", "task", {"prompt": "Look"})),
        lines.event("subagent.started", toolCallId="t1", agentName="explore"),
        lines.reply("m2", "I look", lines.asked("t2", "bash", {"command": "ls"}), parentToolCallId="t1"),
        lines.ran("t2", 0),
        lines.done("t1", "Found"),
    )
    assert [turn.sidechain for turn in turns] == [False, True]


def test_folder_branch_and_model_may_change(tmp_path):
    turns, done = lines.turns_of(
        tmp_path,
        lines.start(selectedModel="gpt-5.4"),
        lines.prompt("Use uv", parentAgentTaskId="a-task"),
        lines.event("session.context_changed", cwd="/home/ana/lib", branch="dev"),
        lines.event("session.model_change", newModel="claude-sonnet-4.6"),
        lines.event("assistant.message", messageId="m1", content="Yes", toolRequests=[]),
    )
    assert texts(turns) == [("prompt", "Use uv"), ("reply", "Yes")]  # and not what the model got
    assert (turns[0].cwd, turns[0].branch, done.session.title) == ("/home/ana/app", "main", "Use uv")
    assert (turns[1].cwd, turns[1].branch, turns[1].model) == ("/home/ana/lib", "dev", "claude-sonnet-4.6")
    assert done.session.cwds == ("/home/ana/app", "/home/ana/lib")
    assert done.session.branches == ("main", "dev")


def test_tokens_are_known_once_the_session_was_shut_down(tmp_path):
    used = lines.shut(inputTokens=100, outputTokens=9, cacheReadTokens=60, cacheWriteTokens=10)
    spoken = [lines.start(), lines.prompt("Use uv"), lines.reply("m1", "Yes")]
    turns, done = lines.turns_of(tmp_path, *spoken, used)
    assert done.session.tokens == Tokens(30, 9, 60, 10)
    assert turns[1].tokens == Tokens(0, 7, 0, 0)
    _, done = lines.turns_of(tmp_path, *spoken, used, lines.event("session.resume"), lines.reply("m2", "More"))
    assert done.session.tokens is None
    _, done = lines.turns_of(tmp_path, *spoken, used, lines.reply("m2", "More"), lines.shut(inputTokens=300))
    assert done.session.tokens == Tokens(300, 0, 0, 0)
    again = [lines.event("session.resume"), lines.reply("m2", "More"), lines.shut(inputTokens=30, outputTokens=2)]
    assert lines.turns_of(tmp_path, *spoken, used, *again)[1].session.tokens == Tokens(60, 11, 60, 10)
    assert lines.turns_of(tmp_path, *spoken, *again)[1].session.tokens is None  # those before a crash are lost


def test_the_workspace_file_names_the_session_and_its_folder(tmp_path):
    turns, _ = lines.turns_of(tmp_path, lines.prompt("Use uv"))
    path = tmp_path / "session-state" / lines.SESSION / "events.jsonl"
    assert [turn.cwd for turn in turns] == [""]
    path.with_name("workspace.yaml").write_text('id: x\nname: "Move to uv"\ncwd: /home/ana/app\nsummary: [\n')
    again, done = lines.reading(path)
    assert ([turn.id for turn in again], done.session.title) == ([turn.id for turn in turns], "Move to uv")
    assert {turn.cwd for turn in again} == set(done.session.cwds) == {"/home/ana/app"}
    path.write_bytes(lines.encoded(lines.start(), lines.prompt("Use uv")))
    assert lines.reading(path)[1].session.cwds == ("/home/ana/app",)


def test_sessions_are_found_in_all_three_places_and_each_once(tmp_path):
    lines.turns_of(tmp_path, lines.start())
    state, history = tmp_path / "session-state", tmp_path / "history-session-state"
    (state / f"{lines.SESSION}.jsonl").write_bytes(b"")
    (state / "0000.jsonl").write_bytes(lines.encoded(lines.start()))
    (state / "empty").mkdir()
    history.mkdir()
    (history / "session_1111.json").write_text("{}")
    found = store.scan_root(tmp_path, ())
    assert sorted(one.session_id for one in found.transcripts) == ["0000", "1111", lines.SESSION]
    assert found.problems == []
    assert store.scan_root(tmp_path / "none", ()).transcripts == []


def test_a_session_of_the_first_copilot_is_one_object(tmp_path):
    path = tmp_path / "history-session-state" / "session_1111.json"
    path.parent.mkdir()
    call = {"id": "c1", "function": {"name": "bash", "arguments": json.dumps({"command": "make"})}}
    refused = {"id": "c2", "function": {"name": "bash", "arguments": json.dumps({"command": "rm x"})}}
    history = {
        "sessionId": "1111",
        "startTime": "2025-10-08T21:10:16.398Z",
        "chatMessages": [
            {
                "role": "user",
                "content": "<current_datetime>2025</current_datetime>\n\nUse uv\n\n<reminder>x</reminder>",
            },
            {"role": "assistant", "content": "Yes", "tool_calls": [call, refused]},
            {"role": "tool", "tool_call_id": "c1", "content": "no\n<exited with exit code 2>"},
            {"role": "tool", "tool_call_id": "c2", "content": "The user rejected it"},
            {"role": "assistant", "content": "Done"},
        ],
        "timeline": [
            {"type": "user", "text": "Use uv", "timestamp": "2025-10-08T21:11:00Z"},
            {"type": "tool_call_completed", "callId": "c1", "result": {"type": "success"}},
            {"type": "tool_call_completed", "callId": "c2", "result": {"type": "rejected"}},
        ],
    }
    path.write_text(json.dumps(history, indent=2))
    turns, done = lines.reading(path)
    assert texts(turns) == [("prompt", "Use uv"), ("reply", "Yes"), ("reply", "Done")]
    assert turns[0].time == datetime(2025, 10, 8, 21, 11, tzinfo=UTC)
    assert [(one.command, one.status, one.exit_code) for one in turns[1].tool_calls] == [
        ("make", "error", 2),
        ("rm x", "denied", None),
    ]
    assert (done.session.prompts, done.session.denials, done.session.tokens) == (1, 1, None)
    path.write_text('{"sessionId": "11')
    turns, done = lines.reading(path)
    assert turns == []
    assert [one.code for one in done.problems] == ["bad-line"]
