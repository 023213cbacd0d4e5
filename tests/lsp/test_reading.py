"""Hovers and lenses, as an editor sees them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.lsp.protocol import core
from lerim.memory.record import render_record
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio

OLD = datetime(2026, 7, 1, tzinfo=UTC)
SECOND = {"id": "20260802-close-files", "primitive": "learning", "kind": "pitfall", "title": "Close what you open"}


async def test_hover_answers_on_a_symbol_a_path_and_line_one_and_nowhere_else(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start()
    readme = editor.open("README.md", "# App\n\nStart at src/app.py, then read on.\n")
    app = editor.open("src/app.py", "import os\n\ndef load():\n    pass\n")

    on_symbol = await editor.hover(app, 2, 6)
    assert on_symbol is not None
    assert "**Keep load small**" in on_symbol
    assert "the person" in on_symbol
    assert await editor.hover(readme, 2, 12) == on_symbol
    assert await editor.hover(app, 0, 0) == on_symbol
    assert await editor.hover(app, 3, 6) is None
    assert await editor.hover(app, 99, 0) is None
    assert await editor.hover(readme, 0, 0) is None
    assert await editor.hover(readme, 2, 2) is None


async def test_columns_are_utf_16_units(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start()
    app = editor.open("src/app.py", "x\n'😀😀😀😀' + load\n")
    assert await editor.hover(app, 1, 13) is not None
    assert await editor.hover(app, 1, 17) is not None
    assert await editor.hover(app, 1, 9) is None


async def test_hostile_memory_text_arrives_escaped(editor: Editor) -> None:
    evil = "a](command:evil) <b onclick=x> `c` \u202edesrever\u202c www.example.invalid"
    write_memory(editor.repo, title=evil, body=f"```\n{evil}\n![p](https://example.invalid/p.png)")
    await editor.start()
    found = await editor.hover(editor.open("src/app.py"), 0, 5)
    assert found is not None
    assert len(re.findall(r"(?<!\\)\]\(", found)) == 2
    outside = re.sub(r"(?<!\\)`[^`]+`", "", found)  # a code span shows its text and nothing else
    assert not re.search(r"(?<!\\)[<`!]|https?:|www\.", outside)
    assert "⟦U\\+202E⟧" in found
    assert "\u202e" not in found


async def test_a_lens_counts_what_is_known_about_a_file(editor: Editor) -> None:
    write_memory(editor.repo)
    write_memory(editor.repo, id="20260803-second", title="Second")
    write_memory(editor.repo, **SECOND, references=("src/app.py",))
    await editor.start()
    app = editor.open("src/app.py")
    assert await editor.lenses(app) == [(0, "2 decisions · 1 pitfall")]
    assert await editor.lenses(editor.open("README.md")) == []


async def test_lenses_sit_on_symbols_when_asked_for_and_nowhere_when_off(editor: Editor) -> None:
    write_memory(editor.repo, references=("src/app.py#Store.save",))
    await editor.start({"trusted": True, "settings": {"codeLens": "symbols", "idleSeconds": 0}})
    app = editor.open("src/app.py")
    assert await editor.lenses(app) == [(0, "1 decision"), (5, "1 decision")]
    editor.configure(codeLens="off")
    assert await editor.lenses(app) == []
    editor.configure(hover=False)
    assert await editor.hover(app, 0, 0) is None
    assert await editor.lenses(app) == [(0, "1 decision")]
    editor.configure(enabled=False)
    assert await editor.lenses(app) == []


async def test_a_memory_that_is_written_changed_or_removed_on_disk_is_seen_at_once(editor: Editor) -> None:
    await editor.start()
    app = editor.open("src/app.py")
    assert await editor.hover(app, 0, 5) is None
    path = write_memory(editor.repo)
    editor.changed(path)
    await editor.until(lambda: editor.memories() == 1)
    assert "Keep load small" in (await editor.hover(app, 0, 5) or "")
    write_memory(editor.repo, title="Keep load tiny")
    editor.changed(path)
    await editor.until(lambda: len(editor.told[core.MEMORIES_CHANGED]) > 2)
    assert "Keep load tiny" in (await editor.hover(app, 0, 5) or "")
    path.unlink()
    editor.changed(path)
    await editor.until(lambda: editor.memories() == 0)
    assert await editor.hover(app, 0, 5) is None
    assert editor.refreshes > 0


async def test_a_checkout_behind_the_editors_back_is_noticed_when_a_file_is_opened(editor: Editor, git: object) -> None:
    assert callable(git)
    write_memory(editor.repo)
    git(editor.repo, "add", ".")
    git(editor.repo, "commit", "-q", "-m", "A memory")
    await editor.start()
    await editor.until(lambda: editor.memories() == 1)
    git(editor.repo, "checkout", "-q", "HEAD~1")
    app = editor.open("src/app.py")
    await editor.until(lambda: editor.memories() == 0)
    assert await editor.hover(app, 0, 5) is None


async def test_a_memory_file_that_does_not_parse_is_a_diagnostic_until_it_is_mended(editor: Editor) -> None:
    path = write_memory(editor.repo)
    good = path.read_text(encoding="utf-8")
    path.write_text("no header", encoding="utf-8")
    await editor.start()
    await editor.until(lambda: editor.client.diagnostics.get(path.as_uri()))
    assert path.read_text(encoding="utf-8") == "no header"
    path.write_text(good, encoding="utf-8")
    editor.changed(path)
    await editor.until(lambda: not editor.client.diagnostics[path.as_uri()])


async def test_documents_without_a_file_and_files_outside_any_repository_get_nothing(
    editor: Editor, tmp_path: Path
) -> None:
    write_memory(editor.repo)
    await editor.start()
    text = "src/app.py\nload\n"
    for uri in ("untitled:Untitled-1", "git:/src/app.py?x", "vscode-userdata:/a.json", (tmp_path / "o.py").as_uri()):
        editor.open("", text, uri)
        assert await editor.hover(uri, 0, 2) is None
        assert await editor.lenses(uri) == []


async def test_a_large_document_gets_nothing(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start()
    app = editor.open("src/app.py", "load()\n" * 80_000)
    assert await editor.hover(app, 0, 1) is None
    assert await editor.lenses(app) == []


async def test_a_nested_repository_has_its_own_memories(editor: Editor, git: object) -> None:
    assert callable(git)
    inner = editor.repo / "vendor" / "lib"
    (inner / "src").mkdir(parents=True)
    git(inner, "init", "-q")
    write_memory(editor.repo, references=("vendor/lib/src/a.py", "src/app.py"))
    write_memory(inner, title="Of the inner one", references=("src/a.py",))
    await editor.start()
    found = await editor.hover(editor.open("vendor/lib/src/a.py", "x = 1\n"), 0, 0)
    assert "Of the inner one" in (found or "")
    assert "Keep load small" not in (found or "")


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


async def test_restricted_mode_shows_memories_labelled_and_refuses_the_rest(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start({"trusted": False})
    app = editor.open("src/app.py")
    found = await editor.hover(app, 0, 5)
    assert found is not None
    assert found.startswith("*From the repository")
    assert "openTurn" not in found
    root = editor.root
    for method, params in {
        core.SYNC: {"root": root, "explicit": True},
        core.REVIEW_LIST: {"root": root},
        core.REVIEW_UNDO: {"root": root},
        core.TURN: {"root": root, "session": "s", "turn": "t"},
        core.SESSIONS_DAYS: {"everywhere": True},
        core.SESSIONS_LIST: {"everywhere": True, "day": "2026-01-01", "start": 0},
        core.SESSIONS_SEARCH: {"query": "load", "everywhere": True, "limit": 5},
        core.SESSION_OPEN: {"id": "s", "turn": ""},
        core.SESSION_TURNS: {"id": "s", "start": 0, "count": 1, "whole": False},
        core.SESSION_FIND: {"id": "s", "text": "load"},
        core.AGENTS: {"root": None},
        core.CONNECT: {"platform": "claude", "action": "disconnect", "path": None},
        core.QUEUE_ACT: {"job": 1, "action": "retry"},
    }.items():
        error = await editor.refused(method, params)
        assert error.data["kind"] == "untrusted"
        assert "Restricted Mode" in error.message
    listed = await editor.ask(core.MEMORY_FOR_FILE, {"uri": app})
    assert [memory.title for memory in listed.memories] == ["Keep load small"]


async def test_the_memories_of_a_file_and_a_hovers_link_lead_to_the_same_memory(editor: Editor) -> None:
    path = write_memory(editor.repo)
    await editor.start()
    app = editor.open("src/app.py")
    listed = await editor.ask(core.MEMORY_FOR_FILE, {"uri": app})
    found = await editor.hover(app, 0, 5)
    handle = re.findall(r"lerim\.openMemory\?%5B%22([0-9a-f]+)%22%5D", found or "")[0]
    assert listed.memories[0].handle == handle
    shown = await editor.ask(core.MEMORY_SHOW, {"id": handle})
    assert Path(shown.path) == path
    assert shown.evidence[0].who == "user"
    assert (await editor.refused(core.MEMORY_SHOW, {"id": "0" * 18})).data["kind"] == "not-found"


async def test_search_finds_memories_by_their_words_and_follows_the_files(editor: Editor) -> None:
    write_memory(editor.repo)
    path = write_memory(editor.repo, **SECOND)
    await editor.start()
    query = {"root": None, "query": "close", "limit": 10}
    assert [one.title for one in (await editor.ask(core.MEMORY_SEARCH, query)).memories] == ["Close what you open"]
    every = await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": "", "limit": 10})
    assert len(every.memories) == 2
    shown = await editor.ask(core.MEMORY_SHOW, {"id": every.memories[0].handle})
    assert shown.id == every.memories[0].id
    path.unlink()
    editor.changed(path)
    await editor.until(lambda: editor.memories() == 1)
    assert (await editor.ask(core.MEMORY_SEARCH, query)).memories == []
    for odd in ('"', "a OR", "* NEAR(", "\x00", "🦉" * 5000, "'); DROP TABLE words; --"):
        await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": odd, "limit": 5})


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


async def test_search_in_restricted_mode_writes_nothing(editor: Editor, isolated: Path) -> None:
    write_memory(editor.repo)
    await editor.start({"trusted": False})
    found = await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": "load", "limit": 10})
    assert [one.title for one in found.memories] == ["Keep load small"]
    assert sorted(path.name for path in (editor.repo / ".lerim").iterdir()) == ["memory"]
    assert not (isolated / ".lerim").exists()
