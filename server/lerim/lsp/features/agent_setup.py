"""Giving memories to agents: what each agent gets, what a change would write, and writing it."""

from __future__ import annotations

import logging
import secrets
from pathlib import Path

import msgspec

from lerim.agents import (
    AgentMachine,
    AgentPlan,
    ConnectionView,
    PlannedEdit,
    apply_plan,
    examine_connections,
    make_agent_plan,
    open_machine,
    undo_plan,
    update_installed_programs,
)
from lerim.errors import StaleError
from lerim.files import hash_text
from lerim.lsp.protocol import (
    AgentApplyParams,
    AgentApplyView,
    AgentEditView,
    AgentManualView,
    AgentPlanParams,
    AgentPlanView,
    AgentsParams,
    AgentUndoParams,
    OutcomeView,
)
from lerim.lsp.window import Repo, Sidecar
from lerim.project import Project

log = logging.getLogger("lerim.lsp")

MAX_SHOWN_CHARACTERS = 200_000
"""A longer file is shown only around its change."""
CONTEXT_LINES = 50
MAX_UNDO = 20
"""How many changes of one window can be taken back."""


class ConnectionsView(msgspec.Struct, frozen=True):
    """Every agent, and what it gets in the repository `project` ('' outside one)."""

    project: str
    agents: list[ConnectionView]


async def list_connections(sidecar: Sidecar, params: AgentsParams) -> ConnectionsView:
    """Lists every agent with its channels."""
    sidecar.require_trust("The list of agents")
    repo = await sidecar.find_repo_if_any(params.root)
    return await sidecar.run_in_thread(_load_connections, sidecar, repo)


async def plan_change(sidecar: Sidecar, params: AgentPlanParams) -> AgentPlanView:
    """Computes what would be written; writes nothing."""
    sidecar.require_trust("Giving memories to agents")
    repo = await sidecar.find_repo_if_any(params.root)
    return await sidecar.run_in_thread(_describe_plan, sidecar, repo, params)


async def apply_change(sidecar: Sidecar, params: AgentApplyParams) -> AgentApplyView:
    """Writes what was shown and agreed to."""
    sidecar.require_trust("Giving memories to agents")
    repo = await sidecar.find_repo_if_any(params.root)
    return await sidecar.run_in_thread(_apply, sidecar, repo, params)


async def undo_change(sidecar: Sidecar, params: AgentUndoParams) -> OutcomeView:
    """Takes back what was written."""
    sidecar.require_trust("Giving memories to agents")
    return await sidecar.run_in_thread(_undo, sidecar, params.undo)


def update_programs(sidecar: Sidecar) -> None:
    """Brings the programs that agents start up to date, if the person has installed them."""
    error = update_installed_programs(sidecar.home)
    if error is not None:
        log.warning("%s %s", error.where, error.explanation)


def _open_machine(sidecar: Sidecar, repo: Repo | None) -> tuple[AgentMachine, Project | None]:
    project = repo.project if repo is not None else None
    return open_machine(sidecar.environ, sidecar.home, project)[0], project


def _load_connections(sidecar: Sidecar, repo: Repo | None) -> ConnectionsView:
    machine, project = _open_machine(sidecar, repo)
    return ConnectionsView(project.name if project is not None else "", list(examine_connections(machine, project)))


def _make_plan(sidecar: Sidecar, repo: Repo | None, params: AgentPlanParams) -> AgentPlan:
    return make_agent_plan(params.action, *_open_machine(sidecar, repo), params.agents, params.channels, params.level)


def _describe_plan(sidecar: Sidecar, repo: Repo | None, params: AgentPlanParams) -> AgentPlanView:
    plan = _make_plan(sidecar, repo, params)
    return AgentPlanView(
        [_make_edit_view(planned) for planned in plan.edits],
        [AgentManualView(step.path, step.reason, step.snippet) for step in plan.manual],
        len(plan.unchanged),
    )


def _make_edit_view(planned: PlannedEdit) -> AgentEditView:
    edit = planned.edit
    before, after = _cut_unchanged(edit.before, edit.after)
    return AgentEditView(str(edit.path), before, after, edit.reason, _hash_edit(planned))


def _hash_edit(planned: PlannedEdit) -> str:
    edit = planned.edit
    return hash_text("\0".join((str(edit.path), repr(edit.before), repr(edit.after))))


def _cut_unchanged(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Returns both texts without the equal lines at their beginning and end, except for some around the change, if
    they are long."""
    if before is None or after is None or max(len(before), len(after)) <= MAX_SHOWN_CHARACTERS:
        return before, after
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    shared = min(len(old), len(new))
    start = next((at for at in range(shared) if old[at] != new[at]), shared)
    end = next((at for at in range(shared - start) if old[-1 - at] != new[-1 - at]), shared - start)
    first, last = max(0, start - CONTEXT_LINES), max(0, end - CONTEXT_LINES)
    note = f"… {first} lines …\n" if first else ""
    foot = f"… {last} lines …\n" if last else ""

    def cut(lines: list[str]) -> str:
        return f"{note}{''.join(lines[first : len(lines) - last])}{foot}"[:MAX_SHOWN_CHARACTERS]

    return cut(old), cut(new)


def _apply(sidecar: Sidecar, repo: Repo | None, params: AgentApplyParams) -> AgentApplyView:
    plan = _make_plan(sidecar, repo, params)
    if [_hash_edit(planned) for planned in plan.edits] != params.hashes:
        message = "The files were changed since they were shown; nothing was written."
        raise StaleError(message, todo="Look at the differences again.")
    applied = apply_plan(plan, sidecar.home, root=repo.project.root if repo is not None else None)
    undo = None
    if applied.made:
        undo = secrets.token_hex(8)
        sidecar.agent_changes[undo] = applied
        for old in list(sidecar.agent_changes)[:-MAX_UNDO]:
            del sidecar.agent_changes[old]
    count = f"{len(applied.made)} file{'' if len(applied.made) == 1 else 's'}"
    message = f"{count} changed." if applied.made else "Nothing was written."
    failed = " ".join(f"{Path(problem.path).name}: {problem.message}" for problem in applied.problems)
    return AgentApplyView(not applied.problems, f"{message} {failed}".strip(), undo)


def _undo(sidecar: Sidecar, token: str) -> OutcomeView:
    applied = sidecar.agent_changes.get(token)
    if applied is None:
        return OutcomeView(False, "These changes can no longer be undone here. Use `lerim agents remove` instead.")
    undo_plan(applied, sidecar.home)
    del sidecar.agent_changes[token]
    count = len(applied.made)
    return OutcomeView(True, "The file was restored." if count == 1 else f"{count} files were restored.")
