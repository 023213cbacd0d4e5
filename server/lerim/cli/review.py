"""`lerim review list|show|accept|edit|reject|undo`; `dropped` and `propose` are in `left_out.py`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
import typer

from lerim.cli.review_output import act_on_each, show_candidate
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    CommandContext,
    GlobalOption,
    JsonOption,
    RepoOption,
    edit_in_editor,
    find_review_paths,
    make_candidate_id_finder,
    make_memory_id_finder,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.errors import Problem
from lerim.files import hash_text
from lerim.review import CandidateView, ReviewPaths, ReviewResult, candidate_view, queue

review_app = typer.Typer(help="Review candidates.", no_args_is_help=True)

Quotes = Literal["shared", "local"]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="As shown by `lerim review list`; the first characters are enough.")
]
QuotesOption = Annotated[
    Quotes | None,
    typer.Option("--quotes", help="Commit the quotes with the memories, or keep them on this machine."),
]


class PendingView(msgspec.Struct, frozen=True):
    """What `review list --json` prints; `blocked` counts how often rejected claims came again and were held back."""

    candidates: list[CandidateView]
    blocked: int
    problems: list[Problem]


class StepsView(msgspec.Struct, frozen=True):
    """What `review undo --list --json` prints, the newest first."""

    steps: list[queue.StepView]


_STATES = {"done": "done", "changed": "done, but its file has changed since", "undone": "undone"}


@review_app.command("list")
@with_error_exit
def list_command(own: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """List the candidates that wait for review, oldest first."""
    place = find_review_paths(repo, own)
    proposals, problems, blocked = queue.list_pending(place)
    views = [candidate_view(proposal) for proposal in queue.with_neighbours(place, proposals)]
    if as_json:
        output.show_json(PendingView(views, blocked, problems))
        return
    if views:
        for view in views:
            show_candidate(view)
    else:
        output.print_line("No candidates wait for review.")
    if blocked:
        output.print_line(f"Not proposed again after you rejected it: {output.pluralize(blocked, 'time')}.")
    output.print_problems(problems)


@review_app.command("show")
@with_error_exit
def show_command(
    candidate_id: Annotated[str, typer.Argument(metavar="ID")],
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Show a candidate and the memories most similar to it."""
    place = find_review_paths(repo, own)
    [shown] = queue.with_neighbours(place, [queue.load_pending(place, make_candidate_id_finder(place)(candidate_id))])
    view = candidate_view(shown)
    if as_json:
        output.show_json(view)
        return
    show_candidate(view)
    for near in view.neighbours:
        output.show_item(near.id, [f"{near.title} ({near.similarity * 100:.0f} % similar)", *near.body.splitlines()])
        output.print_line()


