"""`lerim sessions list|search|show`: the sessions of every agent, shown with secrets removed."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated, Literal

import typer

from lerim.cli.sessions.turns import export_session_command, facts_command
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    find_home,
    get_from_server,
    open_command_context,
    output,
    parse_time_option,
    with_error_exit,
)
from lerim.extraction import address_person
from lerim.memory import SPEAKER_NAMES
from lerim.sessions import Catalog, Platform, SessionFilters, agent_name, browsing, make_turn_snippet, session_title
from lerim.times import format_moment
from lerim.views import (
    SessionListOutput,
    ShownSessionOutput,
    SummaryView,
    TurnSearchOutput,
    load_session,
    load_session_list,
    open_catalog_if_any,
    search_turns,
)

sessions_app = typer.Typer(help="List, search and show the sessions of all agents.", no_args_is_help=True)

SearchUnit = Literal["turn", "session"]
AllRepositoriesOption = Annotated[
    bool, typer.Option("--all", help="Include the sessions of all repositories on this machine.")
]
AgentOption = Annotated[Platform | None, typer.Option(help="Only sessions of this agent.")]
BranchOption = Annotated[str, typer.Option(metavar="NAME", help="Only what was said on this git branch.")]
ModelOption = Annotated[str, typer.Option(metavar="NAME", help="Only answers of models whose name begins with this.")]
FileOption = Annotated[
    str,
    typer.Option(
        metavar="PATH", help="Only sessions that read or changed this file: a path, the end of one, or a name."
    ),
]
FailedOption = Annotated[bool, typer.Option("--failed", help="Only sessions in which a command failed.")]
SinceOption = Annotated[
    str, typer.Option(metavar="WHEN", help="Only what was said since this time, such as `14d` or `2026-07-01`.")
]
UntilOption = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said before this time.")]


@sessions_app.command("list")
@with_error_exit
def list_command(
    agent: AgentOption = None,
    branch: BranchOption = "",
    model: ModelOption = "",
    file: FileOption = "",
    failed: FailedOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="The most results to show.")] = 50,
    all_repositories: AllRepositoriesOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """List this repository's sessions, most recently ended first."""
    home = find_home()
    filters = _make_filters(repo, all_repositories, agent, branch, model, file, failed, since, until)
    query = _make_query(filters, since, until, limit)
    sessions = (
        get_from_server(home, ["sessions"], SessionListOutput, query) or load_session_list(home, filters, limit)
    ).sessions
    if as_json:
        output.show_json(SessionListOutput(sessions))
        return
    for view in sessions:
        counts = f"{output.pluralize(view.prompts, 'prompt')}, {output.pluralize(view.tool_calls, 'call')}"
        files = f", {output.pluralize(view.files, 'file')}" if view.files else ""
        gone = ", its transcript was deleted" if view.gone else ""
        subagent = ", a subagent's, whose parent session is missing" if view.parent_missing else ""
        name, when = agent_name(view.platform), format_moment(view.ended)
        output.show_item(view.id, [view.title, f"{name}, {when}, {counts}{files}, {view.folder}{subagent}{gone}"])
    if len(sessions) == limit:
        output.print_note(f"The last {limit}; --limit shows more.")
    if not sessions and filters != SessionFilters(projects=filters.projects):
        output.print_line("No session matches.")
    elif not sessions:
        can_be_elsewhere = home.catalog.exists() and not all_repositories
        more = "; `lerim sessions list --all` lists those of all repositories" if can_be_elsewhere else ""
        output.print_line(f"No sessions. Run `lerim sync` to read them{more}.")


