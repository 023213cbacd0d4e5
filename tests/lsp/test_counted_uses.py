"""What a person does with memories in the editor counts as use; what is read for other ends does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lerim.lsp.protocol import core
from lerim.memory.uses import Uses
from lerim.paths import Home
from lerim.project.project import locate_project
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio


def used(editor: Editor, home: Path) -> int:
    project = locate_project(editor.repo, Home(home))
    assert project is not None
    found = Uses(Home(home).project(project.key)).of_all().get(RECORD.id)
    return found.count if found else 0


async def test_a_hover_nobody_leaves_counts_once_and_one_that_is_left_does_not(editor: Editor, isolated: Path) -> None:
    write_memory(editor.repo)
    home = isolated / ".lerim"
    await editor.start()
    app = editor.open("src/app.py", "def load():\n    pass\n")
    for _ in range(5):
        assert await editor.hover(app, 0, 5) is not None  # each leaves the one before
    await editor.until(lambda: used(editor, home) == 1)
    assert await editor.hover(app, 0, 5) is not None
    assert await editor.hover(app, 1, 5) is None  # elsewhere nothing is shown, and the hover before is gone
    searched: Any = await editor.ask(core.MEMORY_SEARCH, {"query": "small", "limit": 5})
    await editor.ask(core.MEMORY_SHOW, {"id": searched.memories[0].handle})
    await editor.until(lambda: used(editor, home) == 2)  # the opened one alone


async def test_a_search_is_narrowed_by_what_is_typed(editor: Editor) -> None:
    write_memory(editor.repo)
    write_memory(editor.repo, id="20260802-close-files", primitive="learning", kind="pitfall", title="Keep it closed")
    await editor.start()

    async def found(query: str) -> list[str]:
        answer: Any = await editor.ask(core.MEMORY_SEARCH, {"query": query, "limit": 5})
        return [memory.title for memory in answer.memories]

    assert set(await found("keep")) == {RECORD.title, "Keep it closed"}
    assert await found("keep kind:pitfall") == ["Keep it closed"]
    assert await found("kind:decision file:src") == [RECORD.title]
    assert await found("keep is:archived") == []
    assert await found("keep odd:word") == await found("keep odd word")
