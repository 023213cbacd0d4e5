"""Edits of values in memory files that leave everything else as it is, and workspace edits of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.language.memory_texts import MemoryText
from lerim.lsp.window import Sidecar
from lerim.memory import Value, comma_list_item, quote_scalar


def replace_values(text: MemoryText, change: Callable[[str, str], str]) -> list[types.TextEdit]:
    """Returns the edits that give values other texts. `change` takes a key, dotted inside a list, and a value or an
    item of a list, and returns what it should be. A value that spans lines, or that YAML reads by a tag or an
    anchor, stays."""
    edits: list[types.TextEdit] = []
    for field in text.document.fields:
        for value in field.values:
            if text.document.is_comma_list(field, value):
                pattern = comma_list_item(value.key)
                new = pattern.sub(lambda item, key=value.key: change(key, item.group()), value.text)  # type: ignore[misc]
            else:
                new = change(value.key, value.text)
            if new != value.text and (edit := replace_value(text, value, new)) is not None:
                edits.append(edit)
    return edits


def replace_value(text: MemoryText, value: Value, new: str) -> types.TextEdit | None:
    """Returns the edit that gives a value another text, quoted as it has to be; None if it cannot be replaced alone."""
    line, span = text.line(value.span.start_line), value.span
    before, after = line[: span.start_character], line[span.end_character :]
    quote = before[-1:] if before[-1:] in ("'", '"') and after.startswith(before[-1:]) else ""
    is_written_plainly = bool(quote) or text.part(span) == value.text
    if span.start_line != span.end_line or not is_written_plainly or not new.isprintable():
        return None
    return types.TextEdit(text.range(span), quote_scalar(new, quote, in_list="[" in before))


def edit_file(text: MemoryText, change: Callable[[str, str], str]) -> list[types.TextDocumentEdit]:
    """Returns the edit of a file by `replace_values`; none if it would change nothing. An open file carries its
    version, so that the editor refuses an edit of a text that changed."""
    edits = replace_values(text, change)
    document = types.OptionalVersionedTextDocumentIdentifier(text.uri, text.version)
    return [types.TextDocumentEdit(document, edits)] if edits else []


def make_workspace_edit(
    sidecar: Sidecar,
    edits: Sequence[types.TextDocumentEdit],
    renamed: Mapping[Path, Path] | None = None,
    created: Sequence[str] = (),
) -> types.WorkspaceEdit:
    """Returns one edit of several files: the files that it first creates, by their URIs, and those that it then
    renames. `edits` have the new name of a renamed file."""
    if not renamed and not created and not sidecar.capability("workspace", "workspace_edit", "document_changes"):
        return types.WorkspaceEdit(
            changes={
                edit.text_document.uri: [one for one in edit.edits if isinstance(one, types.TextEdit)] for edit in edits
            }
        )
    moved = [types.RenameFile(path_to_uri(old), path_to_uri(new)) for old, new in (renamed or {}).items()]
    return types.WorkspaceEdit(document_changes=[*map(types.CreateFile, created), *moved, *edits])


def can_edit_files(sidecar: Sidecar, kind: types.ResourceOperationKind) -> bool:
    """Returns whether the editor creates, renames or deletes files as a part of an edit."""
    return kind in (sidecar.capability("workspace", "workspace_edit", "resource_operations") or ())
