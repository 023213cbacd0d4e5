"""Prints candidates, and the results of commands that change them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import typer

from lerim.cli.terminal import EXIT_CODES, output, post_to_server, refresh_agent_files, shortest_prefix
from lerim.memory import IN_REPLY_TO, SPEAKER_NAMES, Evidence, find_replied_to, is_quoted
from lerim.review import CandidateView, ReviewPaths, ReviewResult, flag_text
from lerim.times import format_moment
from lerim.views import ResultListOutput, ResultView, collect_results, make_result_view


def show_candidate(view: CandidateView) -> None:
    """Prints one candidate for review: its text, confidence, evidence, and what accepting it would change."""
    confidence = f"confidence {output.format_percent(view.confidence)}"
    output.show_item(
        view.id,
        [
            view.title,
            f"{format_type(view.primitive, view.kind)}, {confidence}, {_describe_effect(view)}",
            _describe_origin(view),
            *_describe_suggestion(view),
            *(f"similar ({output.format_percent(one.similarity)}): {one.id} “{one.title}”" for one in view.neighbours),
            *view.text.splitlines(),
            *(f"{_describe_speaker(view, quote)}: “{quote.quote}”" for quote in view.evidence),
            *([f"files: {', '.join(view.references)}"] if view.references else []),
            *(f"warning: {flag_text(flag)}" for flag in view.flags),
            *(view.diff or "").splitlines(),
        ],
    )
    output.print_line()


def _describe_speaker(view: CandidateView, quote: Evidence) -> str:
    replied_to = find_replied_to(view.body)
    is_same = is_quoted(replied_to, quote.quote) and is_quoted(quote.quote, replied_to)
    if not is_same:
        return SPEAKER_NAMES[quote.who]
    return "in reply to" if IN_REPLY_TO in view.body else "after"


def _describe_origin(view: CandidateView) -> str:
    """Describes the session that a candidate comes from, and when it was said there or, otherwise, when it was
    proposed."""
    when = format_moment(view.time)
    return f"from: {view.agent} session {view.session}, {when}" if view.session else f"proposed: {when}"


def _describe_suggestion(view: CandidateView) -> list[str]:
    """Describes the suggested answer and its reason, or why `lerim maintain` proposes the candidate."""
    if view.suggested is None:
        return [f"why: {view.reason}"] if view.reason else []
    by = "the model" if view.suggested.by == "model" else "the session's wording"
    why = f": {view.suggested.reason}" if view.suggested.reason else ""
    return [f"suggested by {by}: {view.suggested.answer} {view.suggested.memory}".rstrip() + why]


def _describe_effect(view: CandidateView) -> str:
    """Describes what accepting a candidate does to existing memories."""
    ends = ", ".join(view.ends)
    match view.action:
        case "same":
            return f"adds its evidence to {view.target}"
        case "update" | "merge":
            return f"changes {view.target}" + (f", archives {ends}" if ends else "")
        case "supersede" | "consolidate":
            return f"replaces {ends}"
        case "resolve":
            return f"answers {ends}"
        case "close":
            return f"{view.targets[-1].id} answers {ends}" if view.targets else "answers a question"
        case "archive":
            return f"archives {ends}"
        case "refer":
            return f"changes what {view.target} refers to"
        case _:
            return "new"


def show_candidates(
    views: list[CandidateView], title: str, accepted: Collection[str] = (), waiting: Collection[str] = ()
) -> None:
    """Prints candidates as a table: a unique prefix of the id, type, title, confidence, files and evidence.
    `waiting` are the other ids that the prefix must differ from; candidates in `accepted` are marked."""
    rows = []
    known_ids = {*waiting, *(view.id for view in views)}
    for view in views:
        evidence = "\n".join(f"{SPEAKER_NAMES[quote.who]}: {quote.quote}" for quote in view.evidence[:1])
        title_cell = view.title if view.action == "add" else f"{view.title} ({_describe_effect(view)})"
        if view.id in accepted:
            title_cell = f"accepted: {title_cell}"
        if view.scope == "global":
            title_cell = f"{title_cell} (personal: --global)"
        type_label = format_type(view.primitive, view.kind)
        rows.append(
            (
                shortest_prefix(view.id, known_ids),
                type_label,
                title_cell,
                output.format_percent(view.confidence),
                ", ".join(view.references),
                evidence,
            )
        )
    output.show_table(("id", "kind", "title", "conf.", "files", "evidence"), rows, title=title)


def format_type(primitive: str, kind: str | None) -> str:
    """Formats the type of a memory: `learning/pitfall`, `decision`."""
    return f"{primitive}/{kind}" if kind else primitive


@dataclass(frozen=True, slots=True)
class ServerAct:
    """An action of the running server on one candidate or memory: the operation `POST {what}/{id}/{act}` of the API,
    and its body."""

    what: Literal["candidates", "memories", "left-out"]
    act: str
    body: Mapping[str, object] = field(default_factory=dict)

    def request(self, paths: ReviewPaths, name: str) -> ResultView | None:
        """Lets the running server perform the action; returns None if no server can. Raises the same errors as
        `post_to_server`."""
        return post_to_server(paths.home, [self.what, name, self.act], self.body, ResultView, project=paths.project)


def act_on_each(
    ids: list[str],
    act: Callable[[str], ReviewResult],
    on_server: ServerAct,
    *,
    paths: ReviewPaths,
    find_id: Callable[[str], str] = str,
    as_json: bool,
    personal: bool = False,
    afterwards: Callable[[str], None] = lambda name: None,
) -> None:
    """Lets the running server, or else `act`, act on each id, and prints the results; `find_id` completes what was
    typed.

    A failure does not stop the others. The files and the index that agents get from the memories at `paths` are
    updated. Exits with 1 if all failed, 3 if some did.
    """

    def act_on(name: str) -> ResultView:
        result = on_server.request(paths, name) or make_result_view(name, act(name))
        afterwards(name)
        return result

    show_each(ids, act_on, paths=paths, find_id=find_id, as_json=as_json, personal=personal)


def show_each(
    ids: list[str],
    act_on: Callable[[str], ResultView],
    *,
    paths: ReviewPaths,
    find_id: Callable[[str], str] = str,
    as_json: bool,
    personal: bool,
) -> None:
    """Acts on each id and prints the results, like `act_on_each`, with an `act_on` that asks the server itself."""
    results, first_error = collect_results(ids, act_on, find_id)
    exit_code = first_error.exit_code if first_error else 1
    show_results(results, paths=paths, as_json=as_json, personal=personal, exit_code=exit_code)


def show_results(
    results: list[ResultView],
    *,
    paths: ReviewPaths,
    as_json: bool,
    personal: bool = False,
    undo: str = "",
    exit_code: int = 1,
) -> None:
    """Prints the results of several actions. If `undo` is given, that action undoes them together. The files and the
    index that agents get from the memories at `paths` are updated. Exits with `exit_code` if all failed, 3 if some
    did."""
    if any(result.ok for result in results):
        refresh_agent_files(paths.project, paths.home)
    if as_json:
        output.show_json(ResultListOutput(results, undo))
    else:
        for result in results:
            show_result(result, personal=personal, with_undo=not undo)
        if undo:
            _show_undo(undo, personal=personal)
    failures = sum(not result.ok for result in results)
    if failures:
        raise typer.Exit(EXIT_CODES["partial"] if failures < len(results) else exit_code)


def show_result(result: ResultView, *, personal: bool = False, with_undo: bool = True) -> None:
    """Prints the outcome and the command that undoes it."""
    message = output.escape_controls(result.message, lines=True)
    if not result.ok:
        output.print_note(f"error: {f'{output.escape_controls(result.id)}: ' if result.id else ''}{message}")
        output.show_difference(result.diff or "")
        return
    output.print_line(message)
    if result.note:
        output.print_note(f"note: {output.escape_controls(result.note)}")
    if result.path:
        output.print_line(f"  file: {output.escape_controls(result.path)}")
    if with_undo and result.action and result.code not in ("undone", "already"):
        _show_undo(result.action, personal=personal)


def _show_undo(action: str, *, personal: bool) -> None:
    output.print_line(f"  undo: lerim review undo {output.escape_controls(action)}{' --global' if personal else ''}")
