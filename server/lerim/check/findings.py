"""The findings of a check: where each one is, how bad it is, and which text may replace it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from lerim import files
from lerim.memory import TextSpan

Severity = Literal["error", "warning", "information", "hint"]


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A rule that is checked. Its code never changes, because configurations and reports name it."""

    severity: Severity
    description: str


RULES: Mapping[str, CheckRule] = {
    "memory-unreadable": CheckRule("error", "The header of a memory cannot be read."),
    "memory-conflict": CheckRule("error", "Git left both sides of a merge in a memory."),
    "memory-value": CheckRule("warning", "A value of the header is missing or invalid, or not what was meant."),
    "unknown-kind": CheckRule("error", "The kind of a learning is not one of the known ones."),
    "unknown-key": CheckRule("hint", "The header has a key that Lerim does not know. It is kept."),
    "repeated-key": CheckRule("warning", "A key occurs twice in the header, and only its last value counts."),
    "memory-twice": CheckRule("error", "Two files have the same id."),
    "same-memory": CheckRule("hint", "Another memory has the same title and text."),
    "memory-misplaced": CheckRule("warning", "A markdown file is not in a folder of memories."),
    "unknown-memory": CheckRule("warning", "A link names a memory that does not exist."),
    "link-circle": CheckRule("error", "Memories replace or resolve each other in a circle."),
    "two-answers": CheckRule("warning", "A question has several active answers."),
    "reference-gone": CheckRule("error", "A reference names a file or symbol that does not exist."),
    "reference-moved": CheckRule("warning", "What a reference names was renamed or moved."),
    "reference-ambiguous": CheckRule("warning", "A reference names a symbol that its file defines more than once."),
    "drifted": CheckRule("warning", "The code that a memory is about has changed since the memory was verified."),
    "not-compared": CheckRule("warning", "The commit that a memory was verified at is not in this clone."),
    "secret": CheckRule("error", "A memory contains what looks like a secret."),
    "contradiction": CheckRule("warning", "A rules file says the opposite of a memory."),
    "unreviewed": CheckRule("information", "Candidates wait for review."),
    "problem": CheckRule("warning", "Something else went wrong."),
}
"""Every rule by its code."""
FOUND_IN_DOCUMENTS = frozenset({"memory-value", "memory-unreadable", "memory-conflict", "memory-twice"})
"""Codes of problems with a memory file that the check of its text also finds, with their position."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule is broken, in the file `path` (absolute). `replacements` are texts that may be put at
    `span` instead, the best first."""

    code: str
    message: str
    path: str
    span: TextSpan
    replacements: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity of the finding, which depends only on the rule."""
        return RULES[self.code].severity


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings of the check of a project, in the order of files and lines, and the number of files it read.
    `root` is the project's folder."""

    root: str
    findings: tuple[Finding, ...]
    memory_count: int
    candidate_count: int

    def count(self, severity: Severity) -> int:
        """Returns the number of findings with this severity."""
        return sum(one.severity == severity for one in self.findings)

    def relative(self, file: str) -> str | None:
        """Returns a file's path from the project's root, with forward slashes; None if it is elsewhere."""
        return _relative_path(self.root, file)

    def shown_path(self, file: str) -> str:
        """Returns the path of a file as it is shown: relative to the project's root if the file is there."""
        return shown_path(self.root, file)


def shown_path(root: str, file: str) -> str:
    """Returns the path of a file as reports show it: relative to the project's `root` if the file is there."""
    return files.path_to_text(_relative_path(root, file) or file)


def _relative_path(root: str, file: str) -> str | None:
    path = PurePath(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None
