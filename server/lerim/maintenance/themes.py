"""Finds whether themes are still active: whether their files exist and when sessions last worked on them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from lerim.memory import StoredMemory, ThemeActivity, parse_reference
from lerim.paths import Home
from lerim.project import Project
from lerim.sessions import Catalog, add_folder_times, convert_sqlite_errors, find_worked_files


def find_theme_activity(
    project: Project, home: Home, memories: Iterable[StoredMemory], now: datetime
) -> dict[str, ThemeActivity]:
    """Returns the activity until `now` of each theme that has not ended, by id. Raises CatalogError."""
    themes = [one.record for one in memories if one.status == "active" and one.record.primitive == "theme"]
    if not themes:
        return {}
    with Catalog.open(home) as catalog, convert_sqlite_errors(catalog.path):
        oldest = min(one.updated for one in themes)
        last_worked = add_folder_times(
            find_worked_files(catalog.db, project.key, (str(project.root), *project.folders), oldest, now)
        )
    activity: dict[str, ThemeActivity] = {}
    for theme in themes:
        paths = [place.path for place in map(parse_reference, theme.references) if place]
        has_files = not paths or any(Path(project.root, path).exists() for path in paths)
        times = [last_worked[path] for path in paths if path in last_worked]
        activity[theme.id] = ThemeActivity(has_files, max(times, default=None))
    return activity
