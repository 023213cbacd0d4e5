"""Parses patches in the format of OpenAI's agents (`*** Begin Patch`) into edits."""

from __future__ import annotations

import re
from typing import NamedTuple

from lerim.sessions.model import FileEdit
from lerim.sessions.readers.engine.fields import without_nul

PATCH_BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_FILES = 200
_HEADERS = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): .{1,4096}$", re.MULTILINE)


class Patch(NamedTuple):
    """What a patch changes. `adds` is True if it only creates files."""

    paths: tuple[str, ...]
    edits: tuple[FileEdit, ...]
    adds: bool


def parse_patch(text: str, *, brief: bool = False) -> Patch:
    """Parses the patches in `text`, which may be part of a shell command, into one replacement for each hunk and a
    whole file for each file added. With `brief`, only the paths are returned."""
    paths: dict[str, None] = {}
    edits: list[FileEdit] = []
    kinds: set[str] = set()
    if brief:
        for told in map(_header, _HEADERS.findall(text)):
            if told is not None:
                kinds |= {told[0]} - {"Move"}
                paths.setdefault(told[1])
        return Patch(tuple(paths)[:_FILES], (), kinds == {"Add"})
    at = text.find(PATCH_BEGIN)
    while at >= 0:
        end = text.find(_END, at)
        body = text[at : end if end >= 0 else len(text)].removesuffix("\n")
        _read(body.split("\n"), paths, edits, kinds)
        at = text.find(PATCH_BEGIN, end) if end >= 0 else -1
    return Patch(tuple(paths)[:_FILES], tuple(edits), kinds == {"Add"})


def _read(lines: list[str], paths: dict[str, None], edits: list[FileEdit], kinds: set[str]) -> None:
    path, kind = "", ""
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if path and kind != "Delete" and old != new:
            edits.append(FileEdit(path, "\n".join(old), "\n".join(new)))
        old.clear()
        new.clear()

    for line in (one.removesuffix("\r") for one in lines):
        if line.startswith("*** ") and (told := _header(line)):
            close()
            if told[0] == "Move":
                paths.setdefault(told[1])
                continue
            kind, path = told
            kinds.add(kind)
            paths.setdefault(path)
        elif line.startswith("@@"):
            close()
        elif line.startswith("+"):
            new.append(without_nul(line[1:]))
        elif line.startswith("-"):
            old.append(without_nul(line[1:]))
        elif not line.startswith("***") and kind == "Update":
            old.append(without_nul(line[1:]))
            new.append(without_nul(line[1:]))
    close()


def _header(line: str) -> tuple[str, str] | None:
    for kind in ("Add", "Update", "Delete"):
        if line.startswith(f"*** {kind} File: "):
            return kind, without_nul(line[len(kind) + 11 :].strip())[:4096]
    return ("Move", without_nul(line[13:].strip())[:4096]) if line.startswith("*** Move to: ") else None
