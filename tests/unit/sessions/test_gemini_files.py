"""Where sessions of Gemini CLI and Antigravity are found, and which folder each belongs to."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePosixPath, PureWindowsPath

import pytest

import gemini_files as files
from gemini_files import FOLDER, call, prompt, reply
from lerim.errors import TranscriptError
from lerim.paths import gemini_roots
from lerim.sessions.readers.gemini_family import open_session, probe_folder, scan_root
from rights import bound


def test_the_store_lies_in_the_home_or_where_the_environment_says():
    assert gemini_roots({"HOME": "/home/ana"}, "linux") == (PurePosixPath("/home/ana/.gemini"),)
    assert gemini_roots({"USERPROFILE": r"C:\Users\ana"}, "win32") == (PureWindowsPath(r"C:\Users\ana\.gemini"),)
    moved = {"HOME": "/Users/ana", "GEMINI_CLI_HOME": "/data"}
    assert gemini_roots(moved, "darwin") == (PurePosixPath("/data/.gemini"),)


def test_a_store_that_does_not_exist_holds_nothing(tmp_path):
    found = scan_root(tmp_path / "nowhere", [FOLDER])
    assert (found.transcripts, found.databases, found.problems) == ([], [], [])


@pytest.mark.parametrize(
    ("store", "side", "told"),
    [
        (files.HASH, {}, [FOLDER]),
        ("app", {"tmp/app/.project_root": FOLDER + "\n"}, []),
        ("app", {"projects.json": json.dumps({"projects": {FOLDER: "app", "/home/ana/other": "other"}})}, []),
        (hashlib.sha256(b"c:\\users\\ana\\app").hexdigest(), {}, [r"C:\Users\ana\app"]),
    ],
)
def test_the_folder_is_told_by_a_hash_of_a_known_one_a_file_beside_the_chats_or_the_list_of_projects(
    tmp_path, store, side, told
):
    files.whole(files.chats(tmp_path, store) / "session-1.json", prompt("hello"))
    for name, text in side.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (one,) = scan_root(tmp_path, told).transcripts
    assert one.cwd == (told[0] if told else FOLDER)
    assert probe_folder(one) == one.cwd


@pytest.mark.parametrize("broken", ["{", "[]", '{"projects": 3}', '{"projects": {"/a": 3}}'])
def test_a_broken_list_of_projects_tells_no_folder(tmp_path, broken):
    files.whole(files.chats(tmp_path, "app") / "session-1.json", prompt("hello"), projectHash="")
    (tmp_path / "projects.json").write_text(broken, encoding="utf-8")
    assert [one.cwd for one in scan_root(tmp_path, []).transcripts] == [""]


def test_a_session_is_read_again_once_its_folder_becomes_known(tmp_path):
    files.whole(files.chats(tmp_path) / "session-1.json", prompt("hello"))
    (before,) = scan_root(tmp_path, []).transcripts
    (after,) = scan_root(tmp_path, [FOLDER]).transcripts
    assert before.stamp != after.stamp
    assert after.stamp == scan_root(tmp_path, ["/elsewhere", FOLDER]).transcripts[0].stamp


def test_records_that_name_the_hashed_folder_or_something_in_it_tell_it_where_nobody_else_does(tmp_path):
    shell = call("run_shell_command", command="ls") | {
        "description": f"ls [current working directory {FOLDER}/src] (x)"
    }
    for number, one in enumerate((shell, call("read_file", file_path=f"{FOLDER}/src/a.py"))):
        path = files.whole(tmp_path / f"session-{number}.json", prompt("hello"), reply("ok", one))
        turns, done = files.reading(path)
        assert {turn.cwd for turn in turns} == {FOLDER}
        assert done.session.cwds == (FOLDER,)


def test_a_folder_that_does_not_have_the_named_hash_is_not_taken_for_the_sessions(tmp_path):
    shell = call("read_file", file_path="/home/ana/other/a.py")
    turns, done = files.reading(files.whole(tmp_path / "session-1.json", prompt("hello"), reply("ok", shell)))
    assert {turn.cwd for turn in turns} == {""}
    assert done.session.cwds == ()


def test_the_folder_a_session_was_told_to_work_in_stands_where_no_hash_can_be_matched(tmp_path):
    told = "This is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/ana/lib"
    context = f"<session_context>\n{told}\n</session_context>"
    path = files.log(tmp_path / "session-1.jsonl", prompt(context), prompt("hello"), projectHash="0" * 64)
    turns, _ = files.reading(path)
    assert [(turn.text, turn.cwd) for turn in turns] == [("hello", "/home/ana/lib")]
    assert probe_folder(files.transcript(path)) == "/home/ana/lib"


def test_a_subagents_session_lies_in_its_parents_folder_and_nothing_in_it_is_a_persons(tmp_path):
    folder = files.chats(tmp_path, "app") / files.SESSION
    folder.mkdir()
    files.log(
        folder / "helper-1.jsonl", prompt("find the tests"), reply("found"), sessionId="helper-1", kind="subagent"
    )
    files.log(files.chats(tmp_path, "app") / "session-1.jsonl", prompt("hello"))
    own, child = sorted(scan_root(tmp_path, []).transcripts, key=lambda one: one.parent)
    assert (own.parent, child.parent, child.session_id) == ("", files.SESSION, "helper-1")
    turns, done = files.reading(child.path, parent=child.parent)
    assert [(turn.role, turn.text, turn.sidechain) for turn in turns] == [("assistant", "found", True)]
    assert (done.session.id, done.session.parent) == ("helper-1", files.SESSION)
    assert (done.session.prompts, done.session.injected) == (0, 1)


def test_other_files_beside_sessions_and_empty_ones_are_left_alone(tmp_path):
    chats = files.chats(tmp_path)
    (chats / "session-1.json").touch()
    (chats / "notes.txt").write_text("x")
    (chats.parent / "logs.json").write_text("[]")
    (chats.parent / "checkpoint-a.json").write_text("[]")
    (tmp_path / "tmp" / "bin").mkdir()
    assert scan_root(tmp_path, []).transcripts == []


def test_a_folder_and_a_file_that_are_closed_to_us_are_told_and_hide_nothing_else(tmp_path):
    open_one = files.log(files.chats(tmp_path, "app") / "session-1.jsonl", prompt("hello"))
    closed = files.log(files.chats(tmp_path, "app") / "session-2.jsonl", prompt("hello"))
    folder = files.chats(tmp_path, "lib")
    files.log(folder / "session-3.jsonl", prompt("hello"))
    known = {path: files.transcript(path) for path in (open_one, closed)}
    folder.chmod(0)
    closed.chmod(0)
    try:
        with bound():
            found = scan_root(tmp_path, [])
            assert [(problem.code, problem.path) for problem in found.problems] == [("unreadable", str(folder))]
            assert [one.path for one in found.transcripts] == [open_one, closed]
            with pytest.raises(TranscriptError, match="cannot be read"):
                list(open_session(known[closed]))
            assert probe_folder(known[closed]) == ""
    finally:
        folder.chmod(0o700)


def conversation(root, name, *steps, log="transcript.jsonl"):
    logs = root / "antigravity" / "brain" / name / ".system_generated" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    path = logs / log
    path.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    return path


def step(number, source, type_, **fields):
    times = {"created_at": f"2026-06-01T10:00:{number:02}Z", "status": "DONE"}
    return {"step_index": number, "source": source, "type": type_} | times | fields


def test_conversations_of_antigravity_without_a_log_are_skipped_in_one_polite_sentence(tmp_path):
    conversation(tmp_path, "aa", step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>hi</USER_REQUEST>"))
    kept = tmp_path / "antigravity" / "conversations"
    kept.mkdir()
    for name in ("aa.pb", "bb.pb", "cc.db"):
        (kept / name).write_bytes(b"\0")
    found = scan_root(tmp_path, [])
    assert [one.session_id for one in found.transcripts] == ["aa"]
    (problem,) = found.problems
    assert (problem.code, problem.path) == ("skipped", str(kept))
    assert problem.message.startswith("2 Antigravity conversations are kept in a form that only Antigravity reads")


def test_the_full_log_of_a_conversation_is_read_and_not_the_shortened_one(tmp_path):
    said = step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>hi</USER_REQUEST>")
    conversation(tmp_path, "aa", said)
    full = conversation(tmp_path, "aa", said, log="transcript_full.jsonl")
    assert [one.path for one in scan_root(tmp_path, []).transcripts] == [full]


def test_a_conversation_of_antigravity_tells_its_folder_calls_results_and_exit_codes(tmp_path):
    run = {"name": "run_command", "args": {"CommandLine": "pytest -q", "Cwd": FOLDER}}
    edit = {
        "name": "replace_file_content",
        "args": {"TargetFile": "/a/b.py", "ReplacementChunks": [{"TargetContent": "old", "ReplacementContent": "new"}]},
    }
    ended = "Created At: x\nCompleted At: y\n\nThe command exited with code 2.\nOutput:\nE   assert 1 == 2\n"
    path = conversation(
        tmp_path,
        "aa",
        step(
            0,
            "USER_EXPLICIT",
            "USER_INPUT",
            content="<USER_REQUEST>\nfix it\n</USER_REQUEST>\n<ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>",
        ),
        step(
            1,
            "MODEL",
            "PLANNER_RESPONSE",
            tool_calls=[run, edit],
            thinking="hm",
            input_tokens=9,
            cache_read_tokens=4,
            output_tokens=3,
        ),
        step(2, "MODEL", "GENERIC", content=ended),
        step(3, "MODEL", "CODE_ACTION", content="Created At: x\nThe file was changed"),
        step(4, "SYSTEM", "SYSTEM_MESSAGE", content="<SYSTEM_MESSAGE>reminder</SYSTEM_MESSAGE>"),
        step(5, "MODEL", "PLANNER_RESPONSE", tool_calls=[run]),
        step(6, "MODEL", "GENERIC", status="RUNNING", content=""),
    )
    turns, done = files.reading(path)
    assert probe_folder(files.transcript(path)) == FOLDER
    assert [(turn.role, turn.text, turn.cwd) for turn in turns] == [
        ("user", "fix it", FOLDER),
        ("assistant", "", FOLDER),
        ("assistant", "", FOLDER),
    ]
    shell, edited = turns[1].tool_calls
    assert (shell.kind, shell.command, shell.status, shell.exit_code) == ("shell", "pytest -q", "error", 2)
    assert shell.output.endswith("E   assert 1 == 2\n")
    assert [(one.path, one.old, one.new) for one in edited.edits] == [("/a/b.py", "old", "new")]
    assert (edited.status, edited.output) == ("ok", "The file was changed")
    assert turns[2].tool_calls[0].status == "pending"
    session = done.session
    assert (session.injected, session.prompts, session.tool_errors) == (1, 1, 1)
    assert session.tokens is not None
    assert (session.tokens.input, session.tokens.output, session.tokens.cache_read) == (5, 3, 4)


@pytest.mark.parametrize(
    ("told", "status", "code"),
    [
        ("The command completed successfully.\nOutput:\nfine", "ok", None),
        ("\n\t\t\t\tThe command failed with exit code: 1\n\t\t\t\tOutput:\n\t\t\t\tno such file", "error", 1),
        ("The command exited with code 2.\nOutput:\nboom", "error", 2),
        ("Command exited with code 0.\n\nCommand output:\nfine", "ok", 0),
    ],
)
def test_how_a_command_of_antigravity_ended_is_told_in_all_its_forms(tmp_path, told, status, code):
    run = {"name": "run_command", "args": {"CommandLine": "make"}}
    ended = f"Created At: x\nCompleted At: y\n{told}"
    path = conversation(
        tmp_path,
        "aa",
        step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>go</USER_REQUEST>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[run]),
        step(2, "MODEL", "RUN_COMMAND", content=ended),
    )
    turns, done = files.reading(path)
    (call,) = turns[1].tool_calls
    assert (call.status, call.exit_code, done.session.tool_errors) == (status, code, status == "error")


def test_a_command_of_antigravity_that_goes_on_in_the_background_is_not_one_that_was_cut_short(tmp_path):
    run = {"name": "run_command", "args": {"CommandLine": "make serve"}}
    path = conversation(
        tmp_path,
        "aa",
        step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>go</USER_REQUEST>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[run, run]),
        step(2, "MODEL", "RUN_COMMAND", status="RUNNING", content="Created At: x\nIt runs as task-2"),
        step(5, "MODEL", "PLANNER_RESPONSE", content="It runs."),
    )
    turns, _ = files.reading(path)
    assert [(call.status, call.output) for call in turns[1].tool_calls] == [
        ("ok", "It runs as task-2"),
        ("interrupted", ""),
    ]


def test_the_shortened_log_of_antigravity_wraps_what_was_asked_once_more(tmp_path):
    asked = {"CommandLine": '"make \\"all\\""', "Cwd": f'"{FOLDER}"', "Blocking": "true", "toolAction": '"Building"'}
    steps = [
        step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>go</USER_REQUEST>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[{"name": "run_command", "args": asked}]),
        step(2, "MODEL", "RUN_COMMAND", content="done"),
    ]
    path = conversation(tmp_path, "aa", *steps)
    turns, _ = files.reading(path)
    (call,) = turns[1].tool_calls
    assert (call.command, call.description, turns[0].cwd) == ('make "all"', "Building", FOLDER)
    assert probe_folder(files.transcript(path)) == FOLDER
    quoted = [{"name": "run_command", "args": {"CommandLine": '"make"'}}]
    steps[1] = step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=quoted)
    full = conversation(tmp_path, "bb", *steps, log="transcript_full.jsonl")
    assert files.reading(full)[0][1].tool_calls[0].command == '"make"'


def test_the_prompts_that_antigravity_notes_tell_the_folder_of_a_conversation(tmp_path):
    said = step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>hi</USER_REQUEST>")
    for name in ("aa", "bb"):
        conversation(tmp_path, name, said, step(1, "MODEL", "PLANNER_RESPONSE", content="Hello."))
    notes = [
        {"display": "hi", "timestamp": 1, "workspace": FOLDER},
        {"display": "hi", "timestamp": 2, "workspace": FOLDER, "conversationId": "aa"},
        {"display": "hi", "timestamp": 3, "workspace": 7, "conversationId": "bb"},
    ]
    text = "".join(json.dumps(one) + "\n" for one in notes) + '{"display": "hal'
    (tmp_path / "antigravity" / "history.jsonl").write_text(text, encoding="utf-8")
    known, unknown = scan_root(tmp_path, []).transcripts
    assert (known.cwd, unknown.cwd, probe_folder(known), probe_folder(unknown)) == (FOLDER, "", FOLDER, "")
    done = open_session(known)
    assert {turn.cwd for turn in done} == {FOLDER}
    assert done.session.cwds == (FOLDER,)


def test_a_question_antigravity_asks_has_its_answer(tmp_path):
    asked = {"questions": [{"question": "Which one?", "options": ["uv", "pip"]}, {"question": "Why?"}]}
    path = conversation(
        tmp_path,
        "aa",
        step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>go</USER_REQUEST>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[{"name": "ask_question", "args": asked}]),
        step(2, "MODEL", "ASK_QUESTION", content="A1: uv\nA2: it is fast"),
    )
    (call,) = files.reading(path)[0][1].tool_calls
    assert call.kind == "ask"
    assert [(one.question, one.options, one.answer) for one in call.answers] == [
        ("Which one?", ("uv", "pip"), "uv"),
        ("Why?", (), "it is fast"),
    ]


def test_a_subagent_of_antigravity_is_tied_to_the_conversation_it_reports_to(tmp_path):
    parent = "0a0b0c0d-0000-4000-8000-000000000008"
    child = "0a0b0c0d-0000-4000-8000-000000000009"
    report = {"name": "send_message", "args": {"Recipient": parent, "Message": "done"}}
    path = conversation(
        tmp_path,
        child,
        step(0, "SYSTEM", "SYSTEM_MESSAGE", content="<SYSTEM_MESSAGE>look</SYSTEM_MESSAGE>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[report]),
        step(2, "MODEL", "GENERIC", content="sent"),
    )
    turns, done = files.reading(path)
    assert (done.session.parent, done.session.prompts, [turn.sidechain for turn in turns]) == (parent, 0, [True])
    ask = {"name": "invoke_subagent", "args": {"Prompt": "look", "Role": "research"}}
    path = conversation(
        tmp_path,
        parent,
        step(0, "USER_EXPLICIT", "USER_INPUT", content="<USER_REQUEST>hi</USER_REQUEST>"),
        step(1, "MODEL", "PLANNER_RESPONSE", tool_calls=[ask]),
        step(2, "MODEL", "GENERIC", content=f'Created the following subagent:\n{{"conversationId": "{child}"}}'),
    )
    turns, _ = files.reading(path)
    assert (turns[1].tool_calls[0].kind, turns[1].tool_calls[0].subagent) == ("agent", child)
