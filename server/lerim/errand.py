"""What one sync is asked to do, for whom, and how it tells: what all its parts share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from lerim import config
from lerim import project as projects
from lerim.learning import Learning
from lerim.memory.quotes import QuoteChoice
from lerim.models.editor import Bridge
from lerim.paths import Home, relative_variables
from lerim.project import Owners, Project
from lerim.report import Emit
from lerim.review.place import Place
from lerim.review.run import Run
from lerim.sessions.catalog import Catalog
from lerim.sessions.discovery import Listings, Stores, changes, discover, open_databases
from lerim.sessions.model import Readable, Transcript
from lerim.sessions.platforms import roots_of
from lerim.sessions.readers import reading

Cancelled = Callable[[], bool]
Clock = Callable[[], datetime]


def now() -> datetime:
    """The clock on the wall."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How to sync. `explicit`: the person asked, so a session's last exchange counts at once.

    `since` and `until` bound the sessions by time. `accept_above`: candidates at least this sure are accepted unseen,
    with `quotes` shared in git or kept local. `model`: the one the settings name is asked too, or none is; `guidance`
    is what it shall heed, "" as the settings say.
    """

    explicit: bool = True
    since: datetime | None = None
    until: datetime | None = None
    accept_above: float | None = None
    quotes: QuoteChoice | None = None
    model: Literal["auto", "none"] = "auto"
    guidance: str = ""


@dataclass(frozen=True, slots=True)
class Errand:
    """One sync of one project. `bridge` leads to the editor's own models, `listings` is what databases held."""

    project: Project
    home: Home
    environ: Mapping[str, str]
    options: SyncOptions
    emit: Emit
    cancelled: Cancelled
    clock: Clock = now
    bridge: Bridge | None = None
    listings: Listings = field(default_factory=dict)

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the project is and was."""
        return (str(self.project.root), *self.project.folders)

    @property
    def theme_days(self) -> int:
        """How far back a theme's sessions lie at most."""
        return config.load(self.environ, self.home, self.project.root)[0].rules.theme_days

    def owners(self) -> Owners:
        """Every registered project with its aliases; this one as it was given, it may carry aliases of its own."""
        listed, _ = projects.listed(self.home)
        return Owners([self.project, *(other for other in listed if other.key != self.project.key)], home=self.home)

    def learning(self, owners: Owners | None = None) -> Learning:
        """What a part of this sync proposes through; each part has one of its own."""
        place = Place(self.project, self.home)
        return Learning(
            place,
            owners or self.owners(),
            self.emit,
            self.cancelled,
            self.options.explicit,
            self.options.accept_above,
            self.options.quotes or place.store().quotes.choice() or "shared",
            Run(place, self.clock()),
        )

    def stale(self, catalog: Catalog, owners: Owners) -> tuple[Stores, list[Transcript]]:
        """What lies in the agents' stores, and what of it is new or changed, newest first."""
        folders = [*owners.folders, *catalog.folders()]
        stores = discover(roots_of(self.environ, self.home), folders)
        stores.problems.extend(relative_variables(self.environ))
        open_databases(stores, catalog.stores(), folders, catalog.damaged_stores(), self.listings)
        catalog.keep_damaged(stores.damaged)
        found = changes(stores, catalog.stamps())
        catalog.vanished(found.vanished)
        return stores, sorted((*found.new, *found.changed), key=lambda one: one.mtime_ns, reverse=True)


def read(catalog: Catalog, transcript: Transcript) -> Readable:
    """The reading of a transcript from where it was left."""
    return reading(transcript, catalog.resume_of(transcript.place), brief=True)
