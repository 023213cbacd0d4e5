"""A repository, or a home, that may be read and not written: what can be done is done, the rest is said."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException  # noqa: TID251

from desk import Desk, correction
from lerim.lsp import protocol
from lerim.review import queue
from rights import Terminal, close, tree, without_rights
from window import Editor, write_memory

Window = Callable[..., Awaitable[Editor]]
Closed = Callable[..., None]


def test_a_sync_of_a_read_only_repository_says_what_could_not_be_written_and_finds_it_later(
    desk: Desk, terminal: Terminal, closed: Closed
) -> None:
    desk.session("s1", *correction(desk))
    closed(desk.repo)
    before = tree(desk.repo)
    done = terminal("sync", "--json", through=without_rights())
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["state"]) == (3, "partial")
    assert answer["candidates"] == []
    assert "Permission denied" in json.dumps(answer["problems"])
    assert str(desk.repo) in json.dumps(answer["problems"])
    assert tree(desk.repo) == before

    close(desk.repo, mode=0o755)
    again = json.loads(terminal("sync", "--json").stdout)
    assert (again["state"], len(again["candidates"])) == ("done", 1)
    assert json.loads(terminal("sync", "--json").stdout)["candidates"] == []


@pytest.mark.asyncio
async def test_memories_of_a_read_only_repository_are_hovered_listed_and_searched(
    desk: Desk, terminal: Terminal, window: Window, closed: Closed
) -> None:
    write_memory(desk.repo)
    closed(desk.repo)
    before = tree(desk.repo)
    editor = await window(through=without_rights())
    app = editor.open("src/app.py")
    assert "Keep load small" in (await editor.hover(app, 0, 5) or "")
    assert await editor.lenses(app) == [(0, "1 decision")]
    found = await editor.ask(protocol.MEMORY_SEARCH, {"root": editor.root, "query": "load", "limit": 5})
    assert [memory.title for memory in found.memories] == ["Keep load small"]
    done = terminal("memory", "search", "load", "--json", through=without_rights())
    assert "Keep load small" in done.stdout
    report = await editor.ask(protocol.SYNC, {"root": editor.root, "explicit": True})
    assert report.state == "done"
    assert tree(desk.repo) == before


@pytest.mark.asyncio
async def test_accepting_in_a_read_only_repository_fails_in_words_and_the_candidate_waits_on(
    desk: Desk, window: Window, closed: Closed
) -> None:
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    closed(desk.repo)
    editor = await window(through=without_rights())
    wanted = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}
    for action in ("accept", "reject"):
        with pytest.raises(JsonRpcException, match="Permission denied"):
            await editor.ask(protocol.REVIEW_ACT, {**wanted, "action": action})
        assert [one.id for one in (await editor.ask(protocol.REVIEW_LIST, {"root": editor.root})).candidates] == [
            view.id
        ]
    close(desk.repo, mode=0o755)
    assert (await editor.ask(protocol.REVIEW_ACT, wanted)).ok
    assert desk.memories() == [view.title]
    assert desk.waiting() == []
    assert queue.undo(desk.place).ok
    assert desk.waiting() == [view.title]


def test_a_memory_folder_alone_that_is_read_only_keeps_the_candidate(
    desk: Desk, terminal: Terminal, closed: Closed
) -> None:
    memory = write_memory(desk.repo)
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    closed(memory.parent.parent)
    done = terminal("review", "accept", view.id, "--quotes", "shared", "--json", through=without_rights())
    assert done.returncode == 1
    assert "Permission denied" in done.stdout
    assert desk.waiting() == [view.title]
    assert desk.memories() == ["Keep load small"]


@pytest.mark.asyncio
async def test_with_a_read_only_home_hovers_work_and_a_sync_says_what_it_needs(
    desk: Desk, terminal: Terminal, window: Window, closed: Closed
) -> None:
    write_memory(desk.repo)
    desk.session("s1", *correction(desk))
    desk.sync()
    desk.session("s2", *correction(desk, "attrs", "README.md", "dataclasses"))
    before = tree(desk.repo)
    closed(desk.home.root)
    editor = await window(through=without_rights())
    assert "Keep load small" in (await editor.hover(editor.open("src/app.py"), 0, 5) or "")
    with pytest.raises(JsonRpcException, match="writable"):
        await editor.ask(protocol.SYNC, {"root": editor.root, "explicit": True})
    for arguments in (("sync",), ("review", "list"), ("review", "undo")):
        done = terminal(*arguments, "--json", through=without_rights())
        json.loads(done.stdout)
        assert "unexpected" not in done.stdout, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert tree(desk.repo) == before
    close(desk.home.root, mode=0o755)
    assert len(json.loads(terminal("sync", "--json").stdout)["candidates"]) == 1


@pytest.mark.asyncio
async def test_a_home_that_cannot_be_made_is_told_and_hovers_work(
    desk: Desk, terminal: Terminal, window: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("", encoding="utf-8")
    monkeypatch.setenv("LERIM_HOME", str(tmp_path / "a file" / ".lerim"))
    write_memory(desk.repo)
    editor = await window()
    assert "Keep load small" in (await editor.hover(editor.open("src/app.py"), 0, 5) or "")
    with pytest.raises(JsonRpcException, match="LERIM_HOME"):
        await editor.ask(protocol.SYNC, {"root": editor.root, "explicit": True})
    for arguments in (("review", "list"), ("memory", "search", "load")):
        done = terminal(*arguments, "--json")
        json.loads(done.stdout)
        assert "unexpected" not in done.stdout, done.stdout + done.stderr
