"""What a model may look at while it decides: files of the repository, memories, and the turns of one session.

Names are `repo/src/app.py`, `memory/decisions/<id>.md` and `session/12.md`; there are no others. The tools read, and
nothing else: no process, no link is followed, nothing hidden is seen, everything is bounded in bytes, time and count,
and what they show is clean.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lerim import files
from lerim.assistant import pattern as patterns
from lerim.errors import BoundaryError
from lerim.redaction import clean_text

FILE_BYTES = 1_000_000
"""Of a larger file the beginning is all that is there."""
READ_LINES = 200
SHOWN_CHARS = 8_000
NAMES = 150
HITS = 60
ENTRIES = 20_000
"""Files and folders that one call looks at."""
GREP_BYTES = 24_000_000
SECONDS = 3.0
DEPTH = 24

_SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "archived"))
"""Folders that a search does not go into."""
_SEEN = frozenset((".github",))
_KEYS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore")
_QUIETLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class LookResult:
    """What one call showed. `asked` is the call, `count` how many lines, names or hits there are in `text`; `problem`
    says why there is nothing, or not all."""

    asked: str
    text: str = ""
    count: int = 0
    problem: str = ""


class RefusedPathError(Exception):
    """A name that is none, or leads out of what may be seen."""


@dataclass(slots=True)
class ExplorerTools:
    """`memories` lies below `root` or is it; `session` gives the turns of the session by their ordinals, not yet clean.
    `seconds` bound each call."""

    root: Path
    memories: Path
    session: Mapping[int, str] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    seconds: float = SECONDS

    def read(self, path: str, from_line: int = 1, lines: int = READ_LINES) -> LookResult:
        """Lines of one file or turn, numbered."""
        asked = f"read {clean_text(path)[:200]} {from_line} {lines}"
        try:
            text, cut = self._text(path)
        except RefusedPathError as error:
            return LookResult(asked, problem=str(error))
        every = clean_text(text).split("\n")
        first = max(1, from_line)
        shown: list[str] = []
        size = 0
        for number, line in enumerate(every[first - 1 : first - 1 + max(1, min(lines, READ_LINES))], first):
            told = f"{number}: {line[: patterns.LINE * 2]}"
            size += len(told) + 1
            if size > SHOWN_CHARS:
                break
            shown.append(told)
        left = len(every) - (first - 1 + len(shown))
        more = f"{left} more lines" if left > 0 else ""
        return LookResult(
            asked, "\n".join(shown), len(shown), "; ".join(filter(None, (more, "the rest is too large" * cut)))
        )

    def glob(self, pattern: str) -> LookResult:
        """Names that match, as `repo/src/**/*.py`."""
        asked = f"glob {clean_text(pattern)[:200]}"
        try:
            names, problem = self._names(pattern)
        except RefusedPathError as error:
            return LookResult(asked, problem=str(error))
        shown = names[:NAMES]
        problem = problem or (f"{len(names) - NAMES} more" if len(names) > NAMES else "")
        return LookResult(asked, clean_text("\n".join(shown)), len(shown), problem)

    def grep(self, pattern: str, glob: str = "repo/**") -> LookResult:
        """Lines in which a pattern (pattern.py) stands, of the files whose names match."""
        asked = f"grep {clean_text(pattern)[:200]} {clean_text(glob)[:200]}"
        try:
            wanted = patterns.compile_pattern(pattern)
            names, problem = self._names(glob)
        except (RefusedPathError, ValueError) as error:
            return LookResult(asked, problem=str(error))
        hits: list[str] = []
        end, size = self.clock() + self.seconds, 0
        for name in names:
            if self._over(end) or size > GREP_BYTES or len(hits) >= HITS:
                problem = "there is more than was looked at"
                break
            try:
                text, _ = self._text(name)
            except RefusedPathError:
                continue
            size += len(text)
            hits += self._hits(name, text, wanted, end)
        shown = hits[:HITS]
        return LookResult(asked, "\n".join(shown)[:SHOWN_CHARS], len(shown), problem)

    def _hits(self, name: str, text: str, wanted: re.Pattern[str], end: float) -> Iterator[str]:
        """What is told stands in the clean text, so that nothing can be learned of what was cut out of it."""
        if not any(patterns.is_found(wanted, line) for line in self._timely(text, end)):
            return
        for number, line in enumerate(self._timely(clean_text(text), end), 1):
            if patterns.is_found(wanted, line):
                yield f"{clean_text(name)}:{number}: {line[: patterns.LINE].strip()}"

    def _timely(self, text: str, end: float) -> Iterator[str]:
        for line in text.split("\n"):
            if self._over(end):
                return
            yield line

    def _over(self, end: float) -> bool:
        return self.clock() > end or self.cancelled()

    def _text(self, name: str) -> tuple[str, bool]:
        """The text of a name, not clean, and whether it goes on. Raises RefusedPathError."""
        scope, parts = _parts(name)
        if scope == "session":
            number = parts[0].removesuffix(".md") if len(parts) == 1 else ""
            if not (number.isascii() and number.isdigit()) or int(number) not in self.session:
                raise RefusedPathError("there is no such turn")
            return self.session[int(number)][:FILE_BYTES], False
        try:
            data = _head(files.resolve_inside(self.root, self._folder(scope).joinpath(*parts)))
        except (OSError, BoundaryError, ValueError) as error:
            raise RefusedPathError("there is no such file that may be read") from error
        if b"\0" in data[:8_000]:
            raise RefusedPathError("this is no text")
        return data[:FILE_BYTES].decode("utf-8", "replace"), len(data) > FILE_BYTES

    def _names(self, pattern: str) -> tuple[list[str], str]:
        """The names that match, sorted, and why not all were looked at. Raises RefusedPathError."""
        scope, parts = _parts(pattern)
        if scope == "session":
            names = (f"session/{number}.md" for number in sorted(self.session))
            return [name for name in names if _matches(parts, name.split("/")[1:])], ""
        end = self.clock() + self.seconds
        found: list[str] = []
        try:
            folder = files.resolve_inside(self.root, self._folder(scope))
        except BoundaryError:
            return [], "there is no such folder"
        for looked, path in enumerate(_walk(folder, ())):
            if looked > ENTRIES or self._over(end):
                return sorted(found), "there is more than was looked at"
            if path and _matches(parts, path):
                found.append("/".join((scope, *path)))
        return sorted(found), ""

    def _folder(self, scope: str) -> Path:
        return self.root if scope == "repo" else self.memories


def _parts(name: str) -> tuple[str, list[str]]:
    """The scope of a name and its parts below. Raises RefusedPathError."""
    scope, _, rest = name.strip().partition("/")
    parts = rest.split("/")
    if scope not in ("repo", "memory", "session") or not rest:
        raise RefusedPathError("names begin with repo/, memory/ or session/")
    if len(parts) > DEPTH or not all(_may(part) for part in parts):
        raise RefusedPathError("there is no such file that may be read")
    return scope, parts


def _may(part: str) -> bool:
    low = part.lower()
    if low in ("", ".", "..") or any(sign in part for sign in ("\0", "\\", ":", "\n")):
        return False
    hidden = part.startswith(".") and part not in _SEEN
    return not hidden and not low.endswith(_KEYS) and not low.startswith(("id_rsa", "id_ed25519", "id_ecdsa"))


def _walk(folder: Path, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The files below a folder by their parts; () for each folder, so that these count, too."""
    yield ()
    if len(above) >= DEPTH:
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not _may(entry.name) or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED:
                yield from _walk(Path(entry.path), (*above, entry.name))
        elif entry.is_file(follow_symlinks=False):
            yield (*above, entry.name)


