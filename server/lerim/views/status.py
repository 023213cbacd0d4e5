"""The state of a repository: sessions, candidates and memories."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime

import msgspec

from lerim.errors import Problem
from lerim.memory import conflicting_answers, format_time, load_all
from lerim.models import ModelView, load_model_view
from lerim.project import FolderOwners, list_projects
from lerim.review import LastRun, find_last_model_run, find_unmerged_problems, queue
from lerim.views.context import ProjectContext
from lerim.views.drift import find_drifts
from lerim.views.projects import ProjectView, make_project_view
from lerim.views.running_server import RunningServer, find_running_server


class StatusOutput(msgspec.Struct, frozen=True):
    """What `status --json` prints. `memories` counts by primitive; `sessions` and `waiting` count those of
    this repository.

    `waiting` counts sessions with turns that the rules, or the chosen model, have not read yet. `blocked` counts how
    often rejected claims were found again, `standing` the memories whose references are `drifted` or `gone`. `model`
    is what is known about the model without calling it; `last_run` is the latest run that called one. `server` is the
    server that runs for this home (`lerim up`), null if there is none.
    """

    project: ProjectView
    memories: dict[str, int]
    standing: dict[str, int]
    candidates: int
    blocked: int
    sessions: int
    waiting: int
    last_session: str
    model: ModelView
    last_run: LastRun
    problems: list[Problem]
    server: RunningServer | None = None


def load_status(context: ProjectContext, now: datetime) -> StatusOutput:
    """Returns the state of a project at a time with its zone. Problems with the settings are not included."""
    all_memories, problems = load_all(context.project, context.home, context.review_paths.store())
    archive_prefix = f"{context.project.memory_dir / 'archived'}{os.sep}"
    stored = [item for item in all_memories if not str(item.path).startswith(archive_prefix)]
    candidates, review_problems, blocked = queue.list_pending(context.review_paths)
    model = load_model_view(context.project.key, context.settings, context.home, context.environ, now)
    sessions, waiting_ids, newest = _count_sessions(
        context, model=bool(model.model) or model.provider in ("auto", "ollama")
    )
    counts = Counter(item.record.primitive for item in stored)
    drifts = find_drifts(context.review_paths, stored, problems)
    standing = Counter(drifts[item.record.id].state for item in stored if item.record.id in drifts)
    return StatusOutput(
        project=make_project_view(context.project),
        memories={primitive: counts[primitive] for primitive in sorted(counts)},
        standing={state: standing[state] for state in sorted(standing)},
        candidates=len(candidates),
        blocked=blocked,
        sessions=sessions,
        waiting=waiting_ids,
        last_session=newest,
        model=model,
        last_run=find_last_model_run(context.review_paths),
        server=find_running_server(context.home),
        problems=[
            *problems,
            *conflicting_answers.find_answer_problems(all_memories),
            *find_unmerged_problems(context.review_paths),
            *review_problems,
        ],
    )


def _count_sessions(context: ProjectContext, *, model: bool) -> tuple[int, int, str]:
    """Returns how many sessions of this repository the catalog has, how many of them are waiting (with `model`, also
    for the model), and when the newest one ended.

    The owner of each folder is looked up now, so that a new alias counts before the next sync moves its turns.
    """
    from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog

    if not context.home.catalog.exists():
        return 0, 0, ""
    others = [known for known in list_projects(context.home)[0] if known.key != context.project.key]
    owners = FolderOwners([context.project, *others], home=context.home)
    waiting_ids: set[str] = set()
    with Catalog.open(context.home) as catalog:
        own_folders = [cwd for cwd in catalog.list_folders() if owners.find_owner(cwd) == context.project.key]
        for kind in (EXTRACT_JOB, MODEL_JOB) if model else (EXTRACT_JOB,):
            rows = catalog.list_sessions(context.project.key, folders=own_folders, limit=1_000_000, kind=kind)
            waiting_ids |= {row.session_id if row.is_main else row.parent for row in rows if row.is_waiting}
    newest = max((row.last for row in rows if row.last), default=None)
    return sum(row.is_main for row in rows), len(waiting_ids), format_time(newest) if newest else ""
