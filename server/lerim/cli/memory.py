"""`lerim memory list|search|show|add`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

import msgspec
import typer

from lerim.cli.review_output import format_type
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_drifts,
    find_missing_references,
    find_named_files,
    find_review_paths,
    make_memory_id_finder,
    open_command_context,
    open_personal_context,
    output,
    parse_named_references,
    parse_time_option,
    with_error_exit,
)
from lerim.errors import Problem
from lerim.memory import (
    KINDS,
    SEARCHED_PRIMITIVES,
    STATUSES,
    Drift,
    LearningKind,
    MemoryFilters,
    MemoryView,
    Scope,
    StoredMemory,
    Uses,
    combine_filters,
    is_match,
    load_all,
    memory_view,
    parse_memory_query,
    search_memories,
    with_current_status,
)
from lerim.review import ReviewPaths, find_ending, queue

memory_app = typer.Typer(help="List, search and change memories.", no_args_is_help=True)

PrimitiveName = Literal["decision", "learning", "question", "theme"]
T = TypeVar("T", bound=str)
Tags = Annotated[list[str], typer.Option("--tag", metavar="TAG", help="Can be repeated.")]
Primitives = Annotated[
    list[str],
    typer.Option(
        "--primitive",
        metavar="PRIMITIVE",
        help=f"Only this primitive; can be repeated: {', '.join(get_args(PrimitiveName))}.",
    ),
]
Kinds = Annotated[
    list[str],
    typer.Option("--kind", metavar="KIND", help=f"Only learnings of this kind; can be repeated: {', '.join(KINDS)}."),
]
File = Annotated[
    str,
    typer.Option(metavar="PATH", help="Only memories about this file or folder: a path, the end of one, or a name."),
]
Statuses = Annotated[
    list[str],
    typer.Option(
        "--status", metavar="STATUS", help=f"Only with this status: {', '.join(STATUSES)} or any. Default: active."
    ),
]
Archived = Annotated[
    bool, typer.Option("--archived", help="Also archived, superseded and resolved memories; the same as --status any.")
]
Since = Annotated[str, typer.Option(metavar="WHEN", help="Only memories changed since then: 30d, 2026-07-01.")]
Until = Annotated[str, typer.Option(metavar="WHEN", help="Only memories changed before then.")]


class ShownMemoryOutput(MemoryView, frozen=True):
    """What `memory show --json` prints: the memory, and of one that is over when it `ended` and `why`; "" where this
    installation did not see it."""

    ended: str = ""
    why: str = ""


class MemoriesView(msgspec.Struct, frozen=True):
    """What `memory list` and `memory search` print with `--json`."""

    memories: list[MemoryView]
    problems: list[Problem]


@memory_app.command("list")
@with_error_exit
def list_command(
    primitive: Primitives = [],  # noqa: B006 - typer reads it and never writes it
    kind: Kinds = [],  # noqa: B006 - as above
    tag: Tags = [],  # noqa: B006 - as above
    file: File = "",
    status: Statuses = [],  # noqa: B006 - as above
    since: Since = "",
    until: Until = "",
    archived: Archived = False,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """List this repository's memories, most recently changed first."""
    place = find_review_paths(repo, own)
    filters = _filters(place, primitive, kind, tag, file, status, archived, since, until)
    stored, problems = load_all(place.project, place.home, place.store())
    found = [one for one in with_current_status(stored) if is_match(one.record, one.status, filters)]
    found.sort(key=lambda one: (one.record.updated, one.record.id), reverse=True)
    stands = find_drifts(place, found, problems)
    if not as_json:  # what is not printed need not be searched for secrets
        found = [replace(one, record=replace(one.record, body="", evidence=(), tags=())) for one in found]
    _show([_view(one, "global" if own else "project", stands) for one in found], problems, as_json=as_json)


