"""Finding the transcripts of every agent on this machine by stat alone, and what changed since the catalog saw them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import Problem
from lerim.paths import claude_roots
from lerim.sessions import claude
from lerim.sessions.model import Transcript

SLUG_CHARACTERS = 200

_NOT_SLUG = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Changes:
    """Transcripts beside what the catalog knows: never seen, changed since, unchanged (how many), and gone."""

    new: tuple[Transcript, ...]
    changed: tuple[Transcript, ...]
    unchanged: int
    vanished: tuple[str, ...]


def discover(environ: Mapping[str, str]) -> tuple[list[Transcript], list[Problem]]:
    """Every transcript of every supported agent, and the folders and files that could not be looked at."""
    found: list[Transcript] = []
    problems: list[Problem] = []
    for root in dict.fromkeys(os.path.realpath(root) for root in claude_roots(environ)):
        transcripts, faults = claude.find(Path(root))
        found += transcripts
        problems += faults
    return found, problems


def changes(transcripts: Iterable[Transcript], stamps: Mapping[str, tuple[int, int, int]]) -> Changes:
    """Compares what was found with `Catalog.stamps`. A known transcript that was not found is gone only if it is not
    there any more: a folder that could not be listed hides its files, it does not delete them."""
    new: list[Transcript] = []
    changed: list[Transcript] = []
    unchanged = 0
    missing = dict.fromkeys(stamps)
    for transcript in transcripts:
        path = str(transcript.path)
        known = stamps.get(path)
        if known is None:
            new.append(transcript)
            continue
        missing.pop(path, None)
        if known == transcript.stamp:
            unchanged += 1
        else:
            changed.append(transcript)
    return Changes(tuple(new), tuple(changed), unchanged, tuple(path for path in missing if _is_gone(path)))


def _is_gone(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def likely(
    transcripts: Iterable[Transcript], own: Iterable[str], folders: Iterable[str]
) -> tuple[list[Transcript], list[Transcript]]:
    """The transcripts that likely belong to a project, and the rest, both newest first; none is opened.

    `own` are paths known to hold its turns (`Catalog.paths_of`), `folders` its worktrees and aliases: Claude Code names
    the folder of a session after the one it was started in.
    """
    known = frozenset(own)
    slugs = tuple(_NOT_SLUG.sub("-", str(folder))[:SLUG_CHARACTERS] for folder in folders)

    mine: list[Transcript] = []
    rest: list[Transcript] = []
    for one in sorted(transcripts, key=lambda one: one.mtime_ns, reverse=True):
        named = str(one.path) in known or any(parent.name.startswith(slugs) for parent in one.path.parents[:4] if slugs)
        (mine if named else rest).append(one)
    return mine, rest
