"""Where sessions of Gemini CLI are found, and which folder each belongs to."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePosixPath, PureWindowsPath

import pytest

import gemini_files as files
from gemini_files import FOLDER, call, prompt, reply
from lerim.paths import gemini_roots
from lerim.sessions.readers.gemini_family import probe_folder, scan_root


def test_the_store_lies_in_the_home_or_where_the_environment_says():
    assert gemini_roots({"HOME": "/home/ana"}, "linux") == (PurePosixPath("/home/ana/.gemini"),)
    assert gemini_roots({"USERPROFILE": r"C:\Users\ana"}, "win32") == (PureWindowsPath(r"C:\Users\ana\.gemini"),)
    moved = {"HOME": "/Users/ana", "GEMINI_CLI_HOME": "/data"}
    assert gemini_roots(moved, "darwin") == (PurePosixPath("/data/.gemini"),)


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


def test_a_broken_list_of_projects_tells_no_folder(tmp_path):
    files.whole(files.chats(tmp_path, "app") / "session-1.json", prompt("hello"), projectHash="")
    for broken in ("{", "[]", '{"projects": 3}', '{"projects": {"/a": 3}}'):
        (tmp_path / "projects.json").write_text(broken, encoding="utf-8")
        assert [one.cwd for one in scan_root(tmp_path, []).transcripts] == [""]


def test_a_session_is_read_again_once_its_folder_becomes_known(tmp_path):
    files.whole(files.chats(tmp_path) / "session-1.json", prompt("hello"))
    (before,) = scan_root(tmp_path, []).transcripts
    (after,) = scan_root(tmp_path, [FOLDER]).transcripts
    assert before.stamp != after.stamp
    assert after.stamp == scan_root(tmp_path, ["/elsewhere", FOLDER]).transcripts[0].stamp


def test_records_that_name_the_hashed_folder_or_something_in_it_tell_it_where_nobody_else_does(tmp_path):
    ran = f"ls [current working directory {FOLDER}/src] (x)"
    named = [call("run_shell_command") | {"description": ran}, call("read_file", file_path=f"{FOLDER}/src/a.py")]
    other = call("read_file", file_path="/home/ana/other/a.py")  # has another hash
    for one, folders in ((named[0], (FOLDER,)), (named[1], (FOLDER,)), (other, ())):
        turns, done = files.reading(files.whole(tmp_path / "session-1.json", prompt("hello"), reply("ok", one)))
        assert done.session.cwds == folders
        assert {turn.cwd for turn in turns} == {*folders} or {""}


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
    assert done.session.prompts == 0


def test_other_files_beside_sessions_and_empty_ones_are_left_alone(tmp_path):
    chats = files.chats(tmp_path)
    (chats / "session-1.json").touch()
    (chats / "notes.txt").write_text("x")
    (chats.parent / "logs.json").write_text("[]")
    (chats.parent / "checkpoint-a.json").write_text("[]")
    (tmp_path / "tmp" / "bin").mkdir()
    assert scan_root(tmp_path, []).transcripts == []
