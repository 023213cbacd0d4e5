"""Hovers and lenses, as an editor sees them."""

from __future__ import annotations


import pytest

from conftest import Editor, write_memory

pytestmark = pytest.mark.asyncio


async def test_hover_answers_on_a_symbol_a_path_and_line_one_and_nowhere_else(editor: Editor) -> None:
    write_memory(editor.repo)
    await editor.start()
    app = editor.open("src/app.py")
    readme = editor.open("README.md", "# App\n\nStart at src/app.py, then read on.\n")

    on_symbol = await editor.hover(app, 0, 5)
    assert on_symbol is not None
    assert "**Keep load small**" in on_symbol
    on_path = await editor.hover(readme, 2, 12)
    assert on_path is not None
    assert "Keep load small" in on_path
    editor.open("src/app.py", "import os\n\ndef load():\n    pass\n")
    assert await editor.hover(app, 0, 0) is not None
    assert await editor.hover(app, 2, 6) is not None
    assert await editor.hover(app, 3, 6) is None
    assert await editor.hover(readme, 0, 0) is None
    assert await editor.hover(readme, 2, 2) is None
