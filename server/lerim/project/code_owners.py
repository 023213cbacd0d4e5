"""Finds the owners of a repository's files in its CODEOWNERS file, as GitHub and GitLab read it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lerim.project.repository import read_small_file

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""The places where the file may be; only the first one found is used."""
MAX_BYTES = 3_000_000
"""The maximum size of the file in bytes: GitHub's own limit."""
MAX_PATTERNS = 5_000
_SECTION = re.compile(r"\^?\[([^\]]{1,200})\](?:\[\d{1,3}\])?(.*)")
_OWNER = re.compile(r"@[\w.@/-]{1,200}|[^\s@]{1,100}@[\w.-]{1,200}")
_MARK = re.compile(r"\\.|\[", re.DOTALL)
_WORD = re.compile(r"(?:\\.|[^\s\\])+")


_Ending = Literal["any", "folder", "file"]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern and the owners of the files that it matches. `steps` are its parts between slashes (None for `**`).
    `is_anchored`: it matches from the root, else at any depth. `ending`: it matches a file, or a folder with
    everything below it (`any`); only what is below a folder; or only the file itself."""

    section: str
    is_anchored: bool
    steps: tuple[re.Pattern[str] | None, ...]
    ending: _Ending
    owners: tuple[str, ...]

    def matches(self, names: Sequence[str]) -> bool:
        """Returns whether the rule applies to the file with these names in its path."""
        reached = {0} if self.is_anchored else set(range(len(names)))
        for at, step in enumerate(self.steps):
            if step is None:
                least = int(at == len(self.steps) - 1)  # a final `**` matches what is below, not the folder itself
                reached = set(range(min(reached, default=len(names)) + least, len(names) + 1))
            else:
                reached = {place + 1 for place in reached if place < len(names) and step.match(names[place])}
        wanted = {"any": range(len(names) + 1), "folder": range(len(names)), "file": [len(names)]}[self.ending]
        return not reached.isdisjoint(wanted)


@dataclass(frozen=True, slots=True)
class CodeOwners:
    """The rules of a repository, in the order of the file."""

    rules: tuple[_Rule, ...] = ()

    def owners_of(self, path: str) -> tuple[str, ...]:
        """Returns the owners of a file, each once: for each section, those of the last pattern that matches. `path`
        is relative to the repository, with forward slashes."""
        found: dict[str, tuple[str, ...]] = {}
        names = path.split("/")
        for rule in self.rules:
            if rule.matches(names):
                found[rule.section] = rule.owners
        return tuple(dict.fromkeys(owner for owners in found.values() for owner in owners))

    def owners_of_any(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Returns the owners of at least one of these files, each once."""
        return tuple(dict.fromkeys(owner for path in paths for owner in self.owners_of(path)))


def load_code_owners(root: Path) -> CodeOwners:
    """Loads the rules of the worktree at `root`; none if it has no such file."""
    text = next(filter(None, (read_small_file(root / place, MAX_BYTES) for place in PLACES)), "")
    return parse_code_owners(text)


def parse_code_owners(text: str) -> CodeOwners:
    """Parses a CODEOWNERS file. Lines that are not rules are skipped, as GitHub and GitLab do."""
    rules: list[_Rule] = []
    section = ""
    defaults: tuple[str, ...] = ()
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith("#") or len(rules) >= MAX_PATTERNS:
            continue
        if heading := _SECTION.fullmatch(stripped):
            section, defaults = heading[1].strip().lower(), _find_owners(heading[2])
            continue
        first = _WORD.match(stripped)
        if first is not None and not first[0].startswith("!"):
            owners = _find_owners(stripped[first.end() :])
            rules.append(_make_rule(section, first[0], owners or defaults))
    return CodeOwners(tuple(rules))


def _find_owners(text: str) -> tuple[str, ...]:
    words = text.partition(" #")[0].split()
    return tuple(word for word in words if _OWNER.fullmatch(word))


def _make_rule(section: str, pattern: str, owners: tuple[str, ...]) -> _Rule:
    is_anchored = "/" in pattern.rstrip("/")
    steps = pattern.strip("/").split("/")
    ending: _Ending = "any"
    if pattern.endswith("/"):
        ending = "folder"
    elif is_anchored and steps[-1] == "*":
        ending = "file"
    compiled = tuple(None if step == "**" else _compile_name(step) for step in steps)
    return _Rule(section, is_anchored, compiled, ending, owners)


def _compile_name(step: str) -> re.Pattern[str]:
    """Returns the pattern for a name between two slashes. Only `*` and `?` are wildcards."""
    glob = _MARK.sub(lambda mark: f"[{mark[0][-1]}]" if mark[0][-1] in "*?[" else mark[0][-1], step)
    return re.compile(fnmatch.translate(glob))  # matches in linear time, however many stars there are
