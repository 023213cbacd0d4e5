"""Agents' files over the wire: planned, written, undone, kept up to date, and imported."""

from __future__ import annotations

from typing import Any

import pytest

from lerim.lsp.features.rules_files import MAX_UNDO
from lerim.lsp.protocol import core
from lerim.review import queue
from proposals import propose, review_paths
from reviews import remember
from window import Editor

pytestmark = pytest.mark.asyncio


async def plan(editor: Editor, **more: object) -> Any:
    return await editor.ask(core.EXPORT_PLAN, {"root": editor.root, **more})


async def apply(editor: Editor, stamp: str, **more: object) -> Any:
    return await editor.ask(core.EXPORT_APPLY, {"root": editor.root, "stamp": stamp, **more})


async def test_a_plan_is_shown_written_and_undone_to_the_byte_and_refused_once_it_is_outdated(editor: Editor) -> None:
    agents = editor.repo / "AGENTS.md"
    agents.write_bytes(b"# App\r\n\r\nText")
    remember(review_paths(editor.repo), "Use uv, not pip")
    await editor.start()
    shown = await plan(editor)
    [file] = shown.files
    assert (file.path, file.action, file.before, file.removed) == ("AGENTS.md", "change", "# App\r\n\r\nText", 0)
    assert "Use uv, not pip" in file.after and file.added == 8 and shown.memories == 1
    assert agents.read_bytes() == b"# App\r\n\r\nText"
    done = await apply(editor, shown.stamp)
    assert done.files == 1 and done.undo and b"Use uv, not pip" in agents.read_bytes()
    assert (await plan(editor)).files == []
    undone = await editor.ask(core.EXPORT_UNDO, {"root": editor.root, "undo": done.undo})
    assert undone.files == 1 and agents.read_bytes() == b"# App\r\n\r\nText"
    refused = await editor.refused(core.EXPORT_UNDO, {"root": editor.root, "undo": done.undo})
    assert "no longer be undone" in refused.message
    shown = await plan(editor)
    agents.write_text("mine\n")
    refused = await editor.refused(core.EXPORT_APPLY, {"root": editor.root, "stamp": shown.stamp})
    assert "changed since this was shown" in refused.message
    assert agents.read_text() == "mine\n"
    await apply(editor, (await plan(editor)).stamp)
    removal = await plan(editor, remove=True)
    assert [(one.path, one.action) for one in removal.files] == [("AGENTS.md", "change")]
    await apply(editor, removal.stamp, remove=True)
    assert agents.read_text() == "mine\n"


async def test_only_the_last_plans_can_be_undone(editor: Editor) -> None:
    remember(review_paths(editor.repo), "Use uv, not pip")
    await editor.start()
    done = []
    for number in range(MAX_UNDO + 1):
        (editor.repo / "AGENTS.md").write_text(f"# App {number}\n")
        done.append(await apply(editor, (await plan(editor)).stamp))
    assert len({one.undo for one in done}) == MAX_UNDO + 1
    for first, message in ((done[0], "no longer be undone"), (done[1], "changed")):
        refused = await editor.refused(core.EXPORT_UNDO, {"root": editor.root, "undo": first.undo})
        assert message in refused.message
    assert (await editor.ask(core.EXPORT_UNDO, {"root": editor.root, "undo": done[-1].undo})).files == 1


async def test_edited_lines_become_candidates_only_if_the_person_says_so(editor: Editor) -> None:
    paths = review_paths(editor.repo)
    remember(paths, "Use uv, not pip")
    await editor.start()
    agents = editor.repo / "AGENTS.md"
    await apply(editor, (await plan(editor)).stamp)
    edited = agents.read_text().replace("not pip", "never pip")
    agents.write_text(edited)
    shown = await plan(editor)
    assert [one.editedByHand for one in shown.files] == [True] and "Use uv, never pip" in shown.notes[-1]
    assert (await apply(editor, shown.stamp)).files == 0 and agents.read_text() == edited
    done = await apply(editor, shown.stamp, takeEdits=True)
    assert (done.files, done.candidates) == (1, 1) and "not pip" in agents.read_text()
    assert [one.record.title for one in queue.list_pending(paths)[0]] == ["Use uv, never pip"]


async def block_kept(editor: Editor) -> str:
    """A block with a memory is in AGENTS.md, and the person chose that it follows; the id of a candidate that waits."""
    paths = review_paths(editor.repo)
    remember(paths, "Tests need no network")
    waiting = propose(paths)
    await editor.start()
    await apply(editor, (await plan(editor)).stamp)
    assert (await editor.ask(core.EXPORT_KEEP, {"root": editor.root, "keep": True})).ok
    return waiting


async def test_the_block_follows_each_accept_and_undo_where_that_was_chosen(editor: Editor) -> None:
    waiting = await block_kept(editor)
    assert (await plan(editor)).keeps
    act = {"root": editor.root, "id": waiting, "action": "accept", "quotes": "shared"}
    assert (await editor.ask(core.REVIEW_ACT, act)).ok
    agents = editor.repo / "AGENTS.md"
    await editor.until(lambda: "Use uv" in agents.read_text())
    await editor.ask(core.REVIEW_UNDO, {"root": editor.root})
    await editor.until(lambda: "Use uv" not in agents.read_text())
    assert "no network" in agents.read_text()


async def test_the_block_follows_even_if_the_editor_had_noticed_the_memory_before(editor: Editor) -> None:
    waiting, paths = await block_kept(editor), review_paths(editor.repo)
    remember(paths, "Money is counted in integer cents")
    editor.changed(*paths.project.memory_dir.rglob("*.md"))
    await editor.until(lambda: editor.memories() == 2)
    assert "integer cents" not in (editor.repo / "AGENTS.md").read_text()
    await editor.ask(core.REVIEW_ACT, {"root": editor.root, "id": waiting, "action": "reject"})
    await editor.ask(core.REVIEW_UNDO, {"root": editor.root})
    await editor.until(lambda: "integer cents" in (editor.repo / "AGENTS.md").read_text())


async def test_rules_files_are_listed_and_become_candidates(editor: Editor) -> None:
    (editor.repo / "CLAUDE.md").write_text("- Deploys happen on Fridays\n")
    await editor.start()
    listed = await editor.ask(core.IMPORT_PLAN, {"root": editor.root})
    assert [(one.title, one.source) for one in listed.claims] == [("Deploys happen on Fridays", "CLAUDE.md:1")]
    assert (await editor.ask(core.IMPORT_APPLY, {"root": editor.root})).proposed == 1
    await editor.until(lambda: editor.told[core.CANDIDATES_CHANGED])
    [view] = (await editor.ask(core.REVIEW_LIST, {"root": editor.root})).candidates
    assert (view.maker, view.flags, view.reason) == ("file", ["unverified"], "It was found in CLAUDE.md, line 1.")
