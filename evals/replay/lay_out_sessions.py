"""Lays out the sessions that a repository keeps on its branch entire/checkpoints/v1, one file a session.

python evals/replay/lay_out_sessions.py GIT_DIR OWNER/NAME FOLDER

Writes FOLDER/OWNER+NAME/PLATFORM/SESSION.jsonl (.json for Gemini CLI and OpenCode): the longest version of each
session.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BRANCH = "refs/heads/entire/checkpoints/v1"
PLATFORMS = {
    "Claude Code": ("claude", "jsonl"),
    "Codex": ("codex", "jsonl"),
    "Copilot CLI": ("copilot", "jsonl"),
    "Gemini CLI": ("gemini", "json"),
    "OpenCode": ("opencode", "json"),
}


def main(git_dir: str, project: str, folder: Path) -> None:
    """Writes the files of one project, and prints how many."""
    blobs = {path: (digest, size) for digest, size, path in _list_blobs(git_dir)}
    longest: dict[tuple[str, str], tuple[int, str]] = {}
    for path, (digest, _) in blobs.items():
        checkpoint = path.removesuffix("/metadata.json")
        if checkpoint == path or checkpoint.count("/") != 2 or f"{checkpoint}/full.jsonl" not in blobs:
            continue
        metadata = json.loads(_read_blob(git_dir, digest))
        key = (metadata.get("agent", ""), metadata["session_id"])
        text, size = blobs[f"{checkpoint}/full.jsonl"]
        if key[0] in PLATFORMS and size > longest.get(key, (0, ""))[0]:
            longest[key] = (size, text)
    for (agent, session), (_, digest) in longest.items():
        platform, suffix = PLATFORMS[agent]
        target = folder / project.replace("/", "+") / platform / f"{session}.{suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_read_blob(git_dir, digest))
    print(f"{project}: {len(longest)} sessions")


def _list_blobs(git_dir: str) -> Iterator[tuple[str, int, str]]:
    for line in _run_git(git_dir, "ls-tree", "-r", "-l", BRANCH).decode("utf-8", "replace").splitlines():
        about, path = line.split("\t", 1)
        _, kind, digest, size = about.split()
        if kind == "blob" and size.isdigit():
            yield digest, int(size), path


def _read_blob(git_dir: str, digest: str) -> bytes:
    return _run_git(git_dir, "cat-file", "blob", digest)


def _run_git(git_dir: str, *arguments: str) -> bytes:
    return subprocess.run(["git", "--git-dir", git_dir, *arguments], capture_output=True, check=True).stdout


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
