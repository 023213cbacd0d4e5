"""Parses recorded commands: the command as a person would type it, and patches in the format of OpenAI's agents."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from lerim.sessions.model import FileEdit
from lerim.sessions.readers.engine.fields import without_nul

PATCH_BEGIN = "*** Begin Patch"
_PATCH = re.compile(re.escape(PATCH_BEGIN) + r"(.*?)\n?(?:\*\*\* End Patch|\Z)", re.DOTALL)
_FILE_LIMIT = 200
_HEADER = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): (.*)", re.DOTALL)


class Patch(NamedTuple):
    """The changes of a patch. `only_adds_files` is True if it only creates files."""

    paths: tuple[str, ...]
    edits: tuple[FileEdit, ...]
    only_adds_files: bool


def parse_patch(text: str, *, brief: bool = False) -> Patch:
    """Parses the patches in `text`, which may be part of a shell command, into one replacement for each hunk and the
    whole text of each added file. `brief` leaves out the replacements."""
    paths: dict[str, None] = {}
    edits: list[FileEdit] = []
    kinds: set[str] = set()
    for patch in _PATCH.finditer(text):
        _parse_body(patch[1].split("\n"), paths, edits, kinds)
    return Patch(tuple(paths)[:_FILE_LIMIT], () if brief else tuple(edits), kinds == {"Add File"})


def _parse_body(lines: list[str], paths: dict[str, None], edits: list[FileEdit], kinds: set[str]) -> None:
    path, kind = "", ""
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if path and kind != "Delete File" and old != new:
            edits.append(FileEdit(path, "\n".join(old), "\n".join(new)))
        old.clear()
        new.clear()

    for line in (one.removesuffix("\r") for one in lines):
        if header := _HEADER.match(line):
            close()
            named = without_nul(header[2].strip())[:4096]
            paths.setdefault(named)
            if header[1] != "Move to":
                kind, path = header[1], named
                kinds.add(kind)
        elif line.startswith("@@"):
            close()
        elif line.startswith("+"):
            new.append(without_nul(line[1:]))
        elif line.startswith("-"):
            old.append(without_nul(line[1:]))
        elif not line.startswith("***") and kind == "Update File":
            old.append(without_nul(line[1:]))
            new.append(without_nul(line[1:]))
    close()


_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh"})
_SHELL_SWITCHES = frozenset({"-c", "-lc", "-ic", "-lic", "/c", "-command", "-noprofile", "-l"})


def normalize_command(value: object) -> str:
    """Converts an argument list or a string to the command that a person would type; for `bash -lc script`, that is
    the script."""
    if isinstance(value, str):
        return without_nul(value)
    words = [without_nul(word) for word in value if isinstance(word, str)] if isinstance(value, list) else []
    if len(words) > 1 and words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe") in _SHELLS:
        rest = words[1:]
        is_script = False
        while len(rest) > 1 and (switch := rest[0].lower()) in _SHELL_SWITCHES:
            is_script = is_script or switch not in ("-l", "-noprofile")  # else what follows is a file
            rest = rest[1:]
        if len(rest) == 1 and is_script:
            return rest[0]
    if len(words) == 2 and PATCH_BEGIN in words[1]:
        return f"{words[0]} {words[1]}"
    return shlex.join(words)
