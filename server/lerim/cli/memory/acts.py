"""`lerim memory edit|archive|restore|promote|globalize|kind|delete|verify|feedback|merge`: change accepted memories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lerim.cli.memory.commands import KindName, memory_app, read_body
from lerim.cli.review import ServerAct, act_on_each, show_result
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_review_paths,
    make_memory_id_finder,
    output,
    parse_typed_references,
    post_to_server,
    with_error_exit,
)
from lerim.memory import Feedback, split_kind
from lerim.review import MemoryEdit, ReviewPaths, ReviewResult, acts
from lerim.views import MergedFileOutput, find_missing_references, merge_memory

__all__ = ["memory_app"]

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="As shown by `lerim memory list`; the first characters are enough.")
]
IdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID", help="As shown by `lerim memory list`; the first characters are enough.")
]


@memory_app.command("edit")
@with_error_exit
def edit_command(
    memory_id: IdArgument,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The new title.")] = None,
    body: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The new text; `-` reads it from standard input.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="The new tags. Can be repeated.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference", metavar="PATH[#SYMBOL]", help="A file it is about; replaces the old ones. Can be repeated."
        ),
    ] = None,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Change a memory's title, text, tags or references."""
    if title is None and body is None and tag is None and reference is None:
        raise typer.BadParameter("There is nothing to change. Give --title, --body, --tag or --reference.")
    paths = find_review_paths(repo, personal)
    memory_id = make_memory_id_finder(paths)(memory_id)
    references = None if reference is None else parse_typed_references(paths.project, reference)
    words = None if body is None else read_body(body)
    edit = MemoryEdit(title, words, None if tag is None else tuple(tag), references)
    act_on_each(
        [memory_id],
        lambda name: acts.edit_memory(paths, name, edit),
        ServerAct("memories", "edit", msgspec.structs.asdict(edit)),
        as_json=as_json,
        personal=personal,
        paths=paths,
    )
    for message in find_missing_references(paths.project, references or ()):
        output.print_note(f"note: {output.escape_controls(message)}")


@memory_app.command("archive")
@with_error_exit
def archive_command(
    ids: IdsArgument,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason, shown in the history.")] = "",
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Archive memories. They are no longer shown, but can be restored."""
    on_server = ServerAct("memories", "archive", {"reason": reason})
    _act_on_memories(
        ids, lambda paths, one: acts.archive_memory(paths, one, reason), on_server, repo, personal, as_json
    )


@memory_app.command("restore")
@with_error_exit
def restore_command(
    ids: IdsArgument, personal: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Restore memories that were archived, superseded or resolved."""
    _act_on_memories(ids, acts.restore_memory, ServerAct("memories", "restore"), repo, personal, as_json)


@memory_app.command("promote")
@with_error_exit
def promote_command(
    memory_id: IdArgument,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What was decided. The default is the question's title.")
    ] = None,
    body: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The text; `-` reads it from standard input.")
    ] = None,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Answer an open question with a decision."""
    if title is None and body is None:
        raise typer.BadParameter("Say what was decided with --title, and why with --body.")
    words = None if body is None else read_body(body)
    on_server = ServerAct("memories", "promote", {"title": title, "body": words})
    _act_on_memories(
        [memory_id],
        lambda paths, one: acts.promote_question(paths, one, title, words),
        on_server,
        repo,
        personal,
        as_json,
    )


@memory_app.command("globalize")
@with_error_exit
def globalize_command(
    ids: IdsArgument,
    move: Annotated[bool, typer.Option("--move", help="Remove them from this repository.")] = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Copy memories to your personal memories, which are found from every repository."""
    on_server = ServerAct("memories", "globalize", {"move": move})
    _act_on_memories(ids, partial(acts.globalize_memory, move=move), on_server, repo, False, as_json)


@memory_app.command("kind")
@with_error_exit
def kind_command(
    memory_id: IdArgument,
    kind: Annotated[
        KindName, typer.Option(help="The new kind. A learning gets its former kind again, or is an insight.")
    ],
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Change a memory's kind, such as a learning into a decision."""
    to = split_kind(kind)
    on_server = ServerAct("memories", "kind", {"primitive": to[0], "kind": to[1]})
    _act_on_memories(
        [memory_id], lambda paths, one: acts.change_kind(paths, one, *to), on_server, repo, personal, as_json
    )


@memory_app.command("delete")
@with_error_exit
def delete_command(
    ids: IdsArgument, personal: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Delete themes. Other memories cannot be deleted, only archived."""
    _act_on_memories(ids, acts.delete_theme, ServerAct("memories", "delete"), repo, personal, as_json)


@memory_app.command("verify")
@with_error_exit
def verify_command(
    ids: IdsArgument, personal: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Confirm that memories still hold for the code as it is now."""

    def note_missing(paths: ReviewPaths, memory_id: str) -> None:
        for message in find_missing_references(paths.project, paths.store().load_by_id(memory_id).record.references):
            output.print_note(
                f"note: {memory_id}: {output.escape_controls(message)}; use `lerim memory edit` to name another file"
            )

    on_server = ServerAct("memories", "verify")
    _act_on_memories(ids, acts.verify_memory, on_server, repo, personal, as_json, afterwards=note_missing)


@memory_app.command("feedback")
@with_error_exit
def feedback_command(
    memory_id: IdArgument,
    feedback: Annotated[Feedback, typer.Argument(metavar="useful|wrong|outdated", help="Your rating.")],
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Rate a memory, so that it ranks higher or lower."""
    on_server = ServerAct("memories", "feedback", {"feedback": feedback})
    _act_on_memories(
        [memory_id], lambda paths, one: acts.give_feedback(paths, one, feedback), on_server, repo, personal, as_json
    )


@memory_app.command("merge")
@with_error_exit
def merge_command(
    memory_id: IdArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Merge the two sides of a git conflict in a memory, two files with the same id, or memories that say the same.
    Shows the difference first."""
    paths = find_review_paths(repo, personal)
    memory_id = make_memory_id_finder(paths)(memory_id)
    preview = _merge(paths, memory_id, preview=True)
    if not as_json:
        output.show_difference(preview.diff)
        if not yes and not output.confirm("Merge them like this?"):
            output.print_note("note: nothing was written; add `--yes` to confirm")
            return
    if as_json and not yes:
        output.show_json(preview)
        return
    merged = _merge(paths, memory_id, preview=False)
    assert merged.result is not None
    if as_json:
        output.show_json(merged)
    else:
        show_result(merged.result, personal=personal)


def _merge(paths: ReviewPaths, memory_id: str, *, preview: bool) -> MergedFileOutput:
    done = post_to_server(
        paths.home, ["memories", memory_id, "merge"], {"preview": preview}, MergedFileOutput, project=paths.project
    )
    return done or merge_memory(paths, memory_id, preview=preview)


def _act_on_memories(
    ids: list[str],
    act: Callable[[ReviewPaths, str], ReviewResult],
    on_server: ServerAct,
    repo: Path,
    personal: bool,
    as_json: bool,
    afterwards: Callable[[ReviewPaths, str], None] = lambda paths, memory_id: None,
) -> None:
    paths = find_review_paths(repo, personal)
    act_on_each(
        ids,
        lambda one: act(paths, one),
        on_server,
        find_id=make_memory_id_finder(paths),
        as_json=as_json,
        personal=personal,
        paths=paths,
        afterwards=lambda one: afterwards(paths, one),
    )
