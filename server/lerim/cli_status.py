"""`lerim status`."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import msgspec

from lerim import output
from lerim.cli_place import HERE, Alias, Here, Json, Repo, guarded, here
from lerim.cli_project import ProjectView, view
from lerim.errors import Problem
from lerim.memory.lines import moment
from lerim.project import Owners, listed
from lerim.review import queue


class StatusView(msgspec.Struct, frozen=True):
    """What `status --json` prints. `memories` counts by primitive; `sessions` and `waiting` are of this repository.

    `waiting` sessions have turns not yet learned from, by the rules or by the model the settings name. `blocked` counts
    rejected claims met again.
    """

    project: ProjectView
    memories: dict[str, int]
    candidates: int
    blocked: int
    sessions: int
    waiting: int
    last_session: str
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
    output.show_table(
        ("", ""),
        (
            ("project", f"{shown.project.name} ({shown.project.root})"),
            ("memories", memories),
            ("waiting for review", str(shown.candidates)),
            ("rejected, met again", str(shown.blocked)),
            ("sessions", f"{shown.sessions}, {shown.waiting} not yet learned from"),
            ("newest session", shown.last_session[:19].replace("T", " ") + " UTC" if shown.last_session else "none"),
        ),
    )
    output.warn(shown.problems)


def _status(at: Here) -> StatusView:
    stored, problems = at.place.store().load_all()
    proposals, more, blocked = queue.pending(at.place)
    sessions, waiting, newest = _sessions(at)
    counts = Counter(item.record.primitive for item in stored)
    return StatusView(
        project=view(at.project),
        memories={primitive: counts[primitive] for primitive in sorted(counts)},
        candidates=len(proposals),
        blocked=blocked,
        sessions=sessions,
        waiting=waiting,
        last_session=newest,
        problems=[*problems, *more],
    )


def _sessions(at: Here) -> tuple[int, int, str]:
    """How many sessions the catalog has of this repository, how many wait (for a model only where the settings name one
    that can be asked), when the newest ended.

    Folders are asked whose they are now, so that an alias counts before the next sync moves their turns.
    """
    from lerim.models import editor
    from lerim.models.choose import choose
    from lerim.sessions.catalog import Catalog
    from lerim.sessions.queue import EXTRACT, MODEL

    if not at.home.catalog.exists():
        return 0, 0, ""
    others = [known for known in listed(at.home)[0] if known.key != at.project.key]
    owners = Owners([at.project, *others])
    kinds = (
        (EXTRACT, MODEL) if choose("extract", at.settings, os.environ, editor.told(os.environ)[0])[0] else (EXTRACT,)
    )
    waiting: set[Path] = set()
    with Catalog.open(at.home) as catalog:
        own = [cwd for cwd in catalog.folders() if owners.owner(cwd) == at.project.key]
        for kind in kinds:
            rows = catalog.sessions(at.project.key, folders=own, limit=1_000_000, kind=kind)
            waiting |= {row.session.path for row in rows if row.waits}
    newest = max((row.last for row in rows if row.last), default=None)
    return len(rows), len(waiting), moment(newest) if newest else ""
