"""The state of a repository: sessions, candidates and memories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from lerim import sqlite
from lerim.errors import Problem
from lerim.memory import LastCheck, MemorySearch, conflicting_answers
from lerim.models import ModelView, load_model_view
from lerim.project import FolderOwners, list_projects
from lerim.review import LastRun, find_last_model_run, find_unmerged_problems, queue
from lerim.times import format_utc
from lerim.views.drift import find_all_drifts
from lerim.views.projects import ProjectContext, ProjectView, make_project_view
from lerim.views.running_server import RunningServer, find_running_server

if TYPE_CHECKING:
    from lerim.sessions import SessionCount


class StatusOutput(msgspec.Struct, frozen=True):
    """What `status --json` prints. `memories` counts by primitive; `sessions` and `waiting` count those of
    this repository.

    `waiting` counts sessions with turns that the rules, or the chosen model, have not read yet. `blocked` counts how
    often rejected claims were found again, `drift` the memories whose references are `drifted` or `gone`. `model`
    is what is known about the model without calling it; `last_run` is the latest run that called one. `server` is the
    server that runs for this home (`lerim up`), null if there is none.
    """

    project: ProjectView
    memories: dict[str, int]
    drift: dict[str, int]
    candidates: int
    blocked: int
    sessions: int
    waiting: int
    last_session: str
    model: ModelView
    last_run: LastRun
    problems: list[Problem]
    server: RunningServer | None = None


@dataclass(slots=True)
class LastStatus:
    """What `load_status` found and what that depends on; keep one for each open search."""

    check: LastCheck = field(default_factory=LastCheck)
    counted: tuple[object, ...] = ()
    sessions: SessionCount | None = None


def load_status(
    context: ProjectContext, now: datetime, search: MemorySearch, last: LastStatus | None = None
) -> StatusOutput:
    """Returns the state of a project at a time with its zone. Problems with the settings are not included. `search` is
    an open search of the project: only memories that have to be compared with the code again are read. With `last`,
    which is updated, sessions are counted only if the catalog has changed."""
    last = last or LastStatus()
    waiting = queue.list_pending_page(context.review_paths, 0, 0)
    model = load_model_view(context.project.key, context.settings, context.home, context.environ, now)
    sessions = _count_sessions(context, last, model=bool(model.model) or model.provider in ("auto", "ollama"))
    counts = search.count_by_primitive()
    problems: list[Problem] = []
    drift = Counter(one.state for one in find_all_drifts(context.review_paths, search, problems, last.check).values())
    answers = search.load_rival_answers()
    return StatusOutput(
        project=make_project_view(context.project),
        memories={primitive: counts[primitive] for primitive in sorted(counts)},
        drift={state: drift[state] for state in sorted(drift)},
        candidates=len(waiting.ids),
        blocked=waiting.blocked,
        sessions=sessions.number,
        waiting=sessions.waiting,
        last_session=format_utc(sessions.newest),
        model=model,
        last_run=find_last_model_run(context.review_paths),
        server=find_running_server(context.home),
        problems=[
            *search.own_problems,
            *problems,
            *conflicting_answers.find_answer_problems(answers),
            *find_unmerged_problems(context.review_paths),
            *waiting.problems,
        ],
    )


def _count_sessions(context: ProjectContext, last: LastStatus, *, model: bool) -> SessionCount:
    """Counts the sessions of this repository in the catalog, and those that wait: with `model`, also for the model.

    The owner of each folder is looked up now, so that a new alias counts before the next sync moves its turns.
    """
    from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog, SessionCount

    if not context.home.catalog.exists():
        return SessionCount(0, 0, None)
    key = context.project.key
    others = [known for known in list_projects(context.home)[0] if known.key != key]
    owners = FolderOwners([context.project, *others], home=context.home)
    stamp = sqlite.read_stamp(context.home.catalog)
    with Catalog.open(context.home) as catalog:
        own_folders = [cwd for cwd in catalog.list_folders() if owners.find_owner(cwd) == key]
        kinds = (EXTRACT_JOB, MODEL_JOB) if model else (EXTRACT_JOB,)
        counted = stamp, key, own_folders, kinds
        if last.sessions is None or last.counted != counted:
            last.sessions, last.counted = catalog.count_sessions(key, own_folders, kinds), counted
    return last.sessions
