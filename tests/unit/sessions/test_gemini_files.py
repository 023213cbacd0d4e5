"""Where sessions of Gemini CLI are found, which folder each belongs to, and what a file met half written gives."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import gemini_files as files
from catalog_dump import ByName, listed
from gemini_files import FOLDER, call, prompt, reply
from lerim.errors import UnfinishedError
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import DiscoveredStores, compare_stamps
from lerim.sessions.readers import find_working_folder, read_session
from lerim.sessions.readers.gemini_family import scan_root


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
    assert find_working_folder(one) == one.cwd


def test_a_chat_below_folders_with_the_names_of_antigravitys_is_one_of_gemini_cli(tmp_path):
    path = files.whole(files.chats(tmp_path / "antigravity" / "brain") / "session-1.json", prompt("hello"))
    assert [turn.text for turn in files.reading(path)[0]] == ["hello"]


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
    assert find_working_folder(files.transcript(path)) == "/home/ana/lib"


def test_the_folder_is_found_without_reading_the_whole_session(tmp_path):
    named = call("run_shell_command") | {"description": f"ls [current working directory {FOLDER}] (x)"}
    path = files.whole(tmp_path / "session-1.json", prompt("hello"), reply("ok", named))
    path.write_bytes(path.read_bytes()[:-10])  # so that it cannot be read as a whole
    assert find_working_folder(files.transcript(path)) == FOLDER


def test_a_subagents_session_lies_in_its_parents_folder_and_nothing_in_it_is_a_persons(tmp_path):
    folder = files.chats(tmp_path, "app") / files.SESSION
    folder.mkdir()
    told = {"sessionId": "helper-1", "kind": "subagent", "summary": '{"answer": "They are in tests/"}'}
    files.log(folder / "helper-1.jsonl", prompt("find the tests"), reply("found"), **told)
    files.log(files.chats(tmp_path, "app") / "session-1.jsonl", prompt("hello"))
    own, child = sorted(scan_root(tmp_path, []).transcripts, key=lambda one: one.parent)
    assert (own.parent, child.parent, child.session_id) == ("", files.SESSION, "helper-1")
    turns, done = files.reading(child.path, parent=child.parent)
    assert [(turn.role, turn.text, turn.sidechain) for turn in turns] == [("assistant", "found", True)]
    assert (done.session.id, done.session.parent, done.session.prompts) == ("helper-1", files.SESSION, 0)
    assert done.session.title == "find the tests"  # and not the form it answers in


TASK = "Your task is to look for all files that matter to:\n<objective>\nFind the tests\n</objective>"


def test_a_subagents_session_of_an_earlier_version_is_known_by_its_task(tmp_path):
    warned = "You have used all your turns. Do not call any other tools."
    path = files.whole(tmp_path / "session-1.json", prompt(TASK), reply("found"), prompt(warned))
    turns, done = files.reading(path)
    assert [(turn.role, turn.text, turn.sidechain) for turn in turns] == [("assistant", "found", True)]
    session = done.session
    assert (session.id, session.parent, session.title) == ("session-1", files.SESSION, "Find the tests")
    typed = files.whole(tmp_path / "session-2.json", prompt("Your task is to sort:\n<list>\na\n</list>"))
    assert [turn.role for turn in files.reading(typed)[0]] == ["user"]
    more = files.whole(tmp_path / "session-3.json", prompt(f"{TASK}\n\nAlways run them afterwards."), reply("done"))
    assert [turn.role for turn in files.reading(more)[0]] == ["user", "assistant"]


def test_other_files_beside_sessions_and_empty_ones_are_left_alone(tmp_path):
    chats = files.chats(tmp_path)
    (chats / "session-1.json").touch()
    (chats / "notes.txt").write_text("x")
    (chats.parent / "logs.json").write_text("[]")
    (chats.parent / "checkpoint-a.json").write_text("[]")
    (tmp_path / "tmp" / "bin").mkdir()
    assert scan_root(tmp_path, []).transcripts == []


# --- files that are rewritten whole ----------------------------------------------------------------------------------


def sync(catalog, root):
    found = compare_stamps(DiscoveredStores(scan_root(root, [files.FOLDER]).transcripts), catalog.load_stamps())
    return list(catalog.index_transcripts(((one, read_session(one)) for one in (*found.new, *found.changed)), ByName()))


def test_a_session_met_half_written_is_told_to_nobody_and_read_by_the_next_sync(tmp_path):
    path = files.whole(files.chats(tmp_path) / "session-1.json", prompt("one"), reply("first"))
    with Catalog.open(Home(tmp_path / "lerim")) as catalog:
        sync(catalog, tmp_path)
        complete = files.whole(path, prompt("two"), reply("second"), prompt("three")).read_bytes()
        path.write_bytes(complete[: len(complete) // 2])
        (met,) = sync(catalog, tmp_path)
        assert (met.problems, met.failed, met.is_busy) == ((), False, True)
        assert "first" in [turn.text for turn in catalog.search_turns("first")]
        assert listed(catalog)[0].error == ""
        path.write_bytes(complete)
        (met,) = sync(catalog, tmp_path)
        assert (met.problems, met.failed, met.is_busy) == ((), False, False)
        assert "second" in [turn.text for turn in catalog.search_turns("second")]
        assert sync(catalog, tmp_path) == []


def test_a_session_resumed_in_a_log_beside_its_old_file_stays_one_session_of_the_catalog(tmp_path):
    told = [prompt("one"), reply("first")]
    path = files.whole(files.chats(tmp_path) / "session-1.json", *told)
    with Catalog.open(Home(tmp_path / "lerim")) as catalog:
        sync(catalog, tmp_path)
        files.log(path.with_suffix(".jsonl"), *told, prompt("two"), reply("second"))
        (met,) = sync(catalog, tmp_path)
        (row,) = listed(catalog)
        assert (met.new_turns, row.session_id, row.turns) == (2, files.SESSION, 4)


def test_a_session_that_nobody_writes_any_more_and_that_is_damaged_gives_what_is_whole_in_it_and_a_problem(tmp_path):
    path = files.whole(
        tmp_path / "session-1.json", prompt("one"), reply("first", call("glob", pattern="*")), prompt("two")
    )
    damaged = path.read_bytes().replace(b'"text": "one"', b'"text": one"')
    path.write_bytes(damaged)
    with pytest.raises(UnfinishedError):
        files.reading(path)
    files.long_ago(path)
    turns, done = files.reading(path)
    assert [turn.text for turn in turns] == ["first", "two"]
    assert [problem.code for problem in done.problems] == ["bad-line"]
    path = files.chats(tmp_path) / "session-2.json"
    path.write_bytes(b"\0" * 1000)  # nothing is whole in it
    files.long_ago(path)
    with Catalog.open(Home(tmp_path / "lerim")) as catalog:
        (met,) = sync(catalog, tmp_path)
        assert (met.failed, len(met.problems)) == (True, 1)
        assert sync(catalog, tmp_path) == []


def test_sessions_of_the_server_of_gemini_code_assist_are_told_apart_and_none_is_its_own_parent(tmp_path: Path) -> None:
    for day in (25, 26):
        path = files.chats(tmp_path) / f"session-2026-09-{day}T17-06-a2a-serv.jsonl"
        files.log(path, prompt(f"On day {day}"), sessionId="a2a-server")
    found = [read_session(one) for one in scan_root(tmp_path, ()).transcripts]
    assert [len(list(one)) for one in found] == [1, 1]
    assert len({one.session.id for one in found}) == 2
    path = files.whole(tmp_path / "session-1.json", prompt(TASK), reply("found"), sessionId="a2a-server")
    session = files.reading(path)[1].session
    assert (session.id, session.parent) == ("session-1", "")
