"""Shows what each agent gets: the state of every channel on disk, when it was last used, and what keeps it from
working, such as hooks that the person has not trusted in Codex yet.

`lerim agents list`, `lerim agents status` and the editor's Agents view show these rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from lerim import hook
from lerim.agents.config_files import AgentMachine, ConfigFile, list_config_files
from lerim.agents.entries import JsonHooks
from lerim.agents.json_text import UneditableError
from lerim.agents.launcher import is_launcher_current
from lerim.agents.model import AGENT_NAMES, AGENTS, AgentChannel, AgentName, InstallLevel
from lerim.agents.plan import find_path, read_config
from lerim.agents.presence import AgentPresence, find_agents
from lerim.agents.records import InstalledFile, load_records
from lerim.agents.toml_text import find_table
from lerim.errors import LerimError
from lerim.files import read_regular_file
from lerim.memory import load_servings
from lerim.paths import Home
from lerim.project import Project
from lerim.times import format_utc

SESSIONS_WITHOUT_CALL = 10
"""Number of sessions without a call after which the hooks of an agent count as never called."""

ChannelState = Literal["installed", "untrusted", "changed", "missing", "unreadable", "extension"]
"""The state of a channel. untrusted: installed, but the agent waits for the person's trust; changed: another entry
of ours, made by hand or by another version; unreadable: the file cannot be read; extension: the editor's extension
provides it, without a file."""


class ChannelView(msgspec.Struct, frozen=True):
    """One channel of an agent in the person's files or in the repository's. `note` says what the person has to do,
    if anything."""

    channel: AgentChannel
    level: InstallLevel
    state: ChannelState
    path: str
    note: str


class ConnectionView(msgspec.Struct, frozen=True):
    """An agent and what it gets. `is_here`: it is on this machine; `is_used`: this repository uses it.

    `sessions` counts its sessions on this machine and `project_sessions` those in the repository. `last_call` is
    when its hooks were last called, or when it last got memories of this repository over MCP (ISO 8601 UTC, '' for
    never). `p95_ms` is the 95th percentile of the durations of its last hook calls (None if there were none).
    `findings` say what keeps it from working.
    """

    agent: AgentName
    name: str
    is_here: bool
    is_used: bool
    sessions: int
    project_sessions: int
    channels: list[ChannelView]
    last_call: str
    p95_ms: float | None
    findings: list[str]


class _HookCalls(msgspec.Struct, frozen=True):
    """The hook program's record of the calls by one agent: the time of the last call in seconds since 1970, and the
    durations of the latest calls in milliseconds."""

    at: float = 0.0
    durations: list[float] = []


def examine_connections(machine: AgentMachine, project: Project | None) -> Sequence[ConnectionView]:
    """Returns the state of every agent. Writes nothing and starts nothing. Raises HomeError, SettingsError,
    CatalogError."""
    records = load_records(machine.home)
    files = list_config_files(machine)
    mcp_calls = _find_mcp_calls(machine.home, project)
    return [
        _examine_agent(machine, presence, files, records, mcp_calls.get(presence.agent, 0.0))
        for presence in find_agents(machine, project)
    ]


def _examine_agent(
    machine: AgentMachine,
    presence: AgentPresence,
    files: Sequence[ConfigFile],
    records: Mapping[str, InstalledFile],
    mcp_call: float,
) -> ConnectionView:
    agent = presence.agent
    channels = [_examine_file(machine, file) for file in files if agent in file.agents]
    if agent == "vscode":
        note = "The extension gives VS Code's chat the memories itself."
        channels.insert(0, ChannelView("mcp", "user", "extension", "", note))
    calls = _load_hook_calls(machine.home, agent)
    paths = [one.path for one in channels if one.channel == "hooks" and one.state != "missing"]
    installed = [records[path].at for path in paths if path in records]
    findings = [
        *(one.note for one in channels if one.state == "untrusted"),
        *_find_faults(machine.home, channels),
        *_find_silence(presence, calls.at, max(installed, default=0.0) if paths else 0.0),
    ]
    last = max(calls.at, mcp_call)
    return ConnectionView(
        agent=agent,
        name=AGENT_NAMES[agent],
        is_here=presence.is_here,
        is_used=presence.is_used_in_project,
        sessions=len(presence.session_ends),
        project_sessions=presence.project_sessions,
        channels=channels,
        last_call=format_utc(datetime.fromtimestamp(last, UTC).replace(microsecond=0)) if last > 0 else "",
        p95_ms=_percentile(calls.durations),
        findings=list(dict.fromkeys(findings)),
    )


def _examine_file(machine: AgentMachine, file: ConfigFile) -> ChannelView:
    path = find_path(file)
    anchor = Path(machine.root) if file.level == "project" and machine.root is not None else None
    try:
        text = read_config(path, anchor)
        state: ChannelState = file.entry.find_in(text)
    except (LerimError, UneditableError) as error:
        reason = error.message if isinstance(error, LerimError) else f"{error}."
        return ChannelView(file.channel, file.level, "unreadable", str(path), reason)
    note = ""
    if state == "changed":
        note = "It is not what would be installed: it was changed by hand or is from another version."
    if (
        file.agents == ("codex",)
        and isinstance(file.entry, JsonHooks)
        and state != "missing"
        and not are_hooks_trusted(path, text or "", file.entry, Path(machine.folder("codex") / "config.toml"))
    ):
        state, note = "untrusted", "Codex skips these hooks until you trust them: run /hooks in Codex."
    return ChannelView(file.channel, file.level, state, str(path), note)


def _find_faults(home: Home, channels: Sequence[ChannelView]) -> Iterator[str]:
    installed = {(one.channel, one.level) for one in channels if one.state in ("installed", "untrusted", "changed")}
    if {("hooks", "user"), ("hooks", "project")} & installed and not hook.is_hook_program_current(home):
        yield "The hook program is missing or belongs to another version: run `lerim agents install`."
    if ("mcp", "user") in installed and not is_launcher_current(home):
        yield "The script that starts `lerim mcp` belongs to another installation: run `lerim agents install`."


def _find_silence(presence: AgentPresence, last_call: float, installed_at: float) -> Iterator[str]:
    if not installed_at:
        return
    since = max(last_call, installed_at)
    silent = sum(ended > since for ended in presence.session_ends)
    if silent >= SESSIONS_WITHOUT_CALL:
        verb = "never called" if last_call < installed_at else "not called"
        yield f"The hooks were {verb} in the last {silent} sessions."


def _load_hook_calls(home: Home, agent: AgentName) -> _HookCalls:
    path = home.root / "run" / "hooks" / f"last-{agent}"
    try:
        return msgspec.convert(json.loads(read_regular_file(path)), _HookCalls)
    except (OSError, ValueError, RecursionError, msgspec.ValidationError):
        return _HookCalls()  # another process may be writing it at this moment


def _percentile(durations: Sequence[float]) -> float | None:
    if not durations:
        return None
    return round(sorted(durations)[max(0, -(-len(durations) * 95 // 100) - 1)], 1)


def _find_mcp_calls(home: Home, project: Project | None) -> Mapping[AgentName, float]:
    """Returns when each agent last got memories of this repository over MCP, in seconds since 1970."""
    found: dict[AgentName, float] = {}
    if project is None:
        return found
    for serving in load_servings(home.project(project.key))[0]:
        client = serving.agent.lower().replace("visual studio code", "vscode")
        agent = next((name for name in AGENTS if name in client), None)
        if serving.channel == "mcp" and agent is not None:
            found[agent] = max(found.get(agent, 0.0), serving.at)
    return found


def are_hooks_trusted(hooks_file: Path, hooks_text: str, entry: JsonHooks, config_file: Path) -> bool:
    """Returns whether Codex has stored trust for each of our hooks in a file.

    Codex stores it in its `config.toml`, which is only read here, because only the person can give trust, with
    `/hooks` in Codex. The key of a hook is `<path>:<event>:<group>:<hook>`. Only Codex can tell whether the trust is
    for exactly this hook: a hook that was changed by hand since may still be skipped.
    """
    try:
        config = read_config(config_file, None)
        state = find_table(config or "", ("hooks", "state"))
    except (LerimError, UneditableError):
        return False
    positions = entry.find_positions(hooks_text)
    return bool(positions) and all(_is_trusted(state or {}, hooks_file, *position) for position in positions)


def _is_trusted(state: dict[str, Any], hooks_file: Path, event: str, group: int) -> bool:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
    for path in {str(hooks_file), str(hooks_file.resolve())}:
        entry = state.get(f"{path}:{name}:{group}:0")
        if isinstance(entry, dict) and entry.get("trusted_hash") and entry.get("enabled") is not False:
            return True
    return False
