"""`lerim memory list|search|show|add`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

import msgspec
import typer

from lerim import output
from lerim.cli_files import files_named, named_here
from lerim.cli_named import memory_named
from lerim.cli_place import HERE, Json, Own, Repo, guarded, here, nowhere, place_of, when
from lerim.cli_review import name_of
from lerim.cli_standing import looked, unmet
from lerim.errors import Problem
from lerim.memory.ends import current
from lerim.memory.filters import SEARCHED, STATUSES, fits, narrowed, parsed
from lerim.memory.freshness import Standing
from lerim.memory.record import KINDS, LearningKind, Scope
from lerim.memory.search import Filters, load_all, search
from lerim.memory.store import Stored
from lerim.memory.uses import Uses
from lerim.memory.views import MemoryView, memory_view
from lerim.review import queue
from lerim.review.ended import ending
from lerim.review.place import Place

memory_app = typer.Typer(help="Accepted memories.", no_args_is_help=True)

PrimitiveName = Literal["decision", "learning", "question", "theme"]
T = TypeVar("T", bound=str)
Tags = Annotated[list[str], typer.Option("--tag", metavar="TAG", help="May be repeated.")]
Primitives = Annotated[
    list[str],
    typer.Option("--primitive", metavar="PRIMITIVE", help=f"Only these: {', '.join(get_args(PrimitiveName))}."),
]
Kinds = Annotated[
    list[str], typer.Option("--kind", metavar="KIND", help=f"Of the learnings only these: {', '.join(KINDS)}.")
]
File = Annotated[
    str,
    typer.Option(
        metavar="PATH", help="Only what refers to this file, to something in it or below it; a path, its end or a name."
    ),
]
Statuses = Annotated[
    list[str],
    typer.Option("--status", metavar="STATUS", help=f"Only these: {', '.join(STATUSES)} or any; active if left out."),
]
Archived = Annotated[bool, typer.Option("--archived", help="Whatever is over, too: --status any.")]
Since = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said or reworded since then: 30d, 2026-07-01.")]
Until = Annotated[str, typer.Option(metavar="WHEN", help="Only what was said or reworded before then.")]


class ShownView(MemoryView, frozen=True):
    """What `memory show --json` prints: the memory, and of one that is over when it `ended` and `why`; "" where this
    installation did not see it."""

    ended: str = ""
    why: str = ""


class MemoriesView(msgspec.Struct, frozen=True):
    """What `memory list` and `memory search` print with `--json`."""

    memories: list[MemoryView]
    problems: list[Problem]


@memory_app.command("list")
@guarded
def list_command(
    primitive: Primitives = [],  # noqa: B006 - typer reads it and never writes it
    kind: Kinds = [],  # noqa: B006 - as above
    tag: Tags = [],  # noqa: B006 - as above
    file: File = "",
    status: Statuses = [],  # noqa: B006 - as above
    since: Since = "",
    until: Until = "",
    archived: Archived = False,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """List the memories of this repository, the one changed last first."""
    place = place_of(repo, own)
    filters = _filters(place, primitive, kind, tag, file, status, archived, since, until)
    stored, problems = load_all(place.project, place.home, place.store())
    found = [one for one in current(stored) if fits(one.record, one.status, filters)]
    found.sort(key=lambda one: (one.record.updated, one.record.id), reverse=True)
    stands = looked(place, found, problems)
    if not as_json:  # what is not printed need not be searched for secrets
        found = [replace(one, record=replace(one.record, body="", evidence=(), tags=())) for one in found]
    _show([_view(one, "global" if own else "project", stands) for one in found], problems, as_json=as_json)


@memory_app.command("search")
@guarded
def search_command(
    words: Annotated[list[str], typer.Argument(metavar="[WORDS]", help="Any text; without any, the newest.")] = [],  # noqa: B006
    primitive: Primitives = [],  # noqa: B006 - as above
    kind: Kinds = [],  # noqa: B006 - as above
    tag: Tags = [],  # noqa: B006 - as above
    file: File = "",
    status: Statuses = [],  # noqa: B006 - as above
    since: Since = "",
    until: Until = "",
    limit: Annotated[
        int | None, typer.Option(min=1, max=1000, help="At most so many; the setting search.limit.")
    ] = None,
    archived: Archived = False,
    scan: Annotated[bool, typer.Option("--scan", help="Read every file; use and write no index.")] = False,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Find memories by their words, best first; your own global ones too. `kind:pitfall`, `is:drifted` and the other
    filters of the editor count here, too; several `--kind` or `--primitive` widen, several `--tag` narrow."""
    at = nowhere() if own else here(repo)
    problems: list[Problem] = []
    query, typed = parsed(" ".join(words))
    everything = bool(typed.standings)  # what its references became can be asked only of what was looked at
    stands = looked(at.place, current(at.place.store().load_all()[0]) if everything else (), problems)
    filters = _filters(at.place, primitive, kind, tag, file, status, archived, since, until)
    typed = replace(typed, files=tuple(name for one in typed.files for name in files_named(at.place, one)))
    hits = search(
        None if own else at.project,
        at.home,
        query,
        limit or at.settings.search_limit,
        filters=narrowed(typed, filters, statuses=bool(status) or archived),
        scan=scan,
        problems=problems,
        rules=at.settings.rules,
    )
    if not everything:
        stands |= looked(at.place, [hit.stored for hit in hits if hit.scope == "project"], problems)
    _show([_view(hit.stored, hit.scope, stands) for hit in hits], problems, as_json=as_json)


