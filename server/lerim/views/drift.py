"""Finds out whether the code that memories refer to has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lerim.errors import MemoryError_, Problem
from lerim.memory import (
    WRONG_STATES,
    Drift,
    DriftChecker,
    DriftSubject,
    LastCheck,
    MemorySearch,
    Reference,
    SourceReader,
    StoredMemory,
    baselines,
    check_references,
    make_drift_subject,
    parse_reference,
    reference_text,
)
from lerim.project import Project
from lerim.review import ReviewPaths

MAX_CHECKED_ALONE = 1000
DRIFT_LABELS = {"drifted": "drifted", "gone": "not found"}
"""The names of these states for people."""


def find_drifts(paths: ReviewPaths, memories: Iterable[StoredMemory], problems: list[Problem]) -> dict[str, Drift]:
    """Returns, by id, the active memories whose references are drifted or gone.

    Only `memories` are checked, unless there are so many that checking all at once is quicker. Files are read only if
    their stat changed. If there are no baselines here yet, none are created. Errors are added to `problems`, and so are
    those of `memories` that were never compared with the code here. Of these, only missing files are known to be gone.
    """
    if paths.project.is_personal:
        return {}
    subjects = [make_drift_subject(one.record) for one in memories if one.status == "active" and one.record.references]
    subjects = [one for one in subjects if one.references]
    references = {one.id: one.references for one in subjects}
    if not baselines.has_baselines(paths.private):
        return _find_missing(paths, references, problems)
    drifts: dict[str, Drift] = {}
    checker = DriftChecker(paths.project, paths.home)
    try:
        if len(subjects) <= MAX_CHECKED_ALONE:
            drifts = checker.check_memories(subjects)
        else:
            checker.check(subjects=subjects, on_summary=lambda found: drifts.update(found.drift_by_memory))
    except MemoryError_ as error:
        problems.append(error.problem(code="freshness"))
    unknown = {name: own for name, own in references.items() if name in drifts and drifts[name].state == "unknown"}
    wrong = {name: one for name, one in drifts.items() if one.state in WRONG_STATES}
    return wrong | _find_missing(paths, unknown, problems)


def find_all_drifts(
    paths: ReviewPaths, search: MemorySearch, problems: list[Problem], last: LastCheck
) -> dict[str, Drift]:
    """Returns what `find_drifts` does for all active memories. Only memories that are new or were verified again since
    the last check are read; `search` is an open search of the project. `last` is as for `check_changed`."""
    if paths.project.is_personal:
        return {}
    keys = search.comparison_keys()
    if not baselines.has_baselines(paths.private):
        return _find_missing(paths, _parse_keys(keys), problems)

    def load_subjects(ids: list[str]) -> list[DriftSubject]:
        return [make_drift_subject(one.record) for one in search.load_active(ids)]

    try:
        checker = DriftChecker(paths.project, paths.home)
        found = checker.check_changed(keys, load_subjects, last)
    except MemoryError_ as error:
        problems.append(error.problem(code="freshness"))
        return {}
    drifts = {name: one for name, one in found.drift_by_memory.items() if name in keys}
    unknown = {name: keys[name] for name, one in drifts.items() if one.state == "unknown"}
    wrong = {name: one for name, one in drifts.items() if one.state in WRONG_STATES}
    return wrong | _find_missing(paths, _parse_keys(unknown), problems)


def _parse_keys(keys: Mapping[str, str]) -> dict[str, Sequence[Reference]]:
    """Returns the references of memories by their `comparison_key`s."""
    return {name: tuple(filter(None, map(parse_reference, key.split("\n")[1:]))) for name, key in keys.items()}


def _find_missing(
    paths: ReviewPaths, references: Mapping[str, Sequence[Reference]], problems: list[Problem]
) -> dict[str, Drift]:
    """Returns the drift of those of these memories whose files are missing. None was compared with the code yet, which
    `problems` is told."""
    _report_unknown(paths, list(references), problems)
    reader = SourceReader(paths.project.root)
    missing = {name: next((one for one in own if not reader.stamp(one.path)), None) for name, own in references.items()}
    return {
        name: Drift("gone", reference_text(one), detail=f"`{one.path}`")
        for name, one in missing.items()
        if one is not None
    }


def _report_unknown(paths: ReviewPaths, unknown: Sequence[str], problems: list[Problem]) -> None:
    """Adds a problem that says that these memories were not compared with the code yet."""
    if unknown:
        which = f"{unknown[0]} was" if len(unknown) == 1 else f"{len(unknown)} memories were"
        todo = (
            "`lerim maintain` compares them with the commits they were verified at; `lerim "
            "memory verify ID` accepts the code as it is."
        )
        message = f"{which} not yet compared with the code here: {todo}"
        problems.append(Problem("not-compared", str(paths.project.memory_dir), message))


def find_missing_references(project: Project, references: Sequence[str]) -> list[str]:
    """Returns a message for each reference that is not found, is ambiguous or cannot be compared by its definition."""
    if project.is_personal:
        return []
    problems = {problem.reference: problem.message for problem in check_references(project.root, references)}
    reader = SourceReader(project.root)
    messages: list[str] = []
    for reference in dict.fromkeys(filter(None, map(parse_reference, references))):
        baseline = reader.baseline(reference)
        if (problem := problems.get(reference_text(reference))) is not None:
            messages.append(problem)
        elif baseline is None:
            messages.append(f"{reference.path} cannot be read")
        elif reference.symbol and not baseline.digest:
            messages.append(f"the definition of {reference.symbol} in {reference.path} was not recognised")
        else:
            continue
        if baseline is not None and not baseline.digest and "was not found" not in messages[-1]:
            messages[-1] += "; the whole file is compared instead"
    return messages
