"""Reacts to documents that are opened, changed, saved or closed. The checks of memory files are imported with the first
one, to save memory."""

from __future__ import annotations

from lsprotocol import types

from lerim.lsp.window import Sidecar, candidate_counts, check_for_checkouts, drift


async def handle_opened_document(
    sidecar: Sidecar, params: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams
) -> None:
    """Checks HEAD, the memories of a file that was opened or saved, and the file itself if it is a memory."""
    uri = params.text_document.uri
    await check_for_checkouts(sidecar)
    place = await sidecar.repos.locate_file(uri)
    if place is not None:
        drift.check_drift(sidecar, place.repo, (place.path,))
    await candidate_counts.announce_changed_candidates(sidecar, sidecar.repos.known)
    _check_document(sidecar, uri, with_rules=True)


async def handle_changed_document(sidecar: Sidecar, params: types.DidChangeTextDocumentParams) -> None:
    """Checks a memory whose text changed in the editor."""
    _check_document(sidecar, params.text_document.uri)


def _check_document(sidecar: Sidecar, uri: str, *, with_rules: bool = False) -> None:
    if uri.endswith(".md"):
        from lerim.lsp.features import checking

        checking.schedule_check(sidecar, uri, with_rules=with_rules)


async def handle_closed_document(sidecar: Sidecar, params: types.DidCloseTextDocumentParams) -> None:
    """Forgets what was kept for a document."""
    uri = params.text_document.uri
    sidecar.repos.forget_file(uri)
    if uri in sidecar.checked_uris:
        from lerim.lsp.features import checking

        await checking.stop_checking(sidecar, uri)
