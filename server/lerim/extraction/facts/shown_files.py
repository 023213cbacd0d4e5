"""The files a shell command shows: some agents have no other way to read one."""

from __future__ import annotations

import re
from functools import lru_cache

from lerim.extraction.facts import commands

MOST = 8
_SHOWS = re.compile(r"^(?:cat|bat|nl|head|tail|less|more|type|Get-Content|gc|sed\s{1,3}-n)\s(?P<rest>[^\n]{1,600})$")
_PART = re.compile(r"&&|\|\||[;|\n]")
_WORD = re.compile(r"\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^\s\"'<>]{1,300}")
_FILE = re.compile(r"(?:^|[/\\])[\w.@ -]{0,80}\.?\w{1,20}$")
_SCRIPT = re.compile(r"^[\d,$;pq+~]{1,40}$")
"""What `sed -n` or `head -n` is told, which is no file."""


@lru_cache(maxsize=64)
def find_shown_files(command: str) -> tuple[str, ...]:
    """The files that `cat`, `sed -n`, `head` and their like print, as written; () where the command does more."""
    found: dict[str, None] = {}
    text = commands.parse_command(command).text[:2_000]
    for part in _PART.split(text) if ">" not in text and "<<" not in text else ():
        match = _SHOWS.match(part.strip())
        if match is None:
            continue
        words = [word.strip("\"'") for word in _WORD.findall(match["rest"])]
        found |= dict.fromkeys(
            word for word in words if word[:1] != "-" and not _SCRIPT.match(word) and _FILE.search(word)
        )
    return tuple(found)[:MOST]
