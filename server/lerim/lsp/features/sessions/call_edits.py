"""The edits of a call in a transcript, read by a job: the catalog does not store them, and the sidecar reads no
transcripts."""

from __future__ import annotations

from lerim.jobs import CallEditsLine
from lerim.lsp.protocol import EditsParams, EditsView, EditView
from lerim.lsp.window import Sidecar


async def read_call_edits(sidecar: Sidecar, params: EditsParams) -> EditsView:
    """Reads what a call changed, one pair of texts for each file. Raises JobError."""
    sidecar.require_trust("The transcript")
    arguments = ["edits", "--session", params.id, "--turn", params.turn, "--call", str(max(0, params.call))]
    result = await sidecar.jobs.run_once(arguments, "reading", CallEditsLine)
    return EditsView([EditView(one.path, one.old, one.new) for one in result.edits])
