"""A session's summary as it is shown: the text of its file by sections, clean, whoever wrote it last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from lerim import project as projects
from lerim.errors import BoundaryError, MemoryError_
from lerim.extraction.summary import sections
from lerim.memory import summaries
from lerim.paths import Home
from lerim.project import Project
from lerim.redaction import clean
from lerim.review.place import Place


class SummaryView(msgspec.Struct, frozen=True):
    """The summary of a session. Each line of `user_intent`, `what_happened` and `outcome` names the ids of its turns;
    `files` are repo-relative paths that were changed; `path` is the file."""

    title: str
    description: str
    user_intent: str
    what_happened: str
    outcome: str
    files: list[str]
    tags: list[str]
    path: str


def summary_of(found: Iterable[Project], home: Home, platform: str, session: str) -> SummaryView | None:
    """The summary of a session in the first of these projects that has one; None where none does, or it cannot be
    read."""
    for project in found:
        place = Place(project, home)
        try:
            kept = summaries.read(
                place.state / "memory", place.state_anchor, place.private, clean(f"{platform}:{session}")
            )
        except (MemoryError_, BoundaryError):
            continue  # the sync tells what is wrong with it
        if kept is not None:
            record, path = kept
            parts = {name: clean(text) for name, text in sections(record.body).items()}
            return SummaryView(
                title=clean(record.title),
                description=parts.get("", ""),
                user_intent=parts.get("User intent", ""),
                what_happened=parts.get("What happened", ""),
                outcome=parts.get("Outcome", ""),
                files=[clean(name) for name in record.references],
                tags=[clean(tag) for tag in record.tags],
                path=clean(str(path)),
            )
    return None


def projects_of(folders: Iterable[str], home: Home) -> list[Project]:
    """The projects that working folders of a session lie in, as far as the folders are there."""
    found = (projects.locate(Path(folder), home) for folder in folders if folder and Path(folder).is_dir())
    return list({project.key: project for project in found if project is not None}.values())
