"""Splits a memory: the selected part of its body becomes a memory of its own, which is related to the first one."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from lsprotocol import types

from lerim.errors import MemoryError_
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.language import MemoryText, can_edit_files, make_workspace_edit
from lerim.lsp.window import Sidecar
from lerim.memory import examine_values, render_record

_LIST_MARK = re.compile(r"\s*(?:[-*+]|\d+[.)]|#+)\s+")
_LONGEST_TITLE = 120


def split_action(sidecar: Sidecar, text: MemoryText, place: types.Range) -> types.CodeAction | None:
    """Returns the action that moves the selected part of a memory's body to a new memory: its first line becomes the
    title; tags, references and quotes are copied. None if nothing of the body is selected, or if it is the whole body.

    Both changes are one edit of the editor, so that one Undo takes them back.
    """
    selected, rest = _divide(text, place)
    if not selected or not rest or not can_edit_files(sidecar, types.ResourceOperationKind.Create):
        return None
    try:
        record = examine_values(text.document.text, text.path)[0]
    except MemoryError_:
        return None  # the file's own diagnostic says so
    title, body = _title_and_body(selected)
    now = datetime.now(UTC).replace(microsecond=0)
    record = replace(
        record,
        title=title,
        body=body,
        created=now,
        updated=now,
        supersedes=(),
        resolves=(),
        related=tuple(dict.fromkeys((*record.related, record.id))),
    )
    record = replace(record, id=text.store.new_id(record))
    uri = path_to_uri(text.store.path_for(record))
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    own = types.OptionalVersionedTextDocumentIdentifier(text.uri, text.version)
    new = types.OptionalVersionedTextDocumentIdentifier(uri)
    edits = [
        types.TextDocumentEdit(new, [types.TextEdit(start, render_record(record))]),
        types.TextDocumentEdit(own, [types.TextEdit(place, "")]),
    ]
    return types.CodeAction(
        "Split into New Memory",
        kind=types.CodeActionKind.Refactor,
        edit=make_workspace_edit(sidecar, edits, created=[uri]),
    )


def _divide(text: MemoryText, place: types.Range) -> tuple[str, str]:
    """Returns the selected part of the body and what is left of it, both stripped; "" if the selection leaves the
    body."""
    first, last = place.start, place.end
    body_start = text.document.body.start_line
    if first == last or first.line < body_start or last.line > len(text.lines):
        return "", ""
    before, after = text.index(first), text.index(last)
    lines = [text.line(number) for number in range(len(text.lines) + 1)]
    inside = lines[first.line : last.line + 1]
    inside[-1] = inside[-1][:after]
    inside[0] = inside[0][before:]
    rest = [*lines[body_start : first.line], lines[first.line][:before], lines[last.line][after:]]
    return "\n".join(inside).strip(), "\n".join([*rest, *lines[last.line + 1 :]]).strip()


def _title_and_body(selected: str) -> tuple[str, str]:
    first, _, rest = selected.partition("\n")
    title = _LIST_MARK.sub("", first, count=1).strip() or first.strip()
    if len(title) > _LONGEST_TITLE:
        title = f"{title[:_LONGEST_TITLE].rsplit(' ', 1)[0]}…"
        return title, selected
    return title, rest.strip() or selected
