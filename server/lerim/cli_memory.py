"""`lerim memory list|search|show|add`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from lerim import output
from lerim.cli_place import HERE, Json, Own, Repo, guarded, here, place_of
from lerim.cli_review import name_of
from lerim.errors import Problem
from lerim.memory.record import LearningKind
from lerim.memory.reference import written
from lerim.memory.search import EVERY_STATUS, Filters, search
from lerim.memory.views import MemoryView, memory_view
from lerim.review import queue

memory_app = typer.Typer(help="Accepted memories.", no_args_is_help=True)

PrimitiveName = Literal["decision", "learning", "question", "theme"]
Tags = Annotated[list[str], typer.Option("--tag", metavar="TAG", help="May be repeated.")]


class MemoriesView(msgspec.Struct, frozen=True):
    """What `memory list` and `memory search` print with `--json`."""

    memories: list[MemoryView]
    problems: list[Problem]


@memory_app.command("list")
@guarded
def list_command(
    primitive: Annotated[PrimitiveName | None, typer.Option(help="Only memories of this kind.")] = None,
    tag: Tags = [],  # noqa: B006 - typer reads it and never writes it
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones too.")] = False,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """List the memories of this repository, newest first."""
    stored, problems = place_of(repo, own).store().load_all(archived=archived)
    wanted = [
        item
        for item in stored
        if (primitive is None or item.record.primitive == primitive) and set(tag) <= set(item.record.tags)
    ]
    wanted.sort(key=lambda item: (item.record.updated, item.record.id), reverse=True)
    _show([memory_view(item, "global" if own else "project") for item in wanted], problems, as_json=as_json)


@memory_app.command("search")
@guarded
def search_command(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Any text.")],
    limit: Annotated[
        int | None, typer.Option(min=1, max=1000, help="At most so many; the setting search.limit.")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones too.")] = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Find memories by their words, best first; your own global ones too."""
    at = here(repo)
    problems: list[Problem] = []
    hits = search(
        at.project,
        at.home,
        " ".join(words),
        limit or at.settings.search_limit,
        filters=EVERY_STATUS if archived else Filters(),
        problems=problems,
    )
    _show([memory_view(hit.stored, hit.scope) for hit in hits], problems, as_json=as_json)


@memory_app.command("show")
@guarded
def show_command(
    memory_id: Annotated[str, typer.Argument(metavar="ID")],
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Print one memory with its evidence."""
    shown = memory_view(place_of(repo, own).store().read(memory_id), "global" if own else "project")
    if as_json:
        output.show_json(shown)
        return
    output.say(output.visible(shown.title))
    kind = name_of(shown.primitive, shown.kind)
    output.say(f"{kind}, {shown.status}, confidence {shown.confidence:.2f}, {shown.updated[:10]}")
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
    body: Annotated[str, typer.Option(help="What, why and where.")] = "",
    kind: Annotated[LearningKind | None, typer.Option(help="Of a learning; “insight” if left out.")] = None,
    tag: Tags = [],  # noqa: B006 - as above
    reference: Annotated[
        list[str], typer.Option("--reference", metavar="PATH[#SYMBOL]", help="A file it speaks of; may be repeated.")
    ] = [],  # noqa: B006 - as above
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Write a memory of your own."""
    if kind and primitive != "learning":
        raise typer.BadParameter(f"A {primitive} has no kind; leave it out, or add a learning.", param_hint="--kind")
    if kind is None and primitive == "learning":
        kind = "insight"
    at = here(repo)
    result = queue.add(at.place, primitive, title, body, kind=kind, tags=tag, references=written(reference))
    if cut := result.message.partition("\n")[2]:
        output.note(f"note: {cut}")
    if as_json:
        output.show_json(memory_view(at.place.store().load(Path(result.path or ""))[0]))
        return
    output.say(f"Written: {output.visible(result.path or '')}")


def _show(memories: list[MemoryView], problems: list[Problem], *, as_json: bool) -> None:
    if as_json:
        output.show_json(MemoriesView(memories, problems))
        return
    if memories:
        for view in memories:
            files = f" ({', '.join(view.references)})" if view.references else ""
            own = ", global" if view.scope == "global" else ""
            output.show_item(view.id, [f"{name_of(view.primitive, view.kind)}{own}: {view.title}{files}"])
    else:
        output.say("No memories.")
    output.warn(problems)
