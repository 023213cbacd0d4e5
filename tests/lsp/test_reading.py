"""Hovers, lenses and lists, as an editor sees them: one server answers all these tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lerim.lsp.protocol import core
from lerim.memory import Uses
from proposals import review_paths
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio

SECOND = {"id": "20260802-close-files", "primitive": "learning", "kind": "pitfall", "title": "Close what you open"}


async def test_hover_answers_on_a_symbol_a_path_and_line_one_and_nowhere_else(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start()
    readme = editor.open("README.md", "# App\n\nStart at src/app.py, then read on.\n\n@src/app.py\n")
    app = editor.open("src/app.py", "import os\n\ndef load():\n    pass\n")

    on_symbol = await editor.hover(app, 2, 6)
    assert on_symbol is not None
    assert "**Keep load small**" in on_symbol
    assert "(the developer)" in on_symbol
    assert await editor.hover(readme, 2, 12) == await editor.hover(readme, 4, 3) == on_symbol
    assert await editor.hover(app, 0, 0) == on_symbol
    assert await editor.hover(app, 3, 6) is None
    assert await editor.hover(app, 99, 0) is None
    assert await editor.hover(readme, 0, 0) is None
    assert await editor.hover(readme, 2, 2) is None


async def test_one_memory_is_shown_and_a_link_lists_all_about_the_same_place(editor: Editor) -> None:
    write_memory(editor.repo)
    write_memory(editor.repo, id="20260803-question", primitive="question", title="Is load slow?")
    write_memory(editor.repo, id="20260804-file", title="About the file", references=("src/app.py",))
    await editor.start()
    app = editor.open("src/app.py", "def load():\n    pass\n")
    found = await editor.hover(app, 0, 5) or ""
    assert "**Keep load small**" in found and "Is load slow" not in found
    assert "[1 more about this](command:lerim.showFileMemories?" in found
    listed = await editor.ask(core.MEMORY_FOR_FILE, {"uri": app, "line": 0, "character": 5})
    assert [one.title for one in listed.memories] == ["Keep load small", "Is load slow?"]
    assert len((await editor.ask(core.MEMORY_FOR_FILE, {"uri": app})).memories) == 3


async def test_on_line_one_what_is_about_the_file_itself_comes_before_what_is_about_its_symbols(editor: Editor) -> None:
    write_memory(editor.repo, id="20260801-file", title="Why the file is here", references=("src/app.py",))
    write_memory(editor.repo, id="20260802-asked", primitive="question", title="Why?", references=("src/app.py",))
    write_memory(editor.repo, id="20260803-newest", title="Keep load small", references=("src/app.py#load",))
    await editor.start()
    app = editor.open("src/app.py", "import os\n\ndef load():\n    pass\n")
    assert "**Why the file is here**" in (await editor.hover(app, 0, 0) or "")
    listed = await editor.ask(core.MEMORY_FOR_FILE, {"uri": app, "line": 0, "character": 0})
    assert [one.title for one in listed.memories] == ["Why the file is here", "Why?", "Keep load small"]


USES = """from src.store import (
    Ledger,
    load_rows,
)
import src.store as kept

