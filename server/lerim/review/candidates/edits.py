"""A person's edit of a candidate or memory, cleaned for its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lerim import files
from lerim.errors import MemoryError_
from lerim.memory import HeaderValue, record
from lerim.redaction import redact_secrets
from lerim.review.candidates.proposal import PERSON_CONFIDENCE, Proposal


@dataclass(frozen=True, slots=True)
class CandidateEdit:
    """A person's new words for a candidate or memory. None leaves a part as it is."""

    title: str | None = None
    body: str | None = None
    tags: tuple[str, ...] | None = None


def apply_edit(proposal: Proposal, edit: CandidateEdit) -> str:
    """The text of the candidate file with a person's edit, without secrets. Raises MemoryError_ for an empty title."""
    words, old = clean_edit(edit, proposal.path), proposal.record
    title = old.title if words.title is None else words.title
    body = old.body if words.body is None else words.body
    tags = old.tags if words.tags is None else words.tags
    if (title, body, tags) == (old.title, old.body, old.tags):
        return proposal.text
    changes: dict[str, HeaderValue] = {
        "title": title,
        "confidence": PERSON_CONFIDENCE,
        "tags": tags,
        "status": "edited",
    }
    return record.update_record_text(proposal.text, changes, words.body, str(proposal.path))


def clean_edit(edit: CandidateEdit, path: Path) -> CandidateEdit:
    """The edit as it is written to a file: without secrets. Raises MemoryError_ for an empty title."""
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
    return CandidateEdit(title, body, None if tags is None else tuple(tags))


def join_lines(text: str) -> str:
    """The text on one line: every run of white space becomes one space, and characters that a file cannot hold are
    replaced."""
    return " ".join(files.path_to_text(text).split())
