"""`lerim connect [list|auto|remove PLATFORM|PLATFORM [--path P]]`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    describe_skipped,
    examine_agents,
    find_home,
    output,
    resolve_folder,
    with_error_exit,
)
from lerim.errors import UsageError
from lerim.project import locate_project
from lerim.sessions import Platform, agent_name, platforms
from lerim.times import format_moment

if TYPE_CHECKING:
    from lerim.jobs import AgentView

PLATFORMS: tuple[Platform, ...] = get_args(Platform)

connect_app = typer.Typer(
    help="Choose the agents whose sessions are read.",
    epilog="By default, every agent whose store is in its usual place is read.",
)


class AgentListOutput(msgspec.Struct, frozen=True):
    """What `connect --json` prints; `project` is the root of the repository that the
    counts refer to, or "" outside a repository."""

    project: str
    agents: list[AgentView]


class ConnectedOutput(msgspec.Struct, frozen=True):
    """What the other `connect` commands print with `--json`: the affected agents in their new state."""

    agents: list[AgentView]


@connect_app.command("list")
@with_error_exit
def list_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """List the agents: whether each one is read, where its store is, what was found and what could not be read."""
    home = find_home()
    project = locate_project(resolve_folder(repo), home)
    agents = examine_agents(project)
    if as_json:
        output.show_json(AgentListOutput(str(project.root) if project else "", agents))
        return
    output.show_table(
        ("agent", "", "store", "sessions", "of this repository"),
        (row for agent in agents for row in _agent_rows(agent)),
    )
    for agent in agents:
        for line in describe_skipped(agent):
            output.print_line(output.escape_controls(f"{agent.name}: {line}"))
        if agent.last_error and agent.last_error.message not in [one.message for one in agent.skipped]:
            when = f" ({format_moment(agent.last_error.time)})" if agent.last_error.time else ""
            output.print_line(output.escape_controls(f"{agent.name}: last error{when}: {agent.last_error.message}"))


@connect_app.callback(invoke_without_command=True)
def _group(context: typer.Context, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Choose the agents whose sessions are read. Without a command, lists them."""
    if context.invoked_subcommand is None:
        list_command(repo=repo, as_json=as_json)
    elif as_json or repo != CURRENT_FOLDER:
        _refuse_options(context.invoked_subcommand, as_json=as_json)


@with_error_exit
def _refuse_options(name: str, *, as_json: bool) -> None:
    raise UsageError("These options go after the command.", where=name, todo=f"Write `lerim connect {name} …`.")


@connect_app.command("auto")
@with_error_exit
def auto_command(as_json: JsonOption = False) -> None:
    """Read every agent whose store is on this machine. Agents you removed stay removed."""
    home = find_home()
    agents = examine_agents()
    connected_agents = [agent for agent in agents if agent.state == "connected"]
    choices = platforms.load_platform_choices(home)
    for agent in connected_agents:
        if agent.platform not in choices:
            platforms.connect_platform(home, agent.platform)
    if as_json:
        output.show_json(ConnectedOutput(connected_agents))
        return
    for agent in agents:
        if agent.state == "connected":
            output.print_line(f"{agent.name} is read: {_format_store_counts(agent)}.")
        elif agent.state == "removed":
            output.print_line(
                f"{agent.name} was removed earlier and stays removed; `lerim connect {agent.platform}` reads it again."
            )
    if not connected_agents:
        output.print_line(
            "No sessions were found on this machine. If a store is elsewhere, run `lerim connect PLATFORM --path P`."
        )


@connect_app.command("remove")
@with_error_exit
def remove_command(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help=", ".join(PLATFORMS))], as_json: JsonOption = False
) -> None:
    """Stop reading an agent's sessions. What was learned from them stays."""
    platform_name = next((name for name in PLATFORMS if name == platform), None)
    if platform_name is None:
        raise UsageError("There is no such agent.", where=platform, todo=f"Use one of: {', '.join(PLATFORMS)}.")
    was_connected = platforms.remove_platform(find_home(), platform_name)
    _update_held_jobs()
    [agent] = [one for one in examine_agents() if one.platform == platform_name]
    if as_json:
        output.show_json(ConnectedOutput([agent]))
        return
    outcome = "is no longer read; what was learned from its sessions stays" if was_connected else "was not read"
    output.print_line(f"{agent.name} {outcome}.")


def _make_connect_command(platform: Platform) -> Callable[..., None]:
    @with_error_exit
    def connect(
        path: Annotated[
            Path | None, typer.Option("--path", metavar="P", help="Where its store is, if not in the usual place.")
        ] = None,
        as_json: JsonOption = False,
    ) -> None:
        platforms.connect_platform(find_home(), platform, path)
        _update_held_jobs()
        [agent] = [one for one in examine_agents() if one.platform == platform]
        if as_json:
            output.show_json(ConnectedOutput([agent]))
        elif agent.state == "connected" and path is not None and not agent.sessions:
            output.print_note(
                f"warning: no {agent.name} sessions were found in {output.escape_controls(_store_paths(agent)[0])}."
            )
            for one in agent.skipped:
                output.print_note(output.escape_controls(f"  {one.example}: {one.message}"))
            output.print_note(
                "They will be read once they appear there. `--path` must be the folder that the agent itself writes to."
            )
        elif agent.state == "connected":
            output.print_line(f"{agent.name} is read: {_format_store_counts(agent)}.")
        else:
            checked_paths = " and ".join(store.path for store in agent.stores)
            output.print_line(f"{agent.name} will be read once its store exists; checked {checked_paths}.")
            output.print_line(f"If its store is elsewhere, run `lerim connect {platform} --path P`.")

    return connect


for _platform in PLATFORMS:
    connect_app.command(_platform, help=f"Read the sessions of {agent_name(_platform)}.")(
        _make_connect_command(_platform)
    )


def _update_held_jobs() -> None:
    """Puts the queued jobs of removed agents on hold, and releases those of agents that are connected again."""
    from lerim.sessions import Catalog, list_removed_platforms

    home = find_home()
    if home.catalog.exists():
        with Catalog.open(home) as catalog:
            catalog.hold_removed_platforms(list_removed_platforms(home))


def _agent_rows(agent: AgentView) -> list[tuple[str, str, str, str, str]]:
    """Returns the table rows of an agent: the first store with the counts, then one row for each further store."""
    from lerim.jobs import AGENT_STATE_LABELS

    first, *others = _store_paths(agent)
    first_row = (agent.name, AGENT_STATE_LABELS[agent.state], first, str(agent.sessions), _format_project_counts(agent))
    return [first_row, *(("", "", place, "", "") for place in others)]


def _store_paths(agent: AgentView) -> list[str]:
    """Returns the paths of the stores that exist, or else of the first place where a store could be."""
    return [store.path for store in agent.stores if store.exists] or [store.path for store in agent.stores[:1]] or [""]


def _format_store_counts(agent: AgentView) -> str:
    return f"{output.pluralize(agent.sessions, 'session')} in {' and '.join(_store_paths(agent))}"


def _format_project_counts(agent: AgentView) -> str:
    waiting = f", {agent.waiting} waiting" if agent.waiting else ""
    removed_secrets = f", {output.pluralize(agent.redactions, 'secret')} removed" if agent.redactions else ""
    return (
        f"{agent.found} found, {agent.parsed} read{waiting}{removed_secrets}"
        if agent.found or agent.redactions
        else "none"
    )
