"""`lerim review dropped|propose|forget`: what was not proposed, and why; proposing it anyway; and forgetting what the
person's decisions taught the ranking."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
import typer

from lerim import output
from lerim.cli_place import HERE, Json, Own, Repo, guarded, home, place_of
from lerim.cli_review import each, name_of, review_app
from lerim.review import queue
from lerim.review.judgments import Forgotten, count, forget
from lerim.review.views import LeftOutView, left_out_view

__all__ = ["review_app"]

SHOWN = 50
Ids = Annotated[
    list[str], typer.Argument(metavar="ID", help="As `lerim review dropped` shows them; a beginning will do.")
]


class DroppedItemsView(msgspec.Struct, frozen=True):
    """What `review dropped --json` prints, the newest first; `total` is how many there are."""

    items: list[LeftOutView]
    total: int


@review_app.command("dropped")
@guarded
def dropped_command(
    session: Annotated[str, typer.Option(metavar="ID", help="Only of this session; a beginning will do.")] = "",
    everything: Annotated[bool, typer.Option("--all", help=f"All that is kept, not only the newest {SHOWN}.")] = False,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Show what was left out of the review, and why."""
    place = place_of(repo, own)
    found, total = queue.left_out(place, session) if everything else queue.left_out(place, session, SHOWN)
    views = [left_out_view(item, "global" if own else "project") for item in found]
    if as_json:
        output.show_json(DroppedItemsView(views, total))
        return
    for view in views:
        output.show_item(view.id, _lines(view))
    if not views:
        output.say("Nothing was left out.")
        return
    if total > len(views):
        output.say(f"{total - len(views)} more: --all shows them.")
    option = " --global" if own else ""
    output.say(f"`lerim review propose ID{option}` proposes one anyway.")


def _lines(view: LeftOutView) -> list[str]:
    kind = f"{name_of(view.primitive, view.kind)}, " if view.primitive else ""
    score = "" if view.score is None else f", score {view.score:.2f}"
    why = f"{view.why}: {view.detail}" if view.detail else view.why
    return [
        view.title,
        f"{kind}session {view.session[:8]}{score}",
        f"left out: {why}",
        *([f"{view.who}: “{view.quote}”"] if view.quote else []),
        *([] if view.can_propose else ["cannot be proposed; `lerim memory add` writes one of your own"]),
    ]


@review_app.command("propose")
@guarded
def propose_command(ids: Ids, own: Own = False, repo: Repo = HERE, as_json: Json = False) -> None:
    """Propose what was left out anyway; it waits for review like any other candidate."""
    place = place_of(repo, own)
    each(ids, lambda given: queue.propose_anyway(place, given), as_json=as_json, own=own)


@review_app.command("forget")
@guarded
def forget_command(
    yes: Annotated[bool, typer.Option("--yes", help="Do it without being asked.")] = False, as_json: Json = False
) -> None:
    """Forget what your decisions taught the ranking, in all repositories. What you accepted or rejected stays so."""
    mine = home()
    learned = count(mine)
    question = f"Forget what the ranking learned from {output.counted(learned, 'decision')} of yours?"
    asks = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if learned and not yes and not (asks and typer.confirm(question)):
        output.note("note: nothing was forgotten; `--yes` does it")
        done = Forgotten(0, [])
    else:
        done = forget(mine)
        if not as_json:
            output.say(_forgotten(done.forgotten))
            output.warn(done.problems)
    if as_json:
        output.show_json(done)
    if done.problems:
        raise typer.Exit(3 if done.forgotten else 1)


def _forgotten(decisions: int) -> str:
    if not decisions:
        return "Nothing was learned from you yet, so nothing was forgotten."
    return f"Forgotten: {output.counted(decisions, 'decision')}. From the next sync on the ranking is as it came."
