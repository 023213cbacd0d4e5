"""The tools of coding agents for agents in the editor, and memories copied for one by the person."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

from lerim.assistant import ToolCalls
from lerim.errors import UsageError
from lerim.lsp.features.memories import acts, loading
from lerim.lsp.features.sessions import selections
from lerim.lsp.protocol import (
    AddMemoryParams,
    AgentToolParams,
    AgentToolView,
    MemoryActView,
    MemoryContextParams,
    MemoryContextView,
)
from lerim.lsp.window import Repo, Sidecar
from lerim.lsp.window import candidate_counts as counts
from lerim.memory import Drift, DriftChecker, StoredMemory, fence_items, make_drift_subject, render_memory, split_kind
from lerim.project import open_git
from lerim.review import queue

MAX_COPIED = 20


async def call_tool(sidecar: Sidecar, params: AgentToolParams) -> AgentToolView:
    """Carries out one call of a tool. Cancelling stops it at its next step."""
    repo = await sidecar.find_trusted_repo(params.root, "Memories for agents")
    cancelled = threading.Event()
    try:
        return await sidecar.run_in_thread(_call, repo, params, cancelled)
    except asyncio.CancelledError:
        cancelled.set()
        raise
    finally:
        if params.tool == "propose":
            await counts.announce_candidates(sidecar, repo)


async def copy_memories(sidecar: Sidecar, params: MemoryContextParams) -> MemoryContextView:
    """Returns memories that the person chose as text for an agent. One whose code has changed says so."""
    sidecar.require_trust("Memories for agents")
    if len(params.ids) > MAX_COPIED:
        raise UsageError(f"At most {MAX_COPIED} memories can be copied at once.", todo="Choose fewer.")
    found = [await loading.find_memory(sidecar, handle) for handle in params.ids]
    items = [await sidecar.run_in_thread(_render, sidecar, repo, stored) for repo, stored in found]
    return MemoryContextView(fence_items(items))


async def add_memory(sidecar: Sidecar, params: AddMemoryParams) -> MemoryActView:
    """Writes a memory in the person's own words, with the words of a session they selected as its evidence."""
    repo = await sidecar.find_trusted_repo(params.root, "Changing memories")
    paths = counts.find_review_paths(sidecar, repo)

    primitive, kind = split_kind(params.kind)
    selection = None
    if params.selected is not None:
        selection = await sidecar.run_in_thread(selections.find_selection, sidecar, repo.project, params.selected)
    files = [*params.files, *(selection.files if selection is not None else ())]
    origin = selection.origin if selection is not None else None
    add = partial(queue.add_memory, kind=kind, references=files, origin=origin, quotes=params.quotes)
    result = await sidecar.run_in_thread(add, paths, primitive, params.title, params.body)
    return await acts.announce_result(sidecar, repo, result)


def _call(repo: Repo, params: AgentToolParams, cancelled: threading.Event) -> AgentToolView:
    given: dict[str, dict[str, object]] = {
        "recall": {"question": params.question, "files": params.files},
        "why": {"path": params.path, "symbol": params.symbol},
        "propose": {"kind": params.kind, "title": params.title, "why": params.why, "files": params.files},
    }
    with ToolCalls(str(repo.project.root), tuple, lambda: params.agent or "editor", "editor") as tools:
        text, is_error = tools.call(params.tool, given[params.tool], lambda _message: None, cancelled.is_set)
        tools.record_served()
    return AgentToolView(text, is_error)


def _render(sidecar: Sidecar, repo: Repo | None, stored: StoredMemory) -> str:
    subject = make_drift_subject(stored.record)
    if repo is None or not subject.references:
        return render_memory(stored.record)
    checker = DriftChecker(repo.project, sidecar.home, open_git(repo.project.root, sidecar.environ))
    drift = checker.check_memories([subject]).get(stored.record.id, Drift("fresh", ""))
    return render_memory(stored.record, drift.state, drift.detail)
