"""Finds commits, pushes, pull requests and merges in shell commands. What stands in quotes is no command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from lerim.patterns import compile_later

GitStep = Literal["committed", "pushed", "opened", "merged"]
MAX_READ_CHARS = 2_000
_QUOTED = compile_later(r"\"(?:[^\"\\]|\\[\s\S])*+\"|'[^']*+'")
_START = r"(?:^|[;&|\s])"
_GIT = _START + r"git\s(?:-[Cc]\s\S{1,200}\s){0,3}"
_STEPS: Mapping[GitStep, re.Pattern[str]] = {
    "committed": compile_later(_GIT + r"commit\b(?![^;&|\n]{0,300}\s--dry-run\b)"),
    "pushed": compile_later(_GIT + r"push\b(?![^;&|\n]{0,300}\s(?:--dry-run|-n)\b)"),
    "opened": compile_later(_START + r"(?:gh\spr\screate|glab\smr\screate)\b"),
    "merged": compile_later(_START + r"(?:gh\spr\smerge|glab\smr\smerge)\b"),
}


def find_git_steps(command: str) -> dict[GitStep, int]:
    """Returns which of the steps a shell command takes, each with the position after the words that name it."""
    if "git" not in command and "gh " not in command and "glab " not in command:
        return {}
    unquoted = _QUOTED.sub(lambda found: "'" * len(found.group()), command[:MAX_READ_CHARS])
    return {step: found.end() for step, pattern in _STEPS.items() if (found := pattern.search(unquoted))}


def is_commit_command(command: str) -> bool:
    """Returns whether a shell command commits or pushes."""
    return "git" in command and not {"committed", "pushed"}.isdisjoint(find_git_steps(command))
