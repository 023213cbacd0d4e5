"""Tells the editor that memories changed: their number, the files that cannot be read, and the code lenses; and
brings the index of the agents' hooks up to date.

A memory file that cannot be read is shown as a diagnostic; it is never dropped or rewritten.
"""

from __future__ import annotations

import asyncio
import re

from lsprotocol import types

from lerim.check import FOUND_IN_DOCUMENTS
from lerim.lsp.boundary import path_to_uri, show_hidden_characters
from lerim.lsp.protocol import MEMORIES_CHANGED, MemoriesChangedParams, redact_text
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar

MAX_FILES = 200
"""Maximum number of files whose problems are shown: a foreign repository may have thousands."""
HOOK_REFRESH_SECONDS = 1.0
"""Changes within this time are one refresh of the hooks' index."""
LINE = re.compile(r"^(.+):([0-9]{1,6})$")


def announce_memories(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor that a repository's memories changed, and updates diagnostics, lenses and the hooks' index."""
    memories = len(repo.references)
    sidecar.notify(repo, MEMORIES_CHANGED, lambda root: MemoriesChangedParams(root, memories))
    publish_diagnostics(sidecar, repo)
    if sidecar.recheck_memories is not None:
        sidecar.recheck_memories(repo)
    refresh_lenses(sidecar)
    schedule_hook_refresh(sidecar, repo)


def refresh_lenses(sidecar: Sidecar) -> None:
    """Asks the editor to refresh its code lenses."""
    if sidecar.capability("workspace", "code_lens", "refresh_support"):
        sidecar.spawn("Refreshing lenses", _refresh(sidecar))


async def _refresh(sidecar: Sidecar) -> None:
    await sidecar.server.workspace_code_lens_refresh_async(None)


def publish_diagnostics(sidecar: Sidecar, repo: Repo) -> None:
    """Sends the diagnostics of files with problems, and clears those of files without any."""
    by_file = _list_diagnostics(repo)
    for uri in {*by_file, *repo.reported_uris}:
        publish(sidecar, uri, by_file.get(uri, []))
    repo.reported_uris = frozenset(by_file)


def publish_file_diagnostics(sidecar: Sidecar, repo: Repo, uri: str, version: int | None = None) -> None:
    """Sends the diagnostics of one file; `version` is that of the text that was checked."""
    found = _list_diagnostics(repo).get(uri, [])
    repo.reported_uris = repo.reported_uris | {uri}
    publish(sidecar, uri, found, version)


def _list_diagnostics(repo: Repo) -> dict[str, list[types.Diagnostic]]:
    """Returns the diagnostics by URI: of files that were checked those of the check, which finds some problems
    better placed, and all other problems."""
    checked = {**repo.checks.diagnostics, **repo.checks.open_diagnostics}
    by_file = {uri: list(found) for uri, found in checked.items()}
    for problem in repo.references.problems:
        path, line = split_location(problem.path)
        uri = path_to_uri(path)
        if uri in checked and problem.code in FOUND_IN_DOCUMENTS:
            continue
        if uri in by_file or len(by_file) < MAX_FILES + len(checked):
            whole_line = types.Range(types.Position(line, 0), types.Position(line, 1000))
            by_file.setdefault(uri, []).append(make_diagnostic(whole_line, problem.code, problem.message))
    return by_file


def publish(sidecar: Sidecar, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
    """Sends the diagnostics of a file."""
    params = types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
    sidecar.server.text_document_publish_diagnostics(params)


def split_location(path: str) -> tuple[str, int]:
    """Splits `path:line` into the path and the zero-based line; line 0 if there is none."""
    found = LINE.match(path)
    return (found[1], max(0, int(found[2]) - 1)) if found else (path, 0)


def make_diagnostic(
    place: types.Range, code: str, message: str, severity: types.DiagnosticSeverity = types.DiagnosticSeverity.Warning
) -> types.Diagnostic:
    """Returns a diagnostic of ours. Its message may quote a file, so it is redacted."""
    shown = show_hidden_characters(redact_text(message))
    return types.Diagnostic(place, shown, severity=severity, code=code, source="lerim")


def schedule_hook_refresh(sidecar: Sidecar, repo: Repo) -> None:
    """Soon refreshes the index of the agents' hooks, in a process of its own, if there is one and the workspace is
    trusted."""
    if sidecar.options.trusted and not repo.hook_refresh_is_due:
        repo.hook_refresh_is_due = True
        asyncio.get_running_loop().call_later(HOOK_REFRESH_SECONDS, _start_hook_refresh, sidecar, repo)


def _start_hook_refresh(sidecar: Sidecar, repo: Repo) -> None:
    repo.hook_refresh_is_due = False
    sidecar.spawn("Refreshing the hooks' index", sidecar.run_in_thread(_refresh_hooks, sidecar, repo))


def _refresh_hooks(sidecar: Sidecar, repo: Repo) -> None:
    if (sidecar.home.root / "run" / "hooks").is_dir():
        from lerim.hook import start_refresh_if_used
        from lerim.lsp.window.editor_models import make_job_environ

        start_refresh_if_used(repo.project.root, sidecar.home, make_job_environ(sidecar))
