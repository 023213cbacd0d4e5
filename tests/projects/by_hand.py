"""Memories written by hand, with comments and keys of one's own, as the tests of acts find them."""

from pathlib import Path

from lerim.review.review_paths import ReviewPaths

NAME = "20260801-by-hand"
DECISION = f"""---
# mine
id: {NAME}
title: "Use uv"   # not pip
created: 2026-08-01
updated: 2026-08-01T10:00:00Z
reviewer: Ada
source: manual
confidence: 0.6
tags: [ packaging ]
references:
  - src/app.py#load
  # another
  - README.md
---

It is fast.

```
uv pip sync
```
"""


def put(place: ReviewPaths, text: str = DECISION, folder: str = "decisions", name: str = NAME) -> Path:
    path = place.project.memory_dir / folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.replace(f"id: {NAME}", f"id: {name}").encode())
    return path


def files_of(place: ReviewPaths) -> dict[str, bytes]:
    roots = (place.project.memory_dir, place.home.memory)
    return {str(path): path.read_bytes() for root in roots for path in root.rglob("*.md")}


def over(place: ReviewPaths) -> str:
    """A decision that another ended, on both sides."""
    put(place, DECISION.replace("source:", "superseded_by: 20260802-newer\nsource:"), "archived/decisions")
    put(place, DECISION.replace("---\n\nIt", f"supersedes: [{NAME}, 20260701-x]\n---\n\nIt"), name="20260802-newer")
    return NAME
