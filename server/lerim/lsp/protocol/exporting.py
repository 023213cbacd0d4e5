"""The part of the protocol about the files that agents read: giving them memories, and importing from them
(docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.lsp.protocol.core import Params


class ExportParams(Params, frozen=True):
    """What to plan for a root. `remove`: to take everything of Lerim's out again."""

    root: str
    remove: bool = False


class ExportApplyParams(ExportParams, frozen=True, kw_only=True):
    """The plan to carry out, by the `stamp` it was shown with. `take_edits`: lines edited by hand become candidates,
    and their files are written too."""

    stamp: str
    take_edits: bool = False


class ExportUndoParams(Params, frozen=True):
    """The written files to take back, by the `undo` of `lerim/export/apply`."""

    root: str
    undo: str


class ExportKeepParams(Params, frozen=True):
    """Whether to keep the written files up to date after each accept."""

    root: str
    keep: bool


class ExportFileView(msgspec.Struct, frozen=True):
    """A file that is created, changed or removed: its path from the repository's root, its text before and after ("" if
    there is no file), and how many lines are added and removed. `edited_by_hand`: it is written only with
    `takeEdits`."""

    path: str
    action: Literal["create", "change", "remove"]
    before: str
    after: str
    added: int
    removed: int
    edited_by_hand: bool


class ExportPlanView(msgspec.Struct, frozen=True):
    """What writing would change. `memories` counts the memories in files. `notes` are sentences on what was left out,
    on agents that read none of it, and on lines edited by hand."""

    stamp: str
    files: list[ExportFileView]
    memories: int
    notes: list[str]
    problems: list[Problem]
    keeps: bool


class ExportDoneView(msgspec.Struct, frozen=True):
    """How many files were written and how many candidates were made of edited lines. `lerim/export/undo` takes the
    files back; "" if there is nothing to take back."""

    files: int
    candidates: int
    undo: str


class ImportClaimView(msgspec.Struct, frozen=True):
    """A claim found in a file, and the file and line (`CLAUDE.md:12`)."""

    title: str
    kind: str
    source: str


class ImportPlanView(msgspec.Struct, frozen=True):
    """What an import would propose. `files` counts the files read, `known` the claims that are known already."""

    claims: list[ImportClaimView]
    files: int
    known: int
    notes: list[str]
    problems: list[Problem]


class ImportDoneView(msgspec.Struct, frozen=True):
    """How many candidates now wait for review."""

    proposed: int
