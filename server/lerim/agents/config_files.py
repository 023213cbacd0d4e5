"""Which file of an agent gets which entry, as a function of the platform and the environment. Nothing here touches the
disk, so that each system is tested on any machine.

An entry that several agents read (`.mcp.json`, the skills, Copilot's hooks) is written once and belongs to all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from lerim.agents.entries import Entry, JsonHooks, JsonMember, TomlTable, WholeFile
from lerim.agents.hook_events import HookWriter
from lerim.agents.json_text import Json
from lerim.agents.launcher import mcp_command
from lerim.agents.model import AgentChannel, AgentName, InstallLevel
from lerim.agents.skill import opencode_plugin_text, skill_text
from lerim.paths import Home, claude_roots, codex_roots, copilot_roots, gemini_roots, user_home

SKILL_FOLDER = "lerim"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One entry in one file. `agents` are those that read it there. `instead` is another name of the file, which takes
    its place if only that one exists."""

    agents: tuple[AgentName, ...]
    channel: AgentChannel
    level: InstallLevel
    path: PurePath
    entry: Entry
    instead: PurePath | None = None


@dataclass(frozen=True, slots=True)
class AgentMachine:
    """What decides where the agents' files are: the platform, the environment, Lerim's home, and the root of the open
    repository (None outside one). `deny_once`: hooks also hold up an edit once."""

    platform: str
    environ: Mapping[str, str]
    home: Home
    root: PurePath | None = None
    deny_once: bool = False

    @property
    def user(self) -> PurePath:
        """The person's home folder. Raises HomeError."""
        return user_home(self.environ, self.platform)

    @property
    def claude(self) -> PurePath:
        """The folder of Claude Code's settings."""
        return claude_roots(self.environ, self.platform)[0]

    @property
    def codex(self) -> PurePath:
        """The folder of Codex."""
        return codex_roots(self.environ, self.platform)[0]

    @property
    def copilot(self) -> PurePath:
        """The folder of Copilot CLI."""
        return copilot_roots(self.environ, self.platform)[0]

    @property
    def gemini(self) -> PurePath:
        """The folder of Gemini CLI."""
        return gemini_roots(self.environ, self.platform)[0]

    @property
    def opencode(self) -> PurePath:
        """The folder of OpenCode's settings: XDG on every system."""
        base = type(self.user)(self.environ.get("XDG_CONFIG_HOME", ""))
        return (base if base.is_absolute() else self.user / ".config") / "opencode"

    @property
    def cursor(self) -> PurePath:
        """The folder of Cursor's settings."""
        return self.user / ".cursor"


def list_config_files(machine: AgentMachine) -> Sequence[ConfigFile]:
    """Returns every entry there can be: those of the person's own files, and those of the repository's if there is
    one. Raises HomeError."""
    files = [*_list_mcp_files(machine, "user"), *_list_hook_files(machine, "user"), *_list_skills(machine, "user")]
    if machine.root is not None:
        files += _list_mcp_files(machine, "project")
        files += [*_list_hook_files(machine, "project"), *_list_skills(machine, "project")]
    return files


