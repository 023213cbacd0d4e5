"""Finds memories that mean something similar to a query, with the process that holds the sentence model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import LerimError
from lerim.lsp.window import Repo, Sidecar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lerim.memory import Hit, MeaningAnswer, Store


async def find_similar(
    sidecar: Sidecar, repos: Iterable[Repo | None], query: str, skip: Iterable[str], personal: Store
) -> tuple[list[tuple[Repo | None, Hit]], str]:
    """Returns the memories of these repositories that are nearest in meaning, and what the person should know: how many
    are still to be read, or why none were found. `personal` is the store of the memories of no repository, which are
    searched with each repository, and alone for None."""
    from lerim.memory import MeaningQuery

    found: dict[Path, tuple[Repo | None, Hit]] = {}
    unread, ids = 0, tuple(skip)
    for repo in repos:
        question = MeaningQuery(str(repo.project.root) if repo is not None else "", query, ids)
        try:
            python = sidecar.options.settings.meaning_python
            answer = await sidecar.run_in_thread(sidecar.meaning_search.ask, python, question)
        except LerimError as error:
            return list(found.values()), str(error)
        unread += answer.unread
        own = repo.store if repo is not None else personal
        for hit in await sidecar.run_in_thread(_load_hits, own, personal, answer):
            found.setdefault(hit.stored.path, (repo, hit))
    note = f"{unread:,} more memories are still being read for their meaning." if unread else ""
    return list(found.values()), note


def _load_hits(own: Store, personal: Store, answer: MeaningAnswer) -> list[Hit]:
    from lerim.memory import Hit

    hits: list[Hit] = []
    for near in answer.memories:
        store = own if near.scope == "project" else personal
        try:
            stored = store.load(Path(near.path))[0]
        except LerimError:
            continue  # gone since, or no longer readable: its diagnostics say why
        hits.append(Hit(stored, near.scope, near.drift, ((1, 0), 0, 0, 0.0, stored.record.id), by_meaning=True))
    return hits
