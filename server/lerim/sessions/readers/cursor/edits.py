"""File changes of Cursor's tool calls: from the replacements they request, the diffs they report, or the file before
and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lerim.sessions.model import FileEdit
from lerim.sessions.readers.cursor.records import decode_cursor_string
from lerim.sessions.readers.cursor.tool_fields import CursorToolInput, CursorToolOutput
from lerim.sessions.readers.engine import JSON_NULL, without_nul

FileContents = Callable[[str], str | None]
"""Maps the key of a file's content to the content, or None if it was not kept."""


def requested_edits(inputs: Sequence[CursorToolInput], path: str) -> tuple[FileEdit, ...]:
    """Returns the replacement or the written file that a call asks for; empty if it only describes the change."""
    for one in inputs:
        if one.old_string or one.new_string:
            return (FileEdit(path, without_nul(one.old_string), without_nul(one.new_string)),)
        for raw in (one.contents, one.content):
            if raw != JSON_NULL and (text := decode_cursor_string(raw)):
                return (FileEdit(path, "", without_nul(text)),)
    return ()


def performed_edits(output: CursorToolOutput, path: str, contents: FileContents) -> tuple[FileEdit, ...]:
    """Returns the changes that a result reports."""
    after = contents(output.after_content_id) if output.after_content_id else None
    if after is not None:
        before = contents(output.before_content_id) if output.before_content_id else ""
        return diff_edits(path, without_nul(before), without_nul(after)) if before is not None else ()
    chunks = output.diff.chunks if output.diff is not None else None
    return tuple(_parse_chunk(path, chunk.lines) for chunk in chunks or () if chunk.lines)


def diff_edits(path: str, before: str, after: str) -> tuple[FileEdit, ...]:
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


def _parse_chunk(path: str, text: str) -> FileEdit:
    lines = text.split("\n")
    old = [line[1:] for line in lines if line[:1] in ("-", " ")]
    new = [line[1:] for line in lines if line[:1] in ("+", " ")]
    return FileEdit(path, without_nul("\n".join(old)), without_nul("\n".join(new)))