def _list_mcp_files(machine: AgentMachine, level: InstallLevel) -> Iterator[ConfigFile]:
    command, *arguments = mcp_command(level, machine.platform, machine.home)
    words: list[Json] = [*arguments]
    server: dict[str, Json] = {"command": command, "args": words}
    typed: dict[str, Json] = {"type": "stdio", **server}
    opencode: dict[str, Json] = {"type": "local", "command": [command, *words], "enabled": True}
    table = TomlTable(("mcp_servers", "lerim"), {"command": command, "args": arguments})

    def member(name: str, value: Mapping[str, Json]) -> JsonMember:
        return JsonMember((name, "lerim"), value)

    if level == "user":
        # With its own folder of settings, Claude Code keeps this file in there.
        named = machine.environ.get("CLAUDE_CONFIG_DIR", "").split(",")[0].strip()
        has_own_folder = named != "" and machine.claude == type(machine.user)(named)
        claude = (machine.claude if has_own_folder else machine.user) / ".claude.json"
        yield ConfigFile(("claude",), "mcp", level, claude, member("mcpServers", typed))
        yield ConfigFile(("codex",), "mcp", level, machine.codex / "config.toml", table)
        own: dict[str, Json] = {"type": "local", **server, "tools": ["*"]}
        yield ConfigFile(("copilot",), "mcp", level, machine.copilot / "mcp-config.json", member("mcpServers", own))
        yield ConfigFile(("gemini",), "mcp", level, machine.gemini / "settings.json", member("mcpServers", server))
        yield _opencode_file(level, machine.opencode, member("mcp", opencode))
        yield ConfigFile(("cursor",), "mcp", level, machine.cursor / "mcp.json", member("mcpServers", server))
        return
    root = machine.root
    if root is None:
        return
    yield ConfigFile(("claude", "copilot"), "mcp", level, root / ".mcp.json", member("mcpServers", typed))
    yield ConfigFile(("codex",), "mcp", level, root / ".codex" / "config.toml", table)
    yield ConfigFile(("gemini",), "mcp", level, root / ".gemini" / "settings.json", member("mcpServers", server))
    yield _opencode_file(level, root, member("mcp", opencode))
    yield ConfigFile(("cursor",), "mcp", level, root / ".cursor" / "mcp.json", member("mcpServers", server))


def _opencode_file(level: InstallLevel, folder: PurePath, entry: Entry) -> ConfigFile:
    """Returns the settings of OpenCode, which may be called `.json` or, with comments, `.jsonc`."""
    return ConfigFile(("opencode",), "mcp", level, folder / "opencode.json", entry, folder / "opencode.jsonc")


def _list_hook_files(machine: AgentMachine, level: InstallLevel) -> Iterator[ConfigFile]:
    writer = HookWriter(machine.platform, machine.home, machine.deny_once)
    program = str(writer.program)
    root = machine.root
    if level == "project" and root is None:
        return
    folder = {
        "claude": machine.claude,
        "codex": machine.codex,
        "copilot": machine.copilot,
        "gemini": machine.gemini,
        "opencode": machine.opencode,
        "cursor": machine.cursor,
    }
    if level == "project" and root is not None:
        folder = {name: root / f".{name}" for name in folder} | {"copilot": root / ".github"}
    claude = JsonHooks(writer.claude(level), program)
    yield ConfigFile(("claude",), "hooks", level, folder["claude"] / "settings.json", claude)
    yield ConfigFile(("codex",), "hooks", level, folder["codex"] / "hooks.json", JsonHooks(writer.codex(), program))
    copilot = WholeFile(_copilot_text(writer))
    yield ConfigFile(("copilot", "vscode"), "hooks", level, folder["copilot"] / "hooks" / "lerim.json", copilot)
    gemini = JsonHooks(writer.gemini(), program)
    yield ConfigFile(("gemini",), "hooks", level, folder["gemini"] / "settings.json", gemini)
    plugin = WholeFile(opencode_plugin_text())
    yield ConfigFile(("opencode",), "hooks", level, folder["opencode"] / "plugins" / "lerim.js", plugin)
    cursor = JsonHooks(writer.cursor(), program, {"version": 1})
    yield ConfigFile(("cursor",), "hooks", level, folder["cursor"] / "hooks.json", cursor)


def _copilot_text(writer: HookWriter) -> str:
    return json.dumps({"version": 1, "hooks": writer.copilot()}, indent=2, ensure_ascii=False) + "\n"


def _list_skills(machine: AgentMachine, level: InstallLevel) -> Iterator[ConfigFile]:
    """Yields the skill's two places: Claude Code reads only its own, all others the common one."""
    skill = WholeFile(skill_text(SKILL_FOLDER))
    base = machine.user if level == "user" else machine.root
    if base is None:
        return
    own = machine.claude if level == "user" else base / ".claude"
    others: tuple[AgentName, ...] = ("codex", "copilot", "gemini", "opencode", "cursor", "vscode")
    yield ConfigFile(("claude",), "skill", level, own / "skills" / SKILL_FOLDER / "SKILL.md", skill)
    yield ConfigFile(others, "skill", level, base / ".agents" / "skills" / SKILL_FOLDER / "SKILL.md", skill)
