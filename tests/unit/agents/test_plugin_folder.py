"""The plugin folder `agents/` has what an installation writes, in one folder for four agents."""

from __future__ import annotations

import json
from pathlib import Path

from test_golden import make_files

from lerim.agents import skill_text

FOLDER = Path(__file__).resolve().parents[3] / "agents"


def test_server_hooks_and_skill_are_those_that_are_installed_into_a_repository() -> None:
    installed = make_files("linux")
    project = json.loads(installed["shop/.mcp.json"])["mcpServers"]["lerim"]
    plugin = json.loads((FOLDER / ".mcp.json").read_text())["mcpServers"]["lerim"]
    assert (plugin["command"], plugin["args"]) == (project["command"], project["args"])
    hooks = json.loads((FOLDER / "hooks" / "hooks.json").read_text())["hooks"]
    claude = json.loads(installed["shop/.claude/settings.json"])["hooks"]
    gemini = json.loads(installed["shop/.gemini/settings.json"])["hooks"]
    assert set(claude) | set(gemini) == set(hooks)
    commands = {handler["command"] for groups in claude.values() for group in groups for handler in group["hooks"]}
    for groups in hooks.values():
        for handler in groups[0]["hooks"]:
            assert handler["command"] in commands
            assert "timeout" not in handler  # seconds for one agent, milliseconds for another
    assert installed["shop/.claude/skills/lerim/SKILL.md"] == installed["shop/.agents/skills/lerim/SKILL.md"]
    assert skill_text("lerim").replace("name: lerim", "name: project-memory") == (
        FOLDER / "skills" / "project-memory" / "SKILL.md"
    ).read_text(encoding="utf-8")
