"""The journal of a day, made by a job: it reads many turns and asks git."""

from __future__ import annotations

from lerim.jobs import JournalLine
from lerim.journal import JournalPage
from lerim.lsp.protocol import JournalParams
from lerim.lsp.window import Sidecar


async def open_journal_page(sidecar: Sidecar, params: JournalParams) -> JournalPage:
    """Returns the entry of a day of a repository. Cancelling ends the process. Raises JobError."""
    sidecar.require_trust("Reading sessions")
    repo = await sidecar.find_repo(params.root)
    arguments = ["journal", "--repo", str(repo.project.root), "--day", params.day or "today"]
    return (await sidecar.jobs.run_once(arguments, "journal", JournalLine)).page
