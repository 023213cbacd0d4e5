"""`lerim review list|show|accept|edit|reject|undo`; `dropped` and `propose` are in `cli_left_out.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Literal

import msgspec
import typer

from lerim import output
from lerim.cli_editor import edited
from lerim.cli_named import beginning, candidate_named, memory_named
from lerim.cli_place import HERE, Here, Json, Own, Repo, guarded, here, place_of
from lerim.errors import LerimError, Problem
from lerim.memory.files import text_hash
from lerim.review import queue
from lerim.review.place import Place
from lerim.review.queue import ReviewResult
from lerim.review.views import CandidateView, candidate_view

review_app = typer.Typer(help="Candidates waiting for you.", no_args_is_help=True)

Quotes = Literal["shared", "local"]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="As `lerim review list` shows them; a beginning will do.")]
QuotesOption = Annotated[
    Quotes | None,
    typer.Option("--quotes", help="Commit the quotes with the memories, or keep them on this machine."),
]


class PendingView(msgspec.Struct, frozen=True):
    """What `review list --json` prints; `blocked` counts how often rejected claims came again and were held back."""

    candidates: list[CandidateView]
    blocked: int
    problems: list[Problem]


class ResultView(msgspec.Struct, frozen=True):
    """The outcome for one candidate: `ReviewResult` with the id asked for; `diff` is how a file changed since."""

    id: str
    ok: bool
    code: str
    message: str
    action: str | None = None
    path: str | None = None
    ask_quotes: bool = False
    diff: str | None = None


class StepsView(msgspec.Struct, frozen=True):
    """What `review undo --list --json` prints, the newest first."""

    steps: list[queue.StepView]


_STATES = {"done": "done", "changed": "done, its file was changed since", "undone": "undone"}


class ResultsView(msgspec.Struct, frozen=True):
    """What accept, edit, reject and undo print with `--json`."""

    results: list[ResultView]


@review_app.command("list")
@guarded
def list_command(own: Own = False, repo: Repo = HERE, as_json: Json = False) -> None:
    """Show the candidates waiting for review, oldest first."""
    place = place_of(repo, own)
    proposals, problems, blocked = queue.pending(place)
    views = [candidate_view(proposal) for proposal in queue.with_neighbours(place, proposals)]
    if as_json:
        output.show_json(PendingView(views, blocked, problems))
        return
    if views:
        for view in views:
            show_candidate(view)
    else:
        output.say("Nothing is waiting for review.")
    if blocked:
        output.say(f"Rejected before and held back: {output.counted(blocked, 'time')}.")
    output.warn(problems)


@review_app.command("show")
@guarded
def show_command(
    candidate_id: Annotated[str, typer.Argument(metavar="ID")],
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Show a candidate and the memories near it."""
    place = place_of(repo, own)
    [shown] = queue.with_neighbours(place, [queue.show(place, candidate_named(place)(candidate_id))])
    view = candidate_view(shown)
    if as_json:
        output.show_json(view)
        return
    show_candidate(view)
    for near in view.neighbours:
        output.show_item(near.id, [f"{near.title} ({near.similarity * 100:.0f} % similar)", *near.body.splitlines()])
        output.say()


def show_candidate(view: CandidateView) -> None:
    """One candidate as a person reviews it: what, how sure, why, and what it would change."""
    output.show_item(
        view.id,
        [
            view.title,
            f"{name_of(view.primitive, view.kind)}, confidence {view.confidence:.2f}, {_does(view)}",
            *_suggested(view),
            *(f"similar ({one.similarity * 100:.0f} %): {one.id} “{one.title}”" for one in view.neighbours),
            *view.body.splitlines(),
            *(f"{quote.who}: “{quote.quote}”" for quote in view.evidence),
            *([f"files: {', '.join(view.references)}"] if view.references else []),
            *([f"look at: {', '.join(view.flags)}"] if view.flags else []),
            *(view.diff or "").splitlines(),
        ],
    )
    output.say()


def _suggested(view: CandidateView) -> list[str]:
    """The suggested answer and its reason, or why maintaining proposes it."""
    if view.suggested is None:
        return [f"why: {view.reason}"] if view.reason else []
    by = "the model" if view.suggested.by == "model" else "its words"
    why = f": {view.suggested.reason}" if view.suggested.reason else ""
    return [f"suggested by {by}: {view.suggested.answer} {view.suggested.memory}".rstrip() + why]


