"""What OpenCode writes, built record by record, and what the reader makes of it in each of the three forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.extraction.pipeline import Extraction
from lerim.sessions.model import FileEdit, QuestionAnswer, Session, ToolCall, Transcript, Turn
from lerim.sessions.readers.opencode import store as opencode
from opencode_store import Store, of_rows, taken, text, tool

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


def call(read: Read, *parts: dict[str, object]) -> ToolCall:
    store = Store()
    store.say("user", text("do it"))
    store.say("assistant", *parts)
    (one,) = read(store)[1][1].tool_calls
    return one


def test_a_session_has_its_prompts_answers_and_totals(read: Read) -> None:
    store = Store(title="New session - 2026-05-28T20:26:40.000Z")
    store.say("user", text("fix the parser"))
    store.say("assistant", {"type": "reasoning", "text": "hm"}, text("Done."), parentID="msg_0000")
    session, turns = read(store)
    assert [(turn.role, turn.kind, turn.text) for turn in turns] == [
        ("user", "prompt", "fix the parser"),
        ("assistant", "reply", "Done."),
    ]
    assert turns[1].reasoning == "hm"
    assert turns[1].model == "m-1"
    assert session.title == ""
    assert session.version == "1.2.3"
    assert session.cwds == ("/w/app",)
    assert session.models == ("m-1",)
    assert session.cost == 0.25
    assert session.tokens is not None
    assert (session.tokens.input, session.tokens.output) == (10, 7)
    assert (session.tokens.cache_read, session.tokens.cache_write) == (3, 1)
    assert session.started is not None
    assert session.ended is not None
    assert (session.ended - session.started).total_seconds() == 2.5


def test_the_parts_that_end_a_step_are_not_counted_again(read: Read) -> None:
    store = Store()
    store.say("user", text("go"))
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 1}}
    store.say("assistant", text("ok"), {"type": "step-finish", "tokens": tokens, "cost": 0.25, "reason": "stop"})
    session, _ = read(store)
    assert session.tokens is not None
    assert session.tokens.input == 10
    assert session.cost == 0.25


def test_a_store_without_numbers_says_none(read: Read) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", text("ok"), tokens=None, cost=0)
    session, _ = read(store)
    assert session.tokens is None
    assert session.cost is None


def test_what_the_program_put_into_a_prompt_is_no_persons_word(read: Read) -> None:
    store = Store()
    attached = {"type": "file", "mime": "text/plain", "filename": "a.py", "url": "file:///w/app/a.py"}
    read_file = text("Called the Read tool with the following input: {}", synthetic=True)
    store.say("user", text("look at @a.py"), attached, read_file, text("not sent", ignored=True))
    store.say("assistant", text("ok"))
    store.say("user", text("Continue if you have next steps", synthetic=True))
    store.say("user", text("<lerim-memories>\nUse tabs\n</lerim-memories>"))
    store.say("user", text("and <system-reminder>be brief</system-reminder>this"))
    session, turns = read(store)
    assert [turn.text for turn in turns if turn.role == "user"] == ["look at @a.py", "and this"]
    assert session.prompts == 2
    assert session.injected == 2


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("Please analyze this codebase and create an AGENTS.md file containing:\n1. Build commands\n2. …", "/init"),
        (
            "Create or update `AGENTS.md` for this repository.\n\nThe goal is a compact instruction file …\n\n"
            "User-provided focus or constraints (honor these):\nonly the server\n\n## How to investigate\n\nRead.",
            "/init only the server",
        ),
        (
            "Create or update `AGENTS.md` for this repository.\n\nThe goal is a compact instruction file …\n\n"
            "User-provided focus or constraints (honor these):\n\n\n## How to investigate\n\nRead.",
            "/init",
        ),
        ("Create or update `AGENTS.md` for this repository. Keep it short.", None),
    ],
)
def test_what_stands_for_a_command_is_the_command_that_was_typed(read: Read, said: str, typed: str | None) -> None:
    store = Store()
    store.say("user", text(said))
    store.say("assistant", text("ok"))
    session, turns = read(store)
    assert (turns[0].kind, turns[0].text, session.prompts) == ("prompt", typed or said, 1)


def test_a_prompt_that_is_only_an_image_stands_as_one(read: Read) -> None:
    store = Store()
    store.say("user", {"type": "file", "mime": "image/png", "filename": "shot.png", "url": "data:..."})
    assert [turn.text for turn in read(store)[1]] == ["[image]"]


def test_a_compaction_makes_no_turns_but_its_tokens_count(read: Read) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", text("ok"))
    store.say("user", {"type": "compaction", "auto": True, "overflow": False})
    store.say("assistant", text("A summary of everything"), summary=True)
    session, turns = read(store)
    assert [turn.text for turn in turns] == ["go", "ok"]
    assert session.injected == 2
    assert session.tokens is not None
    assert session.tokens.input == 20


def test_in_a_session_of_a_subagent_nobody_typed(read: Read) -> None:
    store = Store("ses_2", parentID="ses_1")
    store.say("user", text("Explore the code and report"))
    store.say("assistant", text("Found it"))
    session, turns = read(store)
    assert session.parent == "ses_1"
    assert session.prompts == 0
    assert session.injected == 1
    assert [(turn.role, turn.sidechain) for turn in turns] == [("assistant", True)]


def test_a_task_names_the_session_of_its_subagent(read: Read) -> None:
    asked = {"description": "look", "prompt": "p", "subagent_type": "explore"}
    one = call(read, tool("task", asked, "done", metadata={"sessionId": "ses_9"}))
    assert (one.kind, one.subagent, one.description) == ("agent", "ses_9", "look")


def test_what_was_taken_back_is_not_there(read: Read) -> None:
    store = Store(revert={"messageID": "msg_0002"})
    store.say("user", text("one"))
    store.say("assistant", text("first"))
    store.say("user", text("two"))
    store.say("assistant", text("second"), tool("bash", {"command": "ls"}))
    session, turns = read(store)
    assert [turn.text for turn in turns] == ["one", "first"]
    assert (session.prompts, session.tool_calls) == (1, 0)
    assert session.tokens is not None
    assert session.tokens.input == 20


def test_an_answer_taken_back_in_part_keeps_what_came_before(read: Read) -> None:
    store = Store(revert={"messageID": "msg_0001", "partID": "prt_0001_001"})
    store.say("user", text("one"))
    store.say("assistant", text("first"), text("second"))
    assert [turn.text for turn in read(store)[1]] == ["one", "first"]


@pytest.mark.parametrize(
    ("metadata", "output", "status", "code"),
    [
        ({"exit": 0}, "fine", "ok", 0),
        ({"exit": 2}, "broken", "error", 2),
        ({"exit": None}, "...\nbash tool terminated command after exceeding timeout 120000 ms", "error", None),
        ({"exit": None}, "...\nUser aborted the command", "interrupted", None),
        ({}, "fine", "ok", None),
    ],
)
def test_commands_tell_how_they_ended(
    read: Read, metadata: dict[str, object], output: str, status: str, code: int | None
) -> None:
    asked = {"command": "make", "description": "Builds", "workdir": "/w/app"}
    one = call(read, tool("bash", asked, output, metadata=metadata))
    assert (one.kind, one.command, one.description, one.output) == ("shell", "make", "Builds", output)
    assert (one.status, one.exit_code) == (status, code)


@pytest.mark.parametrize(
    ("state", "status", "feedback"),
    [
        ({"status": "error", "error": "File not found: a"}, "error", ""),
        ({"status": "error", "error": "Tool execution aborted", "metadata": {"interrupted": True}}, "interrupted", ""),
        ({"status": "error", "error": "The user rejected permission to use this specific tool call."}, "denied", ""),
        (
            {
                "status": "error",
                "error": "The user rejected permission to use this specific tool call with the following feedback: no",
            },
            "denied",
            "no",
        ),
        ({"status": "error", "error": "Error: The user rejected permission to use this tool call."}, "denied", ""),
        ({"status": "error", "error": "RejectedError: The user dismissed this question"}, "denied", ""),
        ({"status": "error", "error": "Error: Tool execution aborted"}, "interrupted", ""),
        ({"status": "running"}, "pending", ""),
        ({"status": "pending"}, "pending", ""),
    ],
)
def test_calls_tell_how_they_ended(read: Read, state: dict[str, object], status: str, feedback: str) -> None:
    one = call(read, tool("read", {"filePath": "/w/app/a"}, **state))
    assert (one.status, one.feedback, one.paths) == (status, feedback, ("/w/app/a",))
    assert one.output == state.get("error", "")


def test_edits_have_what_was_and_what_is(read: Read) -> None:
    asked = {"filePath": "a.py", "oldString": "x = 1", "newString": "x = 2", "replaceAll": False}
    assert call(read, tool("edit", asked)).edits == (FileEdit("a.py", "x = 1", "x = 2"),)


def test_several_edits_of_a_file_are_several(read: Read) -> None:
    several = [{"oldString": "a", "newString": "b"}, {"filePath": "c.py", "oldString": "c", "newString": "d"}]
    found = call(read, tool("multiedit", {"filePath": "a.py", "edits": several})).edits
    assert found == (FileEdit("a.py", "a", "b"), FileEdit("c.py", "c", "d"))


def test_written_files_and_patches_are_changes(read: Read) -> None:
    wrote = call(read, tool("write", {"filePath": "a.py", "content": "x = 1\n"}))
    assert (wrote.kind, wrote.edits) == ("write", (FileEdit("a.py", "", "x = 1\n"),))


def test_patches_are_changes(read: Read) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n ctx\n-old\n+new\n*** End Patch"
    one = call(read, tool("apply_patch", {"patchText": patch}))
    assert (one.kind, one.paths) == ("edit", ("a.py",))
    assert [(edit.old.split(), edit.new.split()) for edit in one.edits] == [(["ctx", "old"], ["ctx", "new"])]


def test_a_question_has_its_options_and_the_answer(read: Read) -> None:
    options = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]
    asked = {"questions": [{"question": "Which database?", "header": "DB", "options": options}]}
    one = call(read, tool("question", asked, "User has answered", metadata={"answers": [["SQLite"]]}))
    expected = QuestionAnswer("Which database?", ("SQLite", "Postgres"), "SQLite", ("one file", "a server"))
    assert (one.kind, one.answers, one.answers[0].chosen_descriptions) == ("ask", (expected,), "one file")


def test_a_dismissed_question_is_denied(read: Read) -> None:
    asked = {"questions": [{"question": "Which?", "options": []}]}
    one = call(read, tool("question", asked, status="error", error="The user dismissed this question"))
    assert (one.status, one.answers[0].answer) == ("denied", "")


def test_the_plan_a_person_approved_is_the_one_in_its_file(read: Read) -> None:
    store = Store()
    store.say("user", text("plan it"))
    file = "/w/app/.opencode/plans/1-a.md"
    store.say("assistant", tool("write", {"filePath": file, "content": "# Plan\nUse Redis"}), finish="tool-calls")
    changed = tool("edit", {"filePath": file, "oldString": "Redis", "newString": "SQLite"})
    store.say("assistant", changed, tool("plan_exit", {}, "User approved switching to build agent."))
    one = read(store)[1][2].tool_calls[1]
    assert (one.kind, one.status, one.plan, one.output) == ("plan", "ok", "# Plan\nUse SQLite", "")


def test_what_sessions_show_is_found_in_those_of_opencode(tmp_path: Path) -> None:
    store = Store()
    options = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres", "description": "a server"}]
    asked = {"questions": [{"question": "Which database should we use for the session store?", "options": options}]}
    store.say("user", text("set it up"))
    answered = tool("question", asked, "User has answered", metadata={"answers": [["SQLite"]]})
    store.say("assistant", answered, finish="tool-calls")
    store.say("assistant", tool("bash", {"command": "npm test"}, "ERR", metadata={"exit": 1}), text("It fails."))
    store.say("user", text("No, don't use npm in this repo, always use pnpm."))
    change = {"filePath": "/w/app/package.json", "oldString": "npm", "newString": "pnpm"}
    store.say("assistant", tool("edit", change), text("Understood: pnpm from now on."))
    (row,) = of_rows(store.rows(tmp_path / "opencode.db"))
    extraction = Extraction(None, row.session_id, "opencode")
    for turn in opencode.open_session(row):
        extraction.feed(turn)
    found = [one for one in extraction.finish(True) if isinstance(one, Candidate)]
    assert [(one.signal, one.title) for one in found if one.signal == "prompt"] == [
        ("prompt", "No, don't use npm in this repo, always use pnpm")
    ]
    assert all(quote.who == "user" for one in found if one.signal == "answer" for quote in one.evidence)


def test_things_to_do_are_words_but_no_plan_anybody_approved(read: Read) -> None:
    todos = [{"content": "write tests", "status": "completed"}, {"content": "ship", "status": "pending"}]
    one = call(read, tool("todowrite", {"todos": todos}, "[]"))
    assert (one.kind, one.plan) == ("other", "- [x] write tests\n- [ ] ship")


def test_junk_a_model_put_into_a_call_is_left_out(read: Read) -> None:
    asked = {"command": "ls", "'} code? wait invalid JSON…{'": 1, "description": 7, "timeout": "x"}
    one = call(read, tool("bash", asked))
    assert (one.command, one.description) == ("ls", "")


def test_a_command_the_person_ran_is_theirs(read: Read) -> None:
    store = Store()
    store.say("user", text("The following tool was executed by the user", synthetic=True))
    ran = tool("bash", {"command": "git status"}, "clean", metadata={"output": "clean"})
    store.say("assistant", ran, parentID="msg_0000", finish=None, cost=0)
    session, turns = read(store)
    assert [(turn.role, turn.kind, turn.text) for turn in turns] == [("user", "shell", "git status")]
    assert [(one.name, one.id, one.output) for one in turns[0].tool_calls] == [("!", "", "clean")]
    assert (session.prompts, session.tool_calls) == (0, 0)


def test_errors_of_the_service_are_counted_and_stopping_is_none(read: Read) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", error={"name": "APIError", "data": {"message": "overloaded"}}, finish=None)
    store.say("assistant", text("half"), error={"name": "MessageAbortedError", "data": {}}, finish=None)
    session, turns = read(store)
    assert session.api_errors == 1
    assert [turn.text for turn in turns] == ["go", "half"]


def test_a_message_says_where_it_ran(read: Read) -> None:
    store = Store()
    store.say("user", text("go"))
    store.say("assistant", text("ok"), path={"cwd": "/w/other", "root": "/w"}, parentID="msg_0000")
    session, turns = read(store)
    assert [turn.cwd for turn in turns] == ["/w/other", "/w/other"]
    assert session.cwds == ("/w/other",)


def test_messages_stand_in_the_order_of_their_time_where_ids_started_over(read: Read) -> None:
    store = Store()
    store.say("user", text("first"), id="msg_ffff")
    store.say("assistant", text("second"), id="msg_0000a")
    assert [turn.text for turn in read(store)[1]] == ["first", "second"]
