"""`lerim sessions list|search|show`: what was said in the sessions of every agent. All of it is shown clean."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    find_home,
    open_command_context,
    output,
    parse_time_option,
    with_error_exit,
)
from lerim.errors import NotFoundError, UsageError
from lerim.jobs import SummaryView, find_folder_projects, find_summary_view
from lerim.memory import format_time
from lerim.redaction import clean_text
from lerim.sessions import Catalog, Platform, SessionFilters, SessionListItem, TurnRow, browsing, tokenize_text

sessions_app = typer.Typer(help="List, search and show the sessions of all agents.", no_args_is_help=True)

SNIPPET = 200
"""Characters of a match that a list shows."""
MARGIN = 60
"""Of them before the first word found."""
TITLE = 120

By = Literal["turn", "session"]
Everywhere = Annotated[bool, typer.Option("--all", help="Sessions of all repositories on this machine.")]
Agent = Annotated[Platform | None, typer.Option(help="Only sessions of this agent.")]
Branch = Annotated[str, typer.Option(metavar="NAME", help="Only what was said on this git branch.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="Only answers of models whose name begins with this.")]
File = Annotated[
    str,
    typer.Option(
        metavar="PATH", help="Only sessions that read or changed this file: a path, the end of one, or a name."
    ),
]
Failed = Annotated[bool, typer.Option("--failed", help="Only sessions in which a command failed.")]
Since = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said since then: 14d, 2026-07-01.")]
Until = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said until then.")]


class TokensOutput(msgspec.Struct, frozen=True):
    """What the model calls of a session took."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class SessionOutput(msgspec.Struct, frozen=True):
    """A session as `--json` prints it. None: the agent's store has no number. `parent` is the session that started a
    subagent's, `parent_missing`: nothing was read of that one."""

    id: str
    platform: Platform
    title: str
    started: str
    ended: str
    folder: str
    branches: list[str]
    models: list[str]
    turns: int
    prompts: int
    tool_calls: int
    tool_errors: int
    files: int
    tokens: TokensOutput | None
    cost: float | None
    parent: str
    parent_missing: bool
    place: str
    gone: bool


class TurnOutput(msgspec.Struct, frozen=True):
    """A turn as `--json` prints it; `number` is its place in its session."""

    id: str
    session: str
    number: int
    platform: Platform
    role: str
    kind: str
    time: str
    folder: str
    text: str
    tools: str
    score: float


class SessionListOutput(msgspec.Struct, frozen=True):
    """What `sessions list --json` prints."""

    sessions: list[SessionOutput]


class TurnSearchOutput(msgspec.Struct, frozen=True):
    """What `sessions search --json` prints."""

    turns: list[TurnOutput]


class ShownSessionOutput(msgspec.Struct, frozen=True):
    """What `sessions show --json` prints. `summary` is None where the session has none, or one turn was asked for."""

    session: SessionOutput
    turns: list[TurnOutput]
    summary: SummaryView | None = None


