"""`lerim agents [list|status|install|remove]`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.agents.changes import carry_out
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    UNREAD_REASONS,
    JsonOption,
    RepoOption,
    describe_skipped,
    examine_agents,
    find_home,
    find_project,
    output,
    resolve_folder,
    with_error_exit,
)
from lerim.errors import UsageError
from lerim.project import Project, locate_project
from lerim.sessions import Platform
from lerim.times import format_moment

if TYPE_CHECKING:
    from lerim.agents import AgentMachine, ChannelView, ConnectionView, InstallLevel, PlanAction

_AGENT_LIST = "claude, codex, copilot, gemini, opencode, cursor, vscode"

agents_app = typer.Typer(
    help="Give memories to your coding agents, and see what each of them gets.",
    epilog="`lerim connect` chooses the agents whose sessions are read. These commands change the agents' own files, "
    "after showing you each change and asking.",
    no_args_is_help=True,
)

AgentArguments = Annotated[
    list[str] | None, typer.Argument(metavar="AGENT", help=f"{_AGENT_LIST}.", show_default="every agent found")
]
ChannelOption = Annotated[
    list[str] | None,
    typer.Option("--channel", help="mcp, hooks or skill. Can be repeated.", metavar="NAME", show_default="all"),
]
UserOption = Annotated[bool, typer.Option("--user", help="Only your own files, which apply in every repository.")]
ProjectOption = Annotated[bool, typer.Option("--project", help="Only files of this repository, shared through git.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show the changes and write nothing.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Needs --user or --project.")]


class ConnectionListOutput(msgspec.Struct, frozen=True):
    """What `agents list` prints with `--json`; `project` is the repository's root, or ""."""

    project: str
    agents: list[ConnectionView]


class UnreadOutput(msgspec.Struct, frozen=True):
    """Sessions or stores of an agent of which nothing is read for one reason (the fields of `SkippedView`)."""

    platform: Platform
    reason: str
    count: int
    example: str
    message: str


class ConnectionStatusOutput(msgspec.Struct, frozen=True):
    """What `agents status` prints with `--json`; `project` is the repository's root, or ""."""

    project: str
    agents: list[ConnectionView]
    unread: list[UnreadOutput]


@agents_app.command("list")
@with_error_exit
def list_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """List the agents: whether each is used here, and whether it gets memories over MCP, hooks and the skill."""
    project, agents = _examine(repo)
    if as_json:
        output.show_json(ConnectionListOutput(str(project.root) if project else "", list(agents)))
        return
    output.show_table(
        ("agent", "", "sessions", "of this repository", "MCP server", "hooks", "skill"),
        (
            (
                one.name,
                "used here" if one.is_used else "found" if one.is_here else "not found",
                str(one.sessions),
                str(one.project_sessions),
                *(_format_channel(one, channel) for channel in ("mcp", "hooks", "skill")),
            )
            for one in agents
        ),
    )
    if not find_home().catalog.exists():
        output.print_line("No session has been read yet. Run `lerim sync`.")
    for one in agents:
        for finding in one.findings:
            output.print_line(output.escape_controls(f"{one.name}: {finding}"))


@agents_app.command("status")
@with_error_exit
def status_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Show each file that gives an agent memories: its state, the last call, what keeps it from working, and what is
    not installed. Also names sessions of the agent that cannot be read."""
    project, agents = _examine(repo)
    states = examine_agents(project)
    if as_json:
        unread_output = [
            UnreadOutput(agent.platform, one.reason, one.count, one.example, one.message)
            for agent in states
            for one in agent.skipped
            if one.reason in UNREAD_REASONS
        ]
        output.show_json(ConnectionStatusOutput(str(project.root) if project else "", list(agents), unread_output))
        return
    unread_by_agent = {
        one.platform: [f"not read: {line}" for line in describe_skipped(one, unread=True)] for one in states
    }
    fed = [one for one in agents if any(channel.state not in _NO_FILE for channel in one.channels)]
    for one in agents:
        unread = [] if one.agent == "vscode" else unread_by_agent[one.agent]  # its chats are among Copilot's sessions
        if one not in fed and not one.is_here and not unread:
            continue
        lines = [_format_file(channel) for channel in one.channels if channel.state != "missing"]
        lines += _format_lacking(one)
        if one.last_call:
            time = f", 95 % of the hook calls within {one.p95_ms:.0f} ms" if one.p95_ms is not None else ""
            lines.append(f"last call {format_moment(one.last_call)}{time}")
        output.show_item(one.name, [*lines, *one.findings, *unread])
    if not fed:
        output.print_line("No agent gets memories yet. `lerim agents install` shows what it would change.")


@agents_app.command("install")
@with_error_exit
def install_command(
    agents: AgentArguments = None,
    channel: ChannelOption = None,
    user: UserOption = False,
    project: ProjectOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Give agents memories. Shows the changes first, and asks separately for your own files and the repository's.

    If you name no agent, your own files are changed for every agent found on this machine, and the repository's files
    for the agents that this repository uses.
    """
    _change("install", agents, channel, user, project, repo, dry_run, yes, as_json)


