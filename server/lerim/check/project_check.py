"""Checks all memories of a project: their files, links and references, drift, secrets, contradictions with rules files,
and whether candidates wait."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from lerim import files
from lerim.check.context import CheckContext, read_rules_file_index
from lerim.check.document_check import check_document
from lerim.check.findings import FOUND_IN_DOCUMENTS, RULES, CheckReport, Finding
from lerim.check.header_rules import FIRST_LINE
from lerim.errors import BoundaryError, LerimError, MemoryError_, NotFoundError
from lerim.memory import (
    MAX_FILE_BYTES,
    DriftChecker,
    DriftSubject,
    DriftSummary,
    ReferenceMap,
    SourceReader,
    Store,
    baselines,
    parse_memory_document,
    searched_word,
)
from lerim.paths import Home
from lerim.project import Git, Project, open_git
from lerim.review import ReviewPaths, pending_count, queue


def check_project(
    project: Project, home: Home, environ: Mapping[str, str], is_cancelled: Callable[[], bool] = lambda: False
) -> CheckReport:
    """Checks every memory of a project, including archived ones. A memory that cannot be read is a finding.

    Only derived data is written. Where memories were compared with the code before, the result is stored; elsewhere,
    as in CI, memories are compared with the commits at which they were verified, and nothing is stored.
    `is_cancelled` is called between two memories; if it returns True, the report has what was found until then.
    """
    paths = ReviewPaths(project, home)
    store = paths.store()
    live = ReferenceMap(project.memory_dir, store.anchor)
    live.scan()
    findings = [
        Finding(one.code if one.code in RULES else "problem", one.message, one.path, FIRST_LINE)
        for one in live.problems
        if one.code not in FOUND_IN_DOCUMENTS
    ]
    git = None if project.is_personal else open_git(project.root, environ)
    summary = _check_drift(project, home, git, live, findings)
    if not baselines.has_baselines(home.project(project.key)):
        findings += _find_uncompared(project, git, live)
    memory_paths = _paths_by_source(store, live)
    paths_by_id: dict[str, list[Path]] = {}
    for path in memory_paths:
        paths_by_id.setdefault(path.stem, []).append(path)
    context = CheckContext(
        project,
        store,
        SourceReader(project.root),
        drifts=summary.drift_by_memory,
        moves=summary.moved_references,
        rules_files=read_rules_file_index(project),
        known_paths=paths_by_id,
        environ=environ,
        git=git,
        live=live,
        load_unmerged=cache(partial(queue.pairs_not_merged, paths)),
    )
    context.search_words(_list_lost_words(live, summary))
    for path in memory_paths:
        if is_cancelled():
            break
        try:
            text = files.read_text(path, MAX_FILE_BYTES, store.anchor)
        except NotFoundError:
            continue
        except (MemoryError_, BoundaryError) as error:
            findings.append(Finding("memory-unreadable", error.explanation, str(path), FIRST_LINE))
            continue
        findings += check_document(parse_memory_document(text), path, "memory", context)
    candidate_count = pending_count.count_pending(paths)
    if candidate_count:
        what = "1 candidate waits" if candidate_count == 1 else f"{candidate_count} candidates wait"
        message = f"{what} for your review: run “Lerim: Open Review” in the editor, or `lerim review list`."
        first = min(paths.review.glob("[!.]*.md"), default=paths.review)
        findings.append(Finding("unreviewed", message, str(first), FIRST_LINE))
    findings.sort(key=lambda one: (one.path, one.span.start_line, one.span.start_character))
    return CheckReport(str(project.root), tuple(findings), len(memory_paths), candidate_count)


def _list_lost_words(live: ReferenceMap, summary: DriftSummary) -> set[str]:
    """Returns the words to search for if code that memories are about is gone."""
    gone = [one for one in live.entries if (drift := summary.drift_by_memory.get(one.id)) and drift.state == "gone"]
    return {word for entry in gone for reference in entry.references if (word := searched_word(reference))}


def _paths_by_source(store: Store, live: ReferenceMap) -> list[Path]:
    """Returns all memory files. Those about the same source file come one after the other, so that the source file
    is read once."""
    sources = {entry.name: entry.references[0].path for entry in live.entries if entry.references}
    found = sorted(store.find_files(archived=True)[0], key=lambda one: sources.get(one.name, ""))
    return [one.path for one in found]


def _check_drift(
    project: Project, home: Home, git: Git | None, live: ReferenceMap, findings: list[Finding]
) -> DriftSummary:
    """Returns the drift of all live memories. If it cannot be determined, adds a finding."""
    found = [DriftSummary()]
    subjects = [DriftSubject(one.id, one.references, one.verified) for one in live.entries if one.references]
    if subjects and not project.is_personal:
        try:
            with _baseline_home(project, home) as place:
                checker = DriftChecker(project, place, git)
                checker.check(subjects=subjects, on_summary=found.append)
        except LerimError as error:
            message = f"Memories could not be compared with the code: {error.explanation}"
            findings.append(Finding("problem", message, str(project.memory_dir), FIRST_LINE))
    return found[-1]


def _find_uncompared(project: Project, git: Git | None, live: ReferenceMap) -> Iterator[Finding]:
    """Yields a finding if a shallow clone lacks the commits at which memories were verified: a check for drift that
    could not compare must not look as if it had passed.

    If such a commit is missing in a full clone, it was rewritten by a squash or a rebase, and nothing can be done
    about it.
    """
    if git is None or not (project.common_dir / "shallow").is_file():
        return
    verified = {one.name: one.verified.partition("@")[2] for one in live.entries if "@" in one.verified}
    places = {
        one.name: [(verified[one.name], to.path) for to in one.references]
        for one in live.entries
        if one.name in verified
    }
    texts = git.read_texts([place for some in places.values() for place in some])
    uncompared = [name for name, some in places.items() if some and not any(place in texts for place in some)]
    if uncompared:
        many = len(uncompared) > 1
        which = f"{len(uncompared)} memories, such as this one, were" if many else "This memory was"
        commits = "commits they were verified at are" if many else "commit it was verified at is"
        message = (
            f"{which} not compared with the code, because the {commits} not in this clone. Fetch the whole history "
            "(`git fetch --unshallow`; in CI a fetch depth of 0)."
        )
        yield Finding("not-compared", message, str(project.memory_dir / uncompared[0]), FIRST_LINE)


@contextmanager
def _baseline_home(project: Project, home: Home) -> Iterator[Home]:
    """Yields the home whose baselines are used. If a project has no baselines in `home`, yields a temporary home, so
    that none are created there: otherwise its memories would count, from then on, as verified against the current
    code."""
    if baselines.has_baselines(home.project(project.key)):
        yield home
        return
    with tempfile.TemporaryDirectory(prefix="lerim-check-") as folder:
        yield Home(Path(folder))
