"""Candidates: lists, decisions, undo, and what was left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec

from lerim.memory import QuoteChoice
from lerim.review import CandidateEdit, CandidateView, Id, NeighbourChoice, ReviewPaths, ReviewResult, queue
from lerim.views import (
    DroppedListOutput,
    PendingListOutput,
    ResultView,
    UndoListOutput,
    load_candidate,
    load_left_out,
    load_pending_list,
    make_result_view,
    refresh_agent_files,
)
from lerim.web.api.operations import Call, Offset, Operation


class EditBody(CandidateEdit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """New words and a new kind; what is null stays as it is. `seen` is the hash of the text that you saw, "" if you do
    not know it."""

    seen: Id = ""


class ChoiceBody(NeighbourChoice, frozen=True, forbid_unknown_fields=True):
    """What a candidate is to a memory; `hash` is the memory's, as it was shown."""


class AcceptBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to accept a candidate. If the result has `ask_quotes`, nothing was done: send it again with `quotes`."""

    edit: EditBody | None = None
    quotes: QuoteChoice | None = None
    choice: ChoiceBody | None = None
    seen: Id = ""


class RejectBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seen` is the hash of the text that you saw, "" if you do not know it."""

    seen: Id = ""


class UndoBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which action to undo; "" is the last one."""

    action: Id = ""


class CandidatesQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which candidates to list: at most a hundred at once, since each comes with the memories similar to it; or `all`
    of them."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    offset: Offset = 0
    all: bool = False


class LeftOutQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`session` is the beginning of a session's id."""

    session: Id = ""
    limit: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 50


def act(call: Call, do: Callable[[ReviewPaths, str], ReviewResult]) -> ResultView:
    """Acts on the candidate or memory that the path names; keeps what agents are given up to date, which a command does
    itself, once for all that it acts on."""
    paths, name = call.target()
    result = do(paths, name)
    if result.ok and not call.is_command:
        refresh_agent_files(paths.project, paths.home)
    return make_result_view(name, result)


def list_candidates(call: Call, query: CandidatesQuery) -> PendingListOutput:
    """Returns the candidates that wait for review, those of the oldest day first."""
    paths = call.review_paths()
    with call.use_search(paths) as search:
        return load_pending_list(paths, search, None if query.all else query.limit, query.offset)


def show_candidate(call: Call) -> CandidateView:
    """Returns one candidate with the memories most similar to it."""
    return load_candidate(*call.target())


def accept_candidate(call: Call, body: AcceptBody) -> ResultView:
    """Accepts a candidate as a memory."""
    edit, quotes, choice, seen = body.edit, body.quotes, body.choice, body.seen
    return act(call, lambda paths, name: queue.accept_candidate(paths, name, edit, quotes, choice=choice, seen=seen))


def edit_candidate(call: Call, body: EditBody) -> ResultView:
    """Changes the words of a candidate."""
    return act(call, lambda paths, name: queue.edit_candidate(paths, name, body, seen=body.seen))


def reject_candidate(call: Call, body: RejectBody) -> ResultView:
    """Rejects a candidate; the same claim is not proposed again."""
    return act(call, lambda paths, name: queue.reject_candidate(paths, name, seen=body.seen))


def list_left_out(call: Call, query: LeftOutQuery) -> DroppedListOutput:
    """Returns what was left out of the review, newest first."""
    return load_left_out(call.review_paths(), query.session, query.limit)


def propose_left_out(call: Call) -> ResultView:
    """Makes a candidate of something that was left out."""
    return act(call, queue.propose_anyway)


def list_actions(call: Call) -> UndoListOutput:
    """Returns the last twenty actions, newest first."""
    return UndoListOutput(queue.list_steps(call.review_paths()))


def undo_action(call: Call, body: UndoBody) -> ResultView:
    """Undoes an action, by default the last one."""
    undone = act(call, lambda paths, _: queue.undo_last(paths, body.action or None))
    return msgspec.structs.replace(undone, id=body.action)


_CANDIDATES = "/projects/{project}/candidates"
operations = [
    Operation("GET", _CANDIDATES, "List the candidates that wait", list_candidates),
    Operation("GET", f"{_CANDIDATES}/{{candidate}}", "Show a candidate", show_candidate),
    Operation("POST", f"{_CANDIDATES}/{{candidate}}/accept", "Accept a candidate", accept_candidate),
    Operation("POST", f"{_CANDIDATES}/{{candidate}}/edit", "Edit a candidate", edit_candidate),
    Operation("POST", f"{_CANDIDATES}/{{candidate}}/reject", "Reject a candidate", reject_candidate),
    Operation("GET", "/projects/{project}/left-out", "List what was left out of the review", list_left_out),
    Operation("POST", "/projects/{project}/left-out/{item}/propose", "Propose what was left out", propose_left_out),
    Operation("GET", "/projects/{project}/actions", "List the last actions", list_actions),
    Operation("POST", "/projects/{project}/actions/undo", "Undo an action", undo_action),
]
