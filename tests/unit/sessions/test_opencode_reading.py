"""What OpenCode writes, built record by record, and what the reader makes of it in each of the three forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lerim.sessions.model import FileEdit, QuestionAnswer, Session, Tokens, Transcript, Turn
from lerim.sessions.readers.opencode import store as opencode
from opencode_store import Store, of_rows, taken, text, tool
from reader_checks import CallCase, case, check_calls

Read = Callable[[Store], tuple[Session, list[Turn]]]


@pytest.fixture(params=["rows", "files", "export"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Read:
    def go(store: Store) -> tuple[Session, list[Turn]]:
        if request.param == "rows":
            (transcript,) = of_rows(store.rows(tmp_path / "opencode.db"))
        elif request.param == "files":
            store.files(tmp_path / "storage")
            (transcript,) = opencode.scan_root(tmp_path, ()).transcripts
        else:
            path = store.export(tmp_path / f"{store.info['id']}.json")
            transcript = Transcript("opencode", path, store.info["id"], 1, 1, 1)
        return taken(transcript)

    return go


def shell(status: str, code: int | None, output: str, **metadata: Any) -> CallCase:
    asked = {"command": "make", "description": "Builds", "workdir": "/w/app"}
    expected = {"kind": "shell", "command": "make", "description": "Builds", "output": output}
    return case(tool("bash", asked, output, metadata=metadata), **expected, status=status, exit_code=code)


def reads(expected: str, feedback: str = "", **state: Any) -> CallCase:
    found = {"paths": ("/w/app/a",), "output": state.get("error", ""), "feedback": feedback}
    return case(tool("read", {"filePath": "/w/app/a"}, **state), **found, status=expected)


EDIT = {"filePath": "a.py", "oldString": "x = 1", "newString": "x = 2", "replaceAll": False}
EDITS = [{"oldString": "a", "newString": "b"}, {"filePath": "c.py", "oldString": "c", "newString": "d"}]
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n*** End Patch"
OPTIONS = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]
ASKED = {"questions": [{"question": "Which database?", "header": "DB", "options": OPTIONS}]}
ANSWER = QuestionAnswer("Which database?", ("SQLite", "Postgres"), "SQLite", ("one file", "a server"))
REJECTED = "The user rejected permission to use this specific tool call"
DISMISSED = "The user dismissed this question"
TODOS = [{"content": "write tests", "status": "completed"}, {"content": "ship", "status": "pending"}]
CALLS = [
    shell("ok", 0, "fine", exit=0),
    shell("error", 2, "broken", exit=2),
    shell("error", None, "...\nbash tool terminated command after exceeding timeout 120000 ms", exit=None),
    shell("interrupted", None, "...\nUser aborted the command", exit=None),
    shell("ok", None, "fine"),
    reads("error", status="error", error="File not found: a"),
    reads("interrupted", status="error", error="Tool execution aborted", metadata={"interrupted": True}),
    reads("interrupted", status="error", error="Error: Tool execution aborted"),
    reads("denied", status="error", error=f"{REJECTED}."),
    reads("denied", "no", status="error", error=f"{REJECTED} with the following feedback: no"),
    reads("denied", status="error", error=f"RejectedError: {DISMISSED}"),
    reads("pending", status="running"),
    case(tool("edit", EDIT), kind="edit", edits=(FileEdit("a.py", "x = 1", "x = 2"),)),
    case(
        tool("multiedit", {"filePath": "a.py", "edits": EDITS}),
        edits=(FileEdit("a.py", "a", "b"), FileEdit("c.py", "c", "d")),
    ),
    case(tool("write", {"filePath": "a.py", "content": "x"}), kind="write", edits=(FileEdit("a.py", "", "x"),)),
    case(tool("apply_patch", {"patchText": PATCH}), paths=("a.py",), edits=(FileEdit("a.py", "old", "new"),)),
    case(tool("question", ASKED, "Answered", metadata={"answers": [["SQLite"]]}), kind="ask", answers=(ANSWER,)),
    case(
        tool("question", {"questions": [{"question": "Which?", "options": []}]}, status="error", error=DISMISSED),
        status="denied",
        answers=(QuestionAnswer("Which?", (), ""),),
    ),
    case(
        tool("task", {"description": "look", "prompt": "p"}, "done", metadata={"sessionId": "ses_9"}),
        kind="agent",
        description="look",
    ),
    case(tool("todowrite", {"todos": TODOS}, "[]"), kind="other", plan="- [x] write tests\n- [ ] ship"),
    case(
        tool("bash", {"command": "ls \ud83d", "'} code? {'": 1, "description": 7}), command="ls \ufffd", description=""
    ),
]


def test_calls_have_their_kind_input_result_and_end(read: Read) -> None:
    store = Store()
    store.say("user", text("do it"))
    store.say("assistant", *(record for record, _ in CALLS))
    check_calls(read(store)[1][1].tool_calls, CALLS)


def test_a_session_has_its_prompts_answers_and_totals(read: Read) -> None:
    store = Store(title="New session - 2026-05-28T20:26:40.000Z")
    store.say("user", text("fix the parser"))
    ended = {"type": "step-finish", "tokens": {"input": 10, "output": 5}, "cost": 0.25, "reason": "stop"}
    store.say("assistant", {"type": "reasoning", "text": "hm"}, text("Done."), ended, parentID="msg_0000")
    session, turns = read(store)
    expected = [("user", "prompt", "fix the parser"), ("assistant", "reply", "Done.")]
    assert [(turn.role, turn.kind, turn.text) for turn in turns] == expected
    assert (turns[1].reasoning, turns[1].model) == ("hm", "m-1")
    assert (session.title, session.cwds) == ("", ("/w/app",))
    assert (session.models, session.cost, session.tokens) == (("m-1",), 0.25, Tokens(10, 7, 3, 1))
    assert session.started is not None
    assert session.ended is not None
    assert (session.ended - session.started).total_seconds() == 2.5


def test_what_the_program_or_a_plugin_put_into_a_prompt_is_no_persons_word(read: Read) -> None:
    store = Store()
    attached = {"type": "file", "mime": "text/plain", "filename": "a.py", "url": "file:///w/app/a.py"}
    read_file = text("Called the Read tool with the following input: {}", synthetic=True)
    store.say("user", text("look at @a.py"), attached, read_file, text("not sent", ignored=True))
    store.say("assistant", text("ok"))
    store.say("user", text("Continue if you have next steps", synthetic=True))
    store.say("user", text("<lerim-memories>\nUse tabs\n</lerim-memories>"))
    store.say("user", text("and <system-reminder>be brief</system-reminder>this"))
    search = "[search-mode]\nNEVER stop at first result.\n\n[analyze-mode]\nAlways look.\n---\nMUST ask.\n\n---\n\n"
    work = "<ultrawork-mode>\nAlways delegate.\n\n---\n\nNever ask.\n</ultrawork-mode>\n\n---\n\n"
    store.say("user", text(f"{search}Use uv\n\n---\n\nnot pip"))
    store.say("user", text(f"{work}Use ruff"))
    store.say("user", text(work.replace("ultrawork", "hyperplan-ultrawork") + "Use ty"))
    store.say("user", text("[dark-mode]\nis what I want"))
    store.say("user", text("[SYSTEM DIRECTIVE: OH-MY-OPENCODE - TODO CONTINUATION]\n\nAlways go on."))
    store.say("user", text("Always claim your task.\n<!-- OMO_INTERNAL_INITIATOR -->"))
    session, turns = read(store)
    typed = ["Use uv\n\n---\n\nnot pip", "Use ruff", "Use ty", "[dark-mode]\nis what I want"]
    assert [turn.text for turn in turns if turn.role == "user"] == ["look at @a.py", "and this", *typed]
    assert session.prompts == 6


INIT = "Create or update `AGENTS.md` for this repository.\n\nThe goal is a compact instruction file …\n\n"
FOCUS = INIT + "User-provided focus or constraints (honor these):\n{}\n\n## How to investigate\n\nRead."
SKILL = (
    "\nBase directory for this skill: /home/ana/.agents/skills/build\n"
    "Relative paths in this skill (such as scripts/) are relative to this base directory."
)
TYPED = {
    "Please analyze this codebase and create an AGENTS.md file containing:\n1. Build commands\n2. …": "/init",
    FOCUS.format("only the server"): "/init only the server",
    FOCUS.format(""): "/init",
    f"Always test first.\n\n{SKILL}\n\nonly the server": "/build only the server",
    f"Always test first.\n\n{SKILL}": "/build",
    "Create or update `AGENTS.md` for this repository. Keep it short.": "Create or update `AGENTS.md` for this "
    "repository. Keep it short.",
}


def test_what_stands_for_a_command_is_the_command_that_was_typed_and_an_image_is_named(read: Read) -> None:
    store = Store()
    for said in TYPED:
        store.say("user", text(said))
    store.say("user", {"type": "file", "mime": "image/png", "filename": "shot.png", "url": "data:..."})
    session, turns = read(store)
    assert [turn.text for turn in turns] == [*TYPED.values(), "[image]"]
    assert session.prompts == len(TYPED) + 1


def test_messages_stand_in_the_order_of_their_time_with_the_folder_they_ran_in_and_a_compaction_only_costs_tokens(
    read: Read,
) -> None:
    store = Store()
    store.say("user", text("go"), id="msg_ffff")
    store.say("assistant", text("ok"), id="msg_0000a", path={"cwd": "/w/other", "root": "/w"}, parentID="msg_ffff")
    store.say("user", {"type": "compaction", "auto": True, "overflow": False})
    store.say("assistant", text("A summary of everything"), summary=True)
    session, turns = read(store)
    assert [(turn.text, turn.cwd) for turn in turns] == [("go", "/w/other"), ("ok", "/w/other")]
    assert (session.cwds, session.tokens) == (("/w/other",), Tokens(20, 14, 6, 2))


def test_in_a_session_of_a_subagent_nobody_typed(read: Read) -> None:
    store = Store("ses_2", parentID="ses_1")
    store.say("user", text("Explore the code and report"))
    store.say("assistant", text("Found it"))
    session, turns = read(store)
    assert session.parent == "ses_1"
    assert session.prompts == 0
    assert [(turn.role, turn.sidechain) for turn in turns] == [("assistant", True)]


def test_what_was_taken_back_is_not_there_and_an_answer_taken_back_in_part_keeps_its_start(read: Read) -> None:
    store = Store(revert={"messageID": "msg_0002"})
    store.say("user", text("one"))
    store.say("assistant", text("first"), text("second"))
    store.say("user", text("two"))
    store.say("assistant", text("third"), tool("bash", {"command": "ls"}))
    session, turns = read(store)
    assert [turn.text for turn in turns] == ["one", "first\n\nsecond"]
    assert (session.prompts, session.tool_calls, session.tokens) == (1, 0, Tokens(20, 14, 6, 2))
    store.info["revert"] = {"messageID": "msg_0001", "partID": "prt_0001_001"}
    assert [turn.text for turn in read(store)[1]] == ["one", "first"]


def test_the_plan_a_person_approved_is_the_one_in_its_file(read: Read) -> None:
    store = Store()
    store.say("user", text("plan it"))
    file = "/w/app/.opencode/plans/1-a.md"
    store.say("assistant", tool("write", {"filePath": file, "content": "# Plan\nUse Redis"}), finish="tool-calls")
    changed = tool("edit", {"filePath": file, "oldString": "Redis", "newString": "SQLite"})
    store.say("assistant", changed, tool("plan_exit", {}, "User approved switching to build agent."))
    one = read(store)[1][2].tool_calls[1]
    assert (one.kind, one.status, one.plan, one.output) == ("plan", "ok", "# Plan\nUse SQLite", "")


def test_a_command_the_person_ran_is_theirs(read: Read) -> None:
    store = Store()
    store.say("user", text("The following tool was executed by the user", synthetic=True))
    ran = tool("bash", {"command": "git status"}, "clean", metadata={"output": "clean"})
    store.say("assistant", ran, parentID="msg_0000", finish=None, cost=0)
    session, turns = read(store)
    assert [(turn.role, turn.kind, turn.text) for turn in turns] == [("user", "shell", "git status")]
    assert [(one.name, one.id, one.output) for one in turns[0].tool_calls] == [("!", "", "clean")]
    assert (session.prompts, session.tool_calls) == (0, 0)


def test_a_store_without_numbers_says_none(read: Read) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", error={"name": "APIError", "data": {"message": "overloaded"}}, finish=None)
    store.say("assistant", text("half"), error={"name": "MessageAbortedError", "data": {}}, finish=None)
    for one in store.messages[1:]:
        one["info"] |= {"tokens": None, "cost": 0}
    session, turns = read(store)
    assert (session.tokens, session.cost) == (None, None)
    assert [turn.text for turn in turns] == ["go", "half"]
