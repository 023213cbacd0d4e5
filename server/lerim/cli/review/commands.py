"""`lerim review list|show|accept|edit|reject|undo`; `left-out`, `propose` and `forget` are in `left_out.py`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated

import msgspec
import typer

from lerim.cli.review.bulk import QuoteSharing, accept_all_safe, reject_all_waiting
from lerim.cli.review.output import ServerAct, act_on_each, show_candidate, show_each
from lerim.cli.terminal import (
    ALL,
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    edit_in_editor,
    find_review_paths,
    get_from_server,
    make_candidate_id_finder,
    make_memory_id_finder,
    open_command_context,
    output,
    post_to_server,
    with_error_exit,
)
from lerim.errors import StaleError
from lerim.files import hash_text
from lerim.memory import MemoryKind
from lerim.review import CandidateView, ReviewPaths, queue
from lerim.times import format_moment
from lerim.views import (
    PendingListOutput,
    ProjectContext,
    ResultView,
    UndoListOutput,
    load_candidate,
    load_pending_list,
    make_result_view,
)

review_app = typer.Typer(help="Review candidates.", no_args_is_help=True)

IdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID", help="As shown by `lerim review list`; the first characters are enough.")
]
CandidateIdArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The candidate's id, as shown by `lerim review list`; the first characters are enough."
    ),
]
QuotesOption = Annotated[
    QuoteSharing | None,
    typer.Option("--quotes", help="Commit the quotes with the memories, or keep them on this machine."),
]


_STATE_LABELS = {"done": "done", "changed": "done, but its file has changed since", "undone": "undone"}


@review_app.command("list")
@with_error_exit
def list_command(
    personal: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """List the candidates that wait for review, oldest first."""
    paths = find_review_paths(repo, personal)
    waiting = get_from_server(
        paths.home, ["candidates"], PendingListOutput, ALL, project=paths.project
    ) or load_pending_list(paths)
    if as_json:
        output.show_json(waiting)
        return
    if waiting.candidates:
        for view in waiting.candidates:
            show_candidate(view)
    else:
        output.print_line("No candidates wait for review.")
    if waiting.blocked:
        output.print_line(
            f"Candidates you rejected were found again and not proposed: {output.pluralize(waiting.blocked, 'time')}."
        )
    output.print_problems(waiting.problems)


@review_app.command("show")
@with_error_exit
def show_command(
    candidate_id: CandidateIdArgument,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Show a candidate and the memories most similar to it."""
    paths = find_review_paths(repo, personal)
    candidate_id = make_candidate_id_finder(paths)(candidate_id)
    view = get_from_server(
        paths.home, ["candidates", candidate_id], CandidateView, project=paths.project
    ) or load_candidate(paths, candidate_id)
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
    ids: IdsArgument = [],  # noqa: B006 - typer reads it and never writes it
    accept_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Accept all candidates, except those with warnings or based only on a tool or web page."
        ),
    ] = False,
    same: Annotated[
        str | None,
        typer.Option("--same", metavar="MEMORY", help="It says the same as this memory: add its evidence there."),
    ] = None,
    replaces: Annotated[
        str | None, typer.Option("--replaces", metavar="MEMORY", help="It replaces this memory, which is archived.")
    ] = None,
    changes: Annotated[
        str | None, typer.Option("--changes", metavar="MEMORY", help="It changes this memory, whose text it replaces.")
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", metavar="MEMORY", help="It answers this question, which is archived.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Make it a new memory next to the similar ones, whatever is suggested.")
    ] = False,
    quotes: QuotesOption = None,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Accept candidates as memories.

    If you do not say how a candidate relates to a similar memory, the suggested answer is used; without a suggestion,
    it becomes a new memory.
    """
    if bool(ids) == accept_all:
        raise typer.BadParameter("Name candidates, or use --all.")
    paths = find_review_paths(repo, personal)
    choice = _parse_choice(
        paths, {"same": same, "replaces": replaces, "changes": changes, "answers": answers}, keep=keep
    )
    if choice is not None and choice.memory and len(ids) != 1:
        raise typer.BadParameter("With --same, --replaces, --changes or --answers, name exactly one candidate.")
    if choice is not None and accept_all:
        raise typer.BadParameter("--all takes the suggested answers. To choose others, name the candidates.")

    def choose_quotes() -> QuoteSharing:
        # Personal memories are in no repository: nothing is committed, so there is nothing to ask.
        return "shared" if personal else _choose_quote_sharing(open_command_context(repo), ask=not as_json)

    if accept_all:
        accept_all_safe(paths, quotes, choose_quotes, as_json=as_json, personal=personal)
        return

    def accept(candidate_id: str) -> ResultView:
        nonlocal quotes
        result = _accept(paths, candidate_id, quotes, choice)
        if result.ask_quotes:
            quotes = choose_quotes()
            result = _accept(paths, candidate_id, quotes, choice)
        return result

    find_id = make_candidate_id_finder(paths)
    show_each(ids, accept, find_id=find_id, as_json=as_json, personal=personal, paths=paths)


def _accept(
    paths: ReviewPaths, candidate_id: str, quotes: QuoteSharing | None, choice: queue.NeighbourChoice | None
) -> ResultView:
    given = {"answer": choice.answer, "memory": choice.memory} if choice else None
    done = ServerAct("candidates", "accept", {"quotes": quotes, "choice": given}).request(paths, candidate_id)
    return done or make_result_view(
        candidate_id, queue.accept_candidate(paths, candidate_id, quotes=quotes, choice=choice)
    )


def _parse_choice(
    paths: ReviewPaths, answers_by_option: Mapping[queue.NeighbourAnswer, str | None], *, keep: bool
) -> queue.NeighbourChoice | None:
    """Returns the answer given by an option, if any. Raises typer.BadParameter for more than one, and UsageError or
    NotFoundError for an unusable memory id."""
    given_answers = [(answer, memory) for answer, memory in answers_by_option.items() if memory is not None]
    if len(given_answers) + keep > 1:
        raise typer.BadParameter("Give only one of --same, --replaces, --changes, --answers and --keep.")
    if keep:
        return queue.NeighbourChoice("keep")
    return next(
        (queue.NeighbourChoice(answer, make_memory_id_finder(paths)(memory)) for answer, memory in given_answers), None
    )


def _choose_quote_sharing(context: ProjectContext, *, ask: bool) -> QuoteSharing:
    """Returns the setting for sharing quotes. If there is none, asks on a terminal; without a terminal, shares the
    quotes and says so."""
    if context.settings.quote_sharing != "ask":
        return "local" if context.settings.quote_sharing == "local" else "shared"
    if ask and sys.stdin.isatty() and sys.stdout.isatty():
        output.print_line("The quotes that support a memory can be committed with it, or stay on this machine.")
        output.print_line(
            "Its title and text are in its file in either case, and may repeat what was said in the session."
        )
        return "shared" if typer.confirm("Share the quotes of memories in git?", default=True) else "local"
    output.print_note(
        "note: quotes are written into this repository's memories; `--quotes local` keeps them on this machine"
    )
    return "shared"


@review_app.command("edit")
@with_error_exit
def edit_command(
    candidate_id: CandidateIdArgument,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The new title.")] = None,
    body: Annotated[str | None, typer.Option(metavar="TEXT", help="The new text.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="The new tags. Can be repeated.")
    ] = None,
    kind: Annotated[MemoryKind | None, typer.Option(help="The new kind.")] = None,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Edit a candidate; opens $EDITOR if no option is given."""
    paths = find_review_paths(repo, personal)
    candidate_id = make_candidate_id_finder(paths)(candidate_id)
    if title is None and body is None and tag is None and kind is None:
        proposal = queue.load_pending(paths, candidate_id)
        text_hash = hash_text(proposal.text)
        with edit_in_editor(proposal.record) as edit:
            _edit(paths, candidate_id, edit, text_hash, as_json=as_json, personal=personal)
        return
    if body is not None and not body.strip():
        raise typer.BadParameter("The text is empty. Write some, or leave --body out.", param_hint="--body")
    edit = queue.CandidateEdit(title, body, None if tag is None else tuple(tag), kind=kind)
    _edit(paths, candidate_id, edit, "", as_json=as_json, personal=personal)


