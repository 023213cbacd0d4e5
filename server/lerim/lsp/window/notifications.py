"""Tells the editor that memories changed: their number, the files that cannot be read, and the code lenses; and
brings the index of the agents' hooks up to date.

A memory file that cannot be read is shown as a diagnostic; it is never dropped or rewritten.
"""

from __future__ import annotations

import re

from lsprotocol import types

from lerim.errors import Problem
from lerim.lsp.boundary import path_to_uri, show_hidden_characters
from lerim.lsp.protocol import MEMORIES_CHANGED, MemoriesChangedParams, redact_text
from lerim.lsp.window.hooks import schedule_hook_refresh
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar

MAX_FILES = 200
"""Maximum number of files whose problems are shown: a foreign repository may have thousands."""
LINE = re.compile(r"^(.+):([0-9]{1,6})$")


def announce_memories(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor that a repository's memories changed, and updates diagnostics, lenses and the hooks' index."""
    memories = len(repo.references)
    sidecar.notify(repo, MEMORIES_CHANGED, lambda root: MemoriesChangedParams(root, memories))
    publish_diagnostics(sidecar, repo)
    refresh_lenses(sidecar)
    schedule_hook_refresh(sidecar, repo)


def refresh_lenses(sidecar: Sidecar) -> None:
    """Asks the editor to refresh its code lenses."""
    asked = sidecar.server.client_capabilities.workspace
    if asked is not None and asked.code_lens is not None and asked.code_lens.refresh_support:
        sidecar.spawn("Refreshing lenses", _refresh(sidecar))


async def _refresh(sidecar: Sidecar) -> None:
    await sidecar.server.workspace_code_lens_refresh_async(None)


def publish_diagnostics(sidecar: Sidecar, repo: Repo) -> None:
    """Sends the diagnostics of files with problems, and clears those of files without any."""
    by_file: dict[str, list[types.Diagnostic]] = {}
    for problem in repo.references.problems:
        path, line = split_location(problem.path)
        uri = path_to_uri(path)
        if uri in by_file or len(by_file) < MAX_FILES:
            by_file.setdefault(uri, []).append(make_diagnostic(problem, line))
    for uri in {*by_file, *repo.reported_uris}:
        found = by_file.get(uri, [])
        sidecar.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=found))
    repo.reported_uris = frozenset(by_file)


def split_location(path: str) -> tuple[str, int]:
    """Splits `path:line` into the path and the zero-based line; line 0 if there is none."""
    found = LINE.match(path)
    return (found[1], max(0, int(found[2]) - 1)) if found else (path, 0)


def make_diagnostic(problem: Problem, line: int) -> types.Diagnostic:
    """Shows a problem as a warning over the whole line."""
    return types.Diagnostic(
        range=types.Range(types.Position(line, 0), types.Position(line, 1000)),
        message=show_hidden_characters(redact_text(problem.message)),
        severity=types.DiagnosticSeverity.Warning,
        code=problem.code,
        source="lerim",
    )
