"""Which requests about memory files the sidecar answers, and for which documents an editor sends them.

An editor that can register a feature later is told the folders of memory files, so that it sends nothing about other
documents. Any other editor, such as an old Neovim, learns the feature from the answer to `initialize`, and sends its
requests for every document.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar
    from lerim.paths import Home

TRANSCRIPT_SCHEME = "lerim-transcript"
MEMORY_PATTERNS = ("**/.lerim/memory/**/*.md", "**/.lerim/review/*.md")


@dataclass(frozen=True, slots=True)
class LanguageFeature:
    """A request about a document, and the function of `lerim.lsp.features.<package>.<module>` that answers it.

    `capability` is its name among an editor's `textDocument` capabilities. `options` are sent at `initialize`,
    `registered_options` with a later registration; the latter are None if the request belongs to another feature.
    """

    method: str
    capability: str
    module: str
    function: str
    options: object = None
    registered_options: dict[str, object] | None = field(default_factory=dict)
    package: str = "language"


COMPLETION_TRIGGERS = (" ", "/", "#", "[")
CODE_ACTION_KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor)
LANGUAGE_FEATURES = (
    LanguageFeature(
        types.TEXT_DOCUMENT_COMPLETION,
        "completion",
        "completion",
        "complete_at_position",
        types.CompletionOptions(trigger_characters=COMPLETION_TRIGGERS),
        {"triggerCharacters": list(COMPLETION_TRIGGERS)},
    ),
    LanguageFeature(types.TEXT_DOCUMENT_DEFINITION, "definition", "definitions", "find_definition"),
    LanguageFeature(
        types.TEXT_DOCUMENT_RENAME, "rename", "renames", "rename_id", registered_options={"prepareProvider": True}
    ),
    LanguageFeature(types.TEXT_DOCUMENT_PREPARE_RENAME, "rename", "renames", "prepare_rename", registered_options=None),
    LanguageFeature(types.TEXT_DOCUMENT_DOCUMENT_LINK, "document_link", "definitions", "list_document_links"),
    LanguageFeature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, "document_symbol", "symbols", "list_document_symbols"),
    LanguageFeature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        "code_action",
        "code_actions",
        "list_code_actions",
        types.CodeActionOptions(CODE_ACTION_KINDS),
        {"codeActionKinds": [kind.value for kind in CODE_ACTION_KINDS]},
        "checking",
    ),
    LanguageFeature(types.TEXT_DOCUMENT_FOLDING_RANGE, "folding_range", "symbols", "list_folding_ranges"),
    LanguageFeature(types.TEXT_DOCUMENT_INLAY_HINT, "inlay_hint", "key_hovers", "list_quote_hints"),
)


def can_register_later(sidecar: Sidecar, feature: LanguageFeature) -> bool:
    """Returns whether the editor can be told about a feature after `initialize`."""
    return bool(sidecar.capability("text_document", feature.capability, "dynamic_registration"))


def make_registrations(sidecar: Sidecar, features: Iterable[LanguageFeature]) -> list[types.Registration]:
    """Returns the registrations of these features, and of transcripts as documents if the editor can show them."""
    selector = [{"scheme": "file", "pattern": pattern} for pattern in _list_patterns(sidecar.home)]
    found = [
        types.Registration(f"lerim-{one.method}", one.method, {"documentSelector": selector, **one.registered_options})
        for one in features
        if one.registered_options is not None
    ]
    if sidecar.capability("workspace", "text_document_content", "dynamic_registration"):
        method = types.WORKSPACE_TEXT_DOCUMENT_CONTENT
        found.append(types.Registration(f"lerim-{method}", method, {"schemes": [TRANSCRIPT_SCHEME]}))
    return found


def _list_patterns(home: Home) -> tuple[str, ...]:
    """Returns the patterns of memory files, also in a home folder of another name (`LERIM_HOME`)."""
    if home.memory.parts[-2:] == (".lerim", "memory"):
        return MEMORY_PATTERNS
    return (*MEMORY_PATTERNS, f"{glob.escape(home.memory.as_posix())}/**/*.md")
