"""`lerim review dropped|propose`: what was not proposed, and why; and proposing it anyway."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from lerim import output
from lerim.cli_place import HERE, Json, Own, Repo, guarded, place_of
from lerim.cli_review import each, name_of, review_app
from lerim.review import queue
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
