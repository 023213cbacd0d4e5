"""What a job computes for one request, since it reads transcripts: the benefit of memories, a day's journal, and what
is recorded of a call."""

from __future__ import annotations

import msgspec

from lerim.journal import JournalPage
from lerim.lsp.protocol import CallParams, JournalParams, RootParams
from lerim.lsp.window import HandleTarget, Sidecar
from lerim.sessions import RecordedCall
from lerim.statistics import Benefit, BenefitFigures, UnknownSessions


class BenefitRowView(msgspec.Struct, frozen=True):
    """The figures of one memory; `handle` opens it, "" if it is no longer active."""

    handle: str
    figures: BenefitFigures


class BenefitView(msgspec.Struct, frozen=True):
    """The figures of all memories that were ever served, as in `lerim benefit --json`; `problems` are messages."""

    memories: list[BenefitRowView]
    total: BenefitFigures
    servings: int
    unknown: UnknownSessions
    problems: list[str]


async def compute_benefit(sidecar: Sidecar, params: RootParams) -> BenefitView:
    """Computes the figures of a repository's memories. Raises JobError."""
    root = (await sidecar.find_trusted_repo(params.root, "Reading sessions")).project.root
    benefit = await sidecar.jobs.run_once(["benefit", "--repo", str(root)], "computation", Benefit)
    rows = [
        BenefitRowView(sidecar.handles.remember(HandleTarget(root, one.id)) if one.title else "", one)
        for one in benefit.memories
    ]
    problems = [problem.message for problem in benefit.problems]
    return BenefitView(rows, benefit.total, benefit.servings, benefit.unknown, problems)


async def open_journal_page(sidecar: Sidecar, params: JournalParams) -> JournalPage:
    """Returns the entry of a day of a repository. Raises JobError."""
    repo = await sidecar.find_trusted_repo(params.root, "Reading sessions")
    arguments = ["journal", "--repo", str(repo.project.root), "--day", params.day or "today"]
    return await sidecar.jobs.run_once(arguments, "journal", JournalPage)


async def read_call(sidecar: Sidecar, params: CallParams) -> RecordedCall:
    """Reads what a call changed and printed. Raises JobError."""
    sidecar.require_trust("The transcript")
    arguments = ["call", "--session", params.id, "--turn", params.turn, "--call", str(max(0, params.call))]
    return await sidecar.jobs.run_once(arguments, "reading", RecordedCall)
