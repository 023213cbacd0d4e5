"""Sessions of Gemini CLI in every form it has written, built by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

import gemini_files as files
from gemini_files import call, message, prompt, reply, tokens
from lerim.sessions.model import FileEdit, QuestionAnswer, Tokens
from reader_checks import CallCase, case, check_calls


def texts(path):
    return [turn.text for turn in files.reading(path)[0]]


def test_a_log_shows_the_last_version_of_each_message_in_the_place_of_the_first(tmp_path):
    first, answer, then = prompt("one"), reply("thinking …"), prompt("two")
    path = files.log(
        tmp_path / "s.jsonl", first, answer, then, answer | {"content": "done"}, {"$set": {"summary": "A title"}}
    )
    turns, done = files.reading(path)
    assert [turn.text for turn in turns] == ["one", "done", "two"]
    assert (done.session.title, done.session.id) == ("A title", files.SESSION)
    assert done.session.tokens == Tokens(10, 2)


def test_a_resume_that_was_killed_while_it_copied_loses_nothing_of_the_old_file(tmp_path):
    old = [prompt("one"), reply("first"), prompt("two")]
    path = files.whole(tmp_path / "session-1.json", *old)
    files.log(tmp_path / "session-1.jsonl", old[0])
    assert texts(path) == ["one", "first", "two"]


ONE, FIRST, TWO, SECOND, THREE = prompt("go on"), reply("first"), prompt("go on"), reply("second"), prompt("three")
SNAPSHOT = message("user", [{"text": "<state_snapshot>\nall so far\n</state_snapshot>"}])
COPIES = [message(one["type"], [{"text": text}]) for one, text in ((ONE, "go on"), (FIRST, "first"), (TWO, "go on"))]
NOTED = {"$set": {"messages": COPIES, "lastUpdated": COPIES[-1]["timestamp"]}}
LATER = {"$set": {"messages": [TWO, SECOND], "lastUpdated": "2026-05-01T23:59:59.000Z"}}
ALL = ["go on", "first", "go on"]
HISTORIES: dict[str, tuple[list[Any], list[str]]] = {
    "what a person rewound is gone and what came before and after stays": (
        [ONE, TWO, FIRST, {"$rewindTo": TWO["id"]}, {"$rewindTo": "unknown"}, THREE],
        ["go on", "three"],
    ),
    "a history that the program shortened keeps what was said and adds no words of a person": (
        [ONE, FIRST, TWO, {"$set": {"messages": [SNAPSHOT, TWO]}}, THREE],
        [*ALL, "three"],
    ),
    "what the program writes again under new ids when it shortens a history was said once": (
        [ONE, FIRST, TWO, *COPIES, NOTED, THREE, SECOND, NOTED],
        [*ALL, "three", "second"],
    ),
    "what was written again is rewound like what it was": (
        [ONE, FIRST, TWO, *COPIES, NOTED, SECOND, {"$rewindTo": COPIES[2]["id"]}, THREE],
        ["go on", "first", "three"],
    ),
    "words said again after what was left out are said twice": (
        [ONE, FIRST, TWO, SECOND, LATER],
        [*ALL, "second"],
    ),
}


@pytest.mark.parametrize(("records", "said"), HISTORIES.values(), ids=HISTORIES)
def test_a_log_tells_what_was_said_however_the_program_changed_its_history(tmp_path, records, said):
    turns, done = files.reading(files.log(tmp_path / "s.jsonl", *records))
    assert [turn.text for turn in turns] == said
    assert done.session.prompts == sum(turn.role == "user" for turn in turns)


INJECTED = [
    "<session_context>\nThis is the Gemini CLI.\n</session_context>",
    "<hook_context>lint failed</hook_context>",
    "<state_snapshot>x</state_snapshot>",
    "This is the Gemini CLI. We are setting up the context for our chat.\nToday is …",
    "Here is the user's editor context as a JSON object. This is for your information only.\n```json\n{}\n```",
    "Please continue.",
    "System: Please continue.",
    "System: Potential loop detected. Details: x. Please take a step back",
    "<lerim-memories>\n- use uv\n</lerim-memories>",
    "Background execution update:\n<background_output>\nbuilt\n</background_output>\n\nA previously backgrounded …",
]
EXPANDED = [
    {"text": "look at @b.py"},
    {"text": "\n--- Content from referenced files ---"},
    {"text": "\nContent from @b.py:\n"},
    {"text": "secret = 1"},
    {"text": "\n--- End of content ---"},
]
STEERED = "User steering update:\n<user_input>\n{}\n</user_input>\nClassify it as …"
INIT = "\nYou are an AI agent that brings the power of Gemini directly into the terminal. Your task …"
TYPED: list[tuple[Any, str]] = [
    ("plain words", "plain words"),
    (["plain ", {"text": "parts"}], "plain parts"),
    ({"text": "one part"}, "one part"),
    (EXPANDED, "look at @b.py"),
    ([{"text": "why?<hook_context>lint failed</hook_context>"}], "why?"),
    ([{"text": "<lerim-memories>use uv</lerim-memories>\nhow?"}], "how?"),
    ([{"text": STEERED.format("use uv")}], "use uv"),
    ([{"text": "ask @docs"}, {"text": "\n<system_note>\n'docs' was selected.\n</system_note>\n"}], "ask @docs"),
    ([{"text": INIT}], "/init"),
    ([{"inlineData": {"mimeType": "image/png", "data": "…"}}], "[file]"),
    ([{"text": "nul \0 and half \ud83d"}], "nul \ufffd and half \ufffd"),
]


def test_a_prompt_is_what_the_person_typed_and_nothing_that_was_added(tmp_path):
    shown = message("user", [{"text": "look at /deep/a.py, expanded"}], displayContent=[{"text": "look at @a.py"}])
    notices = [message(kind, "Something happened") for kind in ("error", "info", "warning")]
    results = {"functionResponse": {"id": "x", "response": {"output": "done"}}}
    said = [
        *(prompt(text) for text in INJECTED),
        *(message("user", content) for content, _ in TYPED),
        shown,
        *notices,
        message("user", [{"text": "done"}, results]),
        message("user", [{"text": STEERED.format("then pip")}, results]),
    ]
    for path in (files.log(tmp_path / "s.jsonl", *said), files.whole(tmp_path / "s2.json", *said)):
        turns, done = files.reading(path)
        assert [turn.text for turn in turns] == [*(typed for _, typed in TYPED), "look at @a.py", "then pip"]
        assert {turn.kind for turn in turns} == {"prompt"}
        assert done.session.prompts == len(TYPED) + 2


def test_a_persons_own_command_is_a_turn_of_its_own_with_what_it_printed(tmp_path):
    said = (
        "I ran the following shell command:\n```sh\nmake test\n```\n\nThis produced the following result:\n"
        "```\nCommand exited with code 2.\nboom\n```"
    )
    (turn,), done = files.reading(files.log(tmp_path / "s.jsonl", prompt(said)))
    (own,) = turn.tool_calls
    assert (done.session.tool_calls, done.session.tool_errors) == (0, 0)
    assert (turn.kind, turn.text) == ("shell", "make test")
    assert (own.kind, own.command, own.exit_code) == ("shell", "make test", 2)
    assert own.output == "Command exited with code 2.\nboom"


OLD = "Command: x\nOutput: boom\nError: (none)\nExit Code: {}\nSignal: (none)\nProcess Group PGID: 9"
FAILED = "Output: boom\nExit Code: 1\nProcess Group PGID: 4"
BACKGROUND = "Command moved to background (PID: 4). Output hidden."
STOPPED = "Command was cancelled by user before it could complete."


def untrusted(output: str) -> str:
    return f"<untrusted_context>\n{output}\n</untrusted_context>"


def shell(status: str, code: int | None, output: Any, told: str = "success") -> CallCase:
    asked = call("run_shell_command", output, told, command="make", description="Build")
    return case(asked, kind="shell", command="make", description="Build", status=status, exit_code=code)


def cancelled(status: str, reason: str) -> CallCase:
    return shell(status, None, {"error": f"[Operation Cancelled] Reason: {reason}"}, "cancelled")


CALLS = [
    shell("ok", 0, "Output: fine\nProcess Group PGID: 4"),
    shell("error", 1, FAILED),
    shell("error", 7, "Output: says\nExit Code: 7\nof another"),
    shell("ok", 0, OLD.format(0)),
    shell("error", 127, OLD.format(127)),
    shell("ok", None, BACKGROUND),
    shell("ok", None, "Command is running in background. PID: 4. Initial output:\nhi"),
    shell("error", 1, untrusted(FAILED)),
    shell("ok", None, untrusted(BACKGROUND)),
    shell("interrupted", None, untrusted(STOPPED)),
    shell("interrupted", None, STOPPED),
    cancelled("denied", "User denied execution."),
    cancelled("denied", "User did not allow tool call"),
    cancelled("interrupted", "Operation cancelled"),
    shell("denied", None, {"error": "Tool execution denied by policy."}, "error"),
    shell("error", None, {"error": "spawn ENOENT"}, "error"),
    shell("pending", None, "", "executing"),
    case(call("read_file", absolute_path="/a/b.py"), kind="read", paths=("/a/b.py",)),
    case(call("read_many_files", include=["src/*.py", "docs"]), kind="read", paths=("src/*.py", "docs")),
    case(
        call("replace", file_path="a.py", old_string="x", new_string="y", instruction="Rename"),
        kind="edit",
        description="Rename",
        paths=("a.py",),
        edits=(FileEdit("a.py", "x", "y"),),
    ),
    case(call("write_file", file_path="n.py", content="new"), kind="write", edits=(FileEdit("n.py", "", "new"),)),
    case(call("grep_search", pattern="def main", dir_path="src"), kind="search", command="def main"),
    case(call("google_web_search", query="msgspec raw"), kind="web", command="msgspec raw"),
    case(call("web_fetch", prompt="read https://x.test"), kind="web", command="read https://x.test"),
    case(call("codebase_investigator") | {"agentId": "helper-1"}, kind="agent"),
    case(call("save_memory", fact="x"), kind="other", command="x"),
    case(
        call("read_file", status="error") | {"result": None, "resultDisplay": "File not found."},
        status="error",
        output="File not found.",
    ),
    case(call("replace") | {"result": None, "resultDisplay": {"fileDiff": "@@"}}, status="ok", output=""),
]


def test_calls_have_their_kind_input_result_and_end(tmp_path):
    path = files.log(tmp_path / "s.jsonl", prompt("go"), reply("", *(record for record, _ in CALLS)))
    turns, done = files.reading(path)
    check_calls(turns[1].tool_calls, CALLS)
    assert (done.session.tool_errors, done.session.denials) == (6, 3)


def test_a_plan_is_what_was_written_to_the_file_that_leaving_plan_mode_names(tmp_path):
    write = call("write_file", file_path="/tmp/plans/cache.md", content="# Plan\nCache it")
    approved = "Plan approved.\n\nThe approved implementation plan is stored at: /tmp/plans/cache.md"
    refused = "Plan rejected. User feedback: use Redis\n\nThe plan is stored at: /tmp/plans/cache.md\nRevise"
    path = files.log(
        tmp_path / "s.jsonl",
        prompt("go"),
        reply("", write),
        reply("", call("exit_plan_mode", refused, plan_filename="cache.md")),
        reply("", call("exit_plan_mode", approved, plan_filename="cache.md")),
    )
    turns, done = files.reading(path)
    no, yes = turns[2].tool_calls[0], turns[3].tool_calls[0]
    assert (no.kind, no.status, no.feedback, no.plan) == ("plan", "denied", "use Redis", "# Plan\nCache it")
    assert (yes.status, yes.plan) == ("ok", "# Plan\nCache it")
    assert done.session.denials == 1


def test_questions_put_to_the_person_have_their_answers_by_place(tmp_path):
    options = [{"label": "SQLite", "description": "one file"}, {"label": "Redis", "description": "a server"}]
    questions = [{"question": "Which store?", "options": options}, {"question": "Why?", "type": "text"}]
    answered = json.dumps({"answers": {"0": "SQLite", "1": "no server to run"}})
    asked = call("ask_user", answered, questions=questions)
    dismissed = call("ask_user", "User dismissed ask_user dialog without answering.", questions=questions)
    turns, _ = files.reading(files.log(tmp_path / "s.jsonl", prompt("go"), reply("", asked, dismissed)))
    told, unanswered = turns[1].tool_calls
    assert [(one.question, one.options, one.answer) for one in told.answers] == [
        ("Which store?", ("SQLite", "Redis"), "SQLite"),
        ("Why?", (), "no server to run"),
    ]
    assert told.answers[0].chosen_descriptions == "one file"
    choice = QuestionAnswer("Which?", ("a, b", "b", "c"), "a, b, c", ("both", "one", "other"))
    assert choice.chosen_descriptions == "both\nother"
    assert (unanswered.status, [one.answer for one in unanswered.answers]) == ("denied", ["", ""])


def test_tokens_are_summed_a_message_once_and_the_cached_part_is_not_counted_as_sent(tmp_path):
    first = reply("a", tokens=tokens(100, 5, cached=0, thoughts=7))
    second = reply("b", tokens=tokens(150, 6, cached=90, thoughts=0, tool=3))
    path = files.log(tmp_path / "s.jsonl", prompt("go"), first, first, second, reply("c", tokens=None))
    turns, done = files.reading(path)
    assert done.session.tokens == Tokens(100 + 63, 12 + 6, 90)
    assert [turn.tokens.input for turn in turns] == [0, 100, 63, 0]
    _, done = files.reading(files.log(tmp_path / "s.jsonl", prompt("go"), reply("a", tokens=None)))
    assert done.session.tokens is None


def test_messages_without_ids_or_with_redacted_ones_are_told_apart(tmp_path):
    same = [prompt("again") | {"id": "REDACTED"} for _ in range(2)]
    nameless = [{key: one for key, one in prompt("x").items() if key != "id"}]
    turns, _ = files.reading(files.whole(tmp_path / "s.json", *same, *nameless))
    assert [turn.text for turn in turns] == ["again", "again", "x"]
    assert len({turn.id for turn in turns}) == 3


def test_a_line_cut_short_and_fields_of_a_wrong_type_cost_themselves(tmp_path):
    path = files.log(tmp_path / "s.jsonl", prompt("one"), prompt("two"), prompt("three"), prompt("four"))
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\r\n".join([lines[0], lines[1], lines[2][:30] + lines[3], lines[4][:30]]))
    turns, done = files.reading(path)  # not the one appended to it, and the last may be half
    assert [turn.text for turn in turns] == ["one", "three"]
    assert [problem.code for problem in done.problems] == ["bad-line"]
    odd = reply("ok", call("glob", pattern="*")) | {"thoughts": "none", "tokens": [], "model": 3}
    odd["toolCalls"].append("no call")
    path = files.whole(tmp_path / "odd.json", prompt("one") | {"timestamp": 5}, odd, summary={"a": 1})
    turns, done = files.reading(path)
    assert [turn.text for turn in turns] == ["one", "ok"]
    assert [one.name for one in turns[1].tool_calls] == ["glob"]
    assert done.problems == []


def test_an_old_session_that_stands_whole_in_the_first_line_of_a_log_is_read(tmp_path):
    whole = files.header(summary="Old") | {"messages": [prompt("one"), reply("first")]}
    path = tmp_path / "s.jsonl"
    path.write_text(f"{json.dumps(whole)}\n{json.dumps(prompt('two'))}\n", encoding="utf-8")
    turns, done = files.reading(path)
    assert ([turn.text for turn in turns], done.session.title) == (["one", "first", "two"], "Old")