def _edit(
    paths: ReviewPaths, candidate_id: str, edit: queue.CandidateEdit, seen: str, *, as_json: bool, personal: bool
) -> None:
    words = {"title": edit.title, "body": edit.body, "tags": edit.tags, "kind": edit.kind, "seen": seen}
    act_on_each(
        [candidate_id],
        lambda name: queue.edit_candidate(paths, name, edit, seen=seen),
        ServerAct("candidates", "edit", words),
        paths=paths,
        as_json=as_json,
        personal=personal,
    )


@review_app.command("reject")
@with_error_exit
def reject_command(
    ids: IdsArgument = [],  # noqa: B006 - typer reads it and never writes it
    reject_all: Annotated[bool, typer.Option("--all", help="Reject all candidates that wait.")] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Reject candidates. The same claim is not proposed again."""
    if bool(ids) == reject_all:
        raise typer.BadParameter("Name candidates, or use --all.")
    paths = find_review_paths(repo, personal)
    if reject_all:
        reject_all_waiting(paths, as_json=as_json, personal=personal)
        return
    act_on_each(
        ids,
        lambda name: queue.reject_candidate(paths, name),
        ServerAct("candidates", "reject"),
        paths=paths,
        find_id=make_candidate_id_finder(paths),
        as_json=as_json,
        personal=personal,
    )


@review_app.command("undo")
@with_error_exit
def undo_command(
    action: Annotated[
        str | None,
        typer.Argument(metavar="ACTION", help="As printed by the other commands; the first characters are enough."),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Show the last twenty actions; undo nothing.")] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Undo the last action, or the one you name. An action whose file has changed since is reported and skipped."""
    paths = find_review_paths(repo, personal)
    if show_list:
        if action:
            raise typer.BadParameter("Name an action, or use --list.", param_hint="--list")
        found = get_from_server(paths.home, ["actions"], UndoListOutput, project=paths.project)
        steps = found.steps if found else queue.list_steps(paths)
        if as_json:
            output.show_json(UndoListOutput(steps))
            return
        for step in steps:
            output.show_item(step.action, [f"{format_moment(step.time)}, {_STATE_LABELS[step.state]}: {step.label}"])
        if not steps:
            output.print_line("There is nothing to undo yet.")
        return
    show_each([action or ""], lambda name: _undo(paths, name), as_json=as_json, personal=personal, paths=paths)


def _undo(paths: ReviewPaths, action: str) -> ResultView:
    """Undoes the action with this id, or the last one if the id is "". If it cannot be undone, the error names the
    command that tries again."""
    last = None if action else queue.find_undoable(paths)
    try:
        result = post_to_server(
            paths.home, ["actions", "undo"], {"action": action}, ResultView, project=paths.project
        ) or make_result_view(action, queue.undo_last(paths, action or None))
    except StaleError as error:
        todo = f"{error.todo} `lerim review undo {last.id if last else action}` tries this one again."
        raise StaleError(error.message, where=error.where, todo=todo, diff=error.diff) from error
    if result.ok or not action:
        return result
    return msgspec.structs.replace(result, message=f"{result.message} `lerim review undo --list` shows the last ones.")
