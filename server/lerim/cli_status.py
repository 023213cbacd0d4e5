"""`lerim status`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec

from lerim import output
from lerim.cli_place import HERE, Alias, Here, Json, Repo, guarded, here
from lerim.cli_project import ProjectView, view
from lerim.cli_standing import looked
from lerim.errors import Problem
from lerim.memory import rivals
from lerim.memory.lines import moment
from lerim.memory.search import load_all
from lerim.models.state import ModelView, state
from lerim.models.told import dollars, summed, taken, waiting
from lerim.models.usage import Why
from lerim.project import Owners, listed
from lerim.review import queue
from lerim.review.joining import unmerged
from lerim.review.run import LastRun, last_asked


class StatusView(msgspec.Struct, frozen=True):
    """What `status --json` prints. `memories` counts by primitive; `sessions` and `waiting` are of this repository.

    `waiting` sessions have turns not yet learned from, by the rules or by the model the settings name. `blocked` counts
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


@guarded
def status_command(
    repo: Repo = HERE,
    alias: Alias = [],  # noqa: B006 - typer reads it and never writes it
    as_json: Json = False,
) -> None:
    """Show what is known about this repository; changes nothing."""
    at = here(repo, alias)
    shown = _status(at)
    if as_json:
        output.show_json(msgspec.structs.replace(shown, problems=[*at.problems, *shown.problems]))
        return
    memories = ", ".join(output.counted(count, primitive) for primitive, count in shown.memories.items()) or "none"
    standing = ", ".join(f"{count} {state}" for state, count in shown.standing.items())
    output.show_table(
        ("", ""),
        (
            ("project", f"{shown.project.name} ({shown.project.root})"),
            ("memories", memories),
            *([("changed since", standing)] if standing else ()),
            ("waiting for review", str(shown.candidates)),
            ("rejected, met again", str(shown.blocked)),
            ("sessions", f"{shown.sessions}, {shown.waiting} not yet learned from"),
            ("newest session", shown.last_session[:19].replace("T", " ") + " UTC" if shown.last_session else "none"),
            *_of_model(shown.model, shown.last_run),
        ),
    )
    output.warn([*shown.problems, *shown.model.problems])


def _of_model(model: ModelView, last: LastRun) -> Iterator[tuple[str, str]]:
    """The rows of the table that are about the model, and the `last` run that asked one."""
    if model.provider == "none" and model.waits.why == "none":
        yield "model", "none; `lerim model` shows what there is to choose from"
        return
    yield (
        "model",
        model.model
        or (
            "none is asked; the warnings say why"
            if model.problems
            else f"{model.provider}: which is known at the next sync"
        ),
    )
    if model.spent or model.waits.cost is not None:
        bound = f" of ${model.budget_usd:.2f}" if model.budget_usd else ", no limit"
        yield "spent today", f"{dollars(model.today_usd)}{bound}"
    for one in last.spent:
        yield "last asked", taken(one)
    for line in summed(last.steps):
        yield "", line
    if model.waits.sessions:
        yield "for the model", f"{waiting(model.waits)}{_KEPT_BY[model.waits.why]}"


_KEPT_BY: dict[Why, str] = {
    "": "",
    "consent": "; you have not agreed to it yet",
    "budget": "; today's budget is used up",
    "none": "",
    "gone": "; it cannot be asked now",
}


def _status(at: Here) -> StatusView:
    everything, problems = load_all(at.project, at.home, at.place.store())
    over = f"{at.project.memory_dir / 'archived'}{os.sep}"
    stored = [item for item in everything if not str(item.path).startswith(over)]
    proposals, more, blocked = queue.pending(at.place)
    model = state(at.project.key, at.settings, at.home, os.environ, datetime.now().astimezone())
    sessions, waits, newest = _sessions(at, model=bool(model.model) or model.provider in ("auto", "ollama"))
    counts = Counter(item.record.primitive for item in stored)
    stands = looked(at.place, stored, problems)
    standing = Counter(stands[item.record.id].state for item in stored if item.record.id in stands)
    return StatusView(
        project=view(at.project),
        memories={primitive: counts[primitive] for primitive in sorted(counts)},
        standing={state: standing[state] for state in sorted(standing)},
        candidates=len(proposals),
        blocked=blocked,
        sessions=sessions,
        waiting=waits,
        last_session=newest,
        model=model,
        last_run=last_asked(at.place),
        problems=[*problems, *rivals.problems(everything), *unmerged(at.place), *more],
    )


def _sessions(at: Here, *, model: bool) -> tuple[int, int, str]:
    """How many sessions the catalog has of this repository, how many wait (with `model` for that, too), when the newest
    ended.

    Folders are asked whose they are now, so that an alias counts before the next sync moves their turns.
    """
    from lerim.sessions.catalog import Catalog
    from lerim.sessions.queue import MODEL
    from lerim.sessions.stored import EXTRACT

    if not at.home.catalog.exists():
        return 0, 0, ""
    others = [known for known in listed(at.home)[0] if known.key != at.project.key]
    owners = Owners([at.project, *others], home=at.home)
    waits: set[str] = set()
    with Catalog.open(at.home) as catalog:
        own = [cwd for cwd in catalog.folders() if owners.owner(cwd) == at.project.key]
        for kind in (EXTRACT, MODEL) if model else (EXTRACT,):
            rows = catalog.sessions(at.project.key, folders=own, limit=1_000_000, kind=kind)
            waits |= {row.session.id if row.main else row.session.parent for row in rows if row.waits}
    newest = max((row.last for row in rows if row.last), default=None)
    return sum(row.main for row in rows), len(waits), moment(newest) if newest else ""
