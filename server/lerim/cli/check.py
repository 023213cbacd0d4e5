"""`lerim check`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_review_paths,
    output,
    with_error_exit,
)
from lerim.errors import UsageError

if TYPE_CHECKING:
    from lerim.check import CheckReport, Finding, TouchedMemory

OutputFormat = Literal["text", "json", "sarif", "markdown"]


class FindingView(msgspec.Struct, frozen=True):
    """One finding. `path` is relative to the repository's root if it is inside. Lines and columns count from 1, the
    end is exclusive. `replacements` are texts that may be put there instead."""

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
    """What `check --json` prints. `ok`: the exit code is 0. `touched` is null without `--since`."""

    ok: bool
    memories: int
    candidates: int
    errors: int
    warnings: int
    findings: list[FindingView]
    touched: list[TouchedMemory] | None


@with_error_exit
def check_command(
    format: Annotated[OutputFormat, typer.Option("--format", help="How the findings are printed.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too.")] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="CODE",
            help="Exit with 1 only for findings with this code, such as drifted, which includes not-compared.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="REVISION", help="Also list the memories about code that changed since HEAD branched off from this."
        ),
    ] = None,
    repo: RepoOption = CURRENT_FOLDER,
    personal: GlobalOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check the memories: headers, links, references, drift, secrets, and whether rules files say the opposite.

    Exits with 1 if there are errors, so it works in CI. Code hosts read SARIF to show findings on the lines of a
    change; markdown is meant for a comment on the change.
    """
    from lerim.check import RULES, check_project, find_touched_memories, make_sarif, render_report

    unknown = [code for code in fail_on or () if code not in RULES]
    if unknown:
        raise UsageError("There is no such code.", where=unknown[0][:80], todo=f"Use one of: {', '.join(RULES)}.")
    paths = find_review_paths(repo, personal)
    touched = None if since is None else find_touched_memories(paths.project, os.environ, since)
    report = check_project(paths.project, paths.home, os.environ)
    failing = [one for one in report.findings if _fails(one, fail_on or (), strict=strict)]
    if as_json or format == "json":
        output.show_json(_make_view(report, touched, ok=not failing))
    elif format == "sarif":
        output.show_json(make_sarif(report))
    elif format == "markdown":
        output.print_line(render_report(report, touched, failing).rstrip("\n"))
    else:
        _show_text(report, touched)
    if failing:
        raise typer.Exit(1)


def _fails(finding: Finding, codes: Sequence[str], *, strict: bool) -> bool:
    if codes:
        return finding.code in codes or (finding.code == "not-compared" and "drifted" in codes)
    return finding.severity == "error" or (strict and finding.severity == "warning")


def _show_text(report: CheckReport, touched: Sequence[TouchedMemory] | None) -> None:
    from lerim.check import NOTHING_TOUCHED

    for one in report.findings:
        place = f"{report.shown_path(one.path)}:{one.span.start_line + 1}:{one.span.start_character + 1}"
        output.print_line(output.escape_controls(f"{place}: {one.severity}: {one.message} [{one.code}]"))
    for memory in touched or ():
        about = ", ".join(memory.references)
        output.print_line(output.escape_controls(f"{memory.path}: {memory.kind} “{memory.title}” is about {about}"))
    if touched is not None:
        memories = "1 memory is" if len(touched) == 1 else f"{len(touched)} memories are"
        about = f"This change touches code that {memories} about." if touched else NOTHING_TOUCHED
        output.print_line(about)
    counts = [
        output.pluralize(report.count("error"), "error"),
        output.pluralize(report.count("warning"), "warning"),
    ]
    output.print_line(f"Checked {output.pluralize(report.memory_count, 'memory')}: {', '.join(counts)}.")


def _make_view(report: CheckReport, touched: list[TouchedMemory] | None, *, ok: bool) -> CheckView:
    views = [
        FindingView(
            one.code,
            one.severity,
            report.shown_path(one.path),
            one.span.start_line + 1,
            one.span.start_character + 1,
            one.span.end_line + 1,
            one.span.end_character + 1,
            one.message,
            list(one.replacements),
        )
        for one in report.findings
    ]
    return CheckView(
        ok=ok,
        memories=report.memory_count,
        candidates=report.candidate_count,
        errors=report.count("error"),
        warnings=report.count("warning"),
        findings=views,
        touched=touched,
    )
