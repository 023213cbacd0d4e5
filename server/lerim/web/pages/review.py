"""The review: the candidates that wait, and the same decisions as in the editor's panel.

Each form carries the hash of the text that was shown; a decision about a text that has changed since is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import LerimError, NotFoundError, StaleError, UsageError
from lerim.memory import MemoryKind
from lerim.review import (
    CandidateEdit,
    CandidateView,
    NeighbourAnswer,
    NeighbourView,
    Proposal,
    ReviewResult,
    candidate_view,
    left_out_view,
    queue,
    undo_view,
)
from lerim.views import refresh_agent_files
from lerim.web.answers import find_status
from lerim.web.pages.endpoints import Form, read_edit, read_number, redirect
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.rendering import Pager, make_project_address, render_page

PAGE_SIZE = 30
MAX_LEFT_OUT = 50
_BEGINNING_LINES, _BEGINNING_CHARACTERS = 3, 300
_WITHOUT_TEXT = ("archive", "refer", "close")
"""Actions that give no memory new words, so that there is nothing to edit."""
ACTION_TEXTS = {
    "add": "new memory",
    "same": "adds a quote to a memory",
    "update": "changes a memory",
    "supersede": "replaces a memory",
    "resolve": "answers a question",
    "close": "closes a question",
    "merge": "merges memories",
    "consolidate": "combines memories",
    "archive": "archives a memory",
    "refer": "changes a reference",
}
SPEAKERS = {"user": "You said", "assistant": "The agent said", "tool": "A tool printed", "web": "A web page said"}
_ANSWERS: dict[NeighbourAnswer, tuple[str, str, str]] = {
    "answers": ("Answers this", "add this candidate and resolve “{}”", "w"),
    "same": ("Same as this", "add the quote to “{}”", "s"),
    "replaces": ("Replaces this", "add this candidate and archive “{}”", "p"),
    "changes": ("Changes this…", "edit the text of “{}”", "c"),
}
"""The button's label, what it does, and its key."""
_SUGGESTED_TEXTS: dict[NeighbourAnswer, str] = {
    "same": "add the quote to “{}”",
    "replaces": "replace “{}”",
    "changes": "change “{}”",
    "answers": "answer “{}”",
    "keep": "keep both",
}


