"""A repository, or a home, that may be read and not written: what can be done is done, the rest is said."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException  # noqa: TID251

from desk import Desk, correction
from lerim.lsp.protocol import core
from lerim.review import queue
from rights import Terminal, bound, close, tree, without_rights
from window import Editor, write_memory

Window = Callable[..., Awaitable[Editor]]
Closed = Callable[..., None]


def test_a_sync_of_a_read_only_repository_says_what_could_not_be_written_and_finds_it_later(
    desk: Desk, terminal: Terminal, closed: Closed
) -> None:
    desk.session("s1", *correction(desk))
    closed(desk.repo)
    before = tree(desk.repo)
    with bound():
        done = terminal("sync", "--json")
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
async def test_a_read_only_repository_is_read_and_accepting_in_it_fails_in_words_and_the_candidate_waits_on(
    desk: Desk, terminal: Terminal, window: Window, closed: Closed
) -> None:
    write_memory(desk.repo)
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    closed(desk.repo)
    before = tree(desk.repo)
    editor = await window(through=without_rights())
    app = editor.open("src/app.py")
    assert "Keep load small" in (await editor.hover(app, 0, 5) or "")
    assert await editor.lenses(app) == [(0, "Lerim: 1 decision")]
    found = await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": "load", "limit": 5})
    assert [memory.title for memory in found.memories] == ["Keep load small"]
    with bound():
        done = terminal("memory", "search", "load", "--json")
    assert "Keep load small" in done.stdout
    wanted = {"root": editor.root, "id": view.id, "action": "accept", "quotes": "shared"}
    for action in ("accept", "reject"):
        with pytest.raises(JsonRpcException, match="Permission denied"):
            await editor.ask(core.REVIEW_ACT, {**wanted, "action": action})
        assert [one.id for one in (await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates] == [view.id]
    assert (await editor.ask(core.SYNC, {"root": editor.root})).state == "done"
    assert tree(desk.repo) == before
    close(desk.repo, mode=0o755)
    assert (await editor.ask(core.REVIEW_ACT, wanted)).ok
    assert desk.memories() == sorted(["Keep load small", view.title])
    assert desk.waiting() == []
    assert queue.undo_last(desk.place).ok
    assert desk.waiting() == [view.title]


def test_a_memory_folder_alone_that_is_read_only_keeps_the_candidate(
    desk: Desk, terminal: Terminal, closed: Closed
) -> None:
    memory = write_memory(desk.repo)
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    closed(memory.parent.parent)
    with bound():
        done = terminal("review", "accept", view.id, "--quotes", "shared", "--json")
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
        await editor.ask(core.SYNC, {"root": editor.root})
    for arguments in (("sync",), ("review", "list"), ("review", "undo")):
        with bound():
            done = terminal(*arguments, "--json")
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
        await editor.ask(core.SYNC, {"root": editor.root})
    for arguments in (("review", "list"), ("memory", "search", "load")):
        done = terminal(*arguments, "--json")
        json.loads(done.stdout)
        assert "unexpected" not in done.stdout, done.stdout + done.stderr


@pytest.fixture
def mounted(desk: Desk) -> Iterator[Callable[[], None]]:
    """Makes the repository a mount that may be read only; called again, it may be written."""
    repo = str(desk.repo)
    undone: list[list[str]] = []

    def toggle() -> None:
        if undone:
            subprocess.run(undone.pop(), check=True)
            return
        for command in (["mount", "--bind", repo, repo], ["mount", "-o", "remount,bind,ro", repo]):
            if subprocess.run(command, capture_output=True, check=False).returncode:
                pytest.skip("nothing can be mounted here (root on Linux may)")
            undone[:] = [["umount", "--lazy", repo]]

    if not sys.platform.startswith("linux"):
        pytest.skip("nothing can be mounted here (root on Linux may)")
    yield toggle
    if undone:
        toggle()


@pytest.mark.asyncio
async def test_a_repository_on_a_read_only_mount_is_read_and_what_cannot_be_written_is_said(
    desk: Desk, terminal: Terminal, window: Window, mounted: Callable[[], None]
) -> None:
    memory = write_memory(desk.repo)
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    desk.session("s2", *correction(desk, "attrs", "README.md", "dataclasses"))
    mounted()
    before = tree(desk.repo)
    editor = await window()
    assert "Keep load small" in (await editor.hover(editor.open("src/app.py"), 0, 5) or "")
    root = {"root": editor.root}
    report = await editor.ask(core.SYNC, root)
    assert report.state == "partial" and "Read-only file system" in str(report.problems)
    [candidate] = (await editor.ask(core.REVIEW_LIST, root)).candidates
    [row] = (await editor.ask(core.MEMORY_SEARCH, {**root, "query": "load"})).memories
    acts = (
        (core.REVIEW_ACT, {**root, "id": candidate.id, "action": "accept", "quotes": "shared"}),
        (core.REVIEW_ACT, {**root, "id": candidate.id, "action": "reject"}),
        (core.MEMORY_ACT, {"id": row.handle, "action": "archive"}),
        (core.MEMORY_ACT, {"id": row.handle, "action": "edit", "title": "Keep load tiny"}),
    )
    for method, params in acts:
        refused = await editor.refused(method, params)
        assert "Read-only file system" in refused.message and "unexpected" not in refused.message
    assert (await editor.ask(core.MAINTAIN, root)).state == "done"
    for arguments in (
        ("review", "accept", view.id, "--quotes", "shared"),
        ("review", "edit", view.id, "--title", "Another"),
        ("memory", "add", "--title", "A new one"),
        ("memory", "edit", memory.stem, "--title", "Keep load tiny"),
        ("maintain",),
    ):
        done = terminal(*arguments, "--json")
        json.loads(done.stdout)
        assert "unexpected" not in done.stdout + done.stderr and "Traceback" not in done.stderr, done
    assert tree(desk.repo) == before
    mounted()
    assert len((await editor.ask(core.SYNC, root)).candidates) == 1
    assert queue.accept_candidate(desk.place, view.id, quotes="shared").ok