@memory_app.command("search")
@with_error_exit
def search_command(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[WORDS]", help="The words to find; if left out, the newest memories are shown."),
    ] = [],  # noqa: B006
    primitive: Primitives = [],  # noqa: B006 - as above
    kind: Kinds = [],  # noqa: B006 - as above
    tag: Tags = [],  # noqa: B006 - as above
    file: File = "",
    status: Statuses = [],  # noqa: B006 - as above
    since: Since = "",
    until: Until = "",
    limit: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="The most results to show. The default is the setting search.limit."),
    ] = None,
    archived: Archived = False,
    scan: Annotated[bool, typer.Option("--scan", help="Read every file instead of using the index.")] = False,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Find memories by their words, best first; your own global ones too. `kind:pitfall`, `is:drifted` and the other
    filters of the editor count here, too; several `--kind` or `--primitive` widen, several `--tag` narrow."""
    at = open_personal_context() if own else open_command_context(repo)
    problems: list[Problem] = []
    query, typed = parse_memory_query(" ".join(words))
    everything = bool(typed.drift_states)  # what its references became can be asked only of what was looked at
    stands = find_drifts(at.place, with_current_status(at.place.store().load_all()[0]) if everything else (), problems)
    filters = _filters(at.place, primitive, kind, tag, file, status, archived, since, until)
    typed = replace(typed, files=tuple(name for one in typed.files for name in find_named_files(at.place, one)))
    hits = search_memories(
        None if own else at.project,
        at.home,
        query,
        limit or at.settings.search_limit,
        filters=combine_filters(typed, filters, statuses=bool(status) or archived),
        scan=scan,
        problems=problems,
        rules=at.settings.maintenance_rules,
    )
    if not everything:
        stands |= find_drifts(at.place, [hit.stored for hit in hits if hit.scope == "project"], problems)
    _show([_view(hit.stored, hit.scope, stands) for hit in hits], problems, as_json=as_json)


def _filters(
    place: ReviewPaths,
    primitives: Sequence[str],
    kinds: Sequence[str],
    tags: Sequence[str],
    file: str,
    statuses: Sequence[str],
    archived: bool,
    since: str,
    until: str,
) -> MemoryFilters:
    if file and place.project.is_personal:
        raise typer.BadParameter("Leave it out: your own memories belong to no repository.", param_hint="--file")
    wanted = _chosen("--status", (*STATUSES, "any"), statuses)
    every = archived or "any" in wanted
    return MemoryFilters(
        primitives=_chosen("--primitive", SEARCHED_PRIMITIVES, primitives),
        kinds=_chosen("--kind", KINDS, kinds),
        tags=tuple(tags),
        files=find_named_files(place, file) if file else (),
        statuses=STATUSES if every else tuple(one for one in STATUSES if one in wanted) or ("active",),
        since=parse_time_option(since, "--since"),
        until=parse_time_option(until, "--until"),
    )


def _chosen(option: str, choices: Sequence[T], given: Sequence[str]) -> tuple[T, ...]:
    """The choices that were named. Raises typer.BadParameter for another word."""
    for word in given:
        if word not in choices:
            told = ", ".join(map(repr, choices))
            raise typer.BadParameter(f"{word!r} is not one of {told}.", param_hint=option)
    return tuple(choice for choice in choices if choice in given)


@memory_app.command("show")
@with_error_exit
def show_command(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="As shown by `lerim memory list`; the first characters are enough.")
    ],
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Print one memory with its evidence. Opening it counts as a use."""
    place = find_review_paths(repo, own)
    name = make_memory_id_finder(place)(memory_id)
    if not own and place.store().path_of(name) is None and place.personal().store().path_of(name) is not None:
        place, own = place.personal(), True  # a search and an answer show one's own, too
    stored = place.store().load_by_id(name)
    problems: list[Problem] = []
    if stored.status == "active":  # what others say of it counts, too
        everything = with_current_status(place.store().load_all(archived=True)[0])
        stored = next((one for one in everything if one.path == stored.path), stored)
    stands = find_drifts(place, [stored], problems)
    view = _view(stored, "global" if own else "project", stands)
    over = find_ending(place, stored)
    uses = Uses(place.private)
    uses.record_use([stored.record.id], "opened", datetime.now(UTC))
    problems += uses.problems
    shown = ShownMemoryOutput(**msgspec.structs.asdict(view), ended=over.time, why=over.why)
    output.print_problems(problems)
    if as_json:
        output.show_json(shown)
        return
    output.print_line(output.escape_controls(shown.title))
    kind = format_type(shown.primitive, shown.kind)
    output.print_line(f"{kind}, {shown.status}, confidence {shown.confidence:.2f}, {shown.updated[:10]}")
    if over.time:
        output.print_line(
            output.escape_controls(f"{shown.status} {over.time[:10]}{f': {over.why}' if over.why else ''}")
        )
    if shown.standing and (standing := stands.get(shown.id)):
        since = f" since {standing.since}" if standing.since else ""
        output.print_line(output.escape_controls(f"{shown.standing}{since}: {standing.detail}"))
    output.print_line("\n" + output.escape_controls(shown.body, lines=True).rstrip() + "\n")
    for quote in shown.evidence:
        words = f"“{output.escape_controls(quote.quote)}”" if quote.quote else "(the quote is kept on another machine)"
        output.print_line(f"  {quote.who}: {words}")
    for name, values in (("references", shown.references), ("tags", shown.tags)):
        if values:
            output.print_line(f"{name}: {output.escape_controls(', '.join(values))}")
    source = f"{shown.platform} session {shown.session}" if shown.session else "written by hand"
    output.print_line(f"source: {output.escape_controls(source)}\nfile: {output.escape_controls(shown.path)}")