def _filters(
    place: Place,
    primitives: Sequence[str],
    kinds: Sequence[str],
    tags: Sequence[str],
    file: str,
    statuses: Sequence[str],
    archived: bool,
    since: str,
    until: str,
) -> Filters:
    if file and place.project.is_personal:
        raise typer.BadParameter("Your own memories belong to no repository; leave it out.", param_hint="--file")
    wanted = _chosen("--status", (*STATUSES, "any"), statuses)
    every = archived or "any" in wanted
    return Filters(
        primitives=_chosen("--primitive", SEARCHED, primitives),
        kinds=_chosen("--kind", KINDS, kinds),
        tags=tuple(tags),
        files=files_named(place, file) if file else (),
        statuses=STATUSES if every else tuple(one for one in STATUSES if one in wanted) or ("active",),
        since=when(since, "--since"),
        until=when(until, "--until"),
    )


def _chosen(option: str, choices: Sequence[T], given: Sequence[str]) -> tuple[T, ...]:
    """The choices that were named. Raises typer.BadParameter for another word."""
    for word in given:
        if word not in choices:
            told = ", ".join(map(repr, choices))
            raise typer.BadParameter(f"{word!r} is not one of {told}.", param_hint=option)
    return tuple(choice for choice in choices if choice in given)


@memory_app.command("show")
@guarded
def show_command(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="As `list` shows it; a beginning will do.")],
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Print one memory with its evidence. Opening it counts as a use."""
    place = place_of(repo, own)
    name = memory_named(place)(memory_id)
    if not own and place.store().path_of(name) is None and place.personal().store().path_of(name) is not None:
        place, own = place.personal(), True  # a search and an answer show one's own, too
    stored = place.store().read(name)
    problems: list[Problem] = []
    if stored.status == "active":  # what others say of it counts, too
        everything = current(place.store().load_all(archived=True)[0])
        stored = next((one for one in everything if one.path == stored.path), stored)
    stands = looked(place, [stored], problems)
    view = _view(stored, "global" if own else "project", stands)
    over = ending(place, stored)
    uses = Uses(place.private)
    uses.note([stored.record.id], "opened", datetime.now(UTC))
    problems += uses.problems
    shown = ShownView(**msgspec.structs.asdict(view), ended=over.time, why=over.why)
    output.warn(problems)
    if as_json:
        output.show_json(shown)
        return
    output.say(output.visible(shown.title))
    kind = name_of(shown.primitive, shown.kind)
    output.say(f"{kind}, {shown.status}, confidence {shown.confidence:.2f}, {shown.updated[:10]}")
    if over.time:
        output.say(output.visible(f"{shown.status} {over.time[:10]}{f': {over.why}' if over.why else ''}"))
    if shown.standing and (standing := stands.get(shown.id)):
        since = f" since {standing.since}" if standing.since else ""
        output.say(output.visible(f"{shown.standing}{since}: {standing.detail}"))
    output.say("\n" + output.visible(shown.body, lines=True).rstrip() + "\n")
    for quote in shown.evidence:
        words = f"“{output.visible(quote.quote)}”" if quote.quote else "(the quote is kept on another machine)"
        output.say(f"  {quote.who}: {words}")
    for name, values in (("references", shown.references), ("tags", shown.tags)):
        if values:
            output.say(f"{name}: {output.visible(', '.join(values))}")
    source = f"{shown.platform} session {shown.session}" if shown.session else "written by hand"
    output.say(f"source: {output.visible(source)}\nfile: {output.visible(shown.path)}")


@memory_app.command("add")
@guarded
def add_command(
    title: Annotated[str, typer.Option(help="One line that says what holds: “Use uv, not pip”.")],
    primitive: Annotated[PrimitiveName, typer.Option(help="What it is.")] = "decision",
    body: Annotated[str | None, typer.Option(help="What, why and where.")] = None,
    kind: Annotated[LearningKind | None, typer.Option(help="Of a learning; “insight” if left out.")] = None,
    tag: Tags = [],  # noqa: B006 - as above
    reference: Annotated[
        list[str], typer.Option("--reference", metavar="PATH[#SYMBOL]", help="A file it speaks of; may be repeated.")
    ] = [],  # noqa: B006 - as above
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Write a memory by hand."""
    if own and reference:
        raise typer.BadParameter("Your own memories belong to no repository; leave it out.", param_hint="--reference")
    if kind and primitive != "learning":
        raise typer.BadParameter(f"A {primitive} has no kind; leave it out, or add a learning.", param_hint="--kind")
    if body is not None and not body.strip():
        raise typer.BadParameter("The text is empty; give its words, or leave --body out.", param_hint="--body")
    if kind is None and primitive == "learning":
        kind = "insight"
    place = place_of(repo, own)
    result = queue.add(
        place, primitive, title, body or "", kind=kind, tags=tag, references=named_here(place.project, reference)
    )
    stored = place.store().load(Path(result.path or ""))[0]
    if cut := result.message.partition("\n")[2]:
        output.note(f"note: {cut}")
    for lost in unmet(place.project, stored.record.references):
        output.note(f"note: {output.visible(lost)}")
    if as_json:
        output.show_json(memory_view(stored, "global" if own else "project"))
        return
    if result.code == "already":
        output.say(output.visible(result.message))
        output.say(f"  file: {output.visible(result.path or '')}")
        return
    output.say(f"Written: {output.visible(Path(result.path or '').stem)}")
    taken_back = f"lerim review undo {result.action}{' --global' if own else ''}"
    output.say(f"  file: {output.visible(result.path or '')}\n  take back: {taken_back}")


def _view(stored: Stored, scope: Scope, stands: Mapping[str, Standing]) -> MemoryView:
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
            marks = (name_of(view.primitive, view.kind), view.scope, view.status, view.standing)
            told = ", ".join(mark for mark in marks if mark not in ("project", "active", ""))
            output.show_item(view.id, [f"{told}: {view.title}{files}"])
    else:
        output.say("No memories.")
    output.warn(problems)
