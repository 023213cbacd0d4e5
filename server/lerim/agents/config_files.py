"""Lists which file of an agent gets which entry, as a function of the platform and the environment, and provides the
texts of the files that Lerim installs as a whole: the skill, and the plugin of OpenCode.

Nothing here touches the person's files, so that every platform can be tested on any machine. An entry that several
agents read (`.mcp.json`, the skills, Copilot's hooks) is written once and belongs to all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePath

from lerim.agents.entries import Entry, JsonHooks, JsonMember, TomlTable, WholeFile
from lerim.agents.hook_events import HookWriter
from lerim.agents.json_text import Json
from lerim.agents.launcher import mcp_command
from lerim.agents.model import AgentChannel, AgentName, InstallLevel
from lerim.paths import Home, claude_roots, codex_roots, copilot_roots, gemini_roots, user_home

SKILL_FOLDER = "lerim"
_FIND_ROOTS: Mapping[AgentName, Callable[[Mapping[str, str], str], Sequence[PurePath]]] = {
    "claude": claude_roots,
    "codex": codex_roots,
    "copilot": copilot_roots,
    "gemini": gemini_roots,
}


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One entry in one file. `agents` are the agents that read it there. `instead` is another name of the file,
    which is used instead if only a file with that name exists."""

    agents: tuple[AgentName, ...]
    channel: AgentChannel
    level: InstallLevel
    path: PurePath
    entry: Entry
    instead: PurePath | None = None


@dataclass(frozen=True, slots=True)
class AgentMachine:
    """The values that determine where the agents' files are: the platform, the environment, Lerim's home, and the
    root of the open repository (None outside one). `deny_once`: hooks also hold up an edit once."""

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
    def repository(self) -> PurePath:
        """The root of the open repository. Only for a machine that has one."""
        assert self.root is not None
        return self.root

    def folder(self, agent: AgentName, level: InstallLevel = "user") -> PurePath:
        """Returns the folder of an agent's settings: the person's own, or the repository's. Raises HomeError."""
        if level == "project":
            return self.repository / (".github" if agent == "copilot" else f".{agent}")
        if find_roots := _FIND_ROOTS.get(agent):
            return find_roots(self.environ, self.platform)[0]
        if agent == "opencode":  # XDG on every system
            base = type(self.user)(self.environ.get("XDG_CONFIG_HOME", ""))
            return (base if base.is_absolute() else self.user / ".config") / "opencode"
        return self.user / f".{agent}"


def list_config_files(machine: AgentMachine) -> Sequence[ConfigFile]:
    """Returns every possible entry: those in the person's own files, and those in the repository's files if there is
    a repository. Raises HomeError."""
    levels: tuple[InstallLevel, ...] = ("user",) if machine.root is None else ("user", "project")
    parts = (_list_mcp_files, _list_hook_files, _list_skills)
    return [file for level in levels for list_part in parts for file in list_part(machine, level)]


def _list_mcp_files(machine: AgentMachine, level: InstallLevel) -> Iterator[ConfigFile]:
    command, *arguments = mcp_command(level, machine.platform, machine.home)
    words: list[Json] = [*arguments]
    server: dict[str, Json] = {"command": command, "args": words}
    typed: dict[str, Json] = {"type": "stdio", **server}
    own: dict[str, Json] = {"type": "local", **server, "tools": ["*"]}

    def member(agents: tuple[AgentName, ...], path: PurePath, value: Mapping[str, Json]) -> ConfigFile:
        return ConfigFile(agents, "mcp", level, path, JsonMember(("mcpServers", "lerim"), value))

    if level == "user":
        # If its settings folder was changed, Claude Code keeps this file in that folder.
        claude = machine.folder("claude")
        named = machine.environ.get("CLAUDE_CONFIG_DIR", "").split(",")[0].strip()
        has_own_folder = named != "" and claude == type(machine.user)(named)
        yield member(("claude",), (claude if has_own_folder else machine.user) / ".claude.json", typed)
        yield member(("copilot",), machine.folder("copilot") / "mcp-config.json", own)
    else:
        yield member(("claude", "copilot"), machine.repository / ".mcp.json", typed)
    table = TomlTable(("mcp_servers", "lerim"), {"command": command, "args": arguments})
    yield ConfigFile(("codex",), "mcp", level, machine.folder("codex", level) / "config.toml", table)
    yield member(("gemini",), machine.folder("gemini", level) / "settings.json", server)
    # The settings of OpenCode may be called `.json` or, with comments, `.jsonc`.
    folder = machine.folder("opencode") if level == "user" else machine.repository
    opencode = JsonMember(("mcp", "lerim"), {"type": "local", "command": [command, *words], "enabled": True})
    yield ConfigFile(("opencode",), "mcp", level, folder / "opencode.json", opencode, folder / "opencode.jsonc")
    yield member(("cursor",), machine.folder("cursor", level) / "mcp.json", server)


def _list_hook_files(machine: AgentMachine, level: InstallLevel) -> Iterator[ConfigFile]:
    writer = HookWriter(machine.platform, machine.home, machine.deny_once)

    def hooks(agent: AgentName, name: str, entry: Entry, *others: AgentName) -> ConfigFile:
        return ConfigFile((agent, *others), "hooks", level, machine.folder(agent, level) / name, entry)

    program = str(writer.program)
    yield hooks("claude", "settings.json", JsonHooks(writer.claude(level), program))
    yield hooks("codex", "hooks.json", JsonHooks(writer.codex(), program))
    copilot = json.dumps({"version": 1, "hooks": writer.copilot()}, indent=2, ensure_ascii=False) + "\n"
    yield hooks("copilot", "hooks/lerim.json", WholeFile(copilot), "vscode")
    yield hooks("gemini", "settings.json", JsonHooks(writer.gemini(), program))
    yield hooks(
        "opencode", "plugins/lerim.js", WholeFile(_read_file("opencode_plugin.js"))
    )  # it has no hooks of its own
    yield hooks("cursor", "hooks.json", JsonHooks(writer.cursor(), program, {"version": 1}))


def _list_skills(machine: AgentMachine, level: InstallLevel) -> Iterator[ConfigFile]:
    """Yields the skill's two places: Claude Code reads only its own, and all other agents read the common one."""
    skill = WholeFile(skill_text(SKILL_FOLDER))
    base = machine.user if level == "user" else machine.repository
    others: tuple[AgentName, ...] = ("codex", "copilot", "gemini", "opencode", "cursor", "vscode")
    for agents, folder in ((("claude",), machine.folder("claude", level)), (others, base / ".agents")):
        yield ConfigFile(agents, "skill", level, folder / "skills" / SKILL_FOLDER / "SKILL.md", skill)


def skill_text(name: str) -> str:
    """Returns the text of the skill with this name. Agents require a skill to have the name of its folder."""
    return re.sub(r"(?m)^name: .*$", f"name: {name}", _read_file("SKILL.md"), count=1)


def _read_file(name: str) -> str:
    return resources.files("lerim.agents").joinpath("files", name).read_text(encoding="utf-8")
