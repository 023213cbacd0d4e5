"""A check's report as SARIF 2.1.0, the format that code hosts read: see
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote

import msgspec

from lerim import __version__, files
from lerim.check.findings import RULES, CheckReport, Finding, Severity
from lerim.redaction import clean_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SOURCE_ROOT = "%SRCROOT%"
Level = Literal["error", "warning", "note"]
LEVELS: dict[Severity, Level] = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}


class _Struct(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    pass


class SarifMessage(_Struct, frozen=True):
    """A text."""

    text: str


class SarifConfiguration(_Struct, frozen=True):
    """How bad it is if a rule is broken."""

    level: Level


class SarifRule(_Struct, frozen=True):
    """A rule that was checked."""

    id: str
    short_description: SarifMessage
    default_configuration: SarifConfiguration


class SarifDriver(_Struct, frozen=True):
    """The program that checked, with its rules."""

    name: str
    version: str
    rules: list[SarifRule]


class SarifTool(_Struct, frozen=True):
    """The program that checked."""

    driver: SarifDriver


class SarifArtifact(_Struct, frozen=True):
    """A file, relative to the repository's root, or by its full address if it is elsewhere."""

    uri: str
    uri_base_id: str = ""


class SarifRegion(_Struct, frozen=True):
    """A part of a file. Lines and columns count from 1, columns in characters; the end is exclusive."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


class SarifPhysicalLocation(_Struct, frozen=True):
    """A file and a part of it."""

    artifact_location: SarifArtifact
    region: SarifRegion


class SarifLocation(_Struct, frozen=True):
    """Where a result is."""

    physical_location: SarifPhysicalLocation


class SarifResult(_Struct, frozen=True):
    """One finding."""

    rule_id: str
    rule_index: int
    level: Level
    message: SarifMessage
    locations: list[SarifLocation]


class SarifRun(msgspec.Struct, frozen=True, rename="camel"):
    """One check of one project."""

    tool: SarifTool
    column_kind: Literal["unicodeCodePoints"]
    results: list[SarifResult]


class SarifLog(msgspec.Struct, frozen=True):
    """The whole file."""

    version: Literal["2.1.0"]
    runs: list[SarifRun]
    schema: str = msgspec.field(default=SCHEMA, name="$schema")


def make_sarif(report: CheckReport) -> SarifLog:
    """Returns a report as a SARIF log with one run. Texts are redacted, and hidden characters written out."""
    codes = list(RULES)
    rules = [
        SarifRule(code, SarifMessage(rule.description), SarifConfiguration(LEVELS[rule.severity]))
        for code, rule in RULES.items()
    ]
    results = [
        SarifResult(
            one.code,
            codes.index(one.code),
            LEVELS[one.severity],
            SarifMessage(clean_text(one.message)),
            [SarifLocation(SarifPhysicalLocation(_make_artifact(report, one), _make_region(one)))],
        )
        for one in report.findings
    ]
    run = SarifRun(SarifTool(SarifDriver("Lerim", __version__, rules)), "unicodeCodePoints", results)
    return SarifLog("2.1.0", [run])


def _make_artifact(report: CheckReport, finding: Finding) -> SarifArtifact:
    inner = report.inner_path(finding)
    if inner is not None:
        return SarifArtifact(quote(files.path_to_text(inner)), SOURCE_ROOT)
    return SarifArtifact(f"file://{quote(files.path_to_text(finding.path))}")


def _make_region(finding: Finding) -> SarifRegion:
    span = finding.span
    return SarifRegion(span.start_line + 1, span.start_character + 1, span.end_line + 1, span.end_character + 1)
