"""What decides whether a theme lives: whether its places are there, and when sessions last worked on them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lerim.memory.lifecycle import Ground
from lerim.memory.reference import normalise
from lerim.memory.store import Stored
from lerim.paths import Home
from lerim.project import Project
from lerim.sessions.catalog import Catalog
from lerim.sessions.catalog_schema import telling
from lerim.sessions.grounds import with_folders, worked_on


def theme_grounds(project: Project, home: Home, memories: Iterable[Stored]) -> dict[str, Ground]:
    """The ground of each active theme, by its id. Raises CatalogError."""
    themes = [one.record for one in memories if one.status == "active" and one.record.primitive == "theme"]
    if not themes:
        return {}
    with Catalog.open(home) as catalog, telling(catalog.path):
        oldest = min(one.updated for one in themes)
        worked = with_folders(worked_on(catalog.db, project.key, (str(project.root), *project.folders), oldest))
    grounds: dict[str, Ground] = {}
    for theme in themes:
        paths = [place.path for place in map(normalise, theme.references) if place]
        alive = not paths or any(Path(project.root, path).exists() for path in paths)
        grounds[theme.id] = Ground(alive, max((worked[path] for path in paths if path in worked), default=None))
    return grounds
