"""The search by meaning in an editor: its process, which a model of four concepts makes small, and what it says."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from hang import HANG
from lerim.lsp.protocol import core
from window import Editor, write_memory

pytestmark = [pytest.mark.asyncio, pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")]
SERVICES = Path(__file__).parents[1] / "services"
STAND_IN = """
import os, sys
sys.path.insert(0, {services!r})
from concept_model import ConceptModel
from lerim.memory.search import meaning_process
meaning_process.load_sentence_model = ConceptModel
meaning_process.MAX_READING_SECONDS = {seconds}
sys.exit(meaning_process.main())
"""


def make_python(folder: Path, seconds: float = HANG) -> str:
    """A Python whose sentence model is the stand-in; a search reads new memories for so many seconds."""
    python = folder / "python-with-model"
    program = shlex.quote(STAND_IN.format(services=str(SERVICES), seconds=seconds))
    python.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {program}\n", encoding="utf-8")
    python.chmod(0o755)
    return str(python)


async def search(editor: Editor, query: str, *, meaning: bool = True) -> Any:
    return await editor.ask(core.MEMORY_SEARCH, {"root": editor.root, "query": query, "meaning": meaning})


def titles(found: Any) -> list[str]:
    return [memory.title for memory in found.memories]


def processes(editor: Editor) -> list[psutil.Process]:
    below = psutil.Process(editor.server_pid).children(recursive=True)
    return [one for one in below if one.status() != "zombie" and "meaning_process" in " ".join(one.cmdline())]


async def test_similar_memories_follow_those_with_every_word_and_one_process_answers_until_the_setting_is_off(
    editor: Editor, tmp_path: Path
) -> None:
    for name, title in (("cents", "Store amounts as cents"), ("log", "Never log decimal"), ("jitter", "Use jitter")):
        write_memory(editor.repo, id=f"20260801-{name}", title=title, body="", references=())
    await editor.start()
    assert (titles(await search(editor, "which prices")), processes(editor)) == ([], [])
    editor.configure(meaningPython=make_python(tmp_path))
    found = await search(editor, "decimal")
    assert titles(found) == ["Never log decimal", "Store amounts as cents"]
    assert (found.byMeaning, found.isWeak, found.note) == ([found.memories[1].handle], False, "")
    found = await search(editor, "which prices kind:decision")
    assert set(titles(found)) == {"Never log decimal", "Store amounts as cents"} and found.isWeak
    assert titles(await search(editor, "which prices kind:pitfall")) == []
    plain = await search(editor, "which prices", meaning=False)
    assert (titles(plain), plain.isWeak) == ([], True)
    write_memory(editor.repo, id="20260801-round", title="Round with decimal", body="", references=())
    assert "Round with decimal" in titles(await search(editor, "which prices"))
    [process] = processes(editor)
    process.kill()  # the window need not have noticed it
    assert len(titles(await search(editor, "which prices"))) == 3
    [process] = processes(editor)
    editor.configure(meaningPython="")
    assert titles(await search(editor, "which prices")) == []
    await editor.until(lambda: processes(editor) == [])


async def test_a_window_without_a_repository_finds_personal_memories_by_meaning(
    editor: Editor, tmp_path: Path, isolated: Path
) -> None:
    write_memory(isolated, id="20260801-cents", title="Store amounts as cents", body="", references=())
    write_memory(editor.repo, id="20260801-decimal", title="Log decimals", body="", references=())
    folder = tmp_path / "notes"
    folder.mkdir()
    await editor.start(root=folder)
    editor.configure(meaningPython=make_python(tmp_path))
    found = await editor.ask(core.MEMORY_SEARCH, {"root": None, "query": "which prices", "meaning": True})
    assert titles(found) == ["Store amounts as cents"] and found.note == ""


async def test_a_process_that_cannot_start_is_told_and_words_still_find(editor: Editor, tmp_path: Path) -> None:
    write_memory(editor.repo)
    await editor.start()
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    for python in (broken, tmp_path / "missing"):
        editor.configure(meaningPython=str(python))
        found = await search(editor, "keep load small")
        assert titles(found) == ["Keep load small"] and found.note.startswith("The search by meaning failed")


async def test_a_search_answers_with_what_is_read_and_the_others_are_read_after_it(
    editor: Editor, tmp_path: Path
) -> None:
    for number in range(6):
        write_memory(editor.repo, id=f"2026080{number + 1}-price", title=f"A decimal {number}", body="", references=())
    await editor.start()
    editor.configure(meaningPython=make_python(tmp_path, seconds=-1.0))
    found = await search(editor, "which prices")
    assert (titles(found), found.note) == ([], "6 more memories are still being read for their meaning.")
