"""The part of the protocol about the journal (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from lerim.lsp.protocol.core import Params


class JournalParams(Params, frozen=True):
    """The journal of a root's repository on a local day (`2026-03-02`); "" is today."""

    root: str
    day: str = ""
