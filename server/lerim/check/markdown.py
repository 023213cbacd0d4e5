"""Renders the findings of a check, and the memories that a change touches, as markdown for a comment on that change."""

from __future__ import annotations

from collections.abc import Sequence

from lerim.check.changes import NOTHING_TOUCHED, TouchedMemory
from lerim.check.findings import CheckReport, Finding
from lerim.redaction import clean_text

MAX_LISTED = 50
MAX_LIST_CHARS = 20_000
"""Maximum number of characters of each of the three lists: code hosts refuse a comment of more than 65,536
characters."""
MAX_TEXT = 300


def render_report(report: CheckReport, touched: Sequence[TouchedMemory] | None, failing: Sequence[Finding]) -> str:
    """Renders the memories that a change touches (None: no change was named), then the findings: first those that make
    the check fail, then the others.

    Every text from a memory is in a code span, in which neither links nor mentions have an effect.
    """
    lines = ["## Lerim", ""]
    if touched:
        lines += ["This change touches code that memories are about. Are they still true?", ""]
        lines += _limit(list(map(_describe_touched, touched[:MAX_LISTED])), len(touched))
    elif touched is not None:
        lines.append(NOTHING_TOUCHED)
    elif not report.findings:
        lines.append("Nothing is wrong with the memories.")
    named = set(failing)
    others = [one for one in report.findings if one not in named and one.severity != "hint"]
    for title, findings in (("Must be fixed", failing), ("Also found", others)):
        if findings:
            lines += ["", f"### {title}", ""]
            listed = [_describe_finding(report, one) for one in findings[:MAX_LISTED]]
            lines += _limit(listed, len(findings))
    return "\n".join(lines) + "\n"


def _describe_touched(memory: TouchedMemory) -> str:
    references = ", ".join(map(safe_code_span, memory.references[:5]))
    title, place = safe_code_span(memory.title), safe_code_span(memory.path)
    return f"- {memory.kind.capitalize()} {title} about {references} ({place})"


def _describe_finding(report: CheckReport, finding: Finding) -> str:
    place = f"{report.shown_path(finding.path)}:{finding.span.start_line + 1}"
    message = safe_code_span(finding.message)
    return f"- {finding.severity.capitalize()} in {safe_code_span(place)}: {message} ({finding.code})"


def _limit(lines: list[str], count: int) -> list[str]:
    """Returns as many of these lines as there is room for, followed by the number, out of `count`, that is left out."""
    while sum(map(len, lines)) > MAX_LIST_CHARS:
        lines.pop()
    return lines if len(lines) == count else [*lines, f"- … and {count - len(lines)} more"]


def safe_code_span(text: str) -> str:
    """Returns a text, without secrets and shortened, as a code span, in which neither links nor mentions work."""
    line = " ".join(clean_text(text).replace("`", "'").split())
    return f"`{line[: MAX_TEXT - 1]}…`" if len(line) > MAX_TEXT else f"`{line or ' '}`"
