"""Conversations of Antigravity: where they are found, and what each step means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gemini_files as files
from gemini_files import FOLDER
from lerim.sessions.model import FileEdit, QuestionAnswer, Tokens, Turn
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.gemini_family import open_session, scan_root
from reader_checks import CallCase, case, check_calls

Step = dict[str, Any]


def conversation(root: Path, name: str, *steps: Step, log: str = "transcript.jsonl") -> Path:
    logs = root / "antigravity" / "brain" / name / ".system_generated" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    path = logs / log
    numbered = [{"step_index": at, "created_at": f"2026-06-01T10:00:{at:02}Z", **one} for at, one in enumerate(steps)]
    path.write_text("".join(json.dumps(one) + "\n" for one in numbered), encoding="utf-8")
    return path


def step(source: str, type_: str, status: str = "DONE", **fields: Any) -> Step:
    return {"source": source, "type": type_, "status": status, **fields}


def asks(text: str = "go") -> Step:
    return step("USER_EXPLICIT", "USER_INPUT", content=f"<USER_REQUEST>\n{text}\n</USER_REQUEST>")


def calls(*named: tuple[str, dict[str, Any]], **fields: Any) -> Step:
    return step(
        "MODEL", "PLANNER_RESPONSE", tool_calls=[{"name": name, "args": args} for name, args in named], **fields
    )


def result(content: str, status: str = "DONE") -> Step:
    return step("MODEL", "GENERIC", status, content=content)


def system(text: str) -> Step:
    return step("SYSTEM", "SYSTEM_MESSAGE", content=f"<SYSTEM_MESSAGE>{text}</SYSTEM_MESSAGE>")


def turns_of(root: Path, *steps: Step) -> list[Turn]:
    return files.reading(conversation(root, "aa", *steps))[0]


def test_conversations_without_a_log_are_skipped_in_one_polite_sentence(tmp_path: Path):
    conversation(tmp_path, "aa", asks())
    full = conversation(tmp_path, "aa", asks(), log="transcript_full.jsonl")
    kept = tmp_path / "antigravity" / "conversations"
    kept.mkdir()
    for name in ("aa.pb", "bb.pb", "cc.db"):
        (kept / name).write_bytes(b"\0")
    found = scan_root(tmp_path, [])
    assert [(one.session_id, one.path) for one in found.transcripts] == [("aa", full)]
    (problem,) = found.problems
    assert (problem.code, problem.path) == ("skipped", str(kept))
    assert problem.message.startswith("2 Antigravity conversations are kept in a form that only Antigravity reads")


def test_a_conversation_tells_its_folder_calls_results_and_exit_codes(tmp_path: Path):
    run: tuple[str, dict[str, Any]] = ("run_command", {"CommandLine": "pytest -q", "Cwd": FOLDER})
    chunk = {"TargetContent": "old", "ReplacementContent": "new"}
    edit = ("replace_file_content", {"TargetFile": "/a/b.py", "ReplacementChunks": [chunk]})
    said = asks("fix it")
    said["content"] += "\n<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>"
    path = conversation(
        tmp_path,
        "aa",
        said,
        calls(run, edit, thinking="hm", input_tokens=9, cache_read_tokens=4, output_tokens=3),
        result("Created At: x\nCompleted At: y\n\nThe command exited with code 2.\nOutput:\nE   assert 1 == 2\n"),
        result("Created At: x\nThe file was changed"),
        system("reminder"),
        calls(run),
        result("", "RUNNING"),
    )
    turns, done = files.reading(path)
    assert find_working_folder(files.transcript(path)) == FOLDER
    assert [(turn.role, turn.text) for turn in turns] == [("user", "fix it"), ("assistant", ""), ("assistant", "")]
    assert {turn.cwd for turn in turns} == {FOLDER}
    shell, edited = turns[1].tool_calls
    assert (shell.kind, shell.command, shell.status, shell.exit_code) == ("shell", "pytest -q", "error", 2)
    assert shell.output.endswith("E   assert 1 == 2\n")
    assert (edited.edits, edited.status) == ((FileEdit("/a/b.py", "old", "new"),), "ok")
    assert edited.output == "The file was changed"
    assert turns[2].tool_calls[0].status == "pending"
    session = done.session
    assert (session.prompts, session.tool_errors) == (1, 1)
    assert session.tokens == Tokens(5, 3, 4)


def ended(status: str, code: int | None, content: str) -> CallCase:
    return case(result(f"Created At: x\nCompleted At: y\n{content}"), status=status, exit_code=code)


QUESTIONS = {"questions": [{"question": "Which one?", "options": ["uv", "pip"]}, {"question": "Why?"}]}
ANSWERS = (QuestionAnswer("Which one?", ("uv", "pip"), "uv"), QuestionAnswer("Why?", (), "it is fast"))
ENDS = [
    ended("ok", None, "The command completed successfully.\nOutput:\nfine"),
    ended("error", 1, "\n\t\t\t\tThe command failed with exit code: 1\n\t\t\t\tOutput:\n\t\t\t\tno such file"),
    ended("error", 2, "The command exited with code 2.\nOutput:\nboom"),
    ended("ok", 0, "Command exited with code 0.\n\nCommand output:\nfine"),
    case(result("A1: uv\nA2: it is fast"), kind="ask", answers=ANSWERS),
    case(result("Created At: x\nIt runs as task-2", "RUNNING"), status="ok", output="It runs as task-2"),
]


def test_how_a_call_ended_is_told_in_all_its_forms(tmp_path: Path):
    run: tuple[str, dict[str, Any]] = ("run_command", {"CommandLine": "make"})
    named = [*[run] * 4, ("ask_question", QUESTIONS), run, run]
    results = [record for record, _ in ENDS]
    turns = turns_of(tmp_path, asks(), calls(*named), *results, step("MODEL", "PLANNER_RESPONSE", content="It runs."))
    check_calls(turns[1].tool_calls, [*ENDS, case({}, status="interrupted", output="")])


def test_the_shortened_log_wraps_what_was_asked_once_more(tmp_path: Path):
    wrapped = {"CommandLine": '"make \\"all\\""', "Cwd": f'"{FOLDER}"', "Blocking": "true", "toolAction": '"Building"'}
    path = conversation(tmp_path, "aa", asks(), calls(("run_command", wrapped)), result("done"))
    turns, _ = files.reading(path)
    (call,) = turns[1].tool_calls
    assert (call.command, call.description, turns[0].cwd) == ('make "all"', "Building", FOLDER)
    assert find_working_folder(files.transcript(path)) == FOLDER
    quoted = calls(("run_command", {"CommandLine": '"make"'}))
    full = conversation(tmp_path, "bb", asks(), quoted, log="transcript_full.jsonl")
    assert files.reading(full)[0][1].tool_calls[0].command == '"make"'


def test_the_prompts_that_are_noted_tell_the_folder_of_a_conversation(tmp_path: Path):
    for name in ("aa", "bb"):
        conversation(tmp_path, name, asks("hi"), step("MODEL", "PLANNER_RESPONSE", content="Hello."))
    notes = [
        {"display": "hi", "timestamp": 1, "workspace": FOLDER},
        {"display": "hi", "timestamp": 2, "workspace": FOLDER, "conversationId": "aa"},
        {"display": "hi", "timestamp": 3, "workspace": 7, "conversationId": "bb"},
    ]
    text = "".join(json.dumps(one) + "\n" for one in notes) + '{"display": "hal'
    (tmp_path / "antigravity" / "history.jsonl").write_text(text, encoding="utf-8")
    known, unknown = scan_root(tmp_path, []).transcripts
    assert (known.cwd, unknown.cwd) == (FOLDER, "")
    assert (find_working_folder(known), find_working_folder(unknown)) == (FOLDER, "")
    done = open_session(known)
    assert {turn.cwd for turn in done} == {FOLDER}
    assert done.session.cwds == (FOLDER,)


def test_a_subagent_is_tied_to_the_conversation_it_reports_to(tmp_path: Path):
    parent, child = (f"0a0b0c0d-0000-4000-8000-00000000000{number}" for number in (8, 9))
    report = ("send_message", {"Recipient": parent, "Message": "done"})
    turns, done = files.reading(conversation(tmp_path, child, system("look"), calls(report), result("sent")))
    assert (done.session.parent, done.session.prompts, [turn.sidechain for turn in turns]) == (parent, 0, [True])
    created = result(f'Created the following subagent:\n{{"conversationId": "{child}"}}')
    turns = turns_of(tmp_path, asks(), calls(("invoke_subagent", {"Prompt": "look", "Role": "research"})), created)
    assert turns[1].tool_calls[0].kind == "agent"
