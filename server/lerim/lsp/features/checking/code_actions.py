"""The actions at the cursor in a memory file: fixes for what is wrong there, and acts on the memory itself.

Edits change the open document and can be undone there. Commands act on the memory's file. Lerim's extension runs them
with the memory's handle and offers Undo; for any other editor the sidecar runs them (`commands.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.check import Finding
from lerim.lsp.features.checking.diagnostics import check_text, make_diagnostic
from lerim.lsp.features.checking.splitting import split_action
from lerim.lsp.features.language import MemoryText, find_memory_text, make_workspace_edit, replace_value
from lerim.lsp.protocol import (
    ARCHIVE_MEMORY,
    CHANGE_KIND,
    GLOBALIZE_MEMORY,
    MERGE_MEMORY,
    MOVE_MEMORY,
    VERIFY_MEMORY,
)
from lerim.lsp.window import HandleTarget, Sidecar
from lerim.memory import TextSpan, Value, check_references, kind_of_document

MAX_REPLACEMENTS = 5
PREFERRED = frozenset({"reference-gone", "reference-moved", "unknown-key", "memory-value"})
"""Codes whose first replacement is most likely what the person means."""
MERGED = frozenset({"memory-conflict", "memory-twice", "same-memory"})
OUTDATED = frozenset({"drifted", "reference-gone", "contradiction"})


async def list_code_actions(sidecar: Sidecar, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Returns the fixes for what is wrong at a place of a memory or candidate, and the actions on the memory."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    if text is None:
        return None
    wanted = params.context.only or (types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor)
    return await sidecar.run_in_thread(_make_actions, sidecar, text, params.range, tuple(wanted))


def _make_actions(
    sidecar: Sidecar, text: MemoryText, place: types.Range, wanted: Sequence[str]
) -> list[types.CodeAction]:
    found: list[types.CodeAction] = []
    commands = _Commands(sidecar, text)
    if _is_wanted(types.CodeActionKind.QuickFix, wanted):
        for finding in check_text(sidecar, text):
            shown = text.range(finding.span)
            if shown.start.line <= place.end.line and place.start.line <= shown.end.line:
                found += _fixes(sidecar, text, finding, commands)
    if _is_wanted(types.CodeActionKind.Refactor, wanted):
        found += commands.list_all()
        if commands.is_available and (split := split_action(sidecar, text, place)) is not None:
            found.append(split)
    return _offer_commands_once(found)


def _offer_commands_once(actions: Iterable[types.CodeAction]) -> list[types.CodeAction]:
    """Returns the actions without those whose command an earlier action already offers."""
    seen: set[str] = set()
    found: list[types.CodeAction] = []
    for action in actions:
        if action.command is None or action.command.command not in seen:
            found.append(action)
        if action.command is not None:
            seen.add(action.command.command)
    return found


def _is_wanted(kind: types.CodeActionKind, wanted: Iterable[str]) -> bool:
    return any(kind.value == str(getattr(one, "value", one)) for one in wanted)


def _fixes(sidecar: Sidecar, text: MemoryText, finding: Finding, commands: _Commands) -> Iterator[types.CodeAction]:
    diagnostic = make_diagnostic(finding, text.range(finding.span))
    if finding.code == "unknown-kind" and commands.is_available and sidecar.has_extension:
        yield commands.make("Change Memory Kind", CHANGE_KIND, types.CodeActionKind.QuickFix, [diagnostic])
    for number, new in enumerate(_list_replacements(sidecar, text, finding)):
        edit = _replace(text, finding, new)
        if edit is not None:
            preferred = number == 0 and finding.code in PREFERRED
            yield _make_fix(sidecar, text, f"Change to {new}", [edit], diagnostic, preferred=preferred)
    if finding.code in ("unknown-memory", "link-circle", "reference-gone") and (edits := _remove(text, finding.span)):
        what = "Reference" if finding.code == "reference-gone" else "Link"
        yield _make_fix(sidecar, text, f"Remove {what}", edits, diagnostic)
    if finding.code in MERGED and sidecar.options.trusted:
        # the extension shows the result first, of the file that is open
        arguments = [] if sidecar.has_extension else [text.uri]
        title = "Resolve Merge Conflict in Memory" if finding.code == "memory-conflict" else "Merge with Duplicate"
        yield commands.make(title, MERGE_MEMORY, types.CodeActionKind.QuickFix, [diagnostic], arguments)
    if finding.code == "drifted" and commands.is_available:
        yield commands.make("Mark Memory as Still True", VERIFY_MEMORY, types.CodeActionKind.QuickFix, [diagnostic])
    if finding.code in OUTDATED and commands.is_available:
        yield commands.make("Archive Memory", ARCHIVE_MEMORY, types.CodeActionKind.QuickFix, [diagnostic])


def _list_replacements(sidecar: Sidecar, text: MemoryText, finding: Finding) -> list[str]:
    """Returns the texts that may be put there instead. For a reference that names nothing, git is asked, too, in a
    trusted workspace."""
    found = list(finding.replacements)
    value = _value_at(text, finding.span)
    may_ask_git = finding.code == "reference-gone" and sidecar.options.trusted
    if may_ask_git and text.repo is not None and value is not None:
        for problem in check_references(text.repo.project.root, [value.text]):
            found = [*(place for place in problem.likely if "#" in place), *found, *problem.likely]
    return list(dict.fromkeys(found))[:MAX_REPLACEMENTS]


def _value_at(text: MemoryText, span: TextSpan) -> Value | None:
    return next((value for field in text.document.fields for value in field.values if value.span == span), None)


def _replace(text: MemoryText, finding: Finding, new: str) -> types.TextEdit | None:
    value = _value_at(text, finding.span)
    if value is not None and finding.code != "secret":
        return replace_value(text, value, new)
    is_in_body = finding.span.start_line >= text.document.body.start_line
    if finding.code == "unknown-key" or (finding.code == "secret" and is_in_body):
        return types.TextEdit(text.range(finding.span), new)
    return None


def _remove(text: MemoryText, span: TextSpan) -> list[types.TextEdit]:
    """Returns the edit that removes an item of a list, or a key with one value, by its lines; none if it shares a
    line."""
    field = next((one for one in text.document.fields if any(value.span == span for value in one.values)), None)
    line = text.line(span.start_line).strip()
    if field is None or span.start_line != span.end_line:
        return []
    if len(field.values) == 1:
        first, last = field.key_span.start_line, field.span.end_line
    elif line.startswith("- ") and line.count(text.part(span)) == 1:
        first = last = span.start_line
    else:
        return []
    return [types.TextEdit(types.Range(types.Position(first, 0), types.Position(last + 1, 0)), "")]


def _make_fix(
    sidecar: Sidecar,
    text: MemoryText,
    title: str,
    edits: Sequence[types.TextEdit],
    diagnostic: types.Diagnostic,
    *,
    preferred: bool = False,
) -> types.CodeAction:
    document = types.OptionalVersionedTextDocumentIdentifier(text.uri, text.version)
    return types.CodeAction(
        title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=preferred or None,
        edit=make_workspace_edit(sidecar, [types.TextDocumentEdit(document, edits)]),
    )


class _Commands:
    """The commands on the memory of a document. They act on its file, so a candidate and an archived memory have none,
    and neither has a window in Restricted Mode."""

    def __init__(self, sidecar: Sidecar, text: MemoryText) -> None:
        kind = kind_of_document(text.path, sidecar.home.memory)
        is_live = kind == "memory" and text.store.path_of(text.path.stem) == Path(text.path)
        self.is_available = sidecar.options.trusted and is_live and "archived" not in text.path.parts[-4:]
        self._can_ask = sidecar.has_extension
        self._is_personal = text.repo is None
        root = sidecar.home.root if text.repo is None else text.repo.project.root
        self._handle = sidecar.handles.remember(HandleTarget(root, text.path.stem)) if self.is_available else ""

    def make(
        self,
        title: str,
        command: str,
        kind: types.CodeActionKind,
        diagnostics: list[types.Diagnostic] | None = None,
        arguments: list[str] | None = None,
    ) -> types.CodeAction:
        """Returns an action that runs a command, with the memory's handle unless `arguments` are given."""
        given = [self._handle] if arguments is None else arguments
        return types.CodeAction(
            title, kind=kind, diagnostics=diagnostics, command=types.Command(title, command, arguments=given)
        )

    def list_all(self) -> list[types.CodeAction]:
        """Returns the actions on the whole memory."""
        if not self.is_available:
            return []
        refactor = types.CodeActionKind.Refactor
        found = [
            self.make("Mark Memory as Still True", VERIFY_MEMORY, refactor),
            self.make("Archive Memory", ARCHIVE_MEMORY, refactor),
        ]
        if self._can_ask:
            found.append(self.make("Change Memory Kind", CHANGE_KIND, refactor))
        if not self._is_personal:
            found.append(self.make("Copy Memory to Personal Memories", GLOBALIZE_MEMORY, refactor))
            found.append(self.make("Move Memory to Personal Memories", MOVE_MEMORY, refactor))
        return found
