"""The plugin folder `agents/` of this repository: one folder that Claude Code, Codex, Copilot CLI and Gemini CLI load.

It has what `lerim agents install` writes into the agents' own files: the MCP server, the hooks and the skill. It has no
`plugin.json` at its root: two of the agents would then leave out the hooks and the MCP server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lerim.agents.hook_events import HookWriter
from lerim.agents.json_text import Json
from lerim.agents.launcher import mcp_command
from lerim.agents.skill import SKILL_NAME, skill_text
from lerim.paths import Home


def list_plugin_files(version: str) -> Mapping[str, str]:
    """Returns the text of each file of the plugin folder, by its path in there."""
    home = Home(Path("/home/.lerim"), Path("/home"))  # the usual home: commands then say $HOME
    command, *arguments = mcp_command("project", "linux", home)
    words: list[Json] = [*arguments]
    servers: dict[str, Json] = {"lerim": {"command": command, "args": words}}
    description = "What was decided and learned in your repositories, reviewed by you, for your coding agents."
    about: dict[str, Json] = {"name": "lerim", "version": version, "description": description}
    parts: dict[str, Json] = {
        "skills": "./skills/",
        "hooks": "./hooks/hooks.json",
        "mcpServers": "./.mcp.json",
    }
    hooks: Json = {event: [group] for event, group in HookWriter("linux", home).plugin().items()}
    return {
        ".claude-plugin/plugin.json": _format({**about, "license": "Apache-2.0"}),
        ".codex-plugin/plugin.json": _format({**about, **parts}),
        "gemini-extension.json": _format({"name": "lerim", "version": version, "mcpServers": servers}),
        ".mcp.json": _format({"mcpServers": servers}),
        "hooks/hooks.json": _format({"hooks": hooks}),
        f"skills/{SKILL_NAME}/SKILL.md": skill_text(SKILL_NAME),
    }


def _format(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
