"""Converts recorded commands to what a person would type."""

from __future__ import annotations

import shlex

from lerim.sessions.readers.engine.fields import without_nul
from lerim.sessions.readers.engine.patches import PATCH_BEGIN

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh"})
_SWITCHES = frozenset({"-c", "-lc", "-ic", "-lic", "/c", "-command", "-noprofile", "-l"})


def normalize_command(value: object) -> str:
    """Converts an argument list or a string to the command one would type; for `bash -lc script`, that is the
    script."""
    if isinstance(value, str):
        return without_nul(value)
    words = [without_nul(word) for word in value if isinstance(word, str)] if isinstance(value, list) else []
    if len(words) > 1 and words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe") in _SHELLS:
        rest = words[1:]
        while len(rest) > 1 and rest[0].lower() in _SWITCHES:
            rest = rest[1:]
        if len(rest) == 1 and len(words) > 2:
            return rest[0]
    if len(words) == 2 and PATCH_BEGIN in words[1]:
        return f"{words[0]} {words[1]}"
    return shlex.join(words)
