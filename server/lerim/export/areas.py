"""The part of the repository that a memory is about: a folder, or all of it."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable

from lerim.export.choosing import RuleMemory
from lerim.memory import MemoryRecord, parse_reference

MAX_AREAS = 12
"""The most folders with rules files of their own. Small ones below each other are joined."""
_PLAIN_FOLDER = re.compile(r"[A-Za-z0-9._/-]{1,60}")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_GLOB_CHARACTER = re.compile(r"[^\w ./@+~=-]|\s")


def find_area(record: MemoryRecord) -> str:
    """Returns the folder that contains all files a memory refers to, with forward slashes; "" for the whole
    repository."""
    references = filter(None, map(parse_reference, record.references))
    folders = [posixpath.dirname(reference.path) for reference in references]
    return posixpath.commonpath(folders) if folders else ""


def group_by_area(memories: Iterable[RuleMemory]) -> dict[str, list[RuleMemory]]:
    """Returns the memories by area, in the order of the areas' names. If there are more than MAX_AREAS folders, the
    deepest with the fewest memories are joined to the folder around them."""
    groups: dict[str, list[RuleMemory]] = {}
    for memory in memories:
        groups.setdefault(find_area(memory.record), []).append(memory)
    while sum(1 for area in groups if area) > MAX_AREAS:
        smallest = min((area for area in groups if area), key=lambda one: (-one.count("/"), len(groups[one]), one))
        groups.setdefault(smallest.rpartition("/")[0], []).extend(groups.pop(smallest))
    return dict(sorted(groups.items()))


def name_areas(areas: Iterable[str]) -> dict[str, str]:
    """Returns a name for each folder that can be part of a file's name, and is never that of two."""
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
    """Returns the pattern for all files in a folder. Characters that mean something in a pattern, in YAML or in a list
    become `?`, which matches any one."""
    return f"{_GLOB_CHARACTER.sub('?', area)}/**"