@dataclass(frozen=True, slots=True)
class AnswerButton:
    """One answer about a similar memory. `key` is the key that presses it; only the first memory's have one."""

    name: NeighbourAnswer
    label: str
    effect: str
    key: str
    is_suggested: bool


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A similar memory, the beginning of its text, and the possible answers about it."""

    view: NeighbourView
    beginning: str
    answers: list[AnswerButton]


def show_review(request: Request) -> Response:
    """Shows the candidates, and one of them in full."""
    return _render_review(request, find_place(request))


def act_on_candidate(request: Request, form: Form) -> Response:
    """Accepts, edits or rejects a candidate; then shows the next one, or why nothing was done."""
    place = find_place(request)
    try:
        result = _act(place, form)
    except LerimError as error:
        return _render_review(request, place, form=form, refused=error)
    if result.ask_quotes:  # the decision is repeated once the person has said whether quotes are shared
        return _render_review(request, place, form=form, repeated=list(form.items()))
    refresh_agent_files(place.project, place.home)
    following = form.get("candidate", "") if form.get("action") == "edit" else form.get("next", "")
    return redirect(_review_address(place, candidate=following, done=result.action or ""))


def undo_action(request: Request, form: Form) -> Response:
    """Undoes an action on candidates or memories."""
    place = find_place(request)
    try:
        result = queue.undo_last(place.paths, form.get("action") or None)
    except LerimError as error:
        return _render_review(request, place, form=form, refused=error)
    if not result.ok:
        return _render_review(request, place, form=form, refused=StaleError(result.message))
    refresh_agent_files(place.project, place.home)
    shown = ("memories", form["memory"]) if form.get("memory") else ("review",)
    return redirect(make_project_address(place, *shown, undone="yes").unescape())


def propose_left_out(request: Request, form: Form) -> Response:
    """Makes a candidate of an item that was left out."""
    place = find_place(request)
    result = queue.propose_anyway(place.paths, form.get("item", ""))
    if not result.ok:
        return _render_review(request, place, form=form, refused=UsageError(result.message))
    return redirect(_review_address(place))


def _review_address(place: Place, **query: str) -> str:
    return make_project_address(place, "review", **query).unescape()


def _act(place: Place, form: Form) -> ReviewResult:
    candidate, seen = form.get("candidate", ""), form.get("seen", "")
    if not seen:
        raise UsageError("The form does not say which text was shown.", todo="Reload the page and decide again.")
    match form.get("action"):
        case "accept":
            quotes = form.get("quotes")
            return queue.accept_candidate(
                place.paths,
                candidate,
                _parse_edit(place, form),
                "shared" if quotes == "shared" else "local" if quotes == "local" else None,
                choice=_parse_choice(form),
                seen=seen,
            )
        case "reject":
            return queue.reject_candidate(place.paths, candidate, seen=seen)
        case "edit" if (edit := _parse_edit(place, form)) is not None:
            return queue.edit_candidate(place.paths, candidate, edit, seen=seen)
    raise UsageError("The form names no action.", todo="Reload the page and decide again.")


def _parse_choice(form: Form) -> queue.NeighbourChoice | None:
    answer = next((one for one in get_args(NeighbourAnswer) if one == form.get("answer")), None)
    return queue.NeighbourChoice(answer, form.get("memory", ""), form.get("memory_hash", "")) if answer else None


def _parse_edit(place: Place, form: Form) -> CandidateEdit | None:
    if "title" not in form:
        return None
    shown = candidate_view(queue.load_pending(place.paths, form.get("candidate", "")))
    edit = read_edit(form, shown.title, shown.body, shown.tags) or CandidateEdit()
    return msgspec.structs.replace(
        edit, kind=next((one for one in get_args(MemoryKind) if one == form.get("kind")), None)
    )


def _render_review(
    request: Request,
    place: Place,
    *,
    form: Form | None = None,
    refused: LerimError | None = None,
    repeated: Sequence[tuple[str, str]] = (),
) -> Response:
    query = request.query_params
    chosen_id = (form or query).get("candidate", "")
    start = read_number(request, "start")
    page = queue.list_pending_page(place.paths, start, PAGE_SIZE, chosen_id, best_first=True)
    shown = {one.id: one for one in page.proposals}
    chosen = shown.get(chosen_id) or next(iter(page.proposals), None)
    left_out, left_out_total = queue.list_left_out(place.paths, most=MAX_LEFT_OUT)
    undo = undo_view(queue.find_undoable(place.paths))
    done = "Undone." if query.get("undone") else undo.label if undo and undo.action == query.get("done") else ""
    context: dict[str, object] = {
        "candidates": page.proposals,
        "pager": Pager(page.start, len(page.proposals), PAGE_SIZE, len(page.ids)),
        "view": None,
        "refused": refused,
        "done": done,
        "undo": undo,
        "ask_quotes": repeated,
        "blocked": page.blocked,
        "left_out": [left_out_view(item, place.scope) for item in left_out],
        "left_out_total": left_out_total,
        "left_out_open": bool(query.get("left_out")),
        "problems": page.problems,
        "action_texts": ACTION_TEXTS,
        "next_id": "",
        "previous_id": "",
    }
    if chosen is not None:
        context |= _describe_chosen(place, chosen, is_editing=bool(query.get("edit")), changes=query.get("changes", ""))
        at = page.ids.index(chosen.id)
        context["previous_id"] = page.ids[at - 1] if at else ""
        context["next_id"] = page.ids[at + 1] if at + 1 < len(page.ids) else context["previous_id"]
    status = find_status(refused) if refused is not None else 200
    return render_page(request, "review.html", "Review", context, place=place, section="review", status=status)


def _describe_chosen(place: Place, chosen: Proposal, *, is_editing: bool, changes: str) -> dict[str, object]:
    """Returns what the template needs to show one candidate."""
    with place.open_search() as search:
        [proposal] = queue.with_neighbours(place.paths, [chosen], search)
    view = candidate_view(proposal, place.scope)
    neighbours = _rank_neighbours(view)
    edited = next((one for one in neighbours if one.id == changes), None)
    if changes and edited is None:
        raise NotFoundError(
            "This memory was archived or changed, and is not similar to the candidate any more.",
            where=changes[:80],
            todo="Look at the candidate again.",
        )
    return {
        "view": view,
        "seen": chosen.text_hash,
        "neighbours": [_make_row(view, one, is_first=at == 0) for at, one in enumerate(neighbours)],
        "edited_neighbour": edited,
        "suggested_text": _describe_suggestion(view),
        "is_editable": view.action not in _WITHOUT_TEXT,
        "is_editing": is_editing and view.action not in _WITHOUT_TEXT,
        "kinds": get_args(MemoryKind) if proposal.can_change_kind else (),
        "speakers": SPEAKERS,
    }


def _rank_neighbours(view: CandidateView) -> list[NeighbourView]:
    """Returns the similar memories: first the one with a suggested answer, then by similarity."""
    suggested = view.suggested.memory if view.suggested else ""
    return sorted(view.neighbours, key=lambda one: one.id != suggested)


def _make_row(view: CandidateView, memory: NeighbourView, *, is_first: bool) -> NeighbourRow:
    answers_question = memory.primitive == "question" and view.primitive != "question"
    suggested = view.suggested.answer if view.suggested and view.suggested.memory == memory.id else None
    answers = [
        AnswerButton(name, label, effect.format(memory.title), key if is_first else "", name == suggested)
        for name, (label, effect, key) in _ANSWERS.items()
        if name != "answers" or answers_question
    ]
    return NeighbourRow(memory, _take_beginning(memory.body), answers)


def _take_beginning(body: str) -> str:
    lines = [line for line in body.split("\n") if line.strip()]
    beginning = "\n".join(lines[:_BEGINNING_LINES])
    if len(beginning) > _BEGINNING_CHARACTERS:
        return f"{beginning[: _BEGINNING_CHARACTERS - 1].rstrip()}…"
    return f"{beginning} …" if len(lines) > _BEGINNING_LINES else beginning


def _describe_suggestion(view: CandidateView) -> str:
    """Returns what accepting does without another choice, such as `replace “Use pip”`; "" if nothing is suggested."""
    if view.suggested is None:
        return ""
    titles = {one.id: one.title for one in view.targets} | {one.id: one.title for one in view.neighbours}
    title = titles.get(view.suggested.memory, "")
    return _SUGGESTED_TEXTS[view.suggested.answer].format(title) if title else _SUGGESTED_TEXTS["keep"]
