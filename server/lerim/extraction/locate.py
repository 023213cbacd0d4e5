"""Maps a path as an agent wrote it to a path in this repository. Also learns from the reads, edits and searches of a
session where the names used in it are defined."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from lerim.extraction.facts import TEST_PATH, find_shown_files
from lerim.patterns import compile_later
from lerim.sessions import ToolCall

MAX_FILES = 300
_DRIVE = compile_later(r"^[A-Za-z]:/")
_WORKTREE = compile_later(r"^(?:\.claude/|\.git/)?\.?worktrees?/[^/]{1,200}/")
_SIBLING_WORKTREE = compile_later(r"(?:__|[.-])worktrees?/[^/]{1,200}/")
"""Matches a worktree in a folder beside the repository that is named after it."""
_INVALID_CHARACTERS = compile_later(r"[\x00-\x1f`<>|*?\"]")
MAX_NAMES = 600  # names kept per session
MAX_SCANNED_CHARS = 60_000  # characters of one result that are scanned
MAX_SEARCH_LINES = 400
_DEFINITION = compile_later(
    r"^[^\S\n]{0,8}+(?:\d{1,6}[→:|-])?[^\S\n]{0,40}+(?:(?:export|default|pub(?:\(\w{1,12}\))?|public|private|protected|static|async"
    r"|abstract|final|declare|const)\s{1,2}){0,4}(?:\b(?:func(?: \([^()\n]{1,60}\))?|def|class|function|fn|interface"
    r"|struct|enum|trait|type|const) (?P<name>[A-Za-z_$][\w$]{3,60})"
    r"(?= ?[(<{=:\[]| (?:struct|interface|extends|implements)\b)|\b(?:public|private|protected|static|async) "
    r"(?:[\w<>\[\]]{1,40} )?(?P<method>[A-Za-z_$][\w$]{3,60})(?=\())",
    re.MULTILINE,
)
_SEARCH_HIT = compile_later(
    r"(?P<path>(?:[A-Za-z]:)?[^\s:][^:\n]{1,250}\.\w{1,10})(?::\d{1,6}[:-](?P<text>.{0,200}))?$"
)
_COMMAND_FILE = compile_later(r"(?<![\w./\\-])(?:[\w.-]{1,60}[/\\]){1,12}(?P<file>[\w.-]{1,80}\.\w{1,10})(?![\w/\\])")
"""Matches the path of a file inside a folder, as written in a command."""
_SEARCH_COMMAND = compile_later(r"\b(?:rg|[ef]?grep|ls-files|fd|find)\b")


class Locator:
    """Maps paths to repo-relative ones with forward slashes, and paths outside the repository to "".

    `roots` are the absolute folders that are or were the repository's, as written on the transcript's machine; the
    first cwd seen also counts as a root. `exists` says whether a repo-relative path exists; without it every path
    inside the repository counts. `files` are the repo-relative files the session touched. A bare file name resolves to
    the last touched file of that name, else to its entry in `names`, which maps the files and symbols the session saw
    to paths.
    """

    def __init__(self, roots: Sequence[str], home: str = "", exists: Callable[[str], bool] | None = None) -> None:
        self._roots = tuple(_normalize_slashes(root).rstrip("/") for root in roots if root)
        self.home = home
        self.files: list[str] = []
        self.names: dict[str, str] = {}
        self._exists = exists

    def record_cwd(self, cwd: str) -> None:
        """Records a turn's cwd; the first one becomes `home`."""
        if cwd and not self.home:
            self.home = _normalize_slashes(cwd).rstrip("/")

    def __call__(self, path: str, cwd: str) -> str:
        path = _normalize_slashes(path.strip())
        if not path or path.startswith("~") or len(path) > 400 or _INVALID_CHARACTERS.search(path):
            return ""
        tail = f"/{path}"
        touched = next((file for file in reversed(self.files) if file == path or file.endswith(tail)), "")
        if touched or path in self.names:
            return touched or self.names[path]
        base = _normalize_slashes(cwd).rstrip("/") or self.home
        absolute = path.startswith("/") or bool(_DRIVE.match(path))
        if absolute:
            return self._return_if_exists(self._make_relative(posixpath.normpath(path)))
        here = self._return_if_exists(self._make_relative(posixpath.normpath(f"{base}/{path}"))) if base else ""
        return here or self._return_if_exists(posixpath.normpath(path))

    def record_file(self, path: str, cwd: str) -> None:
        """Records a file that the session read or changed."""
        found = locate_argument(self, path, cwd)
        if found and (not self.files or self.files[-1] != found):
            self.files = [*(file for file in self.files if file != found), found][-MAX_FILES:]

    def _make_relative(self, path: str) -> str:
        fold = bool(_DRIVE.match(path))
        whole = path.lower() if fold else path
        for root in sorted((*self._roots, self.home), key=len, reverse=True):
            start = f"{root.lower() if fold else root}/"
            if len(start) > 1 and whole.startswith(start):
                return _WORKTREE.sub("", path[len(start) :])
            beside = (
                _SIBLING_WORKTREE.match(path, len(start) - 1)
                if len(start) > 1 and whole.startswith(start[:-1])
                else None
            )
            if beside is not None:
                return path[beside.end() :]
        return ""

    def _return_if_exists(self, path: str) -> str:
        if not path or path.startswith(("..", "/")) or path == "." or ".git" in path.split("/"):
            return ""
        if path.startswith(".lerim/"):
            return ""
        return path if self._exists is None or self._exists(path) else ""


