"""The explorer's tools: read-only access to the files of the repository, the memories, and the turns of one session.

Names have one of the forms `repo/src/app.py`, `memory/decisions/<id>.md` and `session/12.md`. The tools only read: they
start no process, follow no link and skip hidden files. Everything is limited in bytes, time and count, and secrets are
removed from what they return.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from lerim import files
from lerim.assistant import safe_pattern
from lerim.errors import BoundaryError
from lerim.redaction import clean_text

MAX_FILE_BYTES = 1_000_000
"""Maximum number of bytes read of a file, from its beginning."""
MAX_READ_LINES = 200
MAX_SHOWN_CHARS = 8_000
MAX_NAMES = 150
MAX_HITS = 60
MAX_ENTRIES = 20_000
"""Maximum number of files and folders that one call visits."""
MAX_GREP_BYTES = 24_000_000
MAX_SECONDS = 3.0
MAX_DEPTH = 24
MORE = "there is more than was looked at"

_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "archived"))
"""Folders that a search does not enter."""
_VISIBLE_DOT_FOLDERS = frozenset((".github",))
_KEY_FILE_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore")
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class LookResult:
    """The result of one call. `call` describes the call, `count` is the number of lines, names or hits in `text`,
    and `problem` says why the result is empty or incomplete."""

    call: str
    text: str = ""
    count: int = 0
    problem: str = ""


class RefusedPathError(Exception):
    """A name is invalid, or leads to a place that the explorer must not see."""


@dataclass(slots=True)
class ExplorerTools:
    """The tools for one repository and session.

    `memory_dir` is `root` or a folder below it. `session_turns` are the turns of the session by ordinal, with secrets.
    Each call takes at most about `seconds`.
    """

    root: Path
    memory_dir: Path
    session_turns: Mapping[int, str] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    seconds: float = MAX_SECONDS

    def read_lines(self, path: str, from_line: int = 1, lines: int = MAX_READ_LINES) -> LookResult:
        """Returns lines of one file or turn, with their numbers."""
        call = f"read {clean_text(path)[:200]} {from_line} {lines}"
        try:
            text, cut = self._read_text(path)
        except RefusedPathError as error:
            return LookResult(call, problem=str(error))
        all_lines = clean_text(text).split("\n")
        first = max(1, from_line)
        shown: list[str] = []
        size = 0
        for number, line in enumerate(all_lines[first - 1 : first - 1 + max(1, min(lines, MAX_READ_LINES))], first):
            numbered_line = f"{number}: {line[: safe_pattern.MAX_LINE_CHARS * 2]}"
            size += len(numbered_line) + 1
            if size > MAX_SHOWN_CHARS:
                break
            shown.append(numbered_line)
        lines_left = len(all_lines) - (first - 1 + len(shown))
        more = f"{lines_left} more lines" if lines_left > 0 else ""
        return LookResult(
            call, "\n".join(shown), len(shown), "; ".join(filter(None, (more, "the rest is too large" * cut)))
        )

    def glob(self, pattern: str) -> LookResult:
        """Returns the names that match a pattern such as `repo/src/**/*.py`."""
        call = f"glob {clean_text(pattern)[:200]}"
        try:
            names, problem = self._find_names(pattern)
        except RefusedPathError as error:
            return LookResult(call, problem=str(error))
        shown = names[:MAX_NAMES]
        problem = problem or (f"{len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")
        return LookResult(call, clean_text("\n".join(shown)), len(shown), problem)

    def grep(self, pattern: str, glob: str = "repo/**") -> LookResult:
        """Returns the lines that match a pattern (see `safe_pattern.py`), in the files whose names match `glob`."""
        call = f"grep {clean_text(pattern)[:200]} {clean_text(glob)[:200]}"
        try:
            regex = safe_pattern.compile_pattern(pattern)
            names, problem = self._find_names(glob)
        except (RefusedPathError, ValueError) as error:
            return LookResult(call, problem=str(error))
        hits: list[str] = []
        deadline, size = self.clock() + self.seconds, 0
        for name in names:
            if self._should_stop(deadline) or size > MAX_GREP_BYTES or len(hits) >= MAX_HITS:
                problem = MORE
                break
            try:
                text, _ = self._read_text(name)
            except RefusedPathError:
                continue
            size += len(text)
            hits += self._matching_lines(name, text, regex, deadline)
        shown = "\n".join(hits[:MAX_HITS])
        if len(hits) > MAX_HITS or len(shown) > MAX_SHOWN_CHARS or self._should_stop(deadline):
            problem = MORE
        return LookResult(call, shown[:MAX_SHOWN_CHARS], min(len(hits), MAX_HITS), problem)

    def _matching_lines(self, name: str, text: str, regex: re.Pattern[str], deadline: float) -> Iterator[str]:
        """Yields the matching lines of the text after secrets were removed from it, so that a search cannot reveal
        them."""
        if not any(safe_pattern.matches(regex, line) for line in self._lines_in_time(text, deadline)):
            return
        for number, line in enumerate(self._lines_in_time(clean_text(text), deadline), 1):
            if safe_pattern.matches(regex, line):
                yield f"{clean_text(name)}:{number}: {line[: safe_pattern.MAX_LINE_CHARS].strip()}"

    def _lines_in_time(self, text: str, deadline: float) -> Iterator[str]:
        for line in text.split("\n"):
            if self._should_stop(deadline):
                return
            yield line

    def _should_stop(self, deadline: float) -> bool:
        return self.clock() > deadline or self.cancelled()

    def _read_text(self, name: str) -> tuple[str, bool]:
        """Returns the text of a name, with secrets, and whether it was truncated. Raises RefusedPathError."""
        scope, parts = _split_name(name)
        if scope == "session":
            wanted = "/".join(parts).removesuffix(".md")
            text = next((text for number, text in self.session_turns.items() if str(number) == wanted), None)
            if text is None:
                raise RefusedPathError("there is no such turn")
            return text[:MAX_FILE_BYTES], False
        try:
            data = _read_head(files.resolve_inside(self.root, self._folder(scope).joinpath(*parts)))
        except (OSError, BoundaryError, ValueError) as error:
            raise RefusedPathError("there is no such file that may be read") from error
        if b"\0" in data[:8_000]:
            raise RefusedPathError("this is not a text file")
        return data[:MAX_FILE_BYTES].decode("utf-8", "replace"), len(data) > MAX_FILE_BYTES

    def _find_names(self, pattern: str) -> tuple[list[str], str]:
        """Returns the names that match, sorted, and why the search was incomplete. Raises RefusedPathError."""
        scope, parts = _split_name(pattern)
        if scope == "session":
            names = (f"session/{number}.md" for number in sorted(self.session_turns))
            return [name for name in names if _matches(parts, name.split("/")[1:])], ""
        deadline = self.clock() + self.seconds
        found: list[str] = []
        try:
            folder = files.resolve_inside(self.root, self._folder(scope))
        except BoundaryError:
            return [], "there is no such folder"
        for entry_count, path in enumerate(_walk(folder, ())):
            if entry_count > MAX_ENTRIES or self._should_stop(deadline):
                return sorted(found), MORE
            if path and _matches(parts, path):
                found.append("/".join((scope, *path)))
        return sorted(found), ""

    def _folder(self, scope: str) -> Path:
        return self.root if scope == "repo" else self.memory_dir


def _split_name(name: str) -> tuple[str, list[str]]:
    """Splits a name into its scope and the parts of its path. Raises RefusedPathError."""
    scope, _, rest = name.strip().partition("/")
    parts = rest.split("/")
    if scope not in ("repo", "memory", "session") or not rest:
        raise RefusedPathError("names begin with repo/, memory/ or session/")
    if len(parts) > MAX_DEPTH or not all(_is_visible(part) for part in parts):
        raise RefusedPathError("there is no such file that may be read")
    return scope, parts


def _is_visible(part: str) -> bool:
    lowered = part.lower()
    if lowered in ("", ".", "..") or any(sign in part for sign in ("\0", "\\", ":", "\n")):
        return False
    hidden = part.startswith(".") and part not in _VISIBLE_DOT_FOLDERS
    return (
        not hidden
        and not lowered.endswith(_KEY_FILE_ENDINGS)
        and not lowered.startswith(("id_rsa", "id_ed25519", "id_ecdsa"))
    )


def _walk(folder: Path, parent_parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yields the files below a folder as the parts of their paths, and () for each folder, so that folders also
    count as entries."""
    yield ()
    if len(parent_parts) >= MAX_DEPTH:
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not _is_visible(entry.name) or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _walk(Path(entry.path), (*parent_parts, entry.name))
        elif entry.is_file(follow_symlinks=False):
            yield (*parent_parts, entry.name)


def _matches(pattern: list[str], path: list[str] | tuple[str, ...]) -> bool:
    """Returns whether a path matches, part by part, with `*` and `?`; `**` matches any number of parts."""
    reached = {0}
    for part in path:
        reached = _skip_double_stars(pattern, reached)
        reached = {
            at if pattern[at] == "**" else at + 1
            for at in reached
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(part, pattern[at].replace("[", "[[]")))
        }
    return len(pattern) in _skip_double_stars(pattern, reached)


def _skip_double_stars(pattern: list[str], reached: set[int]) -> set[int]:
    """Returns these positions in the pattern, and also the positions that follow a `**` if it matches no folder at
    all."""
    out = set(reached)
    for at in sorted(reached):
        while at < len(pattern) and pattern[at] == "**":
            at += 1  # noqa: PLW2901
            out.add(at)
    return out


def _read_head(path: Path) -> bytes:
    """Returns the beginning of a regular file, at most MAX_FILE_BYTES + 1 bytes. Raises OSError."""
    handle = os.open(path, _OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is not a file")
        data = b""
        while len(data) <= MAX_FILE_BYTES and (more := os.read(handle, MAX_FILE_BYTES + 1 - len(data))):
            data += more
        return data
    finally:
        os.close(handle)