def _matches(pattern: list[str], path: list[str] | tuple[str, ...]) -> bool:
    """Whether a path matches, part by part; `**` stands for any number of them."""
    reached = {0}
    for part in path:
        reached = _beyond(pattern, reached)
        reached = {
            at if pattern[at] == "**" else at + 1
            for at in reached
            if at < len(pattern) and (pattern[at] == "**" or _like(pattern[at], part))
        }
    return len(pattern) in _beyond(pattern, reached)


def _beyond(pattern: list[str], reached: set[int]) -> set[int]:
    """Also what lies behind a `**` that stands for nothing."""
    out = set(reached)
    for at in sorted(reached):
        while at < len(pattern) and pattern[at] == "**":
            at += 1  # noqa: PLW2901
            out.add(at)
    return out


def _like(pattern: str, part: str) -> bool:
    """`*` and `?` in one part of a path; linear for any number of them."""
    at = star = -1
    behind, place = 0, 0
    while place < len(part):
        if behind < len(pattern) and pattern[behind] in ("?", part[place]) and pattern[behind] != "*":
            behind, place = behind + 1, place + 1
        elif behind < len(pattern) and pattern[behind] == "*":
            star, at, behind = behind, place, behind + 1
        elif star >= 0:
            at += 1
            behind, place = star + 1, at
        else:
            return False
    return not pattern[behind:].strip("*")


def _head(path: Path) -> bytes:
    """The beginning of a regular file, at most one byte more than is shown. Raises OSError."""
    handle = os.open(path, _QUIETLY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is no file")
        data = b""
        while len(data) <= FILE_BYTES and (more := os.read(handle, FILE_BYTES + 1 - len(data))):
            data += more
        return data
    finally:
        os.close(handle)
