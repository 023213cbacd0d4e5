"""Finds the agents that are used here, by their sessions, their folders and their programs' names. Starts none of
them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from lerim.agents.config_files import AgentMachine
from lerim.agents.model import AGENTS, AgentName
from lerim.process import find_executable
from lerim.project import Project
from lerim.sessions import Catalog, SessionTime, list_session_times

_PROJECT_MARKS: Mapping[AgentName, Sequence[str]] = {
    "claude": (".claude", "CLAUDE.md"),
    "codex": (".codex",),
    "copilot": (".github/copilot-instructions.md", ".github/hooks"),
    "gemini": (".gemini", "GEMINI.md"),
    "opencode": ("opencode.json", "opencode.jsonc", ".opencode"),
    "cursor": (".cursor",),
    "vscode": (".vscode",),
}
"""Files and folders that are often in the repository of an agent's user."""


@dataclass(frozen=True, slots=True)
class AgentPresence:
    """One agent: whether it is on this machine, whether this repository uses it, and when its sessions ended, in
    seconds since 1970."""

    agent: AgentName
    is_here: bool
    is_used_in_project: bool
    session_ends: tuple[float, ...]
    project_sessions: int


def find_agents(machine: AgentMachine, project: Project | None) -> Sequence[AgentPresence]:
    """Returns every agent, with what is known about it on this machine and in the project. Raises HomeError,
    CatalogError."""
    sessions = _list_sessions(machine, project)
    return [_examine(machine, agent, sessions[agent]) for agent in AGENTS]


def _list_sessions(machine: AgentMachine, project: Project | None) -> Mapping[AgentName, Sequence[SessionTime]]:
    found: dict[AgentName, list[SessionTime]] = {agent: [] for agent in AGENTS}
    if machine.home.catalog.exists():
        with Catalog.open(machine.home) as catalog:
            for one in list_session_times(catalog.db, project.key if project is not None else ""):
                found[_agent_of(machine, one)].append(one)
    return found


def _agent_of(machine: AgentMachine, session: SessionTime) -> AgentName:
    """Returns the agent of a session; the sessions of Copilot CLI and of VS Code's chat are of one platform."""
    if session.platform != "copilot":
        return session.platform
    place = session.place.replace("\\", "/")
    return "copilot" if place.startswith(machine.folder("copilot").as_posix() + "/") else "vscode"


def _examine(machine: AgentMachine, agent: AgentName, sessions: Sequence[SessionTime]) -> AgentPresence:
    own = sum(one.is_of_project for one in sessions)
    is_here = (
        bool(sessions)
        or any(map(os.path.lexists, _list_signs(machine, agent)))
        or find_executable("code" if agent == "vscode" else agent, machine.environ, machine.platform) is not None
    )
    root = machine.root
    has_marks = root is not None and any(os.path.lexists(root / mark) for mark in _PROJECT_MARKS[agent])
    return AgentPresence(agent, is_here, bool(own) or has_marks, tuple(one.ended for one in sessions), own)


def _list_signs(machine: AgentMachine, agent: AgentName) -> Sequence[PurePath]:
    """Returns the files and folders that an agent creates when it is used."""
    if agent == "vscode":
        return ()
    names: Mapping[AgentName, Sequence[str]] = {"codex": ("config.toml", "sessions"), "gemini": ("settings.json",)}
    return [machine.folder(agent) / name for name in names.get(agent, ("",))]
