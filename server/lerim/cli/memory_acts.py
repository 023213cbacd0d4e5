"""`lerim memory edit|archive|restore|promote|globalize|kind|delete|verify|feedback|merge`: acts by hand on accepted
memories."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lerim.cli.memory import PrimitiveName, memory_app
from lerim.cli.review_output import ResultView, act_on_each, make_result_view, show_result
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_missing_references,
    find_review_paths,
    make_memory_id_finder,
    output,
    parse_named_references,
    with_error_exit,
)
from lerim.errors import UsageError
from lerim.memory import MAX_FILE_BYTES, Feedback, LearningKind
from lerim.review import CandidateEdit, ReviewPaths, ReviewResult, acts, merge_conflict

__all__ = ["memory_app"]

Id = Annotated[
    str, typer.Argument(metavar="ID", help="As shown by `lerim memory list`; the first characters are enough.")
]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="As shown by `lerim memory list`; the first characters are enough.")
]


class MergedFileOutput(msgspec.Struct, frozen=True):
    """What `memory merge --json` prints: the difference, and what was done (null: nothing yet, without `--yes`)."""

    diff: str
    result: ResultView | None = None


@memory_app.command("edit")
@with_error_exit
def edit_command(
    memory_id: Id,
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    body: Annotated[str | None, typer.Option(help="The new text; `-` reads it from standard input.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="The new tags. Can be repeated.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option("--reference", metavar="PATH[#SYMBOL]", help="The new files it is about. Can be repeated."),
    ] = None,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Change a memory's words, tags or references."""
    if title is None and body is None and tag is None and reference is None:
        raise typer.BadParameter("There is nothing to change. Give --title, --body, --tag or --reference.")
    place = find_review_paths(repo, own)
    memory_id = make_memory_id_finder(place)(memory_id)
    change = CandidateEdit(title, None if body is None else _typed(body), None if tag is None else tuple(tag))
    places = None if reference is None else parse_named_references(place.project, reference)
    act_on_each([memory_id], lambda name: acts.edit_memory(place, name, change, places), as_json=as_json, own=own)
    for lost in find_missing_references(place.project, places or ()):
        output.print_note(f"note: {output.escape_controls(lost)}")


def _typed(body: str) -> str:
    """The text an option gives, or standard input. Raises UsageError where that is no text or too much."""
    text = sys.stdin.read(MAX_FILE_BYTES + 1) if body == "-" else body
    if not text.strip():
        todo = "Write some, or leave --body out. To remove a memory, use `lerim memory archive`."
        raise UsageError("The text would be empty.", where="--body", todo=todo)
    if len(text) > MAX_FILE_BYTES:
        raise UsageError(f"The text is longer than {MAX_FILE_BYTES // 1024} kB.", where="--body -", todo="Shorten it.")
    return text


@memory_app.command("archive")
@with_error_exit
def archive_command(
    ids: Ids,
    reason: Annotated[str, typer.Option(help="The reason, shown in the history.")] = "",
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Archive memories. They are no longer shown, but can be restored."""
    _act(ids, lambda place, one: acts.archive_memory(place, one, reason), repo, own, as_json)


@memory_app.command("restore")
@with_error_exit
def restore_command(
    ids: Ids, own: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Restore memories that were archived, superseded or resolved."""
    _act(ids, acts.restore_memory, repo, own, as_json)


@memory_app.command("promote")
@with_error_exit
def promote_command(
    memory_id: Id,
    title: Annotated[str | None, typer.Option(help="What was decided; the question's own title if left out.")] = None,
    body: Annotated[str | None, typer.Option(help="Its text; `-` reads it from standard input.")] = None,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Answer an open question with a decision."""
    if title is None and body is None:
        raise typer.BadParameter("What was decided? Give --title, and --body for the why.")
    words = None if body is None else _typed(body)
    _act([memory_id], lambda place, one: acts.promote_question(place, one, title, words), repo, own, as_json)


@memory_app.command("globalize")
@with_error_exit
def globalize_command(ids: Ids, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Copy memories to your own, which are found from every repository."""
    _act(ids, acts.globalize_memory, repo, False, as_json)


@memory_app.command("kind")
@with_error_exit
def kind_command(
    memory_id: Id,
    primitive: Annotated[PrimitiveName | None, typer.Option(help="What it is.")] = None,
    kind: Annotated[
        LearningKind | None, typer.Option(help="The kind of a learning; its former kind, or “insight”, if left out.")
    ] = None,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Change a memory's primitive, or the kind of a learning."""
    if primitive is None and kind is None:
        raise typer.BadParameter("Give --primitive, or --kind for a learning.")
    to: PrimitiveName = primitive or "learning"
    if kind and to != "learning":
        raise typer.BadParameter(f"A {to} has no kind; leave --kind out.", param_hint="--kind")
    _act([memory_id], lambda place, one: acts.change_kind(place, one, to, kind), repo, own, as_json)


@memory_app.command("delete")
@with_error_exit
def delete_command(
    ids: Ids, own: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Delete themes. Other memories cannot be deleted, only archived."""
    _act(ids, acts.delete_theme, repo, own, as_json)


@memory_app.command("verify")
@with_error_exit
def verify_command(
    ids: Ids, own: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Confirm that memories still hold for the code as it is now."""

    def verify(place: ReviewPaths, memory_id: str) -> ReviewResult:
        done = acts.verify_memory(place, memory_id)
        for lost in find_missing_references(place.project, place.store().load_by_id(memory_id).record.references):
            output.print_note(
                f"note: {memory_id}: {output.escape_controls(lost)}; `lerim memory edit` can name another file"
            )
        return done

    _act(ids, verify, repo, own, as_json)


@memory_app.command("feedback")
@with_error_exit
def feedback_command(
    memory_id: Id,
    said: Annotated[Feedback, typer.Argument(metavar="useful|wrong|outdated", help="What you think of it.")],
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Rate a memory, so that it ranks higher or lower."""
    _act([memory_id], lambda place, one: acts.give_feedback(place, one, said), repo, own, as_json)


@memory_app.command("merge")
@with_error_exit
def merge_command(
    memory_id: Id,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Merge both sides of a memory with a git conflict, or two files with one id. Shows the difference first."""
    place = find_review_paths(repo, own)
    memory_id = make_memory_id_finder(place)(memory_id)
    path = place.store().path_of(memory_id) or place.project.memory_dir / "decisions" / f"{memory_id}.md"
    look = merge_conflict(place, path, preview=True)
    if not as_json:
        output.show_difference(look.diff)
        if not yes and not (sys.stdin.isatty() and sys.stdout.isatty() and typer.confirm("Join them so?")):
            output.print_note("note: nothing was written; to do it, add `--yes`")
            return
    if as_json and not yes:
        output.show_json(MergedFileOutput(look.diff))
        return
    done = merge_conflict(place, path).result
    assert done is not None
    if as_json:
        output.show_json(MergedFileOutput(look.diff, make_result_view(memory_id, done)))
    else:
        show_result(make_result_view(memory_id, done), own=own)


def _act(ids: list[str], act: Callable[[ReviewPaths, str], ReviewResult], repo: Path, own: bool, as_json: bool) -> None:
    place = find_review_paths(repo, own)
    act_on_each(ids, lambda one: act(place, one), find_id=make_memory_id_finder(place), as_json=as_json, own=own)
