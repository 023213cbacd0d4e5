"""The project that a page is about."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from starlette.requests import Request

from lerim.memory import MemorySearch, Scope
from lerim.paths import Home
from lerim.project import Project, list_projects, make_personal_project
from lerim.review import ReviewPaths
from lerim.sessions import Catalog
from lerim.views import find_gone_problems, find_project_by_key, open_catalog_if_any
from lerim.web.served import Served, find_served


@dataclass(frozen=True, slots=True)
class Place:
    """A registered project, or the person's own memories, and the home that is served."""

    served: Served
    project: Project

    @property
    def home(self) -> Home:
        return self.served.home

    @property
    def paths(self) -> ReviewPaths:
        return ReviewPaths(self.project, self.served.home)

    @property
    def scope(self) -> Scope:
        return "global" if self.project.is_personal else "project"

    @property
    def name(self) -> str:
        return "Personal" if self.project.is_personal else self.project.name

    @property
    def gone(self) -> str:
        """Says what to do if the repository is not where it was registered; "" if it is."""
        return "".join(one.message for one in find_gone_problems(self.project, self.home))

    def open_search(self) -> AbstractContextManager[MemorySearch]:
        """Gives the search of the project's and the person's memories for a block."""
        return self.served.searches.use(None if self.project.is_personal else self.project, self.home)

    def open_catalog(self) -> AbstractContextManager[Catalog | None]:
        """Opens the catalog, or gives None if there is none yet: reading does not create one."""
        return open_catalog_if_any(self.home)


def find_place(request: Request) -> Place:
    """Returns the project that the address names by its key. Raises NotFoundError."""
    served = find_served(request)
    return Place(served, find_project_by_key(str(request.path_params["key"]), served.home))


def list_places(served: Served) -> list[Place]:
    """Returns the registered projects by name, and the person's own memories last."""
    projects = sorted(list_projects(served.home)[0], key=lambda project: project.name.casefold())
    return [Place(served, project) for project in (*projects, make_personal_project(served.home))]
