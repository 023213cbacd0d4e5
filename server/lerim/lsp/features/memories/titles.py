"""`Lerim: Open Memory`: the titles of all live memories, from the reference map; no file is parsed."""

from __future__ import annotations

from collections.abc import Iterable

from lerim.lsp.features.memories.memory_rows import TitlesView, TitleView
from lerim.lsp.protocol import TitlesParams
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import MemoryEntry, Scope, format_time
from lerim.redaction import redact_secrets

PAGE = 1000
"""Titles per answer, so that a hover never waits for a long answer."""


async def list_titles(sidecar: Sidecar, params: TitlesParams) -> TitlesView:
    """One page of the personal memories and those of a root, or of all repositories of the window; newest first."""
    repos = [await sidecar.find_repo(params.root)] if params.root is not None else await sidecar.repos.load()
    return await sidecar.run_in_thread(_load_page, sidecar, repos, max(0, params.start))


def _load_page(sidecar: Sidecar, repos: Iterable[Repo], start: int) -> TitlesView:
    found: list[tuple[Scope, MemoryEntry]] = [("project", entry) for repo in repos for entry in repo.references.entries]
    found += [("global", entry) for entry in sidecar.repos.list_personal_memories()]
    found.sort(key=lambda one: (one[1].created, one[1].name), reverse=True)
    return TitlesView([_make_title_view(scope, entry) for scope, entry in found[start : start + PAGE]], len(found))


def _make_title_view(scope: Scope, entry: MemoryEntry) -> TitleView:
    return TitleView(
        id=entry.id,
        primitive=entry.primitive,
        kind=entry.kind,
        title=redact_secrets(entry.title).text,
        confidence=entry.confidence,
        created=format_time(entry.created),
        references=[f"{one.path}#{one.symbol}" if one.symbol else one.path for one in entry.references],
        path=str(entry.path),
        scope=scope,
    )
