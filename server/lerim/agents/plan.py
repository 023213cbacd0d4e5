"""Plans what an installation or removal would change, based on the current files, so that it can be shown first.

The same files give the same plan. A file that already has what it should have is not part of it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from lerim.agents.config_files import AgentMachine, ConfigFile, list_config_files
from lerim.agents.entries import Entry
from lerim.agents.json_text import UneditableError
from lerim.agents.model import AGENT_NAMES, AGENTS, CHANNEL_NAMES, CHANNELS, AgentChannel, AgentName, InstallLevel
from lerim.agents.presence import find_agents
from lerim.agents.records import InstalledFile, has_backup, load_backup, load_records
from lerim.config import load
from lerim.errors import LerimError, NotFoundError, Problem, UsageError
from lerim.files import FileUpdate, hash_text, is_absent, read_text
from lerim.paths import Home
from lerim.project import Project

MAX_FILE_BYTES = 32_000_000
PlanAction = Literal["install", "remove"]


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """A change of one file, and the agents for which it is made."""

    edit: FileUpdate
    level: InstallLevel
    agents: tuple[AgentName, ...]
    channels: tuple[AgentChannel, ...]


class ManualStep(msgspec.Struct, frozen=True):
    """A file that is left as it is, the reason, and what the person can add to it or remove from it by hand."""

    path: str
    level: InstallLevel
    agents: tuple[AgentName, ...]
    channels: tuple[AgentChannel, ...]
    reason: str
    snippet: str


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """The changes to make. `unchanged` are the files that need no change."""

    action: PlanAction
    edits: tuple[PlannedEdit, ...]
    manual: tuple[ManualStep, ...]
    unchanged: tuple[PlannedEdit, ...]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The agents, channels and level that a plan is about."""

    agents: Collection[AgentName]
    channels: Collection[AgentChannel]
    level: InstallLevel

    def includes(self, file: ConfigFile) -> bool:
        is_wanted = file.level == self.level and file.channel in self.channels
        return is_wanted and any(agent in self.agents for agent in file.agents)


def open_machine(
    environ: Mapping[str, str], home: Home, project: Project | None
) -> tuple[AgentMachine, Sequence[Problem]]:
    """Returns the machine, which says where agents' files are on it and in a repository, and the problems of the
    settings."""
    root = project.root if project is not None else None
    settings, problems = load.load_settings(environ, home, root)
    return AgentMachine(sys.platform, environ, home, root, settings.deny_once), problems


def make_agent_plan(
    action: PlanAction,
    machine: AgentMachine,
    project: Project | None,
    agents: Sequence[str],
    channels: Sequence[str],
    level: InstallLevel,
) -> AgentPlan:
    """Plans what an installation adds to the person's files or the repository's, or what a removal takes out of them.

    If no agents are named, an installation is for the agents on this machine or, in the repository's files, for the
    agents that the repository uses; a removal is for all agents. If no channels are named, all channels are
    included. Raises UsageError for an unknown name, HomeError, SettingsError, CatalogError.
    """
    chosen = _parse_names(agents, AGENTS, "agent")
    wanted = _parse_names(channels, CHANNELS, "channel") or CHANNELS
    if action == "remove":
        return _plan_removal(machine, _Scope(chosen or AGENTS, wanted, level), load_records(machine.home))
    if not chosen:
        presence = find_agents(machine, project)
        chosen = [one.agent for one in presence if (one.is_here if level == "user" else one.is_used_in_project)]
    return _plan_installation(machine, _Scope(chosen, wanted, level))


Name = TypeVar("Name", bound=str)


def _parse_names(typed: Sequence[str], known: Sequence[Name], what: str) -> list[Name]:
    for name in typed:
        if name not in known:
            raise UsageError(f"There is no such {what}.", where=name[:40], todo=f"Use one of: {', '.join(known)}.")
    return [name for name in known if name in typed]


def _plan_installation(machine: AgentMachine, scope: _Scope) -> AgentPlan:
    drafts = [_read_draft(machine, path, files) for path, files in _group_by_path(machine, scope).items()]
    for draft in drafts:
        if not draft.problem:
            _add_entries(draft)
    return _make_plan("install", drafts, scope)