@review_app.command("accept")
@with_error_exit
def accept_command(
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help="As shown by `lerim review list`; the first characters are enough."),
    ] = [],  # noqa: B006 - typer reads it and never writes it
    everything: Annotated[
        bool,
        typer.Option("--all", help="All candidates, except those that are flagged or rest only on a tool or web page."),
    ] = False,
    same: Annotated[
        str | None,
        typer.Option("--same", metavar="MEMORY", help="It says the same as this memory: add its evidence there."),
    ] = None,
    replaces: Annotated[
        str | None, typer.Option("--replaces", metavar="MEMORY", help="It replaces this memory, which is archived.")
    ] = None,
    changes: Annotated[
        str | None, typer.Option("--changes", metavar="MEMORY", help="It changes this memory, which gets its text.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", metavar="MEMORY", help="It answers this question, which is archived.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Make it a new memory beside all similar ones, whatever is suggested.")
    ] = False,
    quotes: QuotesOption = None,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Accept candidates as memories.

    Without an answer for a similar memory, the suggested one is taken, if there is one; else the candidate becomes a
    new memory.
    """
    if bool(ids) == everything:
        raise typer.BadParameter("Name candidates, or use --all.")
    place = find_review_paths(repo, own)
    choice = _choice(place, {"same": same, "replaces": replaces, "changes": changes, "answers": answers}, keep=keep)
    if choice is not None and choice.memory and len(ids) != 1:
        raise typer.BadParameter("With --same, --replaces, --changes or --answers, name exactly one candidate.")
    if choice is not None and everything:
        raise typer.BadParameter("--all takes the suggested answers. To choose others, name the candidates.")
    if everything:
        ids = _all_but_doubted(place)
        if not ids and not as_json:
            output.print_line("No waiting candidate can be accepted without review.")

    def accept(candidate_id: str) -> ReviewResult:
        nonlocal quotes
        result = queue.accept_candidate(place, candidate_id, quotes=quotes, choice=choice, in_bulk=everything)
        if result.ask_quotes:
            quotes = (
                "shared" if own else _ask_quotes(open_command_context(repo), ask=not as_json)
            )  # your own lie in no repository
            result = queue.accept_candidate(place, candidate_id, quotes=quotes, choice=choice, in_bulk=everything)
        return result

    act_on_each(ids, accept, find_id=make_candidate_id_finder(place), as_json=as_json, own=own)


def _choice(
    place: ReviewPaths, given: Mapping[queue.NeighbourAnswer, str | None], *, keep: bool
) -> queue.NeighbourChoice | None:
    """The answer that was given, at most one. Raises UsageError, NotFoundError."""
    chosen = [(answer, memory) for answer, memory in given.items() if memory is not None]
    if len(chosen) + keep > 1:
        raise typer.BadParameter("Give only one of --same, --replaces, --changes, --answers and --keep.")
    if keep:
        return queue.NeighbourChoice("keep")
    return next(
        (queue.NeighbourChoice(answer, make_memory_id_finder(place)(memory)) for answer, memory in chosen), None
    )


def _all_but_doubted(place: ReviewPaths) -> list[str]:
    """The ids of all that wait, oldest turn first, but those a person should look at; these are told."""
    proposals, problems, _ = queue.list_pending(place)
    output.print_problems(problems)
    for proposal in proposals:
        if why := queue.doubt_reason(proposal):
            output.print_note(f"note: {output.escape_controls(f'{proposal.id} needs your review: {why}')}")
    return [proposal.id for proposal in proposals if not queue.doubt_reason(proposal)]


def _ask_quotes(at: CommandContext, *, ask: bool) -> Quotes:
    """The person's answer on a terminal; else what the settings say, else shared, and that is said."""
    if at.settings.quote_sharing != "ask":
        return "local" if at.settings.quote_sharing == "local" else "shared"
    if ask and sys.stdin.isatty() and sys.stdout.isatty():
        output.print_line("The quotes that support a memory can be committed with it, or stay on this machine.")
        return "shared" if typer.confirm("Share quotes in git?", default=True) else "local"
    output.print_note(
        "note: quotes are written into this repository's memories; `--quotes local` keeps them on this machine"
    )
    return "shared"


@review_app.command("edit")
@with_error_exit
def edit_command(
    candidate_id: Annotated[str, typer.Argument(metavar="ID")],
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    body: Annotated[str | None, typer.Option(help="The new text.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="The new tags. Can be repeated.")
    ] = None,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Edit a candidate; opens $EDITOR if no option is given."""
    place = find_review_paths(repo, own)
    candidate_id = make_candidate_id_finder(place)(candidate_id)
    if title is None and body is None and tag is None:
        shown = queue.load_pending(place, candidate_id)
        seen = hash_text(shown.text)
        with edit_in_editor(shown.record) as change:
            act_on_each(
                [candidate_id],
                lambda name: queue.edit_candidate(place, name, change, seen=seen),
                as_json=as_json,
                own=own,
            )
        return
    if body is not None and not body.strip():
        raise typer.BadParameter("The text is empty. Write some, or leave --body out.", param_hint="--body")
    change = queue.CandidateEdit(title, body, None if tag is None else tuple(tag))
    act_on_each([candidate_id], lambda name: queue.edit_candidate(place, name, change), as_json=as_json, own=own)


@review_app.command("reject")
@with_error_exit
def reject_command(
    ids: Ids, own: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Reject candidates. The same claim is not proposed again."""
    place = find_review_paths(repo, own)
    act_on_each(
        ids,
        lambda name: queue.reject_candidate(place, name),
        find_id=make_candidate_id_finder(place),
        as_json=as_json,
        own=own,
    )


@review_app.command("undo")
@with_error_exit
def undo_command(
    action: Annotated[
        str | None,
        typer.Argument(metavar="ACTION", help="As printed by the other commands; the first characters are enough."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show the last twenty actions; undo nothing.")] = False,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Undo the last action, or the one you name. An action whose file has changed since is reported and skipped."""
    place = find_review_paths(repo, own)
    if listed:
        if action:
            raise typer.BadParameter("Name an action, or use --list.", param_hint="--list")
        steps = queue.list_steps(place)
        if as_json:
            output.show_json(StepsView(steps))
            return
        for step in steps:
            when = step.time[:16].replace("T", " ")
            output.show_item(step.action, [f"{when} UTC, {_STATES[step.state]}: {step.label}"])
        if not steps:
            output.print_line("There is nothing to undo yet.")
        return
    act_on_each([action or ""], lambda name: queue.undo_last(place, name or None), as_json=as_json, own=own)
