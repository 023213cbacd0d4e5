"""Searches the files of a worktree for a word or a file name, with git, within a limited time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lerim.project.git import ask_git

SEARCH_SECONDS = 3.0
"""How long a search may take: a person waits for it."""


def find_word(root: Path, word: str, environ: Mapping[str, str]) -> list[str]:
    """Returns the files that contain `word` as a whole word, sorted; empty if git cannot tell in time. Paths are
    relative to the root, with forward slashes. Ignored files are not searched."""
    options = ("-l", "-z", "-w", "-F", "-I", "--untracked", "--no-textconv", "--no-recurse-submodules", "--full-name")
    return _list_paths(root, environ, "grep", *options, "-e", word, "--", ".")


def find_named_files(root: Path, name: str, environ: Mapping[str, str]) -> list[str]:
    """Returns the files with this name in any folder, as `find_word` does."""
    paths = _list_paths(root, environ, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    return [path for path in paths if path.rpartition("/")[2] == name]


def _list_paths(root: Path, environ: Mapping[str, str], *arguments: str) -> list[str]:
    names = (ask_git(root, environ, *arguments, seconds=SEARCH_SECONDS) or b"").split(b"\0")
    return sorted({name.decode("utf-8", "surrogateescape") for name in names if name})
