"""Candidates that wait, what was left out, and the outcome of deciding about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from lerim.errors import LerimError, Problem
from lerim.export import refresh_rules
from lerim.files import FileUpdate
from lerim.hook import start_refresh_if_used
from lerim.memory import MemorySearch, Scope
from lerim.paths import Home
from lerim.project import Project
from lerim.review import (
    CandidateView,
    LeftOutView,
    ReviewPaths,
    ReviewResult,
    candidate_view,
    left_out_view,
    merge_conflict,
    queue,
)


class PendingListOutput(msgspec.Struct, frozen=True):
    """What `review list --json` prints; `blocked` counts how often rejected claims were found again and
    not proposed."""

    candidates: list[CandidateView]
    blocked: int
    problems: list[Problem]


class UndoListOutput(msgspec.Struct, frozen=True):
    """What `review undo --list --json` prints, newest first."""

    steps: list[queue.StepView]


class DroppedListOutput(msgspec.Struct, frozen=True):
    """What `review left-out --json` prints, newest first; `total` counts all items, also those not listed."""

    items: list[LeftOutView]
    total: int


class ResultView(msgspec.Struct, frozen=True):
    """The outcome for one candidate: `ReviewResult` with its id; `diff` shows how a file has changed since."""

    id: str
    ok: bool
    code: str
    message: str
    action: str | None = None
    path: str | None = None
    ask_quotes: bool = False
    diff: str | None = None
    note: str = ""


class MergedFileOutput(msgspec.Struct, frozen=True):
    """What `memory merge --json` prints: the difference, and the result (null without `--yes`: nothing was written)."""

    diff: str
    result: ResultView | None = None


class ResultListOutput(msgspec.Struct, frozen=True):
    """What accept, edit, reject and undo print with `--json`. `undo` is the action that undoes what was done together
    with `--all`, "" if it was not."""

    results: list[ResultView]
    undo: str = ""


def load_pending_list(
    paths: ReviewPaths, search: MemorySearch | None = None, limit: int | None = None, offset: int = 0
) -> PendingListOutput:
    """Returns the candidates that wait, oldest first, each with the memories most similar to it. With `limit`, only
    that many after the first `offset` are read; those of one day may be in another order then. `search` is an open
    search of the project; by default, one is opened."""
    if limit is None:
        proposals, problems, blocked = queue.list_pending(paths)
    else:
        page = queue.list_pending_page(paths, offset, limit)
        proposals, problems, blocked = page.proposals, page.problems, page.blocked
    views = [candidate_view(one, _scope(paths)) for one in queue.with_neighbours(paths, proposals, search)]
    return PendingListOutput(views, blocked, problems)


def load_candidate(paths: ReviewPaths, candidate_id: str) -> CandidateView:
    """Returns a candidate with the memories most similar to it. Raises NotFoundError and MemoryError_."""
    [proposal] = queue.with_neighbours(paths, [queue.load_pending(paths, candidate_id)])
    return candidate_view(proposal, _scope(paths))


def load_left_out(paths: ReviewPaths, session: str = "", limit: int | None = None) -> DroppedListOutput:
    """Returns what was left out of the review, newest first; `session` is the beginning of a session's id."""
    items, total = queue.list_left_out(paths, session) if limit is None else queue.list_left_out(paths, session, limit)
    return DroppedListOutput([left_out_view(item, _scope(paths)) for item in items], total)


def _scope(paths: ReviewPaths) -> Scope:
    return "global" if paths.project.is_personal else "project"


def collect_results(
    ids: Sequence[str], act: Callable[[str], ResultView], find_id: Callable[[str], str] = str
) -> tuple[list[ResultView], LerimError | None]:
    """Acts on each id and returns the outcomes, and the first error if there is one; `find_id` completes an id.

    A failure does not stop the others. If there is only one id, its error is raised.
    """
    results: list[ResultView] = []
    first_error: LerimError | None = None
    for typed_id in dict.fromkeys(ids):
        name = typed_id
        try:
            name = find_id(typed_id)
            results.append(act(name))
        except LerimError as error:
            if len(ids) == 1:
                raise
            first_error = first_error or error
            results.append(ResultView(name, False, error.code, str(error), diff=error.diff or None))
    return results, first_error


def make_result_view(name: str, result: ReviewResult) -> ResultView:
    """Returns the outcome for this id."""
    note = " ".join(result.missing) or result.note
    return ResultView(
        name, result.ok, result.code, result.message, result.action, result.path, result.ask_quotes, note=note
    )


def merge_memory(paths: ReviewPaths, memory_id: str, *, preview: bool) -> MergedFileOutput:
    """Merges both sides of a git conflict in a memory, the files with this id, or the memories that say the same; a
    `preview` writes nothing. Raises what `merge_conflict` raises."""
    path = paths.store().path_of(memory_id) or paths.project.memory_dir / "decisions" / f"{memory_id}.md"
    merged = merge_conflict(paths, path, preview=preview)
    if merged.result is None:
        return MergedFileOutput(merged.diff)
    refresh_agent_files(paths.project, paths.home)
    return MergedFileOutput(merged.diff, make_result_view(memory_id, merged.result))


def refresh_agent_files(project: Project, home: Home) -> tuple[list[FileUpdate], list[Problem]]:
    """Brings what agents are given up to date after memories have changed: the files that Lerim has written, if the
    person chose that for this project, and in the background the index of the hooks, if there is one. Returns the
    changes that were made, and problems."""
    start_refresh_if_used(project.root, home)
    return refresh_rules(project, home)
