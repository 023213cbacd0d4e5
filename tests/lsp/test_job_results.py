"""What a job computes, over the wire: figures with handles that open their memories, and the journal of a day."""

from __future__ import annotations

from datetime import datetime

import pytest
from pygls.exceptions import JsonRpcException  # noqa: TID251

from claude_lines import answer, call, prompt, reply
from desk import Desk
from journal_days import commit
from lerim.lsp.protocol import core
from lerim.memory import Serving, record_serving
from reviews import remember
from terminal import answer as cli
from window import Editor

pytestmark = pytest.mark.asyncio


async def test_the_figures_of_a_repository_are_computed_by_a_job_and_their_memories_open(
    editor: Editor, desk: Desk
) -> None:
    memory = remember(desk.place, "Use pnpm instead of npm")
    desk.session(
        "s1",
        prompt("Add it", timestamp="2026-03-02T12:00:00Z"),
        reply("m1", call("c1", "Bash", command="pnpm add x"), timestamp="2026-03-02T12:02:00Z"),
        answer("c1", "ok", timestamp="2026-03-02T12:02:01Z"),
    )
    at = datetime.fromisoformat("2026-03-02T12:01:00Z").timestamp()
    for name in (memory, "20260301-gone"):
        record_serving(desk.place.private, Serving(at, "hook", "claude", "start", (name,), "s1"))
    cli("sync", "--repo", str(desk.repo))
    await editor.start()
    found = await editor.ask(core.BENEFIT, {"root": editor.root})
    rows = {row.figures.id: row for row in found.memories}
    assert (found.servings, found.total.served, found.total.sessions) == (2, 2, 1)
    assert (rows[memory].figures.followed, rows[memory].figures.title) == (1, "Use pnpm instead of npm")
    assert rows["20260301-gone"].handle == ""
    shown = await editor.ask(core.MEMORY_SHOW, {"id": rows[memory].handle})
    assert shown.path.endswith(f"{memory}.md")


async def test_a_day_is_told_with_the_days_before_and_after_it(editor: Editor, desk: Desk) -> None:
    commit(desk, "Add notes", "2026-03-02T12:00:00Z", notes_DOT_txt="one")
    commit(desk, "Change notes", "2026-03-05T12:00:00Z", notes_DOT_txt="two")
    await editor.start()
    page = await editor.ask(core.JOURNAL, {"root": editor.root, "day": "2026-03-02"})
    assert (page.day, page.title, page.previous, page.next) == ("2026-03-02", "Journal of 2 Mar 2026", "", "2026-03-05")
    assert "- Committed “Add notes”, which changed `notes.txt`. [[1]](commit/" in page.markdown
    today = await editor.ask(core.JOURNAL, {"root": editor.root})
    assert today.day > "2026-03-05"
    with pytest.raises(JsonRpcException, match="'soon' is not a day"):
        await editor.ask(core.JOURNAL, {"root": editor.root, "day": "soon"})
