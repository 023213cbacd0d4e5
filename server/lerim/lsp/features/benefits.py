"""Whether the memories that agents were given helped, computed by a job: it reads transcripts."""

from __future__ import annotations

import msgspec

from lerim.jobs import BenefitLine
from lerim.lsp.protocol import RootParams
from lerim.lsp.window import HandleTarget, Sidecar
from lerim.statistics import BenefitFigures, UnknownSessions


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
    """Computes the figures of a repository's memories. Cancelling ends the process. Raises JobError."""
    sidecar.require_trust("Reading sessions")
    repo = await sidecar.find_repo(params.root)
    arguments = ["benefit", "--repo", str(repo.project.root)]
    benefit = (await sidecar.jobs.run_once(arguments, "computation", BenefitLine)).benefit
    rows = [
        BenefitRowView(
            sidecar.handles.remember(HandleTarget(repo.project.root, one.id)) if one.title else "",
            one,
        )
        for one in benefit.memories
    ]
    problems = [problem.message for problem in benefit.problems]
    return BenefitView(rows, benefit.total, benefit.servings, benefit.unknown, problems)