@sessions_app.command("list")
@with_error_exit
def list_command(
    agent: Agent = None,
    branch: Branch = "",
    model: Model = "",
    file: File = "",
    failed: Failed = False,
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The most results to show.")] = 50,
    everywhere: Everywhere = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """List this repository's sessions, most recently ended first."""
    filters = _filters(repo, everywhere, agent, branch, model, file, failed, since, until)
    with _catalog() as catalog:
        found = catalog.list_filtered_sessions(filters, limit) if catalog else []
    if as_json:
        output.show_json(SessionListOutput([_session(one) for one in found]))
        return
    for one in found:
        shown = _session(one)
        counts = f"{output.pluralize(one.prompts, 'prompt')}, {output.pluralize(one.tool_calls, 'call')}"
        files = f", {output.pluralize(one.files, 'file')}" if one.files else ""
        gone = ", its transcript is gone" if shown.gone else ""
        subagent = ", a subagent's, whose parent session is missing" if shown.parent_missing else ""
        about = f"{shown.platform}, {_minute(shown.ended)}, {counts}{files}, {shown.folder}{subagent}{gone}"
        output.show_item(f"{shown.id}", [f"{shown.title}", about])
    if len(found) == limit:
        output.print_note(f"The last {limit}; --limit shows more.")
    if not found and filters != SessionFilters(projects=filters.projects):
        output.print_line("No session matches.")
    elif not found:
        more = "; `lerim sessions list --all` lists those of all repositories" if catalog and not everywhere else ""
        output.print_line(f"No sessions. `lerim sync` reads them{more}.")


@sessions_app.command("search")
@with_error_exit
def search_command(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="Any text.")],
    by: Annotated[By, typer.Option(help="List all matching turns, or the best turn of each session.")] = "turn",
    agent: Agent = None,
    branch: Branch = "",
    model: Model = "",
    file: File = "",
    failed: Failed = False,
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most results to show.")] = 20,
    everywhere: Everywhere = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Search what was said and which commands were run, best match first."""
    query = " ".join(words)
    filters = _filters(repo, everywhere, agent, branch, model, file, failed, since, until)
    with _catalog() as catalog:
        if catalog is None:
            found = []
        elif by == "session":
            found = catalog.search_sessions(query, limit=limit, filters=filters)
        else:
            found = catalog.search_turns(query, limit=limit, filters=filters)
        titles = [] if as_json or not catalog else [_title_of(catalog, one) for one in found]
    if as_json:
        output.show_json(TurnSearchOutput([_turn(one) for one in found]))
        return
    for one, title in zip(found, titles, strict=True):
        shown = _turn(one)
        head = f"{shown.session} --turn {shown.number}"
        about = f"{shown.platform}, {shown.role}, {_minute(shown.time)}, in: {title}"
        output.show_item(head, [about, _snippet(shown, query)])
    if not found:
        output.print_line("Nothing found." if catalog else "No sessions have been read yet. Run `lerim sync`.")


@sessions_app.command("show")
@with_error_exit
def show_command(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Its id, or the first characters of it.")],
    turn: Annotated[str, typer.Option(metavar="ID|N", help="Only this turn: its id, or its number.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Print a session, starting with its summary, or one of its turns."""
    with _catalog() as catalog:
        one = catalog.find_sessions_by_id(session) if catalog else []
        if not one or not catalog:
            raise NotFoundError(
                f"No session begins with {session!r}.", todo="`lerim sessions list --all` shows the ids."
            )
        if len(one) > 1:
            ids = ", ".join(brief.session_id for brief in one[:5])
            raise UsageError(f"Several sessions begin with {session!r}: {ids}.", todo="Give more characters of the id.")
        rows = [row for row in catalog.load_turns(one[0].place) if turn in ("", row.id, str(row.ordinal))]
    if turn and not rows:
        raise NotFoundError(
            f"The session has no turn {turn!r}.",
            todo=("Give a turn's number, or an id that `lerim sessions search` printed."),
        )
    shown = _session(one[0])
    summary = None if turn else _summary(one[0])
    if as_json:
        output.show_json(ShownSessionOutput(shown, [_turn(row) for row in rows], summary))
        return
    output.print_line(output.escape_controls(shown.title))
    times = f"{_minute(shown.started)} to {_minute(shown.ended)}"
    output.print_line(output.escape_controls(f"{shown.platform} session {shown.id}, {times}, {shown.folder}"))
    if summary is not None:
        _say_summary(summary)
    if not rows and shown.turns:
        output.print_note("All its turns are copies from another session; `lerim sessions search` finds them there.")
    for row in rows:
        said = _turn(row)
        output.print_line()
        output.print_line(output.escape_controls(f"[{said.number}] {said.role}, {_minute(said.time)}"))
        for text, margin in ((said.text, ""), (said.tools, "  ")):
            if text:
                output.print_line(textwrap.indent(output.escape_controls(text, lines=True).rstrip(), margin))


