"""Findings of a check as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from lerim.check import Finding, Severity
from lerim.lsp.boundary import show_hidden_characters
from lerim.lsp.features.language import MemoryText
from lerim.lsp.protocol import redact_text

SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
FILE_START = types.Range(types.Position(0, 0), types.Position(0, 0))


def make_diagnostics(text: MemoryText | None, findings: Iterable[Finding]) -> list[types.Diagnostic]:
    """The diagnostics of one file, with positions in the editor's units; without its text, all at its start."""
    return [make_diagnostic(one, text.range(one.span) if text is not None else FILE_START) for one in findings]


def make_diagnostic(finding: Finding, place: types.Range) -> types.Diagnostic:
    """A finding as a diagnostic. Its message may quote a file, so it is redacted."""
    return types.Diagnostic(
        range=place,
        message=show_hidden_characters(redact_text(finding.message)),
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        source="lerim",
    )
