"""`lerim memory edit|archive|restore|promote|globalize|kind|delete|verify|feedback|merge`: acts by hand on accepted
memories."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lerim import output
from lerim.cli_files import named_here
from lerim.cli_memory import PrimitiveName, memory_app
from lerim.cli_named import memory_named
from lerim.cli_place import HERE, Json, Own, Repo, guarded, place_of
from lerim.cli_review import ResultView, each, result_view, say
from lerim.cli_standing import unmet
from lerim.errors import UsageError
from lerim.memory.lifecycle import Feedback
from lerim.memory.record import MAX_FILE, LearningKind
from lerim.review import acts, joining
from lerim.review.place import Place
from lerim.review.queue import Edit, ReviewResult

__all__ = ["memory_app"]

Id = Annotated[str, typer.Argument(metavar="ID", help="As `lerim memory list` shows it; a beginning will do.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="As `lerim memory list` shows them; a beginning will do.")]


class JoinedView(msgspec.Struct, frozen=True):
    """What `memory merge --json` prints: the difference, and what was done (null: nothing yet, without `--yes`)."""

    diff: str
    result: ResultView | None = None


@memory_app.command("edit")
@guarded
def edit_command(
    memory_id: Id,
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    body: Annotated[str | None, typer.Option(help="The new text; `-` reads it from standard input.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="The new tags; may be repeated.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option("--reference", metavar="PATH[#SYMBOL]", help="The new files it speaks of; may be repeated."),
    ] = None,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Change a memory's words, tags or references."""
    if title is None and body is None and tag is None and reference is None:
        raise typer.BadParameter("Nothing is to be changed: give --title, --body, --tag or --reference.")
    place = place_of(repo, own)
    memory_id = memory_named(place)(memory_id)
    change = Edit(title, None if body is None else _typed(body), None if tag is None else tuple(tag))
    places = None if reference is None else named_here(place.project, reference)
    each([memory_id], lambda name: acts.edit(place, name, change, places), as_json=as_json, own=own)
    for lost in unmet(place.project, places or ()):
        output.note(f"note: {output.visible(lost)}")


def _typed(body: str) -> str:
    """The text an option gives, or standard input. Raises UsageError where that is no text or too much."""
    text = sys.stdin.read(MAX_FILE + 1) if body == "-" else body
    if not text.strip():
        todo = "Give its words, or leave --body out; `lerim memory archive` puts a memory away."
        raise UsageError("The text would be empty.", where="--body", todo=todo)
    if len(text) > MAX_FILE:
        raise UsageError(f"The text is longer than {MAX_FILE // 1024} kB.", where="--body -", todo="Shorten it.")
    return text


@memory_app.command("archive")
@guarded
def archive_command(
    ids: Ids,
    reason: Annotated[str, typer.Option(help="Why, for the list of what was done.")] = "",
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Put memories away: they are not shown any more, and can be restored."""
    _act(ids, lambda place, one: acts.archive(place, one, reason), repo, own, as_json)


@memory_app.command("restore")
@guarded
def restore_command(ids: Ids, own: Own = False, repo: Repo = HERE, as_json: Json = False) -> None:
    """Bring back memories that were archived, superseded or resolved."""
    _act(ids, acts.restore, repo, own, as_json)


@memory_app.command("promote")
@guarded
def promote_command(
    memory_id: Id,
    title: Annotated[str | None, typer.Option(help="What was decided; the question's own title if left out.")] = None,
    body: Annotated[str | None, typer.Option(help="Its text; `-` reads it from standard input.")] = None,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Answer an open question with a decision."""
    if title is None and body is None:
        raise typer.BadParameter("What was decided? Give --title, and --body for the why.")
    words = None if body is None else _typed(body)
    _act([memory_id], lambda place, one: acts.promote(place, one, title, words), repo, own, as_json)


@memory_app.command("globalize")
@guarded
def globalize_command(ids: Ids, repo: Repo = HERE, as_json: Json = False) -> None:
    """Copy memories among your own, found from every repository."""
    _act(ids, acts.globalize, repo, False, as_json)


@memory_app.command("kind")
@guarded
def kind_command(
    memory_id: Id,
    primitive: Annotated[PrimitiveName | None, typer.Option(help="What it is.")] = None,
    kind: Annotated[
        LearningKind | None, typer.Option(help="Of a learning; the one it had before, else “insight”.")
    ] = None,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Make a memory another primitive, or a learning of another kind."""
    if primitive is None and kind is None:
        raise typer.BadParameter("What shall it be? Give --primitive, or --kind of a learning.")
    to: PrimitiveName = primitive or "learning"
    if kind and to != "learning":
        raise typer.BadParameter(f"A {to} has no kind; leave it out.", param_hint="--kind")
    _act([memory_id], lambda place, one: acts.change_kind(place, one, to, kind), repo, own, as_json)


@memory_app.command("delete")
@guarded
def delete_command(ids: Ids, own: Own = False, repo: Repo = HERE, as_json: Json = False) -> None:
    """Delete themes; other memories are archived."""
    _act(ids, acts.delete_theme, repo, own, as_json)


@memory_app.command("verify")
@guarded
def verify_command(ids: Ids, own: Own = False, repo: Repo = HERE, as_json: Json = False) -> None:
    """Say that memories are still true of the files as they are."""

    def verify(place: Place, memory_id: str) -> ReviewResult:
        done = acts.verify(place, memory_id)
        for lost in unmet(place.project, place.store().read(memory_id).record.references):
            output.note(f"note: {memory_id}: {output.visible(lost)}; `lerim memory edit` names another place")
        return done

    _act(ids, verify, repo, own, as_json)


@memory_app.command("feedback")
@guarded
def feedback_command(
    memory_id: Id,
    said: Annotated[Feedback, typer.Argument(metavar="useful|wrong|outdated", help="What you think of it.")],
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Say what you think of a memory: it counts more, or less."""
    _act([memory_id], lambda place, one: acts.feedback(place, one, said), repo, own, as_json)


@memory_app.command("merge")
@guarded
def merge_command(
    memory_id: Id,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without being asked.")] = False,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Join both sides of a memory that git could not merge, or two files of one id; the difference is shown first."""
    place = place_of(repo, own)
    memory_id = memory_named(place)(memory_id)
    path = place.store().path_of(memory_id) or place.project.memory_dir / "decisions" / f"{memory_id}.md"
    look = joining.merge_conflict(place, path, preview=True)
    if not as_json:
        output.show_difference(look.diff)
        if not yes and not (sys.stdin.isatty() and sys.stdout.isatty() and typer.confirm("Join them so?")):
            output.note("note: nothing was written; `--yes` does it")
            return
    if as_json and not yes:
        output.show_json(JoinedView(look.diff))
        return
    done = joining.merge_conflict(place, path).result
    assert done is not None
    if as_json:
        output.show_json(JoinedView(look.diff, result_view(memory_id, done)))
    else:
        say(result_view(memory_id, done), own=own)


def _act(ids: list[str], act: Callable[[Place, str], ReviewResult], repo: Path, own: bool, as_json: bool) -> None:
    place = place_of(repo, own)
    each(ids, lambda one: act(place, one), named=memory_named(place), as_json=as_json, own=own)
