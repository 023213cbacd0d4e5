"""What an editor sees in Restricted Mode, with settings of its own, and in folders other than a repository's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.lsp.protocol import core
from lerim.lsp.server import REQUESTS
from lerim.memory.record import render_record
from proposals import propose, review_paths
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio

OLD = datetime(2026, 7, 1, tzinfo=UTC)
SECOND = {"id": "20260802-close-files", "primitive": "learning", "kind": "pitfall", "title": "Close what you open"}


async def test_lenses_sit_on_files_and_the_symbols_that_have_memories_and_nowhere_when_off(editor: Editor) -> None:
    write_memory(editor.repo, references=("src/app.py#Store.save",))
    write_memory(editor.repo, **SECOND, references=("src/app.py",))
    await editor.start()
    app = editor.open("src/app.py")
    both = [(0, "Lerim: 1 decision · 1 pitfall"), (5, "Lerim: 1 decision")]
    assert await editor.lenses(app) == both
    for symbol, titles in (("", ["Close what you open", "Keep load small"]), ("Store.save", ["Keep load small"])):
        listed = await editor.ask(core.MEMORY_FOR_FILE, {"uri": app, "symbol": symbol})
        assert sorted(one.title for one in listed.memories) == titles
    editor.configure(codeLens="file")
    assert await editor.lenses(app) == both[:1]
    editor.configure(codeLens="off")
    assert await editor.lenses(app) == []
    editor.configure(hover=False)
    assert await editor.hover(app, 0, 0) is None
    assert await editor.lenses(app) == both
    editor.configure(enabled=False)
    assert await editor.lenses(app) == []


async def test_a_repository_reached_through_a_link_and_around_the_opened_folder_is_found(
    editor: Editor, tmp_path: Path
) -> None:
    write_memory(editor.repo)
    link = tmp_path / "link"
    link.symlink_to(editor.repo / "src")
    await editor.start(root=link)
    uri = editor.open("src/app.py", uri=(link / "app.py").as_uri())
    assert "Keep load small" in (await editor.hover(uri, 0, 5) or "")


async def test_a_repository_made_after_a_refusal_is_found_at_the_next_request(
    editor: Editor, tmp_path: Path, git: object
) -> None:
    assert callable(git)
    folder = tmp_path / "new"
    folder.mkdir()
    await editor.start(root=folder)
    uri = editor.open("src/app.py", uri=(folder / "app.py").as_uri())
    assert await editor.hover(uri, 0, 5) is None
    for method in (core.REVIEW_LIST, core.SYNC):
        assert (await editor.refused(method, {"root": folder.as_uri()})).data["kind"] == "project"
    git(folder, "init", "-q")
    write_memory(folder, references=("app.py",))
    assert (await editor.ask(core.REVIEW_LIST, {"root": folder.as_uri()})).candidates == []
    assert "Keep load small" in (await editor.hover(uri, 0, 5) or "")


async def test_a_window_without_a_repository_finds_personal_memories(
    editor: Editor, tmp_path: Path, isolated: Path
) -> None:
    path = isolated / ".lerim" / "memory" / "decisions" / f"{RECORD.id}.md"
    path.parent.mkdir(parents=True)
    path.write_text(render_record(RECORD), encoding="utf-8")
    folder = tmp_path / "notes"
    folder.mkdir()
    await editor.start(root=folder)
    [found] = (await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": "small", "limit": 5})).memories
    assert (found.title, found.scope) == ("Keep load small", "global")
    assert (await editor.ask(core.MEMORY_SHOW, {"id": found.handle})).id == RECORD.id
    assert (await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": "uploads", "limit": 5})).memories == []


READABLE = {
    core.MEMORY_SEARCH,
    core.MEMORY_TITLES,
    core.MEMORY_SHOW,
    core.MEMORY_FOR_FILE,
    core.SYMBOL,
    core.MEMORY_TREE,
    core.REVIEW_FOR_FILE,
    core.DEBUG,
}
ANY: dict[str, object] = {
    **dict.fromkeys(("id", "query", "session", "turn", "text", "undo", "stamp", "folder", "label", "token"), "x"),
    **dict.fromkeys(("question", "path", "title", "day", "typed"), "x"),
    **{name: [] for name in ("items", "ids", "agents", "channels", "hashes", "present")},
    "platform": "claude",
    "tool": "recall",
    "kind": "decision",
    "scope": "project",
    "field": "tags",
    "level": "user",
    "job": 1,
    "call": 0,
    "keep": True,
}
"""A value for each parameter that a request must have, but for the root, the file and the action."""
ACTIONS = {core.CONNECT: "disconnect", core.QUEUE_ACT: "retry", core.MEMORY_ACT: "archive"}
ACTIONS |= {core.AGENT_PLAN: "install", core.AGENT_APPLY: "install"}


def files_in(*roots: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()}


async def test_restricted_mode_shows_memories_labelled_refuses_the_rest_and_writes_nothing(
    editor: Editor, isolated: Path
) -> None:
    write_memory(editor.repo)
    waiting = propose(review_paths(editor.repo))
    before = files_in(isolated, editor.repo)
    await editor.start({"trusted": False, "settings": {"idleSeconds": 0}})
    app = editor.open("src/app.py")
    found = await editor.hover(app, 0, 5)
    assert found is not None
    assert found.startswith("*From the repository")
    assert "openTurn" not in found
    for request in REQUESTS:
        if request.method not in READABLE:
            params = {**ANY, "root": editor.root, "uri": app, "action": ACTIONS.get(request.method, "accept")}
            error = await editor.refused(request.method, params)
            assert error.data["kind"] == "untrusted" and "Restricted Mode" in error.message, request.method
    for method in (core.MEMORY_FOR_FILE, core.MEMORY_SEARCH):
        listed = await editor.ask(method, {"uri": app, "query": "load"})
        assert [memory.title for memory in listed.memories] == ["Keep load small"]
    assert (await editor.ask(core.MEMORY_SHOW, {"id": listed.memories[0].handle})).title == "Keep load small"
    asked = {"root": editor.root, "by": "primitive", "start": 0}
    assert [one.kind for one in (await editor.ask(core.MEMORY_TREE, {**asked, "node": ""})).groups] == ["primitive"]
    assert (await editor.ask(core.MEMORY_TREE, {**asked, "node": "waiting"})).proposals == []
    assert (await editor.ask(core.REVIEW_FOR_FILE, {"uri": app})).comments == []
    editor.changed(editor.repo / ".lerim" / "review" / f"{waiting}.md")
    await editor.ask(core.DEBUG, {})
    assert editor.told[core.CANDIDATES_CHANGED] == []
    assert files_in(isolated, editor.repo) == before


async def test_every_memory_has_its_title_in_the_list_however_many_there_are(editor: Editor, isolated: Path) -> None:
    number = 1_050
    for at in range(number):
        write_memory(editor.repo, id=f"20260801-number-{at:04d}", title=f"Number {at}")
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    newest = SECOND | {"title": f"Close {secret}", "created": datetime(2026, 8, 2, tzinfo=UTC)}
    path = write_memory(editor.repo, **newest)
    await editor.start()
    first = await editor.ask(core.MEMORY_TITLES, {"root": editor.root, "start": 0})
    rest = await editor.ask(core.MEMORY_TITLES, {"root": editor.root, "start": len(first.memories)})
    assert first.total == rest.total == number + 1
    listed = [*first.memories, *rest.memories]
    assert len({one.id for one in listed}) == number + 1
    assert listed[0].title.startswith("Close ")
    assert secret not in listed[0].title
    assert (listed[0].kind, listed[1].references, listed[1].scope) == ("pitfall", ["src/app.py#load"], "project")
    assert listed[0].path == str(path)

    own = isolated / ".lerim" / "memory" / "decisions" / "20260701-mine.md"
    own.parent.mkdir(parents=True)
    own.write_text(render_record(replace(RECORD, id="20260701-mine", title="Mine", created=OLD)), encoding="utf-8")
    last = await editor.ask(core.MEMORY_TITLES, {"root": None, "start": number + 1})
    assert [(one.title, one.scope) for one in last.memories] == [("Mine", "global")]
