"""Files of coding agents, as tests write and compare them."""

from __future__ import annotations

from pathlib import Path

State = dict[str, bytes]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def read_state(*roots: Path) -> State:
    """Every file and folder below these with its content, without Lerim's own and git's."""
    found: State = {}
    for root in roots:
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root).parts
            if ".git" not in inside and inside[0] != ".lerim":
                found[str(path)] = path.read_bytes() if path.is_file() else b"<folder>"
    return found
