"""The view of a session's summary: the current text of its file by sections, without secrets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from lerim.errors import BoundaryError, MemoryError_
from lerim.extraction import split_sections
from lerim.memory import summaries
from lerim.paths import Home
from lerim.project import Project, locate_project
from lerim.redaction import clean_text
from lerim.review import ReviewPaths


class SummaryView(msgspec.Struct, frozen=True):
    """The summary of a session. Each line of `user_intent`, `what_happened` and `outcome` names the ids of the turns it
    describes. `files` are the repo-relative paths that the session changed. `path` is the summary's own file."""

    title: str
    description: str
    user_intent: str
    what_happened: str
    outcome: str
    files: list[str]
    tags: list[str]
    path: str


def find_summary_view(projects: Iterable[Project], home: Home, platform: str, session: str) -> SummaryView | None:
    """Returns the summary of a session from the first of these projects that has one; None if none has a readable
    one."""
    for project in projects:
        place = ReviewPaths(project, home)
        try:
            stored = summaries.read_summary(
                place.state / "memory", place.state_anchor, place.private, clean_text(f"{platform}:{session}")
            )
        except (MemoryError_, BoundaryError):
            continue  # a sync reports what is wrong with it
        if stored is not None:
            record, path = stored
            sections = {name: clean_text(text) for name, text in split_sections(record.body).items()}
            return SummaryView(
                title=clean_text(record.title),
                description=sections.get("", ""),
                user_intent=sections.get("User intent", ""),
                what_happened=sections.get("What happened", ""),
                outcome=sections.get("Outcome", ""),
                files=[clean_text(name) for name in record.references],
                tags=[clean_text(tag) for tag in record.tags],
                path=clean_text(str(path)),
            )
    return None


def find_folder_projects(folders: Iterable[str], home: Home) -> list[Project]:
    """Returns the projects that contain these working folders; folders that no longer exist are ignored."""
    found = (locate_project(Path(folder), home) for folder in folders if folder and Path(folder).is_dir())
    return list({project.key: project for project in found if project is not None}.values())
