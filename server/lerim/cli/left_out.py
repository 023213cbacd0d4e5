"""`lerim review dropped|propose|forget`: what was not proposed, and why; proposing it anyway; and forgetting what the
person's decisions taught the ranking."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer

from lerim.cli.review import review_app
from lerim.cli.review_output import act_on_each, format_type
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_home,
    find_review_paths,
    output,
    with_error_exit,
)
from lerim.review import ForgetResult, LeftOutView, count_judgments, forget_judgments, left_out_view, queue

__all__ = ["review_app"]

SHOWN = 50
Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="As shown by `lerim review dropped`; the first characters are enough.")
]


class DroppedItemsView(msgspec.Struct, frozen=True):
    """What `review dropped --json` prints, the newest first; `total` is how many there are."""

    items: list[LeftOutView]
    total: int


@review_app.command("dropped")
@with_error_exit
def dropped_command(
    session: Annotated[
        str, typer.Option(metavar="ID", help="Only from this session; the first characters of its id are enough.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help=f"Everything that is stored, not only the newest {SHOWN}.")
    ] = False,
    own: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Show what was left out of the review, and why."""
    place = find_review_paths(repo, own)
    found, total = queue.list_left_out(place, session) if everything else queue.list_left_out(place, session, SHOWN)
    views = [left_out_view(item, "global" if own else "project") for item in found]
    if as_json:
        output.show_json(DroppedItemsView(views, total))
        return
    for view in views:
        output.show_item(view.id, _lines(view))
    if not views:
        output.print_line("Nothing was left out.")
        return
    if total > len(views):
        output.print_line(f"{total - len(views)} more: --all shows them.")
    option = " --global" if own else ""
    output.print_line(f"`lerim review propose ID{option}` proposes one anyway.")


def _lines(view: LeftOutView) -> list[str]:
    kind = f"{format_type(view.primitive, view.kind)}, " if view.primitive else ""
    score = "" if view.score is None else f", score {view.score:.2f}"
    why = f"{view.why}: {view.detail}" if view.detail else view.why
    return [
        view.title,
        f"{kind}session {view.session[:8]}{score}",
        f"left out: {why}",
        *([f"{view.who}: “{view.quote}”"] if view.quote else []),
        *([] if view.can_propose else ["cannot be proposed; write it yourself with `lerim memory add`"]),
    ]


@review_app.command("propose")
@with_error_exit
def propose_command(
    ids: Ids, own: GlobalOption = False, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False
) -> None:
    """Propose something that was left out. It then waits for review like any other candidate."""
    place = find_review_paths(repo, own)
    act_on_each(ids, lambda given: queue.propose_anyway(place, given), as_json=as_json, own=own)


@review_app.command("forget")
@with_error_exit
def forget_command(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Forget what the ranking learned from your decisions, in all repositories. The decisions themselves stay."""
    mine = find_home()
    learned = count_judgments(mine)
    question = f"Forget what the ranking learned from {output.pluralize(learned, 'decision')} of yours?"
    asks = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if learned and not yes and not (asks and typer.confirm(question)):
        output.print_note("note: nothing was forgotten; to do it, add `--yes`")
        done = ForgetResult(0, [])
    else:
        done = forget_judgments(mine)
        if not as_json:
            output.print_line(_forgotten(done.forgotten))
            output.print_problems(done.problems)
    if as_json:
        output.show_json(done)
    if done.problems:
        raise typer.Exit(3 if done.forgotten else 1)


def _forgotten(decisions: int) -> str:
    if not decisions:
        return "Nothing has been learned from your decisions yet, so nothing was forgotten."
    return f"Forgotten: {output.pluralize(decisions, 'decision')}. The next sync uses the original ranking."