def locate_argument(locate: Callable[[str, str], str], path: str, cwd: str) -> str:
    """Returns the file that a tool call names. A file in the call's folder takes precedence over any other file of
    that name."""
    is_relative = not (path.startswith(("/", "\\", "~")) or _DRIVE.match(_normalize_slashes(path)))
    return (locate(f"{cwd}/{path}", cwd) if cwd and is_relative else "") or locate(path, cwd)


def _normalize_slashes(path: str) -> str:
    return path.replace("\\", "/")


def learn_symbols(names: dict[str, str], call: ToolCall, locate: Callable[[str], str]) -> None:
    """Records in `names` where the names and files that a tool call shows are located, and keeps the newest `MAX_NAMES`
    of them.

    `locate` returns the repo-relative path, or "" for a path outside. A definition in a test never replaces one in
    the source.
    """
    paths: dict[str, str] = {}
    for name, written in _find_shown_names(call):
        path = paths[written] if written in paths else paths.setdefault(written, locate(written))
        if path and not (TEST_PATH.search(path) and not TEST_PATH.search(names.get(name, path))):
            names.pop(name, None)
            names[name] = path
    while len(names) > MAX_NAMES:
        del names[next(iter(names))]


def _find_shown_names(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yields the names shown by a tool call, each with its path as written."""
    if call.status != "ok":
        return
    if call.kind == "shell":
        for match in (
            _COMMAND_FILE.finditer(call.command[:2_000]) if "/" in call.command or "\\" in call.command else ()
        ):
            yield match["file"], match.group().replace("\\", "/")
    if call.kind == "search" or (call.kind == "shell" and _SEARCH_COMMAND.search(call.command[:200])):
        yield from _parse_search_output(call.output[:MAX_SCANNED_CHARS])
    read = find_shown_files(call.command) if call.kind == "shell" else call.paths[:1] if call.kind == "read" else ()
    texts = [(path, call.output) for path in read] if len(read) == 1 else []
    if call.kind in ("edit", "write"):
        texts = [
            (edit.path, f"{edit.old[:MAX_SCANNED_CHARS]}\n{edit.new[:MAX_SCANNED_CHARS]}") for edit in call.edits[:20]
        ]
    for path, text in texts:
        for name in find_defined_names(text[: 2 * MAX_SCANNED_CHARS]):
            yield name, path


def _parse_search_output(output: str) -> Iterator[tuple[str, str]]:
    for line in output.split("\n")[:MAX_SEARCH_LINES]:
        hit = _SEARCH_HIT.match(line.strip())
        if hit is not None:
            path = hit["path"].replace("\\", "/")
            yield posixpath.basename(path), path
            for name in find_defined_names(hit["text"] or ""):
                yield name, path


def find_defined_names(text: str) -> Iterator[str]:
    """Yields the functions, classes, types and constants that are defined at the start of a line."""
    for match in _DEFINITION.finditer(text):
        yield match["name"] or match["method"]
