"""`lerim status`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec

from lerim.cli.project import ProjectView, make_project_view
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    AliasOption,
    CommandContext,
    JsonOption,
    RepoOption,
    find_drifts,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.errors import Problem
from lerim.memory import conflicting_answers, format_time, load_all
from lerim.models import (
    ModelView,
    WaitReason,
    describe_spent,
    describe_waiting,
    format_dollars,
    load_model_view,
    summarize_steps,
)
from lerim.project import FolderOwners, list_projects
from lerim.review import LastRun, find_last_model_run, find_unmerged_problems, queue


class StatusView(msgspec.Struct, frozen=True):
    """What `status --json` prints. `memories` counts by primitive; `sessions` and `waiting` are of this
    repository.

    `waiting` sessions have turns not read yet, by the rules or by the model the settings name.
    `blocked` counts
    rejected claims met again, `standing` the memories whose references are `drifted` or `gone`. `model` is what is
    known of the model, without asking it; `last_run` the newest that asked one.
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


@with_error_exit
def status_command(
    repo: RepoOption = CURRENT_FOLDER,
    alias: AliasOption = [],  # noqa: B006 - typer reads it and never writes it
    as_json: JsonOption = False,
) -> None:
    """Show the state of this repository: sessions, candidates and memories. Changes nothing."""
    at = open_command_context(repo, alias)
    shown = _status(at)
    if as_json:
        output.show_json(msgspec.structs.replace(shown, problems=[*at.problems, *shown.problems]))
        return
    memories = ", ".join(output.pluralize(count, primitive) for primitive, count in shown.memories.items()) or "none"
    standing = ", ".join(f"{count} {state}" for state, count in shown.standing.items())
    output.show_table(
        ("", ""),
        (
            ("project", f"{shown.project.name} ({shown.project.root})"),
            ("memories", memories),
            *([("changed since", standing)] if standing else ()),
            ("waiting for review", str(shown.candidates)),
            ("rejected, found again", str(shown.blocked)),
            ("sessions", f"{shown.sessions}, {shown.waiting} not read yet"),
            ("newest session", shown.last_session[:19].replace("T", " ") + " UTC" if shown.last_session else "none"),
            *_of_model(shown.model, shown.last_run),
        ),
    )
    output.print_problems([*shown.problems, *shown.model.problems])


def _of_model(model: ModelView, last: LastRun) -> Iterator[tuple[str, str]]:
    """The rows of the table that are about the model, and the `last` run that asked one."""
    if model.provider == "none" and model.waits.why == "none":
        yield "model", "none; choose one with `lerim model use`"
        return
    yield (
        "model",
        model.model
        or (
            "none is used; the warnings say why"
            if model.problems
            else f"{model.provider}; the next sync finds out which"
        ),
    )
    if model.spent or model.waits.cost is not None:
        bound = f" of ${model.budget_usd:.2f}" if model.budget_usd else ", no limit"
        yield "spent today", f"{format_dollars(model.today_usd)}{bound}"
    for one in last.spent:
        yield "last asked", describe_spent(one)
    for line in summarize_steps(last.steps):
        yield "", line
    if model.waits.sessions:
        yield "for the model", f"{describe_waiting(model.waits)}{_KEPT_BY[model.waits.why]}"


_KEPT_BY: dict[WaitReason, str] = {
    "": "",
    "consent": "; you have not agreed to pay for it yet",
    "budget": "; today's budget is used up",
    "none": "",
    "gone": "; it cannot be used now",
}


def _status(at: CommandContext) -> StatusView:
    everything, problems = load_all(at.project, at.home, at.place.store())
    over = f"{at.project.memory_dir / 'archived'}{os.sep}"
    stored = [item for item in everything if not str(item.path).startswith(over)]
    proposals, more, blocked = queue.list_pending(at.place)
    model = load_model_view(at.project.key, at.settings, at.home, os.environ, datetime.now().astimezone())
    sessions, waits, newest = _sessions(at, model=bool(model.model) or model.provider in ("auto", "ollama"))
    counts = Counter(item.record.primitive for item in stored)
    stands = find_drifts(at.place, stored, problems)
    standing = Counter(stands[item.record.id].state for item in stored if item.record.id in stands)
    return StatusView(
        project=make_project_view(at.project),
        memories={primitive: counts[primitive] for primitive in sorted(counts)},
        standing={state: standing[state] for state in sorted(standing)},
        candidates=len(proposals),
        blocked=blocked,
        sessions=sessions,
        waiting=waits,
        last_session=newest,
        model=model,
        last_run=find_last_model_run(at.place),
        problems=[
            *problems,
            *conflicting_answers.find_answer_problems(everything),
            *find_unmerged_problems(at.place),
            *more,
        ],
    )


def _sessions(at: CommandContext, *, model: bool) -> tuple[int, int, str]:
    """How many sessions the catalog has of this repository, how many wait (with `model` for that, too), when the newest
    ended.

    Folders are asked whose they are now, so that an alias counts before the next sync moves their turns.
    """
    from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog

    if not at.home.catalog.exists():
        return 0, 0, ""
    others = [known for known in list_projects(at.home)[0] if known.key != at.project.key]
    owners = FolderOwners([at.project, *others], home=at.home)
    waits: set[str] = set()
    with Catalog.open(at.home) as catalog:
        own = [cwd for cwd in catalog.list_folders() if owners.find_owner(cwd) == at.project.key]
        for kind in (EXTRACT_JOB, MODEL_JOB) if model else (EXTRACT_JOB,):
            rows = catalog.list_sessions(at.project.key, folders=own, limit=1_000_000, kind=kind)
            waits |= {row.session.id if row.is_main else row.session.parent for row in rows if row.is_waiting}
    newest = max((row.last for row in rows if row.last), default=None)
    return sum(row.is_main for row in rows), len(waits), format_time(newest) if newest else ""
