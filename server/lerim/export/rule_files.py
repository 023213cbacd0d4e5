"""Lerim's own files with the rules for one folder, in each agent's format, and the folders that get such a file. A
folder's file has the memories whose files are all in that folder.

The header must be the first bytes of the file, so Lerim's mark comes after it:

    <!-- lerim:file v1 sha=1a2b3c4d5e6f -->

`sha` is the hash of all other lines, so that an edit by hand is noticed. A file without this mark is never touched,
whatever its name is.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lerim.export.choosing import RuleMemory, fit_memories
from lerim.export.managed_block import hash_lines
from lerim.memory import MemoryRecord, parse_reference
from lerim.rules_files import FILE_MARK

RuleFormat = Literal["claude", "cursor", "copilot"]
PREFIX = "lerim-"
FOLDERS: dict[RuleFormat, str] = {
    "claude": ".claude/rules",
    "cursor": ".cursor/rules",
    "copilot": ".github/instructions",
}
SUFFIXES: dict[RuleFormat, str] = {"claude": ".md", "cursor": ".mdc", "copilot": ".instructions.md"}

MAX_AREAS = 12
"""Maximum number of folders with their own rules files. If there are more, small ones are joined to the folder above
them."""
_PLAIN_FOLDER = re.compile(r"[A-Za-z0-9._/-]{1,60}")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_GLOB_CHARACTER = re.compile(r"[^\w ./@+~=-]|\s")


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One of Lerim's own rules files, as it was read. `lines` are the lines after its mark; the first one has the
    line number `first_line`."""

    is_intact: bool
    lines: tuple[str, ...]
    first_line: int


def make_rule_path(format: RuleFormat, name: str) -> str:
    """Returns the path of a folder's rules file from the repository's root. `name` is the name of the folder from
    `name_areas`."""
    return f"{FOLDERS[format]}/{PREFIX}{name}{SUFFIXES[format]}"


def find_rule_format(path: str) -> RuleFormat | None:
    """Returns the format of the file at a path, by its folder and name; None if Lerim writes no file there."""
    folder, _, name = path.rpartition("/")
    for format, place in FOLDERS.items():
        if folder == place and name.startswith(PREFIX) and name.endswith(SUFFIXES[format]):
            return format
    return None


def make_frame(format: RuleFormat, area: str) -> list[str]:
    """Returns the lines of a rules file that are not memories, with an empty mark."""
    glob = make_glob(area)
    what = f"Lerim: what was decided and learned about {glob.removesuffix('/**')}"
    headers: dict[RuleFormat, Sequence[str]] = {
        "claude": ("paths:", f'  - "{glob}"'),
        "cursor": (f"description: '{what}'", f"globs: {glob}", "alwaysApply: false"),
        "copilot": (f"description: '{what}'", f"applyTo: '{glob}'"),
    }
    return ["---", *headers[format], "---", _make_mark_line([])]


def render_rule_file(format: RuleFormat, area: str, memories: Sequence[RuleMemory]) -> str:
    """Returns the text of a rules file with these memories, in this order."""
    *header, _ = make_frame(format, area)
    lines = [one.line for one in memories]
    return "\n".join([*header, _make_mark_line([*header, *lines]), *lines, ""])


def fit_rule_file(area: str, memories: Sequence[RuleMemory]) -> list[RuleMemory]:
    """Returns the memories that fit into a folder's rules file in every format, the most valuable first."""
    longest = max((make_frame(format, area) for format in FOLDERS), key=lambda one: sum(map(len, one)))
    return fit_memories(memories, longest)[0]


def parse_rule_file(text: str) -> RuleFile | None:
    """Parses a rules file of Lerim. Returns None if it has no mark or several, because then it is not ours."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    marks = [(number, found) for number, line in enumerate(lines) if (found := FILE_MARK.fullmatch(line)) is not None]
    if len(marks) != 1:
        return None
    [(number, mark)] = marks
    rest = [*lines[:number], *lines[number + 1 :]]
    while rest and not rest[-1]:
        rest.pop()
    return RuleFile(mark["sha"] == hash_lines(rest), tuple(lines[number + 1 :]), number + 2)


def has_same_rules(text: str, wanted: str) -> bool:
    """Returns whether an unedited rules file has the wanted lines, in any order and with any line ends."""
    found = parse_rule_file(text)
    return found is not None and found.is_intact and _sorted_lines(text) == _sorted_lines(wanted)


def _sorted_lines(text: str) -> list[str]:
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return sorted(line for line in lines if line and not FILE_MARK.fullmatch(line))


def _make_mark_line(lines: Sequence[str]) -> str:
    return f"<!-- lerim:file v1 sha={hash_lines(lines)} -->"


def find_area(record: MemoryRecord) -> str:
    """Returns the folder that contains all files a memory refers to, with forward slashes; "" for the whole
    repository."""
    references = filter(None, map(parse_reference, record.references))
    folders = [posixpath.dirname(reference.path) for reference in references]
    return posixpath.commonpath(folders) if folders else ""


def group_by_area(memories: Iterable[RuleMemory]) -> dict[str, list[RuleMemory]]:
    """Returns the memories by area, in the order of the areas' names. While there are more than MAX_AREAS folders,
    the deepest one (of several, the one with the fewest memories) is joined to the folder that contains it."""
    groups: dict[str, list[RuleMemory]] = {}
    for memory in memories:
        groups.setdefault(find_area(memory.record), []).append(memory)
    while sum(1 for area in groups if area) > MAX_AREAS:
        smallest = min((area for area in groups if area), key=lambda one: (-one.count("/"), len(groups[one]), one))
        groups.setdefault(smallest.rpartition("/")[0], []).extend(groups.pop(smallest))
    return dict(sorted(groups.items()))


def name_areas(areas: Iterable[str]) -> dict[str, str]:
    """Returns a name for each folder. The name can be part of a file name, and no two folders have the same one."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for area in sorted(one for one in areas if one):
        name = _NOT_PLAIN.sub("-", area.replace("/", "-"))[:60].strip("-.") or "area"
        if not _PLAIN_FOLDER.fullmatch(area) or name.casefold() in taken:
            name = f"{name}-{hashlib.sha256(area.encode('utf-8', 'replace')).hexdigest()[:6]}"
        taken.add(name.casefold())
        names[area] = name
    return names


def make_glob(area: str) -> str:
    """Returns the pattern for all files in a folder. Characters that have a meaning in a pattern, in YAML or in a
    list become `?`, which matches any single character."""
    return f"{_GLOB_CHARACTER.sub('?', area)}/**"
