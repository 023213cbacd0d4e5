"""`lerim review left-out|propose|forget`: lists what was not proposed, proposes it anyway, and resets what the ranking
learned from the person's decisions."""

from __future__ import annotations

from typing import Annotated

import typer

from lerim.cli.review.commands import review_app
from lerim.cli.review.output import ServerAct, act_on_each, format_type
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_home,
    find_review_paths,
    get_from_server,
    output,
    with_error_exit,
)
from lerim.memory import SPEAKER_NAMES
from lerim.review import ForgetResult, LeftOutView, count_judgments, forget_judgments, queue
from lerim.views import DroppedListOutput, load_left_out

__all__ = ["review_app"]

DEFAULT_LIMIT = 50
IdsArgument = Annotated[
    list[str],
    typer.Argument(metavar="ID", help="As shown by `lerim review left-out`; the first characters are enough."),
]


@review_app.command("left-out")
@with_error_exit
def left_out_command(
    session: Annotated[
        str, typer.Option(metavar="ID", help="Only from this session; the first characters of its id are enough.")
    ] = "",
    show_all: Annotated[
        bool, typer.Option("--all", help=f"Show everything, not only the newest {DEFAULT_LIMIT}.")
    ] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Show what was left out of the review, and why."""
    paths = find_review_paths(repo, personal)
    query = {"session": session, "limit": DEFAULT_LIMIT}
    found = (
        None
        if show_all
        else get_from_server(*(paths.home, ["left-out"], DroppedListOutput, query), project=paths.project)
    )
    left_out = found or load_left_out(paths, session, None if show_all else DEFAULT_LIMIT)
    views, total = left_out.items, left_out.total
    if as_json:
        output.show_json(left_out)
        return
    for view in views:
        output.show_item(view.id, _format_lines(view))
    if not views:
        output.print_line("Nothing was left out.")
        return
    if total > len(views):
        output.print_line(f"{total - len(views)} more; --all shows them.")
    option = " --global" if personal else ""
    output.print_line(f"`lerim review propose ID{option}` proposes one anyway.")


def _format_lines(view: LeftOutView) -> list[str]:
    kind = f"{format_type(view.primitive, view.kind)}, " if view.primitive else ""
    score = "" if view.score is None else f", score {view.score:.2f}"
    reason = f"{view.why}: {view.detail}" if view.detail else view.why
    speaker = next((name for who, name in SPEAKER_NAMES.items() if who == view.who), view.who)
    return [
        view.title,
        f"{kind}session {view.session[:8]}{score}",
        f"left out: {reason}",
        *([f"{speaker}: “{view.quote}”"] if view.quote else []),
        *([] if view.can_propose else ["cannot be proposed; write it yourself with `lerim memory add`"]),
    ]


@review_app.command("propose")
@with_error_exit
def propose_command(
    ids: IdsArgument, personal: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Propose something that was left out. It then waits for review like any other candidate."""
    paths = find_review_paths(repo, personal)
    act_on_each(
        ids,
        lambda given: queue.propose_anyway(paths, given),
        ServerAct("left-out", "propose"),
        paths=paths,
        as_json=as_json,
        personal=personal,
    )


@review_app.command("forget")
@with_error_exit
def forget_command(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Forget what the ranking learned from your decisions, in all repositories. The decisions themselves stay."""
    home = find_home()
    decisions = count_judgments(home)
    question = f"Forget what the ranking learned from {output.pluralize(decisions, 'decision')} of yours?"
    if decisions and not yes and (as_json or not output.confirm(question)):
        output.print_note("note: nothing was forgotten; add `--yes` to confirm")
        result = ForgetResult(0, [])
    else:
        result = forget_judgments(home)
        if not as_json:
            output.print_line(_format_forgotten(result.forgotten))
            output.print_problems(result.problems)
    if as_json:
        output.show_json(result)
    if result.problems:
        raise typer.Exit(EXIT_CODES["partial" if result.forgotten else "failed"])


def _format_forgotten(decisions: int) -> str:
    if not decisions:
        return "Nothing has been learned from your decisions yet, so nothing was forgotten."
    return f"Forgotten: {output.pluralize(decisions, 'decision')}. The next sync uses the original ranking."
