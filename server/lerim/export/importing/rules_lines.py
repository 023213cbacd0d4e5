"""The claims of rules files, each at its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lerim.export.importing.rules_header import RulesHeader, read_rules_header
from lerim.export.importing.rules_text import RuleClaim, split_rules
from lerim.export.importing.sources import RulesSource, read_rules_files
from lerim.export.rule_files import parse_rule_file


@dataclass(frozen=True, slots=True)
class RulesLine:
    """A claim of a rules file: the file's path from the repository's root, the line (from 1) and the text."""

    path: str
    line: int
    text: str


def list_rules_lines(root: Path) -> list[RulesLine]:
    """Returns every claim that people wrote in the repository's rules files. Files that cannot be read are skipped."""
    sources, _ = read_rules_files(root)
    return [RulesLine(source.name, rule.line, rule.text) for source in sources for rule, _ in list_rules(source)]


def list_rules(source: RulesSource) -> Iterator[tuple[RuleClaim, RulesHeader]]:
    """Yields the claims of a file. One memory of an agent (with a description) is one claim; the index of such memories
    only lists the others; Lerim's own files say nothing new."""
    if parse_rule_file(source.text) is not None:
        return
    header = read_rules_header(source.text)
    if source.author == "assistant" and header.description:
        text = " ".join(header.description.split())
        details = header.body.strip()[:1_000]
        line = source.text[: max(0, source.text.find("description:"))].count("\n") + 1
        yield RuleClaim(line, text, (), details if details != text else ""), header
        return
    for rule in split_rules(header.body, header.first_line):
        yield rule, header
