"""The journal over the wire: a day, its neighbours, and what cannot be told."""

from __future__ import annotations

import pytest
from pygls.exceptions import JsonRpcException  # noqa: TID251

from desk import Desk
from journal_days import commit
from lerim.lsp.protocol import core
from lerim.paths import Home
from window import Editor

pytestmark = pytest.mark.asyncio


async def test_a_day_is_told_with_the_days_before_and_after_it(editor: Editor) -> None:
    desk = Desk(editor.repo, Home(editor.repo / "unused"), editor.repo / "unused")
    commit(desk, "Add notes", "2026-03-02T12:00:00Z", notes_DOT_txt="one")
    commit(desk, "Change notes", "2026-03-05T12:00:00Z", notes_DOT_txt="two")
    await editor.start()
    page = await editor.ask(core.JOURNAL, {"root": editor.root, "day": "2026-03-02"})
    assert (page.day, page.title, page.previous, page.next) == ("2026-03-02", "Journal of 2 Mar 2026", "", "2026-03-05")
    assert "- Committed “Add notes”, which changed `notes.txt`. [1]" in page.markdown
    today = await editor.ask(core.JOURNAL, {"root": editor.root})
    assert today.day > "2026-03-05"
    with pytest.raises(JsonRpcException, match="'soon' is not a day"):
        await editor.ask(core.JOURNAL, {"root": editor.root, "day": "soon"})
