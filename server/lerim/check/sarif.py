"""Renders the report of a check as SARIF 2.1.0, the format that code hosts read: see
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import quote

from lerim import __version__, files
from lerim.check.findings import RULES, CheckReport, Finding, Severity
from lerim.redaction import clean_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: dict[Severity, Literal["error", "warning", "note"]] = {
    "error": "error",
    "warning": "warning",
    "information": "note",
    "hint": "note",
}


def make_sarif(report: CheckReport) -> dict[str, object]:
    """Returns a report as a SARIF log with one run, ready to be encoded as JSON. Texts are redacted, and hidden
    characters written out."""
    rules = [
        {
            "id": code,
            "shortDescription": {"text": rule.description},
            "defaultConfiguration": {"level": LEVELS[rule.severity]},
        }
        for code, rule in RULES.items()
    ]
    run = {
        "tool": {"driver": {"name": "Lerim", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_make_result(report, one) for one in report.findings],
    }
    return {"version": "2.1.0", "runs": [run], "$schema": SCHEMA}


def _make_result(report: CheckReport, finding: Finding) -> dict[str, object]:
    """Returns one finding as a SARIF result. Lines and columns count from 1; the end is exclusive."""
    span = finding.span
    region = {
        "startLine": span.start_line + 1,
        "startColumn": span.start_character + 1,
        "endLine": span.end_line + 1,
        "endColumn": span.end_character + 1,
    }
    inner = report.relative(finding.path)
    if inner is not None:
        artifact = {"uri": quote(files.path_to_text(inner)), "uriBaseId": "%SRCROOT%"}
    else:
        artifact = {"uri": Path(finding.path).as_uri()}
    return {
        "ruleId": finding.code,
        "ruleIndex": list(RULES).index(finding.code),
        "level": LEVELS[finding.severity],
        "message": {"text": clean_text(finding.message)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
