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

from lerim import output
from lerim.cli_place import HERE, Json, Repo, guarded, here, home, when
from lerim.errors import NotFoundError, UsageError
from lerim.memory.lines import moment
from lerim.redaction import clean
from lerim.sessions import browsing
from lerim.sessions.browsing import Brief
from lerim.sessions.catalog import Catalog, TurnRow
from lerim.sessions.filters import Filters
from lerim.sessions.model import Platform
from lerim.sessions.query import tokens
from lerim.summary_view import SummaryView, projects_of, summary_of

sessions_app = typer.Typer(help="What was said in the sessions of every agent.", no_args_is_help=True)

SNIPPET = 200
"""Characters of a match that a list shows."""
MARGIN = 60
"""Of them before the first word found."""
TITLE = 120

By = Literal["turn", "session"]
Everywhere = Annotated[bool, typer.Option("--all", help="The sessions of the whole machine.")]
Agent = Annotated[Platform | None, typer.Option(help="Only sessions of this agent.")]
Branch = Annotated[str, typer.Option(metavar="NAME", help="Only what was said on this git branch.")]
Model = Annotated[str, typer.Option(metavar="NAME", help="Only answers of a model whose name begins so.")]
File = Annotated[
    str, typer.Option(metavar="PATH", help="Only where this file was read or changed: a path, its end, or a name.")
]
Failed = Annotated[bool, typer.Option("--failed", help="Only where a command failed.")]
Since = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said since then: 14d, 2026-07-01.")]
Until = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said until then.")]


class TokensView(msgspec.Struct, frozen=True):
    """What the model calls of a session took."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class SessionView(msgspec.Struct, frozen=True):
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
    tokens: TokensView | None
    cost: float | None
    parent: str
    parent_missing: bool
    place: str
    gone: bool


class TurnView(msgspec.Struct, frozen=True):
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


class SessionsView(msgspec.Struct, frozen=True):
    """What `sessions list --json` prints."""

    sessions: list[SessionView]


class TurnsView(msgspec.Struct, frozen=True):
    """What `sessions search --json` prints."""

    turns: list[TurnView]


class ShownView(msgspec.Struct, frozen=True):
    """What `sessions show --json` prints. `summary` is None where the session has none, or one turn was asked for."""

    session: SessionView
    turns: list[TurnView]
    summary: SummaryView | None = None


@sessions_app.command("list")
@guarded
def list_command(
    agent: Agent = None,
    branch: Branch = "",
    model: Model = "",
    file: File = "",
    failed: Failed = False,
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50,
    everywhere: Everywhere = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """List sessions of this repository, the last ended first."""
    filters = _filters(repo, everywhere, agent, branch, model, file, failed, since, until)
    with _catalog() as catalog:
        found = catalog.briefs(filters, limit) if catalog else []
    if as_json:
        output.show_json(SessionsView([_session(one) for one in found]))
        return
    for one in found:
        shown = _session(one)
        counts = f"{output.counted(one.prompts, 'prompt')}, {output.counted(one.tool_calls, 'call')}"
        files = f", {output.counted(one.files, 'file')}" if one.files else ""
        gone = ", its transcript is gone" if shown.gone else ""
        subagent = ", a subagent's, whose parent session is missing" if shown.parent_missing else ""
        about = f"{shown.platform}, {_minute(shown.ended)}, {counts}{files}, {shown.folder}{subagent}{gone}"
        output.show_item(f"{shown.id}", [f"{shown.title}", about])
    if len(found) == limit:
        output.note(f"The last {limit}; --limit shows more.")
    if not found and filters != Filters(projects=filters.projects):
        output.say("No session is like that.")
    elif not found:
        more = "; `lerim sessions list --all` has those of the whole machine" if catalog and not everywhere else ""
        output.say(f"No sessions. `lerim sync` reads them{more}.")


@sessions_app.command("search")
@guarded
def search_command(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="Any text.")],
    by: Annotated[By, typer.Option(help="All turns that match, or of each session the best.")] = "turn",
    agent: Agent = None,
    branch: Branch = "",
    model: Model = "",
    file: File = "",
    failed: Failed = False,
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    everywhere: Everywhere = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Find what was said, and commands that were run, best first."""
    query = " ".join(words)
    filters = _filters(repo, everywhere, agent, branch, model, file, failed, since, until)
    with _catalog() as catalog:
        if catalog is None:
            found = []
        elif by == "session":
            found = catalog.search_sessions(query, limit=limit, filters=filters)
        else:
            found = catalog.search(query, limit=limit, filters=filters)
        titles = [] if as_json or not catalog else [_title_of(catalog, one) for one in found]
    if as_json:
        output.show_json(TurnsView([_turn(one) for one in found]))
        return
    for one, title in zip(found, titles, strict=True):
        shown = _turn(one)
        head = f"{shown.session} --turn {shown.number}"
        about = f"{shown.platform}, {shown.role}, {_minute(shown.time)}, in: {title}"
        output.show_item(head, [about, _snippet(shown, query)])
    if not found:
        output.say("Nothing found." if catalog else "No sessions were read yet; `lerim sync` reads them.")


