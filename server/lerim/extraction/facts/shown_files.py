"""Finds the files that a shell command prints, because some agents have no other way to read a file."""

from __future__ import annotations

import re
from functools import lru_cache

from lerim.extraction.facts import commands

MAX_FILES = 8
_SHOWS = re.compile(r"^(?:cat|bat|nl|head|tail|less|more|type|Get-Content|gc|sed\s{1,3}-n)\s(?P<rest>[^\n]{1,600})$")
_PART = re.compile(r"&&|\|\||[;|\n]")
_WORD = re.compile(r"\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^\s\"'<>]{1,300}")
_FILE = re.compile(r"(?:^|[/\\])[\w.@ -]{0,80}\.?\w{1,20}$")
_SCRIPT = re.compile(r"^[\d,$;pq+~]{1,40}$")
"""Arguments of `sed -n` or `head -n`, which are not files."""


@lru_cache(maxsize=64)
def find_shown_files(command: str) -> tuple[str, ...]:
    """Returns the files that `cat`, `sed -n`, `head` and similar commands print, as written; () if the command
    redirects."""
    shown: dict[str, None] = {}
    text = commands.parse_command(command).text[:2_000]
    for part in _PART.split(text) if ">" not in text and "<<" not in text else ():
        match = _SHOWS.match(part.strip())
        if match is None:
            continue
        words = [word.strip("\"'") for word in _WORD.findall(match["rest"])]
        shown |= dict.fromkeys(
            word for word in words if word[:1] != "-" and not _SCRIPT.match(word) and _FILE.search(word)
        )
    return tuple(shown)[:MAX_FILES]