def _does(view: CandidateView) -> str:
    """What accepting a candidate does to the memories there are."""
    ends = ", ".join(view.ends)
    match view.action:
        case "same":
            return f"adds its evidence to {view.target}"
        case "update" | "merge":
            return f"changes {view.target}" + (f", ends {ends}" if ends else "")
        case "supersede" | "consolidate":
            return f"replaces {ends}"
        case "resolve":
            return f"answers {ends}"
        case "close":
            return f"{view.targets[-1].id} answers {ends}" if view.targets else "answers a question"
        case "archive":
            return f"archives {ends}"
        case "refer":
            return f"changes where {view.target} refers to"
        case _:
            return "new"


def show_candidates(
    views: list[CandidateView], title: str, accepted: Collection[str] = (), waiting: Collection[str] = ()
) -> None:
    """Candidates as a table: an id's beginning that none of the `waiting` has, what, how sure, about which files, and
    the words it rests on; `accepted` are marked."""
    rows = []
    ids = {*waiting, *(view.id for view in views)}
    for view in views:
        said = "\n".join(f"{quote.who}: {quote.quote}" for quote in view.evidence[:1])
        what = view.title if view.action == "add" else f"{view.title} ({_does(view)})"
        if view.id in accepted:
            what = f"accepted: {what}"
        if view.scope == "global":
            what = f"{what} (your own: --global)"
        kind = name_of(view.primitive, view.kind)
        rows.append((beginning(view.id, ids), kind, what, f"{view.confidence:.2f}", ", ".join(view.references), said))
    output.show_table(("id", "kind", "title", "conf.", "files", "evidence"), rows, title=title)


def name_of(primitive: str, kind: str | None) -> str:
    """`learning/pitfall`, `decision`."""
    return f"{primitive}/{kind}" if kind else primitive


