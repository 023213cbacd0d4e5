"""A proposal waiting for a person's decision: the proposed memory and what accepting it would change, and
the person's edit of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from lerim import files
from lerim.errors import MemoryError_
from lerim.extraction import Signal
from lerim.memory import (
    HeaderValue,
    MemoryRecord,
    StoredMemory,
    parse_references,
    record,
    split_kind,
)
from lerim.redaction import redact_secrets
from lerim.review.compare import NearMemory
from lerim.review.decisions import CandidateEdit, MemoryEdit
from lerim.sessions import Platform

PERSON_CONFIDENCE = 0.95
"""The confidence of a memory whose words a person wrote."""

ProposedAction = Literal[
    "add", "same", "update", "supersede", "resolve", "merge", "archive", "consolidate", "refer", "close"
]
Maker = Literal["rules", "model", "lead", "maintain", "person", "agent", "file"]
KEEPS: tuple[ProposedAction, ...] = ("update", "merge")
"""The actions that rewrite the first target and end all others."""


@dataclass(frozen=True, slots=True)
class Target:
    """A memory that a proposal changes or ends, and the hash of its file's text at the time of the proposal."""

    id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A waiting candidate. `record` is the memory it would become.

    `targets` are the memories it would change or end; for an addition, the archived memory it restores, if any.
    `accepting/effects.py` defines what each action does with them. `target_memories` are the targets in their current
    state, `lost_targets` the ids of targets that no longer exist or are no longer active. If too few targets remain,
    the proposal `is_obsolete`. `diff` is the unified diff of the memory that is rewritten. `edited`: a person changed
    its words. `overwrites_body`: its body replaces the body of the memory it changes instead of being merged with it.

    A suggestion of maintain or the lead has a `reason` and no session: `session`, `turn`, `platform` and `signal`
    are empty. `neighbours` are similar active memories, if the caller asked for them; `model_asked`: a model was
    asked about them. `text` is the text of the candidate file, possibly with an edit that is not saved yet;
    `saved_text` is the text that was read from the file.
    """

    id: str
    record: MemoryRecord
    action: ProposedAction
    targets: tuple[Target, ...]
    reason: str
    maker: Maker
    session: str
    turn: str
    platform: Platform | None
    time: datetime
    signal: Signal | None
    flags: tuple[str, ...]
    replaces: tuple[str, ...]
    model_asked: bool
    edited: bool
    path: Path
    text: str
    saved_text: str
    diff: str = ""
    target_memories: tuple[StoredMemory, ...] = ()
    neighbours: tuple[NearMemory, ...] = ()
    lost_targets: tuple[str, ...] = ()
    is_obsolete: bool = False
    overwrites_body: bool = False

    @property
    def text_hash(self) -> str:
        """The hash that identifies the text of the candidate's file."""
        return files.hash_text(self.text)

    @property
    def target(self) -> str:
        """The id of the first target, or "" if there is none. For an addition, it is the archived memory that is
        restored."""
        return self.targets[0].id if self.targets else ""

    @property
    def is_claim(self) -> bool:
        """Whether the proposal makes a claim, which was found in a session or a file, or which an agent submitted.
        All others are suggestions to change existing memories."""
        return bool(self.session) or self.maker in ("agent", "file")

    @property
    def review_rank(self) -> tuple[bool, float, datetime, str]:
        """Its place in the order of the review: the highest confidence first, at equal confidence the claim that was
        made first, and themes last, since nobody said them."""
        return self.record.primitive == "theme", -self.record.confidence, self.time, self.id

    @property
    def can_change_kind(self) -> bool:
        """Whether the proposal would add a memory whose kind can be changed."""
        return self.action == "add" and not self.targets and self.record.primitive not in ("theme", "summary")

    @property
    def ends(self) -> tuple[str, ...]:
        """The ids of the memories that accepting it would end."""
        if self.action in ("refer", "add", "same"):
            return ()
        kept = 1 if self.action in KEEPS else 0
        return tuple(one.id for one in self.targets[kept : 1 if self.action == "close" else None])


def apply_edit(proposal: Proposal, edit: CandidateEdit) -> str:
    """Returns the text of the candidate file with a person's edit, without secrets.

    Raises MemoryError_ for an empty title, a reference that is not a path in the repository, or another kind for a
    candidate that cannot have one.
    """
    words, old = clean_edit(edit, proposal.path), proposal.record
    title = old.title if words.title is None else words.title
    body = old.body if words.body is None else words.body
    tags = old.tags if words.tags is None else words.tags
    references = old.references if words.references is None else words.references
    changes: dict[str, HeaderValue] = {}
    if (title, body, tags) != (old.title, old.body, old.tags):
        changes = {"title": title, "confidence": PERSON_CONFIDENCE, "tags": tags, "status": "edited"}
    if references != old.references:
        changes |= {"references": references or None, "status": "edited"}
    if edit.kind is not None and edit.kind != (old.kind or old.primitive):
        if not proposal.can_change_kind:
            todo = "Accept it, and change the kind of the memory then."
            raise MemoryError_("The kind of this candidate cannot change.", where=str(proposal.path), todo=todo)
        primitive, kind = split_kind(edit.kind)
        changes |= {"primitive": primitive, "kind": kind, "status": "edited"}
    if not changes:
        return proposal.text
    return record.update_record_text(proposal.text, changes, words.body, str(proposal.path))


def clean_edit(edit: MemoryEdit, path: Path) -> MemoryEdit:
    """Returns the edit in the form in which it is written to a file: without secrets. Raises MemoryError_ for an
    empty title, or a reference that is not a path in the repository."""
    title = None if edit.title is None else redact_secrets(join_lines(edit.title)).text
    if title == "":
        raise MemoryError_("A memory needs a title.", where=str(path), todo="Write one.")
    body = (
        None if edit.body is None else redact_secrets(files.path_to_text(edit.body).replace("\r\n", "\n").strip()).text
    )
    tags = (
        None
        if edit.tags is None
        else dict.fromkeys(redact_secrets(tag).text for tag in map(join_lines, edit.tags) if tag)
    )
    references = None if edit.references is None else parse_references(edit.references)
    return MemoryEdit(title, body, None if tags is None else tuple(tags), references)


def join_lines(text: str) -> str:
    """Returns the text on one line: every run of white space becomes one space, and characters that a file cannot
    hold are replaced."""
    return " ".join(files.path_to_text(text).split())
