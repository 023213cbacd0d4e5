"""Memories that drift, go, move and end, as an editor sees them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lsprotocol import types

from lerim.lsp.protocol import core
from lerim.memory.freshness.verifying import verify_record
from lerim.memory.record import render_record
from proposals import propose, review_paths
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio

Git = Callable[..., str]
APP = "src/app.py"
LINKS = ["openMemory", "openTurn", "verifyMemory", "memoryOutdated", "editMemory", "archiveMemory"]


def write_app(repo: Path, *changes: tuple[str, str]) -> str:
    path = repo / APP
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return text


def save(editor: Editor, uri: str) -> None:
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))


def edit(editor: Editor, uri: str, version: int, *changes: tuple[str, str]) -> None:
    """The person changes the file and saves it."""
    text = write_app(editor.repo, *changes)
    whole = types.TextDocumentContentChangeWholeDocument(text)
    document = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
    save(editor, uri)


def verified(editor: Editor) -> Path:
    """A memory of `load` that was accepted: its fingerprint is kept."""
    place = review_paths(editor.repo)
    record = verify_record(place.project, place.home, RECORD, datetime(2026, 8, 1, tzinfo=UTC))
    path = write_memory(editor.repo)
    path.write_text(render_record(record), encoding="utf-8")
    return path


def baselines(isolated: Path) -> int:
    """How many fingerprints are kept."""
    for path in isolated.glob(".lerim/projects/*/freshness.sqlite3"):
        with closing(sqlite3.connect(path)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0]:
                return int(db.execute("SELECT count(*) FROM baselines").fetchone()[0])
    return 0


def logs(isolated: Path) -> list[Path]:
    """What was written to databases and not put into them yet."""
    return list(isolated.glob(".lerim/projects/*/freshness.sqlite3-wal"))


async def until_lens(editor: Editor, uri: str, title: str) -> None:
    """Asks for lenses whenever the editor was told to, until the first says so."""
    seen = -1
    while True:
        await editor.until(lambda seen=seen: editor.refreshes > seen)  # type: ignore[misc]
        seen = editor.refreshes
        if [title] == [text for _, text in await editor.lenses(uri)][:1]:
            return


async def test_a_changed_function_marks_its_memory_until_it_is_as_it_was(editor: Editor, isolated: Path) -> None:
    verified(editor)
    await editor.start()
    app = editor.open(APP)
    assert await editor.lenses(app) == [(0, "Lerim: 1 decision")]
    edit(editor, app, 2, ("open(path).read()", "open(path).read().strip()"))
    await until_lens(editor, app, "Lerim: 1 drifted memory")
    found = await editor.hover(app, 0, 5) or ""
    assert re.search(r"\*\*Drifted since \d\d? \w{3,4} \d{4}: `load` changed\*\*", found)
    assert re.findall(r"\(command:lerim\.(\w+)\?%5B%22[0-9a-f]+%22%5D(?: \"[\w :]+\")?\)", found) == LINKS
    edit(editor, app, 3, (".strip()", ""))
    await until_lens(editor, app, "Lerim: 1 decision")
    assert "Drifted" not in (await editor.hover(app, 0, 5) or "")


async def test_what_is_known_is_written_back_and_let_go_a_while_after_the_last_look(
    editor: Editor, isolated: Path
) -> None:
    verified(editor)
    await editor.start()
    app = editor.open(APP)
    edit(editor, app, 2, ("open(path).read()", "open(path).read().strip()"))
    await until_lens(editor, app, "Lerim: 1 drifted memory")
    assert logs(isolated)
    await editor.until(lambda: not logs(isolated))
    edit(editor, app, 3, (".strip()", ""))
    await until_lens(editor, app, "Lerim: 1 decision")


async def test_a_renamed_function_keeps_its_memory_and_a_removed_one_is_gone(editor: Editor, isolated: Path) -> None:
    verified(editor)
    await editor.start()
    app = editor.open(APP)
    assert await editor.lenses(app) == [(0, "Lerim: 1 decision")]
    edit(editor, app, 2, ("def load(path):", "# how it is read\ndef read_all(path):"))
    while (found := await editor.hover(app, 1, 8)) is None:
        pass
    assert "Keep load small" in found
    assert "`load` was renamed to `read_all`" in found
    assert (1, "Lerim: 1 decision") in await editor.lenses(app)
    edit(editor, app, 3, ("def read_all(path):\n    return open(path).read()\n", ""))
    await until_lens(editor, app, "Lerim: 1 memory whose code was not found")
    assert ": `load` in `src/app.py`" in (await editor.hover(app, 0, 0) or "")


async def test_a_reference_that_is_not_found_counts_only_where_it_leads(editor: Editor, isolated: Path) -> None:
    write_memory(editor.repo, references=(f"{APP}#load", "src/paths.py#find"), verified="")
    await editor.start()
    app = editor.open(APP)
    missing = editor.open("src/paths.py", "def find():\n    pass\n")
    await until_lens(editor, missing, "Lerim: 1 memory whose code was not found")
    found = await editor.hover(missing, 0, 5) or ""
    assert "**Not found: `find` in `src/paths.py` was not there when this memory was first checked**" in found
    assert await editor.lenses(app) == [(0, "Lerim: 1 decision")]
    found = (await editor.hover(app, 0, 5) or "").replace("\\", "")
    assert "*1 of 2 references was not found: src/paths.py#find*" in found and "Not found" not in found
    edit(editor, app, 2, ("open(path).read()", "open(path).read().strip()"))
    await until_lens(editor, app, "Lerim: 1 drifted memory")
    found = await editor.hover(app, 0, 5) or ""
    assert "`load` changed" in found and "1 of 2 references" in found


async def test_a_reference_that_is_not_found_is_a_problem_in_the_memories_view_until_it_is(
    editor: Editor, isolated: Path
) -> None:
    path = write_memory(editor.repo, references=(f"{APP}#find",), verified="")
    await editor.start()
    app = editor.open(APP)
    await until_lens(editor, app, "Lerim: 1 memory whose code was not found")
    asked = {"root": editor.root, "by": "primitive", "start": 0}
    top = (await editor.ask(core.MEMORY_TREE, {**asked, "node": ""})).groups
    assert [(one.kind, one.count) for one in top] == [("problems", 1), ("primitive", 1)]
    (problem,) = (await editor.ask(core.MEMORY_TREE, {**asked, "node": "problems"})).problems
    assert (problem.code, problem.path) == ("reference-gone", str(path))
    assert problem.message == f"find was not found in {APP}."
    edit(editor, app, 2, ("def load", "def find"))
    await until_lens(editor, app, "Lerim: 1 decision")
    assert (await editor.ask(core.MEMORY_TREE, {**asked, "node": "problems"})).problems == []


async def test_a_file_moved_in_git_keeps_its_memories(editor: Editor, isolated: Path, git: Git) -> None:
    verified(editor)
    await editor.start()
    git(editor.repo, "mv", APP, "src/main.py")
    git(editor.repo, "commit", "-q", "-m", "Move it")
    main = editor.open("src/main.py")
    while (found := await editor.hover(main, 0, 5)) is None:
        pass
    assert "Keep load small" in found
    assert "`src/app.py` was moved to `src/main.py`" in found
    assert await editor.lenses(main) == [(0, "Lerim: 1 decision")]


async def test_a_checkout_that_takes_the_change_back_takes_the_mark_back(
    editor: Editor, isolated: Path, git: Git
) -> None:
    verified(editor)
    git(editor.repo, "checkout", "-q", "-b", "other")
    write_app(editor.repo, ("open(path)", "open(path, 'rb')"))
    git(editor.repo, "commit", "-q", "-m", "Bytes", "--", APP)
    await editor.start()
    readme = editor.open("README.md")
    app = editor.open(APP)
    await until_lens(editor, app, "Lerim: 1 drifted memory")
    git(editor.repo, "checkout", "-q", "main")
    save(editor, readme)
    await until_lens(editor, app, "Lerim: 1 decision")


@pytest.mark.parametrize("how", ["trusted", "added"])
async def test_the_memories_of_a_folder_that_is_trusted_or_added_later_are_compared_with_the_code(
    editor: Editor, isolated: Path, tmp_path: Path, how: str
) -> None:
    verified(editor)
    propose(review_paths(editor.repo))
    write_app(editor.repo, ("open(path).read()", "open(path).read().strip()"))
    (tmp_path / "lone").mkdir()
    if how == "trusted":
        await editor.start({"trusted": False})
        changed = types.DidChangeConfigurationParams({"trusted": True, "settings": {"idleSeconds": 0}})
        editor.client.workspace_did_change_configuration(changed)
    else:
        await editor.start(root=tmp_path / "lone")
        event = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(editor.root, "repo")], [])
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    await editor.until(lambda: [one.pending for one in editor.told[core.CANDIDATES_CHANGED]] == [1])
    await editor.until(lambda: len(editor.told[core.MEMORIES_CHANGED]) > (how == "trusted") + 1)
    tree = await editor.ask(core.MEMORY_TREE, {"root": editor.root, "by": "freshness"})
    assert [one.name for one in tree.groups if one.kind == "drift"] == ["drifted"]


async def test_a_memory_verified_by_another_process_is_marked_no_more(editor: Editor, isolated: Path) -> None:
    path = verified(editor)
    await editor.start()
    app = editor.open(APP)
    edit(editor, app, 2, ("open(path).read()", "open(path).read().strip()"))
    await until_lens(editor, app, "Lerim: 1 drifted memory")
    verified(editor)
    editor.changed(path)
    await until_lens(editor, app, "Lerim: 1 decision")


async def test_what_an_active_memory_says_it_ends_is_not_served(editor: Editor) -> None:
    write_memory(editor.repo)
    later = write_memory(editor.repo, id="20260901-load-streams", title="Load streams", supersedes=(RECORD.id,))
    await editor.start()
    app = editor.open(APP)
    found = await editor.hover(app, 0, 5) or ""
    assert "Load streams" in found
    assert "Keep load small" not in found
    assert await editor.lenses(app) == [(0, "Lerim: 1 decision")]
    later.unlink()
    editor.changed(later)
    await editor.until(lambda: len(editor.told[core.MEMORIES_CHANGED]) > 1)
    assert "Keep load small" in (await editor.hover(app, 0, 5) or "")


async def test_a_memory_written_by_hand_counts_as_it_is_when_its_file_is_opened(editor: Editor, isolated: Path) -> None:
    write_memory(editor.repo, references=(APP,), verified="")
    long = "".join(f"def f_{at}():\n    return {at}\n\n\n" for at in range(20))
    (editor.repo / APP).write_text(long, encoding="utf-8")
    await editor.start()
    app = editor.open(APP)
    assert await editor.lenses(app) == [(0, "Lerim: 1 decision")]
    await editor.until(lambda: baselines(isolated))
    (editor.repo / APP).write_text(long.replace("return", "yield").replace("def f_", "def g_"), encoding="utf-8")
    save(editor, app)
    await until_lens(editor, app, "Lerim: 1 drifted memory")
