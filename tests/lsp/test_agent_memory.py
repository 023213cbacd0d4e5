"""Giving memories to agents over the wire: what each gets, the plan that is shown, writing it and taking it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_files import read_state, write
from lerim.lsp.protocol import core
from window import Editor

pytestmark = pytest.mark.asyncio
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def gemini(editor: Editor, **change: Any) -> dict[str, Any]:
    return {"action": "install", "level": "user", "agents": ["gemini"], "channels": [], "root": editor.root, **change}


async def agreed(editor: Editor, params: dict[str, Any]) -> Any:
    plan = await editor.ask(core.AGENT_PLAN, params)
    return await editor.ask(core.AGENT_APPLY, {**params, "hashes": [edit.hash for edit in plan.edits]})


async def channels(editor: Editor, agent: str = "gemini") -> dict[str, str]:
    listed = await editor.ask(core.AGENT_CONNECTIONS, {"root": None})
    one = next(one for one in listed.agents if one.agent == agent)
    return {channel.channel: channel.state for channel in one.channels if channel.level == "user"}


async def test_a_plan_is_shown_then_written_and_taken_back_to_the_byte(editor: Editor, isolated: Path) -> None:
    path = write(isolated / ".gemini" / "settings.json", '{"theme": "dark"}')
    before = read_state(isolated, editor.repo)
    await editor.start()
    plan = await editor.ask(core.AGENT_PLAN, gemini(editor))
    assert [Path(edit.path) for edit in plan.edits] == [path, isolated / ".agents" / "skills" / "lerim" / "SKILL.md"]
    assert (plan.edits[0].before, plan.edits[1].before) == ('{"theme": "dark"}', None)
    assert plan.edits[0].reason == "MCP server and hooks of Gemini CLI"
    assert read_state(isolated, editor.repo) == before
    done = await agreed(editor, gemini(editor))
    assert (done.ok, done.message) == (True, "2 files changed.")
    assert path.read_text() == plan.edits[0].after
    assert await channels(editor) == {"mcp": "installed", "hooks": "installed", "skill": "installed"}
    again = await editor.ask(core.AGENT_PLAN, gemini(editor))
    assert (again.edits, again.unchanged) == ([], 2)
    undone = await editor.ask(core.AGENT_UNDO, {"undo": done.undo})
    assert (undone.ok, undone.message) == (True, "2 files were restored.")
    assert read_state(isolated, editor.repo) == before
    assert not (await editor.ask(core.AGENT_UNDO, {"undo": done.undo})).ok


async def test_an_update_and_a_removal_are_taken_back_as_well(editor: Editor, isolated: Path) -> None:
    path = write(isolated / ".gemini" / "settings.json", '{"theme": "dark"}')
    await editor.start()
    await agreed(editor, gemini(editor, channels=["mcp"]))
    with_server = path.read_text()
    added = await agreed(editor, gemini(editor, channels=["hooks"]))
    await editor.ask(core.AGENT_UNDO, {"undo": added.undo})
    assert path.read_text() == with_server
    removed = await agreed(editor, gemini(editor, action="remove"))
    assert path.read_text() == '{"theme": "dark"}'
    await editor.ask(core.AGENT_UNDO, {"undo": removed.undo})
    assert path.read_text() == with_server
    await agreed(editor, gemini(editor, action="remove"))
    assert path.read_text() == '{"theme": "dark"}'


async def test_nothing_is_written_if_the_files_changed_since_they_were_shown_and_no_undo_loses_a_change(
    editor: Editor, isolated: Path
) -> None:
    path = write(isolated / ".gemini" / "settings.json", "{}")
    await editor.start()
    plan = await editor.ask(core.AGENT_PLAN, gemini(editor))
    path.write_text('{"mine": 1}')
    error = await editor.refused(core.AGENT_APPLY, gemini(editor, hashes=[edit.hash for edit in plan.edits]))
    assert error.data["kind"] == "stale"
    assert path.read_text() == '{"mine": 1}'
    done = await agreed(editor, gemini(editor))
    path.write_text(path.read_text().replace('"mine": 1', '"mine": 2'))
    kept = path.read_text()
    assert (await editor.refused(core.AGENT_UNDO, {"undo": done.undo})).data["kind"] == "stale"
    assert path.read_text() == kept


async def test_a_file_that_cannot_be_edited_comes_with_what_to_add(editor: Editor, isolated: Path) -> None:
    write(isolated / ".gemini" / "settings.json", "{ // mine\n}")
    await editor.start()
    plan = await editor.ask(core.AGENT_PLAN, gemini(editor, channels=["mcp"]))
    assert plan.edits == []
    [step] = plan.manual
    assert "comments" in step.reason
    assert json.loads(step.snippet)["mcpServers"]["lerim"]["args"] == ["mcp"]


async def test_secrets_are_not_shown_and_stay_in_the_file(editor: Editor, isolated: Path) -> None:
    path = write(isolated / ".gemini" / "settings.json", json.dumps({"token": SECRET}))
    await editor.start()
    plan = await editor.ask(core.AGENT_PLAN, gemini(editor))
    assert SECRET not in str(plan)
    await agreed(editor, gemini(editor))
    assert json.loads(path.read_text())["token"] == SECRET


async def test_of_a_long_file_only_the_lines_around_the_change_are_sent(editor: Editor, isolated: Path) -> None:
    lines = json.dumps({f"key{at}": "x" * 40 for at in range(20_000)}, indent=2)
    write(isolated / ".claude" / ".claude.json", lines)
    await editor.start()
    plan = await editor.ask(core.AGENT_PLAN, gemini(editor, agents=["claude"], channels=["mcp"]))
    [edit] = plan.edits
    assert len(edit.before) + len(edit.after) < 20_000
    assert "key19999" in edit.before
    assert '"lerim"' in edit.after
    assert edit.before.startswith("… 19")
    await agreed(editor, gemini(editor, agents=["claude"], channels=["mcp"]))
    assert len(json.loads((isolated / ".claude" / ".claude.json").read_text())) == 20_001


async def test_a_window_brings_the_program_that_starts_lerim_up_to_date_if_there_is_one(
    editor: Editor, isolated: Path
) -> None:
    launcher = write(isolated / ".lerim" / "bin" / "lerim", "#!/bin/sh\nexec /gone/python -m lerim\n")
    await editor.start()
    await editor.until(lambda: "/gone/" not in launcher.read_text())
    assert launcher.stat().st_mode & 0o777 == 0o700