def _summary(one: SessionListItem) -> SummaryView | None:
    mine = find_home()
    return find_summary_view(find_folder_projects(one.cwds, mine), mine, one.platform, one.session_id)


def _say_summary(summary: SummaryView) -> None:
    told = {
        "Summary": summary.description,
        "User intent": summary.user_intent,
        "What happened": summary.what_happened,
        "Outcome": summary.outcome,
        "Files": ", ".join(summary.files),
    }
    for name, text in told.items():
        if text:
            output.print_line()
            output.print_line(name)
            output.print_line(textwrap.indent(output.escape_controls(text, lines=True), "  "))
    output.print_line()
    output.print_note(f"The summary is {summary.path}")


def _filters(
    repo: Path,
    everywhere: bool,
    agent: Platform | None,
    branch: str,
    model: str,
    file: str,
    failed: bool,
    since: str,
    until: str,
) -> SessionFilters:
    projects = None if everywhere else (open_command_context(repo).project.key,)
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


def _catalog() -> AbstractContextManager[Catalog | None]:
    """The catalog, or None where there is none yet: looking makes none."""
    mine = find_home()
    return Catalog.open(mine) if mine.catalog.exists() else nullcontext()


def _session(one: SessionListItem) -> SessionOutput:
    spent = one.tokens
    return SessionOutput(
        id=clean_text(one.session_id),
        platform=one.platform,
        title=_title(one),
        started=format_time(one.started) if one.started else "",
        ended=format_time(one.ended) if one.ended else "",
        folder=clean_text(one.cwds[0]) if one.cwds else "",
        branches=_cleaned(one.branches),
        models=_cleaned(one.models),
        turns=one.turns,
        prompts=one.prompts,
        tool_calls=one.tool_calls,
        tool_errors=one.tool_errors,
        files=one.files,
        tokens=TokensOutput(spent.input, spent.output, spent.cache_read, spent.cache_write) if spent else None,
        cost=one.cost,
        place=clean_text(one.place),
        parent=clean_text(one.parent),
        parent_missing=one.parent_missing,
        gone=one.vanished,
    )


def _turn(row: TurnRow) -> TurnOutput:
    return TurnOutput(
        id=row.id,
        session=clean_text(row.session),
        number=row.ordinal,
        platform=row.platform,
        role=row.role,
        kind=row.kind,
        time=format_time(row.time) if row.time else "",
        folder=clean_text(row.cwd),
        text=clean_text(row.text),
        tools=clean_text(row.tools),
        score=round(row.score, 3),
    )


def _minute(time: str) -> str:
    """A time for people."""
    return f"{time[:10]} {time[11:16]} UTC" if time else "at an unknown time"


def _title_of(catalog: Catalog, row: TurnRow) -> str:
    """What the session of a turn is called."""
    place = browsing.locate_turn(catalog.db, row.id)
    brief = browsing.find_list_item(catalog.db, place[0]) if place else None
    return _title(brief) if brief else "(no title)"


def _title(one: SessionListItem) -> str:
    return _line(one.title or one.opening, TITLE) or "(no title)"


def _cleaned(texts: Iterable[str]) -> list[str]:
    return [clean_text(text) for text in texts]


def _line(text: str, limit: int) -> str:
    """A text on one line; cleaned before it is cut, for a cut secret is none any more that can be known."""
    flat = " ".join(clean_text(text).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def _snippet(shown: TurnOutput, query: str) -> str:
    """What stands around the first word of the query that a turn has."""
    flat = " ".join(f"{shown.text}\n{shown.tools}".split())
    wanted = "|".join(re.escape(word[:-1] if len(word) > 4 else word) for word in tokenize_text(query))
    found = re.search(rf"(?<![^\W_])(?:{wanted})", flat, re.IGNORECASE) if wanted else None
    start = max(0, found.start() - MARGIN) if found else 0
    cut = flat[start : start + SNIPPET]
    return ("…" if start else "") + cut + ("…" if start + SNIPPET < len(flat) else "")
