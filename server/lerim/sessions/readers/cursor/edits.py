"""The output of Cursor's tools, and the edits it describes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from lerim.sessions.model import FileEdit
from lerim.sessions.readers.engine import (
    JSON_NULL,
    find_text,
    list_objects,
    parse_fields,
    without_nul,
)

FileContents = Callable[[str], str | None]
"""Maps the key of a file's content to the content, or None if it was not kept."""


class CursorToolOutput(msgspec.Struct, rename="camel", gc=False):
    """The output of a tool."""

    output: str | None = ""
    contents: str | None = ""
    stderr: str | None = ""
    error: msgspec.Raw = JSON_NULL
    exit_code: int | None = None
    exit_code_v2: int | None = None
    rejected: bool | None = False
    accepted: bool | None = False
    not_interrupted: bool | None = True
    answers: msgspec.Raw = JSON_NULL
    before_content_id: str | None = ""
    after_content_id: str | None = ""
    diff: msgspec.Raw = JSON_NULL
    """The changes of an edit, as recorded in 2025: chunks of removed (`-`), added (`+`) and unchanged lines."""


def find_performed_edits(output: CursorToolOutput, path: str, contents: FileContents) -> tuple[FileEdit, ...]:
    """Returns the changes that a result reports."""
    after = contents(output.after_content_id) if output.after_content_id else None
    before = contents(output.before_content_id) if output.before_content_id else ""
    if after is not None:
        return () if before is None else _diff_edits(path, without_nul(before), without_nul(after))
    chunks = list_objects(parse_fields(output.diff).get("chunks"))
    return tuple(_parse_chunk(path, text) for chunk in chunks if (text := find_text(chunk, "diffString")))


def _parse_chunk(path: str, text: str) -> FileEdit:
    lines = text.split("\n")
    old = [line[1:] for line in lines if line[:1] in ("-", " ")]
    new = [line[1:] for line in lines if line[:1] in ("+", " ")]
    return FileEdit(path, "\n".join(old), "\n".join(new))


def _diff_edits(path: str, before: str, after: str) -> tuple[FileEdit, ...]:
    """Returns the lines that differ between two versions of a file as one replacement; a new file is returned whole."""
    if before == after:
        return ()
    if not before:
        return (FileEdit(path, "", after),)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    shorter = min(len(old), len(new))
    start = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    end = next((index for index in range(shorter - start) if old[-1 - index] != new[-1 - index]), shorter - start)
    if start + end == len(old):  # lines were only added: include a neighboring line to show where
        start, end = (start - 1, end) if start else (start, end - 1)
    return (FileEdit(path, "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end])),)
