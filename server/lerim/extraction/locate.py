"""Maps a path as an agent wrote it to a path in this repository."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

MAX_FILES = 300
_DRIVE = re.compile(r"^[A-Za-z]:/")
_WORKTREE = re.compile(r"^(?:\.claude/|\.git/)?\.?worktrees?/[^/]{1,200}/")
_SIBLING_WORKTREE = re.compile(r"(?:__|[.-])worktrees?/[^/]{1,200}/")
"""A worktree in a folder beside the repository, named after it."""
_INVALID_CHARACTERS = re.compile(r"[\x00-\x1f`<>|*?\"]")


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
        found = self(path, cwd)
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


def _normalize_slashes(path: str) -> str:
    return path.replace("\\", "/")