def _plan_removal(machine: AgentMachine, scope: _Scope, installed: Mapping[str, InstalledFile]) -> AgentPlan:
    """Plans the removal of our entries.

    A file that still has exactly the text that we gave it gets back the text it had before; from any other file only
    our entries are removed. An entry that other agents also read stays as long as one of them uses it.
    """
    every = list_config_files(machine)
    drafts: list[_Draft] = []
    for path, files in _group_by_path(machine, scope).items():
        record = installed.get(str(path))
        staying = {agent for agent in (record.agents if record is not None else ()) if agent not in scope.agents}
        removed = [file for file in files if staying.isdisjoint(file.agents)]
        kept = [one.entry for one in every if find_path(one) == path and one not in removed]
        draft = _read_draft(machine, path, removed or files)
        if draft.problem and record is None:
            continue  # a file that cannot be read, and that we did not write
        drafts.append(draft)
        if removed and not draft.problem and draft.before is not None:
            _remove_entries(draft, record, kept)
    return _make_plan("remove", drafts, scope)


@dataclass(slots=True)
class _Draft:
    """The text of one file while entries are added to it or removed from it. `problem` says why the file is left as
    it is."""

    path: Path
    files: Sequence[ConfigFile]
    anchor: Path | None
    before: str | None = None
    after: str | None = None
    problem: str = ""


def _read_draft(machine: AgentMachine, path: Path, files: Sequence[ConfigFile]) -> _Draft:
    anchor = Path(machine.root) if machine.root is not None and files[0].level == "project" else None
    draft = _Draft(path, files, anchor)
    try:
        draft.before = draft.after = read_config(path, anchor)
    except LerimError as error:
        draft.problem = error.explanation
    return draft


def _add_entries(draft: _Draft) -> None:
    try:
        for file in draft.files:
            draft.after = file.entry.add_to(draft.after)
    except UneditableError as error:
        draft.problem, draft.after = f"It was not changed because {error}.", draft.before


def _remove_entries(draft: _Draft, record: InstalledFile | None, kept: Sequence[Entry]) -> None:
    """Removes the entries from a file. `kept` are entries of ours that stay in it."""
    original = load_backup(record) if record is not None else None
    entries = [file.entry for file in draft.files]
    try:
        is_as_written = record is not None and has_backup(record) and hash_text(draft.before or "") in record.after
        is_original_clean = original is None or all(entry.find_in(original) == "missing" for entry in entries)
        if is_as_written and is_original_clean and all(entry.find_in(draft.before) == "missing" for entry in kept):
            draft.after = original
            return
        for entry in entries:
            if draft.after is not None:
                draft.after = entry.remove_from(draft.after, original)
    except UneditableError as error:
        draft.problem, draft.after = f"It was not changed because {error}.", draft.before


def read_config(path: Path, anchor: Path | None) -> str | None:
    """Returns the text of an agent's file, None if there is none. A link in a repository (`anchor`) is not followed.

    Raises MemoryError_ if it cannot be read, BoundaryError for such a link.
    """
    try:
        return read_text(path if anchor is not None else path.resolve(), MAX_FILE_BYTES, anchor)
    except NotFoundError:
        return None


def _group_by_path(machine: AgentMachine, scope: _Scope) -> dict[Path, list[ConfigFile]]:
    found: dict[Path, list[ConfigFile]] = {}
    for file in list_config_files(machine):
        if scope.includes(file):
            found.setdefault(find_path(file), []).append(file)
    return found


def find_path(file: ConfigFile) -> Path:
    """Returns the path at which an entry is written: the other name of the file, if only that exists."""
    path = Path(file.path)
    if file.instead is not None and is_absent(path) and not is_absent(Path(file.instead)):
        return Path(file.instead)
    return path


def _make_plan(action: PlanAction, drafts: Iterable[_Draft], scope: _Scope) -> AgentPlan:
    edits: list[PlannedEdit] = []
    manual: list[ManualStep] = []
    unchanged: list[PlannedEdit] = []
    for draft in drafts:
        level = draft.files[0].level
        readers = tuple(dict.fromkeys(agent for file in draft.files for agent in file.agents))
        agents = tuple(agent for agent in readers if agent in scope.agents)
        channels = tuple(dict.fromkeys(file.channel for file in draft.files))
        if draft.problem:
            snippet = "\n".join(file.entry.snippet for file in draft.files)
            manual.append(ManualStep(str(draft.path), level, agents, channels, draft.problem, snippet))
            continue
        what = " and ".join(CHANNEL_NAMES[channel] for channel in channels)
        reason = f"{what} of {', '.join(AGENT_NAMES[agent] for agent in readers)}"
        edit = FileUpdate(draft.path, draft.before, draft.after, reason, draft.anchor)
        (edits if edit.is_change else unchanged).append(PlannedEdit(edit, level, agents, channels))
    return AgentPlan(action, tuple(edits), tuple(manual), tuple(unchanged))