@agents_app.command("remove")
@with_error_exit
def remove_command(
    agents: AgentArguments = None,
    user: UserOption = False,
    project: ProjectOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove what was installed from agents' files. A file that has not changed since is restored exactly."""
    _change("remove", agents, None, user, project, repo, dry_run, yes, as_json)


def _examine(repo: Path) -> tuple[Project | None, Sequence[ConnectionView]]:
    from lerim.agents import examine_connections

    machine, project = _open_machine(repo)
    return project, examine_connections(machine, project)


def _open_machine(repo: Path) -> tuple[AgentMachine, Project | None]:
    """Returns the machine with the places of agents' files, as seen from a folder, and the repository around that
    folder."""
    from lerim.agents import open_machine

    home = find_home()
    project = locate_project(resolve_folder(repo), home)
    machine, problems = open_machine(os.environ, home, project)
    output.print_problems(problems)
    return machine, project


def _change(
    action: PlanAction,
    agents: list[str] | None,
    channels: list[str] | None,
    user: bool,
    project: bool,
    repo: Path,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    if yes and not (user or project):
        todo = "Add --user for your own files, --project for those of this repository, or both."
        raise UsageError("--yes does not say which files to change.", todo=todo)
    from lerim.agents import make_agent_plan

    machine, found_project = _open_machine(repo)
    if project and found_project is None:
        found_project = find_project(repo, machine.home)  # raises the error that there is none
    levels: list[InstallLevel] = []
    if user or not project:
        levels.append("user")
    if found_project is not None and (project or not user):
        levels.append("project")
    plans = [make_agent_plan(action, machine, found_project, agents or [], channels or [], level) for level in levels]
    carry_out(action, plans, machine, dry_run=dry_run, yes=yes, as_json=as_json)


_NO_FILE = ("missing", "extension")
"""The states of channels for which no file was written."""
_STATE_LABELS = {
    "installed": "yes",
    "untrusted": "untrusted",
    "changed": "changed by hand",
    "unreadable": "unreadable",
    "extension": "by the extension",
}


def _format_channel(agent: ConnectionView, channel: str) -> str:
    """Returns the state of a channel for one table cell: its best state in your files, and in the repository's."""
    states = [
        _STATE_LABELS[one.state] + (" (repository)" if one.level == "project" else "")
        for one in agent.channels
        if one.channel == channel and one.state != "missing"
    ]
    return ", ".join(states) or ("no" if any(one.channel == channel for one in agent.channels) else "–")


def _format_lacking(agent: ConnectionView) -> list[str]:
    """Returns a line that names the channels that are installed nowhere, with the command that installs them."""
    from lerim.agents import CHANNEL_NAMES

    lacking = {one.channel for one in agent.channels} - {
        one.channel for one in agent.channels if one.state != "missing"
    }
    names = ", ".join(name for channel, name in CHANNEL_NAMES.items() if channel in lacking)
    return [f"not installed: {names}; `lerim agents install {agent.agent}` installs them"] if names else []


def _format_file(channel: ChannelView) -> str:
    from lerim.agents import CHANNEL_NAMES

    state = "installed" if channel.state == "installed" else _STATE_LABELS[channel.state]
    note = f". {channel.note}" if channel.note and channel.state not in ("untrusted", "extension") else ""
    where = f" in {channel.path}" if channel.path else ""
    return f"{CHANNEL_NAMES[channel.channel]}: {state}{where}{note}"
