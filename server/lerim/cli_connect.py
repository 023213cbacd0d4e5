"""`lerim connect [list|auto|remove PLATFORM|PLATFORM [--path P]]`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import msgspec
import typer

from lerim import output
from lerim.cli_place import HERE, Json, Repo, guarded, home, there
from lerim.errors import UsageError
from lerim.project import Project, locate
from lerim.sessions.model import Platform

if TYPE_CHECKING:
    from lerim.doctor import AgentView

PLATFORMS: tuple[Platform, ...] = get_args(Platform)

connect_app = typer.Typer(
    help="The agents whose sessions are read.",
    epilog="Without a word every agent whose store lies in its usual place is read.",
)


class AgentsView(msgspec.Struct, frozen=True):
    """What `connect --json` prints; `project` is the root of the repository the counts are of, '' outside any."""

    project: str
    agents: list[AgentView]


class Connected(msgspec.Struct, frozen=True):
    """What the other commands print with `--json`: the agents they were about, as they are now."""

    agents: list[AgentView]


@connect_app.command("list")
@guarded
def list_command(repo: Repo = HERE, as_json: Json = False) -> None:
    """Show each agent: whether it is read, where its store is, what was found and what could not be read."""
    mine = home()
    project = locate(there(repo), mine)
    agents = _agents(project)
    if as_json:
        output.show_json(AgentsView(str(project.root) if project else "", agents))
        return
    output.show_table(
        ("agent", "", "store", "sessions", "of this repository"),
        (row for agent in agents for row in _rows(agent)),
    )
    for agent in agents:
        for one in agent.skipped:
            more = f" (and {one.count - 1} more)" if one.count > 1 else ""
            output.say(output.visible(f"{agent.name}: {one.example}{more}: {one.message}"))
        if agent.last_error:
            when = f" at {agent.last_error.time[:19].replace('T', ' ')} UTC" if agent.last_error.time else ""
            output.say(output.visible(f"{agent.name}: last error{when}: {agent.last_error.message}"))


@connect_app.callback(invoke_without_command=True)
def _group(context: typer.Context, repo: Repo = HERE, as_json: Json = False) -> None:
    """The agents whose sessions are read. Without more: `list`."""
    if context.invoked_subcommand is None:
        list_command(repo=repo, as_json=as_json)
    elif as_json or repo != HERE:
        _refuse_options(context.invoked_subcommand, as_json=as_json)


@guarded
def _refuse_options(name: str, *, as_json: bool) -> None:
    raise UsageError("These options come after the command.", where=name, todo=f"Say `lerim connect {name} …`.")


@connect_app.command("auto")
@guarded
def auto(as_json: Json = False) -> None:
    """Connect every agent whose store is on this machine; a removed one stays removed."""
    from lerim.sessions import platforms

    mine = home()
    agents = _agents()
    found = [agent for agent in agents if agent.state == "connected"]
    said = platforms.choices(mine)
    for agent in found:
        if agent.platform not in said:
            platforms.connect(mine, agent.platform)
    if as_json:
        output.show_json(Connected(found))
        return
    for agent in agents:
        if agent.state == "connected":
            output.say(f"{agent.name} is read: {_found(agent)}.")
        elif agent.state == "removed":
            output.say(f"{agent.name} was removed and stays so; `lerim connect {agent.platform}` reads it again.")
    if not found:
        output.say("No agent's sessions were found here. `lerim connect PLATFORM --path P` names a store elsewhere.")


@connect_app.command("remove")
@guarded
def remove(
    platform: Annotated[str, typer.Argument(metavar="PLATFORM", help=", ".join(PLATFORMS))], as_json: Json = False
) -> None:
    """Read no more sessions of an agent; what was learned from them stays."""
    from lerim.sessions import platforms

    known = next((name for name in PLATFORMS if name == platform), None)
    if known is None:
        raise UsageError("There is no such agent.", where=platform, todo=f"Name one of: {', '.join(PLATFORMS)}.")
    before = platforms.remove(home(), known)
    _hold()
    [agent] = [one for one in _agents() if one.platform == known]
    if as_json:
        output.show_json(Connected([agent]))
        return
    what = "is not read any more; what was learned from its sessions stays" if before else "was not read before"
    output.say(f"{agent.name} {what}.")


def _connects(platform: Platform) -> Callable[..., None]:
    @guarded
    def connect(
        path: Annotated[
            Path | None, typer.Option("--path", metavar="P", help="Where its store lies, if not in its usual place.")
        ] = None,
        as_json: Json = False,
    ) -> None:
        from lerim.sessions import platforms

        platforms.connect(home(), platform, path)
        _hold()
        [agent] = [one for one in _agents() if one.platform == platform]
        if as_json:
            output.show_json(Connected([agent]))
        elif agent.state == "connected" and path is not None and not agent.sessions:
            output.note(f"warning: Nothing of {agent.name} was found in {output.visible(_places(agent)[0])}.")
            for one in agent.skipped:
                output.note(output.visible(f"  {one.example}: {one.message}"))
            output.note("It will be read once there is something. `--path` names the folder the agent itself keeps.")
        elif agent.state == "connected":
            output.say(f"{agent.name} is read: {_found(agent)}.")
        else:
            looked = " and ".join(store.path for store in agent.stores)
            output.say(f"{agent.name} will be read once its store is there; looked at {looked}.")
            output.say(f"`lerim connect {platform} --path P` names a store elsewhere.")

    return connect


for _platform in PLATFORMS:
    connect_app.command(_platform, help="Read its sessions.")(_connects(_platform))


def _hold() -> None:
    """What was queued of agents that are not read waits, and what waited for one that is read again does no more."""
    from lerim.sessions.catalog import Catalog
    from lerim.sessions.platforms import removed

    mine = home()
    if mine.catalog.exists():
        with Catalog.open(mine) as catalog:
            catalog.hold(removed(mine))


def _agents(project: Project | None = None) -> list[AgentView]:
    from lerim.doctor import examine

    return examine(home(), os.environ, project)


_STATES = {"connected": "read", "not-found": "not found", "removed": "removed"}


def _rows(agent: AgentView) -> list[tuple[str, str, str, str, str]]:
    """An agent's rows of the table: the first store with the counts, each further one below it."""
    first, *others = _places(agent)
    own = (agent.name, _STATES[agent.state], first, str(agent.sessions), _own(agent))
    return [own, *(("", "", place, "", "") for place in others)]


def _places(agent: AgentView) -> list[str]:
    """Its stores that are there; without any, the first that may be."""
    return [store.path for store in agent.stores if store.exists] or [store.path for store in agent.stores[:1]] or [""]


def _found(agent: AgentView) -> str:
    return f"{output.counted(agent.sessions, 'session')} in {' and '.join(_places(agent))}"


def _own(agent: AgentView) -> str:
    waiting = f", {agent.waiting} waiting" if agent.waiting else ""
    cut = f", {output.counted(agent.redactions, 'secret')} removed" if agent.redactions else ""
    return f"{agent.found} found, {agent.parsed} read{waiting}{cut}" if agent.found or agent.redactions else "none"