@review_app.command("accept")
@guarded
def accept_command(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID", help="As `lerim review list` shows them; a beginning will do.")
    ] = [],  # noqa: B006 - typer reads it and never writes it
    everything: Annotated[
        bool, typer.Option("--all", help="All that wait, but what is flagged or only a tool or web page says.")
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
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Make candidates memories.

    Without an answer for a similar memory, the suggested one is taken, if there is one; else the candidate becomes a
    new memory.
    """
    if bool(ids) == everything:
        raise typer.BadParameter("Name candidates, or give --all for all that wait.")
    place = place_of(repo, own)
    choice = _choice(place, {"same": same, "replaces": replaces, "changes": changes, "answers": answers}, keep=keep)
    if choice is not None and choice.memory and len(ids) != 1:
        raise typer.BadParameter("Name one candidate with --same, --replaces, --changes or --answers.")
    if choice is not None and everything:
        raise typer.BadParameter("--all takes the suggested answers; name candidates to choose others.")
    if everything:
        ids = _all_but_doubted(place)
        if not ids and not as_json:
            output.say("Nothing is waiting for review that could be accepted unseen.")

    def accept(candidate_id: str) -> ReviewResult:
        nonlocal quotes
        result = queue.accept(place, candidate_id, quotes=quotes, choice=choice, singly=not everything)
        if result.ask_quotes:
            quotes = "shared" if own else _ask_quotes(here(repo), ask=not as_json)  # your own lie in no repository
            result = queue.accept(place, candidate_id, quotes=quotes, choice=choice, singly=not everything)
        return result

    each(ids, accept, named=candidate_named(place), as_json=as_json, own=own)


def _choice(place: Place, given: Mapping[queue.NeighbourAnswer, str | None], *, keep: bool) -> queue.Choice | None:
    """The answer that was given, at most one. Raises UsageError, NotFoundError."""
    chosen = [(answer, memory) for answer, memory in given.items() if memory is not None]
    if len(chosen) + keep > 1:
        raise typer.BadParameter("Give one of --same, --replaces, --changes, --answers and --keep.")
    if keep:
        return queue.Choice("keep")
    return next((queue.Choice(answer, memory_named(place)(memory)) for answer, memory in chosen), None)


def _all_but_doubted(place: Place) -> list[str]:
    """The ids of all that wait, oldest turn first, but those a person should look at; these are told."""
    proposals, problems, _ = queue.pending(place)
    output.warn(problems)
    for proposal in proposals:
        if why := queue.doubted(proposal):
            output.note(f"note: {output.visible(f'{proposal.id} needs your review: {why}')}")
    return [proposal.id for proposal in proposals if not queue.doubted(proposal)]


def _ask_quotes(at: Here, *, ask: bool) -> Quotes:
    """The person's answer on a terminal; else what the settings say, else shared, and that is said."""
    if at.settings.quotes != "ask":
        return "local" if at.settings.quotes == "local" else "shared"
    if ask and sys.stdin.isatty() and sys.stdout.isatty():
        output.say("The quotes a memory rests on can be committed with it, or stay on this machine.")
        return "shared" if typer.confirm("Share quotes in git?", default=True) else "local"
    output.note("note: quotes are written into this repository's memories; `--quotes local` keeps them on this machine")
    return "shared"


@review_app.command("edit")
@guarded
def edit_command(
    candidate_id: Annotated[str, typer.Argument(metavar="ID")],
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    body: Annotated[str | None, typer.Option(help="The new text.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="The new tags; may be repeated.")
    ] = None,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Change a candidate's words; in $EDITOR if no option is given."""
    place = place_of(repo, own)
    candidate_id = candidate_named(place)(candidate_id)
    if title is None and body is None and tag is None:
        shown = queue.show(place, candidate_id)
        seen = text_hash(shown.text)
        with edited(shown.record) as change:
            each([candidate_id], lambda name: queue.edit(place, name, change, seen=seen), as_json=as_json, own=own)
        return
    if body is not None and not body.strip():
        raise typer.BadParameter("The text is empty; give its words, or leave --body out.", param_hint="--body")
    change = queue.Edit(title, body, None if tag is None else tuple(tag))
    each([candidate_id], lambda name: queue.edit(place, name, change), as_json=as_json, own=own)


@review_app.command("reject")
@guarded
def reject_command(ids: Ids, own: Own = False, repo: Repo = HERE, as_json: Json = False) -> None:
    """Refuse candidates for good."""
    place = place_of(repo, own)
    each(ids, lambda name: queue.reject(place, name), named=candidate_named(place), as_json=as_json, own=own)


@review_app.command("undo")
@guarded
def undo_command(
    action: Annotated[
        str | None, typer.Argument(metavar="ACTION", help="As the other commands print it; a beginning will do.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show the last twenty steps, and take nothing back.")] = False,
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Take back the last step, or the one named. A step whose file was changed since is told, then passed."""
    place = place_of(repo, own)
    if listed:
        if action:
            raise typer.BadParameter("Name a step, or list them.", param_hint="--list")
        steps = queue.steps(place)
        if as_json:
            output.show_json(StepsView(steps))
            return
        for step in steps:
            when = step.time[:16].replace("T", " ")
            output.show_item(step.action, [f"{when} UTC, {_STATES[step.state]}: {step.label}"])
        if not steps:
            output.say("Nothing was done yet.")
        return
    each([action or ""], lambda name: queue.undo(place, name or None), as_json=as_json, own=own)


def each(
    ids: list[str],
    act: Callable[[str], ReviewResult],
    *,
    named: Callable[[str], str] = str,
    as_json: bool,
    own: bool = False,
) -> None:
    """Acts on each id, which `named` gives for what was typed; one that fails leaves the others alone. Exits with 1 if
    all failed, 3 if some did."""
    results: list[ResultView] = []
    first: LerimError | None = None
    for typed in dict.fromkeys(ids):
        name = typed
        try:
            name = named(typed)
            results.append(result_view(name, act(name)))
        except LerimError as error:
            if len(ids) == 1:
                raise
            first = first or error
            results.append(ResultView(name, False, error.code, str(error), diff=error.diff or None))
    if as_json:
        output.show_json(ResultsView(results))
    else:
        for result in results:
            say(result, own=own)
    failed = sum(not result.ok for result in results)
    if failed:
        alone = first.exit_code if first else 1
        raise typer.Exit(3 if failed < len(results) else alone)


def result_view(name: str, result: ReviewResult) -> ResultView:
    """The outcome for this id."""
    return ResultView(name, result.ok, result.code, result.message, result.action, result.path, result.ask_quotes)


def say(result: ResultView, *, own: bool = False) -> None:
    """The outcome in words, and how it is taken back."""
    message = output.visible(result.message, lines=True)
    if not result.ok:
        output.note(f"error: {f'{output.visible(result.id)}: ' if result.id else ''}{message}")
        output.show_difference(result.diff or "")
        return
    output.say(message)
    if result.path:
        output.say(f"  file: {output.visible(result.path)}")
    if result.action and result.code not in ("undone", "already"):
        output.say(f"  take back: lerim review undo {output.visible(result.action)}{' --global' if own else ''}")