@sessions_app.command("search")
@with_error_exit
def search_command(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="The words to find.")],
    by: Annotated[SearchUnit, typer.Option(help="List all matching turns, or the best turn of each session.")] = "turn",
    agent: AgentOption = None,
    branch: BranchOption = "",
    model: ModelOption = "",
    file: FileOption = "",
    failed: FailedOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="The most results to show.")] = 20,
    all_repositories: AllRepositoriesOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Search what was said and which commands were run, best match first."""
    home, words_text = find_home(), " ".join(words)
    filters = _make_filters(repo, all_repositories, agent, branch, model, file, failed, since, until)
    query = {**_make_query(filters, since, until, limit), "q": words_text, "by": by}
    found = get_from_server(home, ["sessions", "search"], TurnSearchOutput, query) or search_turns(
        home, words_text, filters, limit, by_session=by == "session"
    )
    if as_json:
        output.show_json(found)
        return
    with open_catalog_if_any(home) as catalog:
        titles = [_find_title(catalog, turn.id) for turn in found.turns] if catalog else []
    for turn, title in zip(found.turns, titles, strict=True):
        speaker = SPEAKER_NAMES["user" if turn.role == "user" else "assistant"]
        details = f"{agent_name(turn.platform)}, {speaker}, {format_moment(turn.time)}, in: {title}"
        snippet = make_turn_snippet(turn.text, turn.tools, words_text)
        output.show_item(f"{turn.session} --turn {turn.number}", [details, snippet])
    if not found.turns:
        output.print_line(
            "Nothing found." if home.catalog.exists() else "No sessions have been read yet. Run `lerim sync`."
        )


@sessions_app.command("show")
@with_error_exit
def show_command(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="The session's id; the first characters are enough.")
    ],
    turn: Annotated[str, typer.Option(metavar="ID|N", help="Only this turn: its id or number.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Print a session, starting with its summary, or one of its turns."""
    home, part = find_home(), {"turn": turn}
    shown = get_from_server(home, ["sessions", session], ShownSessionOutput, part) or load_session(home, session, turn)
    session_output, summary = shown.session, shown.summary
    if as_json:
        output.show_json(shown)
        return
    output.print_line(output.escape_controls(session_output.title))
    times = f"{format_moment(session_output.started)} to {format_moment(session_output.ended)}"
    session_name = f"{agent_name(session_output.platform)} session {session_output.id}"
    output.print_line(output.escape_controls(f"{session_name}, {times}, {session_output.folder}"))
    if summary is not None:
        _show_summary(summary)
    if not shown.turns and session_output.turns:
        output.print_note("All its turns are copies from another session; `lerim sessions search` finds them there.")
    for turn_output in shown.turns:
        output.print_line()
        speaker = SPEAKER_NAMES["user"] if turn_output.role == "user" else agent_name(turn_output.platform)
        output.print_line(
            output.escape_controls(f"[{turn_output.number}] {speaker}, {format_moment(turn_output.time)}")
        )
        for text, margin in ((turn_output.text, ""), (turn_output.tools, "  ")):
            if text:
                output.print_line(textwrap.indent(output.escape_controls(text, lines=True).rstrip(), margin))


def _show_summary(summary: SummaryView) -> None:
    sections = {
        "Summary": address_person(summary.description),
        "User intent": address_person(summary.user_intent),
        "What happened": address_person(summary.what_happened),
        "Outcome": address_person(summary.outcome),
        "Files": ", ".join(summary.files),
    }
    for name, text in sections.items():
        if text:
            output.print_line()
            output.print_line(name)
            output.print_line(textwrap.indent(output.escape_controls(text, lines=True), "  "))
    output.print_line()
    output.print_note(f"The summary is in {summary.path}")


def _make_filters(
    repo: Path,
    all_repositories: bool,
    agent: Platform | None,
    branch: str,
    model: str,
    file: str,
    failed: bool,
    since: str,
    until: str,
) -> SessionFilters:
    projects = None if all_repositories else (open_command_context(repo).project.key,)
    return SessionFilters(
        projects=projects,
        agent=agent,
        branch=branch,
        model=model,
        file=file,
        since=parse_time_option(since, "--since"),
        until=parse_time_option(until, "--until"),
        failed=failed,
    )


def _make_query(filters: SessionFilters, since: str, until: str, limit: int) -> dict[str, object]:
    """Returns the same filters, with the names that the API uses."""
    return {
        "project": filters.projects[0] if filters.projects else "",
        "agent": filters.agent,
        "branch": filters.branch,
        "model": filters.model,
        "file": filters.file,
        "failed": filters.failed,
        "since": since,
        "until": until,
        "limit": limit,
    }


def _find_title(catalog: Catalog, turn: str) -> str:
    """Returns the title of the session that a turn belongs to."""
    place = browsing.locate_turn(catalog.db, turn)
    session_item = browsing.find_list_item(catalog.db, place[0]) if place else None
    return session_title(session_item) if session_item else "(no title)"


sessions_app.command("facts")(facts_command)
sessions_app.command("export")(export_session_command)
