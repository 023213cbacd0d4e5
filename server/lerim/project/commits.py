"""Reads which commit a worktree is at, without starting git."""

from __future__ import annotations

import re
from pathlib import Path

from lerim.project.repository import read_small_file

SHORT_HASH_LENGTH = 10
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_PACKED_BYTES = 4_000_000


def read_head_commit(root: Path, common_dir: Path) -> str:
    """Returns the full hash of the commit checked out at `root`; "" if there is none or the files do not say."""
    text = read_small_file(find_git_dir(root) / "HEAD").strip()
    if not text.startswith("ref:"):
        return text if _HASH.fullmatch(text) else ""
    name = text.removeprefix("ref:").strip()
    if ".." in name or not name.startswith("refs/"):
        return ""
    loose = read_small_file(common_dir / name).strip()
    if _HASH.fullmatch(loose):
        return loose
    packed = read_small_file(common_dir / "packed-refs", _MOST_PACKED_BYTES)
    found = (line.split(" ", 1) for line in packed.splitlines() if line.endswith(f" {name}"))
    return next((sha for sha, ref in found if ref == name and _HASH.fullmatch(sha)), "")


def find_git_dir(root: Path) -> Path:
    """Returns the worktree's git folder: `.git`, or the folder that a file of that name points to."""
    git = root / ".git"
    pointer = read_small_file(git)
    return (root / pointer.removeprefix("gitdir:").strip()) if pointer.startswith("gitdir:") else git
