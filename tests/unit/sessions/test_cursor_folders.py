"""Which folder a chat of Cursor belongs to: every way of telling it, in order, and places of every system as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cursor_store import CID, Editor, found, only, prompt, reply, tool
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.cursor import store as cursor
from lerim.sessions.readers.cursor.folders import common_folder
from lerim.sessions.readers.engine import vscode_uri_to_path

PATHS = {
    "file:///srv/my%20app/": "/srv/my app",
    "file:///Users/ana/caf%C3%A9": "/Users/ana/café",
    "file:///c%3A/Users/me/app": "c:\\Users\\me\\app",
    "file:///": "/",
    "file:///d%3A": "d:\\",
    "file://wsl.localhost/Ubuntu/home/me/app": "/home/me/app",
    "file://wsl%24/Ubuntu/home/me/app": "/home/me/app",
    "file://localhost/home/ana": "/home/ana",
    "file://server/share/app": "\\\\server\\share\\app",
    "vscode-remote://wsl%2Bubuntu/home/me/app": "/home/me/app",
    "vscode-remote://ssh-remote%2B7b22686f7374/srv/app": "/srv/app",
    "/srv/app/": "/srv/app",
    "C:\\work\\app": "C:\\work\\app",
    "untitled:Untitled-1": "",
    "vscode-vfs://github/owner/app": "",
    "https://example.invalid/x": "",
    "file:///a%00b": "",
    "http://[": "",
    "": "",
}


def test_addresses_of_an_editor_become_paths_on_their_own_machine():
    assert {uri: vscode_uri_to_path(uri) for uri in PATHS} == PATHS


def test_the_folder_that_files_share():
    assert common_folder(["/srv/app/a/b.py", "/srv/app/c.py", "relative.py"]) == "/srv/app"
    assert common_folder(["c:\\w\\app\\a.py", "c:\\w\\app\\b\\c.py"]) == "c:\\w\\app"
    assert common_folder(["/srv/a.py", "c:\\b.py"]) == "/srv"
    assert common_folder(["/a.py", "/srv/b.py"]) == common_folder([]) == ""


def window(path: str, **more: Any) -> dict[str, Any]:
    return {"id": "x", "uri": {"fsPath": path, "scheme": "file"}, **more}


def test_the_ways_of_telling_a_folder_are_tried_in_order(tmp_path: Path):
    """A chat with every way of telling its folder, of which the first is taken away one by one."""
    editor = Editor(tmp_path)
    seen = []
    composer: dict[str, Any] = {"workspaceIdentifier": window("/first")}
    heads = {"allComposers": [{"composerId": CID, "workspaceIdentifier": window("/second")}]}
    editor.put("composer.composerHeaders", heads, table="ItemTable")
    head = {"allComposers": [{"type": "head", "composerId": CID, "lastUpdatedAt": 1771742091550}]}
    workspace = editor.workspace("w1", "file:///third", composer__composerData=head)
    uris: dict[str, Any] = {"workspaceUris": ["file:///fourth"]}
    edited = tool("read_file", {"target_file": "/fifth/src/a.py"})
    for level in range(1, 7):
        if level == 3:
            editor.put("composer.composerHeaders", {}, table="ItemTable")
        elif level == 4:
            editor.put("composer.composerData", {}, table="ItemTable", path=workspace)
        bubbles = [prompt("Go", **(uris if level <= 4 else {})), edited if level <= 5 else reply("Ok", "t1")]
        editor.chat(bubbles, **(composer if level == 1 else {}))
        turns, session, problems = only(tmp_path)
        seen.append(session.cwds)
        assert ({turn.cwd for turn in turns}, problems) == ({*session.cwds} or {""}, [])
        probed = find_working_folder(found(tmp_path)[0][0])
        assert (probed,) == session.cwds or probed == ("/second" if level == 1 else "")
    assert seen == [("/first",), ("/second",), ("/third",), ("/fourth",), ("/fifth/src",), ()]


def test_workspaces_name_their_chats_in_every_way(tmp_path: Path):
    editor = Editor(tmp_path)
    panes = "workbench__panel__composerChatViewPane"
    items: dict[str, dict[str, Any]] = {
        "chat-open": {"composer__composerData": {"selectedComposerIds": ["chat-open"]}},
        "chat-listed": {"composer__composerData": {"allComposers": [{"composerId": "chat-listed"}]}},
        "chat-in-pane": {panes: {"workbench.panel.aichat.view.chat-in-pane": {"collapsed": False}}},
        "chat-in-numbered-pane": {f"{panes}.7a": {"workbench.panel.aichat.view.chat-in-numbered-pane": {}}},
        "chat-identified": {},
    }
    for number, (cid, more) in enumerate(items.items()):
        named = {"workspaceIdentifier": {"id": f"w{number}"}} if cid == "chat-identified" else {}
        editor.chat([prompt("Go", f"u{number}")], cid, **named)
        editor.workspace(f"w{number}", "vscode-remote://ssh-remote%2Bhost/srv/app", **more)
    assert {one.session_id: one.cwd for one in found(tmp_path)[0]} == dict.fromkeys(items, "/srv/app")


def test_a_file_of_several_folders_stands_for_the_folder_it_lies_in(tmp_path: Path):
    editor = Editor(tmp_path / "User")  # whose parent is named, the folder of the product
    editor.chat([prompt("Go")], workspaceIdentifier={"id": "w1"})
    path = editor.workspace("w1", None)
    (path.parent / "workspace.json").write_text('{"workspace": "file:///srv/all.code-workspace"}', encoding="utf-8")
    assert found(tmp_path)[0][0].cwd == "/srv"


def test_the_table_of_heads_and_the_window_of_agents_tell_folders(tmp_path: Path):
    editor = Editor(tmp_path)
    for cid in ("table", "located", "member"):
        editor.chat([prompt("Go", cid)], cid)
    columns = "composerId TEXT PRIMARY KEY, workspaceId TEXT, lastUpdatedAt INTEGER, isSubagent INTEGER, value BLOB"
    editor.run(f"CREATE TABLE composerHeaders ({columns})")
    located = json.dumps({"agentLocation": {"environment": {"uri": {"fsPath": "/srv/located"}}}})
    for row in (("table", "w1", 1771742091551, 0, "{}"), ("located", "", 1771742091552, 0, located)):
        editor.run("INSERT INTO composerHeaders VALUES (?, ?, ?, ?, ?)", row)
    editor.run("INSERT INTO composerHeaders VALUES ('member', NULL, 1771742091553, 0, NULL)")
    editor.workspace("w1", "file:///srv/table")
    projects = [{"id": "p1", "workspace": {"id": "w9", "uri": {"fsPath": "/srv/member"}}}]
    editor.put("glass.localAgentProjects.v1", projects, table="ItemTable")
    editor.put("glass.localAgentProjectMembership.v1", {"member": "p1"}, table="ItemTable")
    found_ = {one.session_id: (one.cwd, one.mtime_ns) for one in found(tmp_path)[0]}
    assert found_ == {
        "table": ("/srv/table", 1771742091551_000_000),
        "located": ("/srv/located", 1771742091552_000_000),
        "member": ("/srv/member", 1771742091553_000_000),
    }


def test_a_damaged_workspace_costs_no_other(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.chat([prompt("Go")])
    editor.workspace("w2", "file:///srv/app", composer__composerData={"selectedComposerIds": [CID]})
    broken = editor.workspace("w1", "file:///srv/other")
    broken.write_bytes(b"no database at all, but longer than a hundred bytes " * 10)
    store = cursor.scan_root(tmp_path, [])
    ours = [one for one in store.databases if one.path == editor.all]
    assert cursor.list_database(ours[0], [])[0][0].cwd == "/srv/app"
