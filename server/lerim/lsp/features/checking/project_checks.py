"""Lerim: Check Memories. A job checks all memories of a repository, and what it finds becomes diagnostics."""

from __future__ import annotations

from pathlib import Path

import msgspec
from lsprotocol import types

from lerim.check import CheckReport, Finding
from lerim.jobs import CheckLine
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.checking import document_checks
from lerim.lsp.features.checking.diagnostics import make_diagnostics
from lerim.lsp.features.language import read_memory_text
from lerim.lsp.protocol import RootParams
from lerim.lsp.window import Repo, Sidecar, notifications

MAX_FILES = 1_000
"""Files with findings whose diagnostics are sent."""
FOUND_ELSEWHERE = frozenset({"two-answers", "memory-misplaced", "problem"})
"""Codes of what the sidecar knows and shows without a check."""


class MemoryCheckView(msgspec.Struct, frozen=True, rename="camel"):
    """How many memories were checked, and how much is wrong: errors, warnings and what is only mentioned."""

    memories: int
    errors: int
    warnings: int
    others: int


async def check_memories(sidecar: Sidecar, params: RootParams) -> MemoryCheckView:
    """Checks the memories of a repository and sends the diagnostics. Raises JobError."""
    repo = await sidecar.find_trusted_repo(params.root, "Checking memories")
    result = await sidecar.jobs.run_once(["check", "--repo", str(repo.project.root)], "check", CheckLine)
    report = result.report
    repo.checks.diagnostics = await sidecar.run_in_thread(_group_diagnostics, sidecar, repo, report)
    document_checks.follow_changes(sidecar)
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
