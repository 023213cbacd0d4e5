"""A session's summary as it is shown: the text of its file by sections, clean, whoever wrote it last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from lerim.errors import BoundaryError, MemoryError_
from lerim.extraction import split_sections
from lerim.memory import summaries
from lerim.paths import Home
from lerim.project import Project
from lerim.project import project as projects
from lerim.redaction import clean_text
from lerim.review import ReviewPaths


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


def find_summary_view(found: Iterable[Project], home: Home, platform: str, session: str) -> SummaryView | None:
    """The summary of a session in the first of these projects that has one; None where none does, or it cannot be
    read."""
    for project in found:
        place = ReviewPaths(project, home)
        try:
            kept = summaries.read_summary(
                place.state / "memory", place.state_anchor, place.private, clean_text(f"{platform}:{session}")
            )
        except (MemoryError_, BoundaryError):
            continue  # the sync tells what is wrong with it
        if kept is not None:
            record, path = kept
            parts = {name: clean_text(text) for name, text in split_sections(record.body).items()}
            return SummaryView(
                title=clean_text(record.title),
                description=parts.get("", ""),
                user_intent=parts.get("User intent", ""),
                what_happened=parts.get("What happened", ""),
                outcome=parts.get("Outcome", ""),
                files=[clean_text(name) for name in record.references],
                tags=[clean_text(tag) for tag in record.tags],
                path=clean_text(str(path)),
            )
    return None


def find_folder_projects(folders: Iterable[str], home: Home) -> list[Project]:
    """The projects that working folders of a session lie in, as far as the folders are there."""
    found = (projects.locate_project(Path(folder), home) for folder in folders if folder and Path(folder).is_dir())
    return list({project.key: project for project in found if project is not None}.values())