load_rows(1)  # load_rows reads
kept.load_rows(1)
print("load_rows")
ledger = Ledger()
ledger.append_row(1)
other.load_rows(1)
append_row(1)
"""


async def test_a_symbol_is_found_where_it_is_used_and_only_where_the_import_makes_it_certain(editor: Editor) -> None:
    write_memory(editor.repo, title="Rows are read once", references=("src/store.py#load_rows",))
    write_memory(editor.repo, id="20260803-rows", title="Append only", references=("src/store.py#Ledger.append_row",))
    await editor.start()
    uses = editor.open("src/report.py", USES)

    async def said(uri: str, line: int, character: int) -> str:
        titles = ("Rows are read once", "Append only")
        found = await editor.hover(uri, line, character) or ""
        return next((title for title in titles if title in found), "")

    places = [(2, 6), (6, 2), (7, 8), (10, 10)]
    assert [await said(uses, *place) for place in places] == ["Rows are read once"] * 3 + ["Append only"]
    comment, string, another_object, no_object = (6, 20), (8, 9), (11, 8), (12, 2)
    assert [await said(uses, *one) for one in (comment, string, another_object, no_object)] == [""] * 4
    alone = editor.open("src/alone.py", "load_rows(1)\n\n\nload_rows(2)\n")
    own = editor.open("src/own.py", "from src.store import load_rows\n\ndef load_rows():\n    pass\n")
    script = editor.open("src/script.ts", 'import { load_rows } from "./store";\nload_rows();\n')
    assert [await said(alone, 3, 2), await said(own, 2, 6), await said(script, 1, 2)] == ["", "", ""]

    other = write_memory(editor.repo, id="20260804-other", title="Other rows", references=("src/other.py#load_rows",))
    editor.changed(other)
    await editor.until(lambda: editor.memories() == 3)
    assert await said(uses, 6, 2) == "", "two symbols have this name"


async def test_files_of_one_go_or_java_package_need_no_import(editor: Editor) -> None:
    write_memory(editor.repo, references=("src/store.go#LoadRows", "src/Ledger.java#Ledger", "src/a_test.go#HelpTest"))
    await editor.start()

    async def is_found(path: str, text: str, character: int = 2) -> bool:
        return await editor.hover(editor.open(path, text), text.count("\n") - 1, character) is not None

    go, java = "package store\n\n// more\n\n", "/* one */ \npackage com.one;\n\n\n"
    assert await is_found("src/use.go", f"{go}LoadRows(1)\n")
    assert await is_found("src/Use.java", f"{java}Ledger.open();\n")
    assert await is_found("src/use_test.go", f"{go}LoadRows(1)\n")
    assert not await is_found("src/b.go", f"{go}HelpTest()\n"), "a test's names mean nothing elsewhere"
    assert not await is_found("src/c_test.go", "package store_test\n\n\n\nLoadRows(1)\n"), "another package"
    assert not await is_found("src/gen.go", f"//go:build ignore\n{go}LoadRows(1)\n"), "another package, too"
    assert not await is_found("lib/use.go", f"{go}LoadRows(1)\n"), "another folder"
    assert not await is_found("src/d.go", f"{go}other.LoadRows(1)\n", 8), "of another package"
    imported = java.replace("\n\n\n", "\nimport com.two.Ledger;\n\n")
    assert not await is_found("src/Other.java", f"{imported}Ledger.open();\n"), "imported from elsewhere"


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
    assert len(re.findall(r"(?<!\\)\]\(", found)) == 6
    outside = re.sub(r"(?<!\\)`[^`]+`", "", found)  # a code span shows its text and nothing else
    assert not re.search(r"(?<!\\)[<`!]|https?:|www\.", outside)
    assert "⟦U\\+202E⟧" in found
    assert "\u202e" not in found


async def test_the_symbol_around_the_selected_lines_is_told_of_an_open_file(editor: Editor) -> None:
    await editor.start()
    app = editor.open("src/app.zig", "const std = 1;\n\nfn save() void {\n    return;\n}\n")
    asked = [
        {"uri": app, "first": 3, "last": 3},
        {"uri": app, "first": 0, "last": 3},
        {"uri": f"{app}x", "first": 0, "last": 0},
    ]
    assert [(await editor.ask(core.SYMBOL, one)).symbol for one in asked] == ["save", "", ""]


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
    path.write_text("---\nid: a\ntitle: `a` b\n---\n", encoding="utf-8")
    editor.changed(path)
    await editor.until(lambda: [one.range.start.line for one in editor.client.diagnostics[path.as_uri()]] == [2])
    path.write_text(good, encoding="utf-8")
    editor.changed(path)
    await editor.until(lambda: not editor.client.diagnostics[path.as_uri()])


async def test_documents_without_a_file_outside_any_repository_or_too_large_get_nothing(
    editor: Editor, tmp_path: Path
) -> None:
    write_memory(editor.repo)
    await editor.start()
    outside = ("untitled:Untitled-1", "git:/src/app.py?x", "vscode-userdata:/a.json", (tmp_path / "o.py").as_uri())
    for uri, text in (
        *((uri, "src/app.py\nload\n") for uri in outside),
        ((editor.repo / "src/app.py").as_uri(), "load()\n" * 80_000),
    ):
        editor.open("", text, uri)
        assert await editor.hover(uri, 0, 2) is None
        assert await editor.lenses(uri) == []


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

    async def found(words: str) -> list[str]:
        return [one.title for one in (await editor.ask(core.MEMORY_SEARCH, {"query": words, "limit": 5})).memories]

    assert await found("kind:pitfall") == ["Close what you open"]
    assert await found("kind:decision file:src") == ["Keep load small"]
    assert await found("load is:archived") == []
    assert await found("load odd:word") == await found("load odd word")
    shown = await editor.ask(core.MEMORY_SHOW, {"id": every.memories[0].handle})
    assert shown.id == every.memories[0].id
    path.unlink()
    editor.changed(path)
    await editor.until(lambda: editor.memories() == 1)
    assert (await editor.ask(core.MEMORY_SEARCH, query)).memories == []
    for odd in ('"', "a OR", "* NEAR(", "\x00", "🦉" * 5000, "'); DROP TABLE words; --"):
        await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": odd, "limit": 5})


async def test_a_hover_nobody_leaves_counts_once_and_one_that_is_left_does_not(editor: Editor, isolated: Path) -> None:
    write_memory(editor.repo)
    await editor.start()

    def used() -> int:
        found = Uses(review_paths(editor.repo).private).of_all().get(RECORD.id)
        return found.count if found else 0

    app = editor.open("src/app.py", "def load():\n    pass\n")
    for _ in range(5):
        assert await editor.hover(app, 0, 5) is not None  # each leaves the one before
    await editor.until(lambda: used() == 1)
    assert await editor.hover(app, 0, 5) is not None
    assert await editor.hover(app, 1, 5) is None  # elsewhere nothing is shown, and the hover before is gone
    searched = await editor.ask(core.MEMORY_SEARCH, {"query": "small", "limit": 5})
    await editor.ask(core.MEMORY_SHOW, {"id": searched.memories[0].handle})
    await editor.until(lambda: used() == 2)  # the opened one alone
