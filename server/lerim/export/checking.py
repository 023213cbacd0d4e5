"""`lerim export --check`: checks whether the files of agents are up to date, based on the repository alone.

The result is therefore the same everywhere, including in CI on a fresh clone. Three things are known only where the
files were written, and are reported as not checked: which memories were used most, where there is no room for all;
whether a person approved a text that reads like an order; and whether a memory still fits its code, if git does not
have the commit at which it was verified.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lerim.errors import LerimError, Problem
from lerim.export.choosing import RuleMemory, find_text_reason
from lerim.export.managed_block import DamagedMarkers, find_block
from lerim.export.plan import ExportPlan, plan_export
from lerim.export.project_files import ProjectFiles, read_project_files
from lerim.export.rule_files import find_rule_format, parse_rule_file
from lerim.export.rule_lines import make_mark, parse_line, render_lines
from lerim.export.start_files import find_agents
from lerim.memory import WRONG_STATES, Drift, DriftChecker, MemoryRecord, Store, make_drift_subject, tells_to_act
from lerim.paths import Home
from lerim.project import Project, open_git


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. `plan` has the changes that an export would make; it is empty if the files are up to
    date. `faults` are sentences about lines that should not be there, `unchecked` about what cannot be decided here."""

    plan: ExportPlan
    faults: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Whether an export would change no file and has no problems."""
        return not (self.plan.edits or self.plan.hand_edited or self.plan.problems)


def check_export(project: Project, environ: Mapping[str, str]) -> CheckResult:
    """Compares the files of agents with the memories in the repository. Writes nothing, and uses only what is in the
    repository."""
    found = read_project_files(project.root)
    with tempfile.TemporaryDirectory(prefix="lerim-check-") as folder:
        home = Home(Path(folder))
        stored, problems = Store(project.memory_dir, home.project(project.key)).load_all()
        records = [one.record for one in stored if one.status == "active"]
        drifts = _check_drift(project, home, records, environ, problems)
    return _compare(found, records, drifts, problems)


def _check_drift(
    project: Project, home: Home, records: Sequence[MemoryRecord], environ: Mapping[str, str], problems: list[Problem]
) -> dict[str, Drift]:
    subjects = [subject for subject in map(make_drift_subject, records) if subject.references]
    try:
        return DriftChecker(project, home, open_git(project.root, environ)).check_memories(subjects)
    except LerimError as error:
        problems.append(error.problem(code="freshness"))
        return {one.id: Drift("unknown", "") for one in subjects}


def _compare(
    found: ProjectFiles, records: Sequence[MemoryRecord], drifts: Mapping[str, Drift], problems: Sequence[Problem]
) -> CheckResult:
    lines = _list_lines(found)
    present: list[RuleMemory] = []
    missing: list[RuleMemory] = []
    uncertain_present = uncertain_missing = 0
    for record in records:
        state = drifts[record.id].state if record.id in drifts else "fresh"
        if find_text_reason(record) is not None or state in WRONG_STATES:
            continue
        is_uncertain = state == "unknown" or tells_to_act(record)
        if not render_lines(record).isdisjoint(lines):
            present.append(RuleMemory(record))
            uncertain_present += is_uncertain
        elif is_uncertain:
            uncertain_missing += 1
        else:
            missing.append(RuleMemory(record))
    used = find_agents(found, ())
    plan = plan_export([*present, *missing], found, used)
    unchecked: list[str] = []
    if any(one.reason == "no-room" for one in plan.left_out):
        plan = plan_export(present, found, used)
        unchecked.append(
            "There is not room for all memories; which of them matter most is known only where they are used."
        )
    if uncertain_present or uncertain_missing:
        unchecked.append(
            f"Not checked: {uncertain_present} {'memory' if uncertain_present == 1 else 'memories'} in the files and "
            f"{uncertain_missing} that {'is' if uncertain_missing == 1 else 'are'} in none. Git does not have the "
            "commit they were verified at, or they read like an order."
        )
    plan = replace(plan, unserved=(), problems=(*plan.problems, *problems))
    return CheckResult(plan, tuple(_describe_faults(lines, records, drifts)), tuple(unchecked))


def _list_lines(found: ProjectFiles) -> dict[str, str]:
    """Returns the lines between our markers and in our files, each with its place."""
    lines: dict[str, str] = {}
    for name, text in found.texts.items():
        block = find_block(text) if find_rule_format(name) is None else parse_rule_file(text)
        if block is None or isinstance(block, DamagedMarkers):
            continue
        for number, line in enumerate(block.lines, block.first_line):
            lines.setdefault(line, f"{name}:{number}")
    return lines


def _describe_faults(
    lines: Mapping[str, str], records: Sequence[MemoryRecord], drifts: Mapping[str, Drift]
) -> list[str]:
    by_mark = {make_mark(record.id): record for record in records}
    faults: list[str] = []
    for line, place in lines.items():
        parsed = parse_line(line)
        record = by_mark.get(parsed.mark) if parsed is not None else None
        if parsed is None:
            continue
        if record is None:
            faults.append(f"{place}: this memory is no longer active.")
        elif line not in render_lines(record):
            faults.append(f"{place}: {record.id} says something else now.")
        elif record.id in drifts and drifts[record.id].state in WRONG_STATES:
            faults.append(f"{place}: the code that {record.id} is about has changed ({drifts[record.id].detail}).")
        elif find_text_reason(record) is not None:
            faults.append(f"{place}: {record.id} must not be in a file.")
    return faults
