"""Checks memory files while they are edited, and all memories of a repository on request (Lerim: Check Memory Files for
Problems), and sends what is wrong as diagnostics.

A document is checked after each change, one check at a time: changes during a check lead to one more. A job checks a
repository.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec
from lsprotocol import types

from lerim.check import CheckContext, CheckReport, Finding, Severity, check_document, read_rules_file_index
from lerim.lsp.boundary import path_to_uri, uri_to_path
from lerim.lsp.features.language import (
    MemoryText,
    find_memory_text,
    is_memory_uri,
    prefetch_targets,
    read_memory_text,
)
from lerim.lsp.protocol import RootParams
from lerim.lsp.window import Repo, Sidecar, candidate_counts, notifications
from lerim.memory import SourceReader, kind_of_document
from lerim.project import make_personal_project, open_git

MAX_FILES = 1_000
"""Files with findings whose diagnostics are sent."""
FOUND_ELSEWHERE = frozenset({"two-answers", "memory-misplaced", "problem"})
"""Codes of what the sidecar knows and shows without a check."""

SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
FILE_START = types.Range(types.Position(0, 0), types.Position(0, 0))


def make_diagnostics(text: MemoryText | None, findings: Iterable[Finding]) -> list[types.Diagnostic]:
    """Returns the diagnostics of one file, with positions in the editor's units; without its text, all at its start."""
    return [make_diagnostic(one, text.range(one.span) if text is not None else FILE_START) for one in findings]


def make_diagnostic(finding: Finding, place: types.Range) -> types.Diagnostic:
    """Returns a finding as a diagnostic."""
    return notifications.make_diagnostic(place, finding.code, finding.message, SEVERITIES[finding.severity])


def schedule_check(sidecar: Sidecar, uri: str, *, with_rules: bool = False) -> None:
    """Checks an open memory or candidate soon; does nothing for another document. `with_rules`: rules files are read
    again, and git is asked where files are that are gone, which may take longer than a check on each change may."""
    if not sidecar.options.settings.enabled or not is_memory_uri(sidecar, uri):
        return
    follow_changes(sidecar)
    sidecar.checked_uris.add(uri)
    is_running = uri in sidecar.running_checks
    sidecar.running_checks[uri] = "rules" if with_rules else sidecar.running_checks.get(uri) or "text"
    if not is_running:
        sidecar.spawn("Checking a memory", _check_until_unchanged(sidecar, uri))


def follow_changes(sidecar: Sidecar) -> None:
    """From now on, checks again what was checked whenever memories change."""
    sidecar.recheck_memories = lambda repo: _recheck_memories(sidecar, repo)


async def stop_checking(sidecar: Sidecar, uri: str) -> None:
    """Forgets what was found in the text of a document that was closed; what its file says counts again."""
    sidecar.checked_uris.discard(uri)
    location = await sidecar.repos.locate_file(uri)
    if location is None:
        notifications.publish(sidecar, uri, [])
        return
    location.repo.checks.open_diagnostics.pop(uri, None)
    notifications.publish_file_diagnostics(sidecar, location.repo, uri)


async def _check_until_unchanged(sidecar: Sidecar, uri: str) -> None:
    try:
        while wanted := sidecar.running_checks[uri]:
            sidecar.running_checks[uri] = ""
            text = await find_memory_text(sidecar, uri)
            if text is None:
                break
            findings = await sidecar.run_in_thread(_check_again, sidecar, text, wanted == "rules")
            found = make_diagnostics(text, findings)
            if uri in sidecar.checked_uris and not sidecar.running_checks[uri]:
                _publish_checked(sidecar, text, found)
                prefetch_targets(sidecar, text)
    finally:
        del sidecar.running_checks[uri]


def _publish_checked(sidecar: Sidecar, text: MemoryText, found: list[types.Diagnostic]) -> None:
    if text.repo is None:
        notifications.publish(sidecar, text.uri, found, text.version)
        return
    text.repo.checks.open_diagnostics[text.uri] = found
    notifications.publish_file_diagnostics(sidecar, text.repo, text.uri, text.version)


def _check_again(sidecar: Sidecar, text: MemoryText, with_rules: bool) -> list[Finding]:
    if text.repo is not None and (with_rules or text.repo.checks.rules_files is None):
        text.repo.checks.rules_files = read_rules_file_index(text.repo.project)
    return check_text(sidecar, text, asks_git=with_rules, asks_again=True)


