"""What a job computes for one request, since it reads transcripts: the benefit of memories, a day's journal, and what
is recorded of a call."""

from __future__ import annotations

import msgspec

from lerim.jobs import BenefitLine, JournalLine, RecordedCallLine
from lerim.journal import JournalPage
from lerim.lsp.protocol import CallParams, JournalParams, RootParams
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


class EditView(msgspec.Struct, frozen=True):
    """What a call changed in one file: the texts it replaced and the new ones; `before` is "" for a whole file."""

    path: str
    before: str
    after: str


class RecordedCallView(msgspec.Struct, frozen=True, rename="camel"):
    """The edits of a call, one for each file, and its output, "" if there is none; `output_cut` characters are left out
    in its middle."""

    edits: list[EditView]
    output: str
    output_cut: int


async def compute_benefit(sidecar: Sidecar, params: RootParams) -> BenefitView:
    """Computes the figures of a repository's memories. Raises JobError."""
    root = (await sidecar.find_trusted_repo(params.root, "Reading sessions")).project.root
    benefit = (await sidecar.jobs.run_once(["benefit", "--repo", str(root)], "computation", BenefitLine)).benefit
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
    return (await sidecar.jobs.run_once(arguments, "journal", JournalLine)).page


async def read_call(sidecar: Sidecar, params: CallParams) -> RecordedCallView:
    """Reads what a call changed and printed. Raises JobError."""
    sidecar.require_trust("The transcript")
    arguments = ["call", "--session", params.id, "--turn", params.turn, "--call", str(max(0, params.call))]
    found = (await sidecar.jobs.run_once(arguments, "reading", RecordedCallLine)).call
    edits = [EditView(one.path, one.old, one.new) for one in found.edits]
    return RecordedCallView(edits, found.output, found.output_cut)