@sessions_app.command("show")
@guarded
def show_command(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Its id, or the beginning of it.")],
    turn: Annotated[str, typer.Option(metavar="ID|N", help="Only this turn: its id, or its number.")] = "",
    as_json: Json = False,
) -> None:
    """Print a session, its summary first, or one turn of it."""
    with _catalog() as catalog:
        one = catalog.named(session) if catalog else []
        if not one or not catalog:
            raise NotFoundError(
                f"No session begins with {session!r}.", todo="See the ids with `lerim sessions list --all`."
            )
        if len(one) > 1:
            ids = ", ".join(brief.session for brief in one[:5])
            raise UsageError(f"Several sessions begin with {session!r}: {ids}.", todo="Give more of the id.")
        rows = [row for row in catalog.turns_of(one[0].place) if turn in ("", row.id, str(row.ordinal))]
    if turn and not rows:
        raise NotFoundError(f"The session has no turn {turn!r}.", todo="Give a number or an id that search printed.")
    shown = _session(one[0])
    summary = None if turn else _summary(one[0])
    if as_json:
        output.show_json(ShownView(shown, [_turn(row) for row in rows], summary))
        return
    output.say(output.visible(shown.title))
    times = f"{_minute(shown.started)} to {_minute(shown.ended)}"
    output.say(output.visible(f"{shown.platform} session {shown.id}, {times}, {shown.folder}"))
    if summary is not None:
        _say_summary(summary)
    if not rows and shown.turns:
        output.note("All its turns were copied from another session, where `lerim sessions search` finds them.")
    for row in rows:
        said = _turn(row)
        output.say()
        output.say(output.visible(f"[{said.number}] {said.role}, {_minute(said.time)}"))
        for text, margin in ((said.text, ""), (said.tools, "  ")):
            if text:
                output.say(textwrap.indent(output.visible(text, lines=True).rstrip(), margin))


def _summary(one: Brief) -> SummaryView | None:
    mine = home()
    return summary_of(projects_of(one.cwds, mine), mine, one.platform, one.session)


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
            output.say()
            output.say(name)
            output.say(textwrap.indent(output.visible(text, lines=True), "  "))
    output.say()
    output.note(f"The summary is {summary.path}")


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
) -> Filters:
    projects = None if everywhere else (here(repo).project.key,)
    return Filters(
        projects=projects,
        agent=agent,
        branch=branch,
        model=model,
        file=file,
        since=when(since, "--since"),
        until=when(until, "--until"),
        failed=failed,
    )


def _catalog() -> AbstractContextManager[Catalog | None]:
    """The catalog, or None where there is none yet: looking makes none."""
    mine = home()
    return Catalog.open(mine) if mine.catalog.exists() else nullcontext()


def _session(one: Brief) -> SessionView:
    spent = one.tokens
    return SessionView(
        id=clean(one.session),
        platform=one.platform,
        title=_title(one),
        started=moment(one.started) if one.started else "",
        ended=moment(one.ended) if one.ended else "",
        folder=clean(one.cwds[0]) if one.cwds else "",
        branches=_cleaned(one.branches),
        models=_cleaned(one.models),
        turns=one.turns,
        prompts=one.prompts,
        tool_calls=one.tool_calls,
        tool_errors=one.tool_errors,
        files=one.files,
        tokens=TokensView(spent.input, spent.output, spent.cache_read, spent.cache_write) if spent else None,
        cost=one.cost,
        place=clean(one.place),
        parent=clean(one.parent),
        parent_missing=one.parent_missing,
        gone=one.vanished,
    )


def _turn(row: TurnRow) -> TurnView:
    return TurnView(
        id=row.id,
        session=clean(row.session),
        number=row.ordinal,
        platform=row.platform,
        role=row.role,
        kind=row.kind,
        time=moment(row.time) if row.time else "",
        folder=clean(row.cwd),
        text=clean(row.text),
        tools=clean(row.tools),
        score=round(row.score, 3),
    )


def _minute(time: str) -> str:
    """A time for people."""
    return f"{time[:10]} {time[11:16]} UTC" if time else "at no known time"


def _title_of(catalog: Catalog, row: TurnRow) -> str:
    """What the session of a turn is called."""
    place = browsing.place_of(catalog.db, row.id)
    brief = browsing.session(catalog.db, place[0]) if place else None
    return _title(brief) if brief else "(no title)"


def _title(one: Brief) -> str:
    return _line(one.title or one.opening, TITLE) or "(no title)"


def _cleaned(texts: Iterable[str]) -> list[str]:
    return [clean(text) for text in texts]


def _line(text: str, limit: int) -> str:
    """A text on one line; cleaned before it is cut, for a cut secret is none any more that can be known."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def _snippet(shown: TurnView, query: str) -> str:
    """What stands around the first word of the query that a turn has."""
    flat = " ".join(f"{shown.text}\n{shown.tools}".split())
    wanted = "|".join(re.escape(word[:-1] if len(word) > 4 else word) for word in tokens(query))
    found = re.search(rf"(?<![^\W_])(?:{wanted})", flat, re.IGNORECASE) if wanted else None
    start = max(0, found.start() - MARGIN) if found else 0
    cut = flat[start : start + SNIPPET]
    return ("…" if start else "") + cut + ("…" if start + SNIPPET < len(flat) else "")
