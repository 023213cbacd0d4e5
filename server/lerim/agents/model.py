"""The agents that can be given memories, and the ways in which they are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

AgentName = Literal["claude", "codex", "copilot", "gemini", "opencode", "cursor", "vscode"]
AGENTS: tuple[AgentName, ...] = get_args(AgentName)
AGENT_NAMES: Mapping[AgentName, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "copilot": "GitHub Copilot CLI",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "vscode": "GitHub Copilot in VS Code",
}
"""The display name of each agent."""

AgentChannel = Literal["mcp", "hooks", "skill"]
"""A way in which an agent gets memories. mcp: the agent asks the server `lerim mcp`; hooks: memories are shown to
the agent at certain moments; skill: a text that tells the agent when to ask."""
CHANNELS: tuple[AgentChannel, ...] = get_args(AgentChannel)
CHANNEL_NAMES: Mapping[AgentChannel, str] = {"mcp": "MCP server", "hooks": "hooks", "skill": "skill"}

InstallLevel = Literal["user", "project"]
"""Where memories are installed. user: in the person's own files, for every repository; project: in files of one
repository, for everybody who works in it."""
