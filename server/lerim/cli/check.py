"""`lerim check`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from lerim import files
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_review_paths,
    output,
    with_error_exit,
)

if TYPE_CHECKING:
    from lerim.check import CheckReport, Finding

OutputFormat = Literal["text", "json", "sarif"]


class FindingView(msgspec.Struct, frozen=True):
    """One finding. `path` is relative to the repository's root if it lies inside. Lines and columns count from 1, the
    end is exclusive. `replacements` are texts that may stand there instead."""

    code: str
    severity: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    replacements: list[str]


class CheckView(msgspec.Struct, frozen=True):
    """What `check --json` prints. `ok`: the exit code is 0."""

    ok: bool
    memories: int
    candidates: int
    errors: int
    warnings: int
    findings: list[FindingView]


@with_error_exit
def check_command(
    format: Annotated[OutputFormat, typer.Option("--format", help="How the findings are printed.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")] = False,
    repo: RepoOption = CURRENT_FOLDER,
    personal: GlobalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check the memories: headers, links, references, drift, secrets, and whether rules files say the opposite.

    Exits with 1 if there are errors, so it works in CI. SARIF is what code hosts read to show findings on the lines of
    a change.
    """
    from lerim.check import check_project, make_sarif

    paths = find_review_paths(repo, personal)
    report = check_project(paths.project, paths.home, os.environ)
    is_good = not (report.count("error") or (strict and report.count("warning")))
    if as_json or format == "json":
        output.show_json(_make_view(report, ok=is_good))
    elif format == "sarif":
        output.show_json(make_sarif(report))
    else:
        _show_text(report)
    if not is_good:
        raise typer.Exit(1)


def _show_text(report: CheckReport) -> None:
    for one in report.findings:
        place = f"{_shown_path(report, one)}:{one.span.start_line + 1}:{one.span.start_character + 1}"
        output.print_line(output.escape_controls(f"{place}: {one.severity}: {one.message} [{one.code}]"))
    counts = [
        output.pluralize(report.count("error"), "error"),
        output.pluralize(report.count("warning"), "warning"),
    ]
    checked = f"Checked {report.memory_count} {'memory' if report.memory_count == 1 else 'memories'}"
    output.print_line(f"{checked}: {', '.join(counts)}.")


def _make_view(report: CheckReport, *, ok: bool) -> CheckView:
    views = [
        FindingView(
            one.code,
            one.severity,
            _shown_path(report, one),
            one.span.start_line + 1,
            one.span.start_character + 1,
            one.span.end_line + 1,
            one.span.end_character + 1,
            one.message,
            list(one.replacements),
        )
        for one in report.findings
    ]
    counts = (report.count("error"), report.count("warning"))
    return CheckView(ok, report.memory_count, report.candidate_count, *counts, views)


def _shown_path(report: CheckReport, finding: Finding) -> str:
    return files.path_to_text(report.inner_path(finding) or finding.path)
