"""Memory files that cannot be read, shown where they are. A file is never dropped or rewritten for it."""

from __future__ import annotations

import re

from lsprotocol import types

from lerim.errors import Problem
from lerim.lsp.markdown import visible
from lerim.lsp.repos import Repo
from lerim.lsp.sidecar import Sidecar
from lerim.lsp.uris import from_path

LINE = re.compile(r"^(.+):([0-9]{1,6})$")


def publish(sidecar: Sidecar, repo: Repo) -> None:
    """Sends the diagnostics of every file with a problem, and clears those of files that have none any more."""
    by_file: dict[str, list[types.Diagnostic]] = {}
    for problem in repo.references.problems:
        path, line = where(problem.path)
        by_file.setdefault(from_path(path), []).append(diagnostic(problem, line))
    for uri in {*by_file, *repo.reported}:
        found = by_file.get(uri, [])
        sidecar.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=found))
    repo.reported = frozenset(by_file)


def where(path: str) -> tuple[str, int]:
    """A problem's path without its line, and the line from 0."""
    found = LINE.match(path)
    return (found[1], max(0, int(found[2]) - 1)) if found else (path, 0)


def diagnostic(problem: Problem, line: int) -> types.Diagnostic:
    """One problem as a warning over the whole line."""
    return types.Diagnostic(
        range=types.Range(types.Position(line, 0), types.Position(line, 1000)),
        message=visible(problem.message),
        severity=types.DiagnosticSeverity.Warning,
        code=problem.code,
        source="lerim",
    )