def check_text(
    sidecar: Sidecar, text: MemoryText, *, asks_git: bool = False, asks_again: bool = False
) -> list[Finding]:
    """Returns what is wrong in a memory or candidate (blocking). `asks_git`: in a trusted workspace, git is asked where
    files are that are gone, except for those that it was asked about before; `asks_again`: also about those."""
    kind = kind_of_document(text.path, sidecar.home.memory)
    if kind is None:
        return []
    review = candidate_counts.find_review_paths(sidecar, text.repo)

    def load_unmerged() -> set[frozenset[str]]:
        from lerim.review import queue  # imported late to save memory

        return queue.pairs_not_merged(review)

    if text.repo is None:
        project = make_personal_project(sidecar.home)
        live = sidecar.repos.scan_personal_memories()
        reader = SourceReader(project.root)
        context = CheckContext(project, text.store, reader, live=live, load_unmerged=load_unmerged)
        return check_document(text.document, text.path, kind, context)
    with text.repo.checks.lock:
        context = _refreshed_context(text.repo, load_unmerged)
        if asks_git and sidecar.options.trusted:
            renamed_files = {} if asks_again else context.renamed_files
            git = open_git(text.repo.project.root, sidecar.environ)
            context = replace(context, renamed_files=renamed_files, git=git)
        found = check_document(text.document, text.path, kind, context)
        text.repo.checks.renamed_files.update(context.renamed_files)
        return found


def _refreshed_context(repo: Repo, load_unmerged: Callable[[], Collection[frozenset[str]]]) -> CheckContext:
    checks = repo.checks
    if checks.reader is None:
        checks.reader = SourceReader(repo.project.root)
    checks.reader.refresh()
    drifts, moves = repo.drift.by_id, repo.references.moves
    return CheckContext(
        repo.project,
        repo.store,
        checks.reader,
        drifts,
        moves,
        checks.rules_files,
        renamed_files=checks.renamed_files,
        live=repo.references,
        load_unmerged=load_unmerged,
    )


def recheck_open_files(sidecar: Sidecar) -> None:
    """Checks the open files again after a decision in the review: memories that the person does not want to merge are
    not hinted at."""
    for uri in list(sidecar.checked_uris):
        schedule_check(sidecar, uri)


def _recheck_memories(sidecar: Sidecar, repo: Repo) -> None:
    """Checks again what was checked before: memories changed, and links to them may lead nowhere or somewhere now."""
    for uri in list(sidecar.checked_uris):
        schedule_check(sidecar, uri, with_rules=True)
    if repo.checks.diagnostics:
        sidecar.spawn("Checking memories again", _recheck_closed(sidecar, repo))


async def _recheck_closed(sidecar: Sidecar, repo: Repo) -> None:
    uris = [uri for uri in repo.checks.diagnostics if uri not in sidecar.checked_uris]
    for uri in uris:
        found = await sidecar.run_in_thread(_check_closed, sidecar, repo, uri)
        if uri not in repo.checks.diagnostics:
            continue
        if found:
            repo.checks.diagnostics[uri] = found
        else:
            del repo.checks.diagnostics[uri]
    notifications.publish_diagnostics(sidecar, repo)


def _check_closed(sidecar: Sidecar, repo: Repo, uri: str) -> list[types.Diagnostic]:
    path = uri_to_path(uri)
    text = read_memory_text(sidecar, repo, Path(path)) if path is not None else None
    return make_diagnostics(text, check_text(sidecar, text, asks_git=True)) if text is not None else []


class MemoryCheckView(msgspec.Struct, frozen=True, rename="camel"):
    """How many memories were checked, and how much is wrong: errors, warnings and what is only mentioned."""

    memories: int
    errors: int
    warnings: int
    others: int


async def check_memories(sidecar: Sidecar, params: RootParams) -> MemoryCheckView:
    """Checks the memories of a repository and sends the diagnostics. Raises JobError."""
    repo = await sidecar.find_trusted_repo(params.root, "Checking memories")
    report = await sidecar.jobs.run_once(["check", "--repo", str(repo.project.root)], "check", CheckReport)
    repo.checks.renamed_files.clear()  # the check has asked git; files may have been renamed since it was asked here
    repo.checks.diagnostics = await sidecar.run_in_thread(_group_diagnostics, sidecar, repo, report)
    follow_changes(sidecar)
    notifications.publish_diagnostics(sidecar, repo)
    others = report.count("information") + report.count("hint")
    return MemoryCheckView(report.memory_count, report.count("error"), report.count("warning"), others)


def _group_diagnostics(sidecar: Sidecar, repo: Repo, report: CheckReport) -> dict[str, list[types.Diagnostic]]:
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.code in FOUND_ELSEWHERE:
            continue
        if finding.path in by_path or len(by_path) < MAX_FILES:
            by_path.setdefault(finding.path, []).append(finding)
    return {
        path_to_uri(path): make_diagnostics(read_memory_text(sidecar, repo, Path(path)), findings)
        for path, findings in by_path.items()
    }
