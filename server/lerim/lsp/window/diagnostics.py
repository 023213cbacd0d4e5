"""Memory files that cannot be read, shown where they are. A file is never dropped or rewritten for it."""

from __future__ import annotations

import re

from lsprotocol import types

from lerim.errors import Problem
from lerim.lsp.boundary import from_path, show_hidden_characters
from lerim.lsp.protocol import redact_text
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar

MAX_FILES = 200
"""Files whose problems are shown: a stranger's repository may bring thousands."""
LINE = re.compile(r"^(.+):([0-9]{1,6})$")


def publish_diagnostics(sidecar: Sidecar, repo: Repo) -> None:
    """Sends the diagnostics of the files with a problem, and clears those of files that have none any more."""
    by_file: dict[str, list[types.Diagnostic]] = {}
    for problem in repo.references.problems:
        path, line = split_location(problem.path)
        uri = from_path(path)
        if uri in by_file or len(by_file) < MAX_FILES:
            by_file.setdefault(uri, []).append(make_diagnostic(problem, line))
    for uri in {*by_file, *repo.reported}:
        found = by_file.get(uri, [])
        sidecar.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=found))
    repo.reported = frozenset(by_file)


def split_location(path: str) -> tuple[str, int]:
    """A problem's path without its line, and the line from 0."""
    found = LINE.match(path)
    return (found[1], max(0, int(found[2]) - 1)) if found else (path, 0)


def make_diagnostic(problem: Problem, line: int) -> types.Diagnostic:
    """One problem as a warning over the whole line."""
    return types.Diagnostic(
        range=types.Range(types.Position(line, 0), types.Position(line, 1000)),
        message=show_hidden_characters(redact_text(problem.message)),
        severity=types.DiagnosticSeverity.Warning,
        code=problem.code,
        source="lerim",
    )
