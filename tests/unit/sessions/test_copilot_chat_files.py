"""Where Copilot's chats are found, and which folder each belongs to."""

from __future__ import annotations

import json

import pytest

import copilot_chats as chats
from copilot_chats import markdown, request
from lerim.sessions.readers import copilot_family as copilot
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.copilot_chat.store import scan_root


def storage(user, name, told, *requests):
    path = chats.whole(user / "workspaceStorage" / name / "chatSessions" / "one.json", *requests or [request("hello")])
    if told is not None:
        (path.parents[1] / "workspace.json").write_text(told, encoding="utf-8")
    return path


def test_a_chat_belongs_to_the_folder_its_workspace_names(tmp_path):
    named = ('{"folder": "file:///home/ana/my%20app"}', '{"folder": 3}', "{", None)
    for number, told in enumerate(named):
        storage(tmp_path, f"w{number}", told)
    for name in ("emptyWindowChatSessions", "transferredChatSessions"):
        chats.whole(tmp_path / "globalStorage" / name / f"{name}.json", request("hello"))
    found = scan_root(tmp_path, [])
    assert ([one.cwd for one in found.transcripts], found.problems) == (["/home/ana/my app", "", "", "", "", ""], [])
    turns, done = chats.reading(found.transcripts[0].path, cwd="/home/ana/my app")
    assert (turns[0].cwd, done.session.cwds) == ("/home/ana/my app", ("/home/ana/my app",))


@pytest.mark.parametrize(
    ("first", "folder"),
    [({"path": "app"}, "work/app"), ({"path": "../lib"}, "lib"), ({"uri": "file:///srv/app"}, "/srv/app")],
)
def test_a_chat_of_a_workspace_of_several_folders_belongs_to_the_first(tmp_path, first, folder):
    workspace = tmp_path / "work" / "all.code-workspace"
    workspace.parent.mkdir()
    folders = json.dumps([first, {"path": "other"}])
    workspace.write_text(f'{{"folders": {folders}, // all of them\n}}', encoding="utf-8")
    storage(tmp_path / "User", "abc", json.dumps({"workspace": workspace.as_uri()}))
    (one,) = scan_root(tmp_path / "User", []).transcripts
    assert one.cwd == str(tmp_path / folder)


def test_a_chat_with_an_old_file_and_a_log_stands_once_and_is_read_from_the_log(tmp_path):
    path = storage(tmp_path, "abc", None, request("old"))
    chats.log(path.with_suffix(".jsonl"), chats.initial(request("old"), request("new")))
    (one,) = scan_root(tmp_path, []).transcripts
    assert one.path == path
    assert [turn.text for turn in chats.reading(path)[0]] == ["old", "new"]


def test_an_editors_folder_is_told_from_the_command_lines_by_what_lies_in_it(tmp_path):
    asked = request("hello", markdown("hi"))
    path = storage(tmp_path / "portable", "abc", '{"folder": "file:///srv/app"}', asked)
    (one,) = copilot.scan_root(tmp_path / "portable", []).transcripts
    assert (one.path, find_working_folder(one)) == (path, "/srv/app")
    turns = list(copilot.open_session(one))
    assert [turn.text for turn in turns] == ["hello", "hi"]
    first = chats.whole(tmp_path / "globalStorage" / "emptyWindowChatSessions" / "one.json", asked)
    assert [turn.id for turn in chats.reading(first)[0]] == [turn.id for turn in turns]  # it was copied from there


def test_a_root_that_is_no_editors_folder_is_looked_through_for_sessions_of_the_command_line(tmp_path):
    (tmp_path / "session-state" / "aa").mkdir(parents=True)
    start = {"type": "session.start", "data": {"sessionId": "aa", "context": {"cwd": "/srv/app"}}, "id": "1"}
    said = {"type": "user.message", "data": {"content": "hello"}, "id": "2", "timestamp": "2026-05-01T00:00:00Z"}
    path = tmp_path / "session-state" / "aa" / "events.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (start, said)), encoding="utf-8")
    (one,) = copilot.scan_root(tmp_path, []).transcripts
    assert find_working_folder(one) == "/srv/app"
    assert [turn.text for turn in copilot.open_session(one)] == ["hello"]