@memory_app.command("add")
@with_error_exit
def add_command(
    title: Annotated[str, typer.Option(help="What holds, in one line: “Use uv, not pip”.")],
    primitive: Annotated[PrimitiveName, typer.Option(help="What it is.")] = "decision",
    body: Annotated[str | None, typer.Option(help="What, why and where.")] = None,
    kind: Annotated[LearningKind | None, typer.Option(help="The kind of a learning; “insight” if left out.")] = None,
    tag: Tags = [],  # noqa: B006 - as above
    reference: Annotated[
        list[str], typer.Option("--reference", metavar="PATH[#SYMBOL]", help="A file it is about. Can be repeated.")
    ] = [],  # noqa: B006 - as above
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Write a memory by hand."""
    if own and reference:
        raise typer.BadParameter("Leave it out: your own memories belong to no repository.", param_hint="--reference")
    if kind and primitive != "learning":
        raise typer.BadParameter(
            (f"A {primitive} has no kind; leave --kind out, or add a learning."), param_hint="--kind"
        )
    if body is not None and not body.strip():
        raise typer.BadParameter("The text is empty. Write some, or leave --body out.", param_hint="--body")
    if kind is None and primitive == "learning":
        kind = "insight"
    place = find_review_paths(repo, own)
    result = queue.add_memory(
        place,
        primitive,
        title,
        body or "",
        kind=kind,
        tags=tag,
        references=parse_named_references(place.project, reference),
    )
    stored = place.store().load(Path(result.path or ""))[0]
    if cut := result.message.partition("\n")[2]:
        output.print_note(f"note: {cut}")
    for lost in find_missing_references(place.project, stored.record.references):
        output.print_note(f"note: {output.escape_controls(lost)}")
    if as_json:
        output.show_json(memory_view(stored, "global" if own else "project"))
        return
    if result.code == "already":
        output.print_line(output.escape_controls(result.message))
        output.print_line(f"  file: {output.escape_controls(result.path or '')}")
        return
    output.print_line(f"Written: {output.escape_controls(Path(result.path or '').stem)}")
    taken_back = f"lerim review undo {result.action}{' --global' if own else ''}"
    output.print_line(f"  file: {output.escape_controls(result.path or '')}\n  undo: {taken_back}")


def _view(stored: StoredMemory, scope: Scope, stands: Mapping[str, Drift]) -> MemoryView:
    standing = stands.get(stored.record.id) if scope == "project" and stored.status == "active" else None
    shown: Literal["", "drifted", "gone"] = ""
    if standing is not None and (standing.state == "drifted" or standing.state == "gone"):
        shown = standing.state
    return msgspec.structs.replace(memory_view(stored, scope), standing=shown)


def _show(memories: list[MemoryView], problems: list[Problem], *, as_json: bool) -> None:
    if as_json:
        output.show_json(MemoriesView(memories, problems))
        return
    if memories:
        for view in memories:
            files = f" ({', '.join(view.references)})" if view.references else ""
            marks = (format_type(view.primitive, view.kind), view.scope, view.status, view.standing)
            told = ", ".join(mark for mark in marks if mark not in ("project", "active", ""))
            output.show_item(view.id, [f"{told}: {view.title}{files}"])
    else:
        output.print_line("No memories.")
    output.print_problems(problems)
