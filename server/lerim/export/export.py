"""Makes the plan of `lerim export` from the current files and memories, and carries it out. In projects for which
the person chose to keep the files of agents up to date, this also happens after each accept."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim import files
from lerim.errors import LerimError, Problem
from lerim.export.choosing import REASON_TEXTS, RuleMemory
from lerim.export.hand_edits import EditedLine, find_edited_lines, make_claim
from lerim.export.plan import ExportPlan, plan_export, plan_removal
from lerim.export.project_files import read_project_files
from lerim.export.rule_files import FOLDERS
from lerim.export.start_files import find_agents
from lerim.files import FileUpdate, make_edits
from lerim.memory import AgentMemories, Uses
from lerim.paths import Home
from lerim.project import Project, open_git
from lerim.review import FileClaimResult, ReviewPaths, make_approval_test, propose_from_files
from lerim.sessions import Catalog, Platform

MAX_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Export:
    """A plan, and the numbers of memories that it had to leave out.

    `drifted`, `unchecked` and `unapproved` count the memories that are in no file because their code has changed,
    because they were never compared with it here, and because they read like an order that no person here approved.
    `edited_lines` are the lines that a person changed or added in the files that are `hand_edited`.
    """

    plan: ExportPlan
    drifted: int = 0
    unchecked: int = 0
    unapproved: int = 0
    edited_lines: tuple[EditedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The edits that were made, and the result for each line that a person had edited."""

    made: tuple[FileUpdate, ...]
    taken: tuple[FileClaimResult, ...] = ()


def plan_project_export(project: Project, home: Home, environ: Mapping[str, str]) -> Export:
    """Plans the files of a project from its memories, its files and the agents used in it. Writes no file of the
    repository. Raises MemoryError_ if the memories cannot be read at all."""
    found = read_project_files(project.root)
    git = open_git(project.root, environ)
    with AgentMemories(project, home, make_approval_test(project, home), git) as memories:
        servable = memories.list_servable()
        problems = memories.problems
    own = [one.record for one in servable.fresh if one.scope == "project"]
    uses = Uses(home.project(project.key)).of_memories(record.id for record in own)
    ruled = [
        RuleMemory(record, uses[record.id].count, uses[record.id].outcomes) if record.id in uses else RuleMemory(record)
        for record in own
    ]
    agents, more = _list_agents_with_sessions(project, home)
    plan = plan_export(ruled, found, find_agents(found, agents))
    plan = replace(plan, problems=(*plan.problems, *problems, *more))
    return Export(
        plan,
        sum(one.memory.state != "fresh" for one in servable.memories),
        servable.unchecked,
        servable.unapproved,
        _find_all_edited_lines(project, home, plan),
    )


def plan_project_removal(project: Project, home: Home) -> Export:
    """Plans the removal of all memories from a project's files."""
    plan = plan_removal(read_project_files(project.root))
    return Export(plan, edited_lines=_find_all_edited_lines(project, home, plan))


def write_export(
    project: Project, home: Home, export: Export, now: datetime, *, take_edits: bool = False
) -> ExportResult:
    """Writes the files of a plan. With `take_edits`, the edits that a person made in them become candidates first, and
    then those files are written too; without it, those files stay as they are.

    Raises StaleError if a file has changed since the plan was made, MemoryError_ if one cannot be written; in both
    cases, no file is changed. Raises BusyError if another process holds the review.
    """
    folders = [project.root, project.root / ".claude", *(project.root / folder for folder in FOLDERS.values())]
    files.sweep_leftovers([(folder, project.root) for folder in folders if folder.is_dir()])
    edits = list(export.plan.edits)
    taken: list[FileClaimResult] = []
    if take_edits and export.plan.hand_edited:
        claims = [make_claim(line, now) for line in export.edited_lines]
        taken = propose_from_files(ReviewPaths(project, home), claims, now)
        edits += [one.edit for one in export.plan.hand_edited]
    made = make_edits(edits)
    _remove_empty_folders(project.root, made)
    return ExportResult(tuple(made), tuple(taken))


def undo_export(project: Project, made: Sequence[FileUpdate]) -> None:
    """Reverts edits that were made. Raises StaleError, and changes nothing, if one of the files has changed since."""
    undone = make_edits([edit.inverse() for edit in reversed(made)])
    _remove_empty_folders(project.root, undone)


def describe_left_out(export: Export) -> list[str]:
    """Returns a sentence for each reason why memories are in no file, with the number of those memories."""
    counts = Counter(one.reason for one in export.plan.left_out)
    no_room = counts.pop("no-room", 0)
    reasons = [(count, REASON_TEXTS[reason]) for reason, count in sorted(counts.items())]
    reasons += [
        (export.drifted, "the code has changed since, or is not found"),
        (export.unchecked, "never compared with the code here"),
        (export.unapproved, "the text reads like an order, and you have not approved it"),
    ]
    sentences = [f"{_count_memories(no_room)} more did not fit; `lerim memory search` finds them."] if no_room else []
    return [*sentences, *(f"{_count_memories(count)} left out: {why}." for count, why in reasons if count)]


def _count_memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def _find_all_edited_lines(project: Project, home: Home, plan: ExportPlan) -> tuple[EditedLine, ...]:
    if not plan.hand_edited:
        return ()
    memories, _ = ReviewPaths(project, home).store().load_all(archived=True)
    return tuple(line for file in plan.hand_edited for line in find_edited_lines(file, memories))


def _list_agents_with_sessions(project: Project, home: Home) -> tuple[frozenset[Platform], list[Problem]]:
    if not home.catalog.exists():
        return frozenset(), []
    try:
        with Catalog.open(home) as catalog:
            return catalog.find_project_platforms(project.key), []
    except LerimError as error:
        return frozenset(), [error.problem()]


def _remove_empty_folders(root: Path, made: Sequence[FileUpdate]) -> None:
    """Removes those folders of agents that are empty after the removal of one of our files."""
    for edit in made:
        folder = edit.path.parent
        while edit.after is None and folder != root and folder.is_relative_to(root):
            with contextlib.suppress(OSError):
                folder.rmdir()  # fails if anything is in it
            folder = folder.parent


class _AgentSettings(msgspec.Struct, frozen=True):
    """The content of `agents.json` in a project's private folder, which no repository can bring."""

    keep_rules: bool = False


def keeps_rules(project: Project, home: Home) -> bool:
    """Returns whether the person chose to keep the files of this project's agents up to date."""
    path = home.project(project.key) / "agents.json"
    try:
        return msgspec.json.decode(files.read_text(path, MAX_BYTES), type=_AgentSettings).keep_rules
    except (LerimError, msgspec.MsgspecError):
        return False


def set_keeping_rules(project: Project, home: Home, keep: bool) -> None:
    """Stores whether to keep the files of this project's agents up to date. Raises MemoryError_."""
    paths = ReviewPaths(project, home)
    paths.make_private_folder()
    text = msgspec.json.encode(_AgentSettings(keep)).decode()
    files.replace_file(paths.private / "agents.json", f"{text}\n", 0o600)


def refresh_rules(project: Project, home: Home) -> tuple[list[FileUpdate], list[Problem]]:
    """Updates the files that Lerim has written, if the person chose that for this project. Creates no files, and
    leaves files that a person edited as they are. Returns the edits made and the problems."""
    if project.is_personal or not keeps_rules(project, home):
        return [], []
    try:
        export = plan_project_export(project, home, os.environ)
        kept = export.plan.without_new_files()
        made = write_export(project, home, replace(export, plan=kept), datetime.now(UTC)).made
    except LerimError as error:
        return [], [error.problem()]
    return list(made), list(kept.problems)
