"""The state of each agent: where its session stores are, what was found there, what cannot be read and why.

`lerim connect list` and the editor's Agents view show these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from lerim.errors import ReaderError
from lerim.paths import Home
from lerim.project import FolderOwners, Project, list_projects
from lerim.redaction import clean_text
from lerim.sessions import (
    FAILED,
    PLATFORM_NAMES,
    PLATFORM_READERS,
    UNREADABLE,
    UNREPORTED_CODES,
    Catalog,
    DiscoveredStores,
    Health,
    Platform,
    Stamp,
    Transcript,
    deduplicate_transcripts,
    discover_stores,
    find_store_places,
    find_working_folder,
    load_platform_choices,
    open_databases,
    place_file,
    split_likely_transcripts,
)
from lerim.times import format_utc

NO_FOLDER = "no-folder"
_REASONS = {**{code: code for code in UNREPORTED_CODES}, ReaderError.code: FAILED}
_HOMELESS = "It does not say in which folder it ran, so it belongs to no project."
SHARED_FOLDER = "User"
"""An editor's folder in which an agent keeps its sessions: it exists without the agent as well."""

AgentState = Literal["connected", "not-found", "removed"]
"""connected: its store exists and is read; not-found: it would be read, but no store exists; removed: the person chose
not to read it."""
AGENT_STATE_LABELS: dict[AgentState, str] = {"connected": "read", "not-found": "not found", "removed": "not read"}


class StoreView(msgspec.Struct, frozen=True):
    """A path where an agent's store may be."""

    path: str
    exists: bool


class SkippedView(msgspec.Struct, frozen=True):
    """Sessions or stores that are not read, counted by the reason.

    `reason`: `skipped` (only the agent's own program can read it), `compressed`, `unreadable` (no permission, or a disk
    error), `failed` (it could not be parsed), `in-part` (read except for damaged parts), `no-folder` (read, but
    it belongs to no project because its working folder is unknown). `example` is one of the places, `message` says what
    happened there.
    """

    reason: str
    count: int
    example: str
    message: str


class LastErrorView(msgspec.Struct, frozen=True):
    """The last error with an agent's sessions. `time` is ISO 8601 UTC, '' if unknown."""

    message: str
    where: str
    time: str


class AgentView(msgspec.Struct, frozen=True):
    """One agent. `sessions` counts its sessions on this machine; a subagent's transcript is not counted if its parent's
    exists.

    The other counts concern one project; they are 0 if none was given. Of `found` sessions, `parsed` were read
    completely and `waiting` will be at the next sync. `skipped` are those of the project and those whose project is
    unknown. `redactions` counts the secrets removed from what was learned from the project's sessions or shown to a
    model. `last_sync` is ISO 8601 UTC, '' for never.
    """

    platform: Platform
    name: str
    state: AgentState
    stores: list[StoreView]
    sessions: int
    found: int
    parsed: int
    waiting: int
    skipped: list[SkippedView]
    redactions: int
    last_error: LastErrorView | None
    last_sync: str


def examine_agents(home: Home, environ: Mapping[str, str], project: Project | None = None) -> list[AgentView]:
    """Returns the state of every agent, from file stats of the stores and the catalog, if it exists. Changes nothing.

    Blocks while it lists databases that changed since the last sync, and reads the beginning of sessions that no sync
    has read: call it off the event loop. Raises SettingsError, CatalogError.
    """
    choices = load_platform_choices(home)
    known = list_projects(home)[0]
    owners = FolderOwners([*([project] if project else []), *known], home=home)
    folders = owners.folders
    health = Health()
    if home.catalog.exists():
        with Catalog.open(home) as catalog:
            health = catalog.load_health(project.key if project else "")
            folders = [*folders, *catalog.list_folders()]
    examiner = _AgentExaminer(health, folders, owners, project)
    return [
        _removed_agent_view(platform, find_store_places(platform, choices, environ))
        if platform in choices and not choices[platform].connected
        else examiner.examine(platform, find_store_places(platform, choices, environ))
        for platform in PLATFORM_READERS
    ]


def _removed_agent_view(platform: Platform, roots: list[Path]) -> AgentView:
    stores = [_store_view(root) for root in roots]
    return AgentView(platform, PLATFORM_NAMES[platform], "removed", stores, 0, 0, 0, 0, [], 0, None, "")


@dataclass(frozen=True, slots=True)
class _AgentExaminer:
    """Examines agents' stores and compares them with the catalog."""

    health: Health
    folders: Sequence[str]
    owners: FolderOwners
    project: Project | None

    def examine(self, platform: Platform, roots: list[Path]) -> AgentView:
        stores = discover_stores({platform: roots}, self.folders)
        open_databases(stores, self.health.store_stamps, self.folders, self.health.damaged_stores)
        main = self._main_transcripts(deduplicate_transcripts(stores, self.health.stamps)[0])
        stamps: dict[str, Stamp | None] = {one.place: one.stamp for one in main}
        stamps |= self._unlisted_sessions(platform, stores)
        project_sessions = self._project_sessions(main, stamps)
        skipped = self._skipped(stores, stamps)
        parsed = sum(self._is_parsed(place, stamps[place]) for place in project_sessions)
        failed = sum(map(self.health.is_unread, project_sessions))
        views = [_store_view(root) for root in roots]
        has_content = stores.transcripts or stores.databases or stores.problems
        exists = any(
            view.exists and (has_content or root.name != SHARED_FOLDER) for view, root in zip(views, roots, strict=True)
        )
        return AgentView(
            platform=platform,
            name=PLATFORM_NAMES[platform],
            state="connected" if exists else "not-found",
            stores=views,
            sessions=len(stamps),
            found=len(project_sessions),
            parsed=parsed,
            waiting=len(project_sessions) - parsed - failed,
            skipped=skipped,
            redactions=self.health.redactions.get(platform, 0),
            last_error=self._last_error(platform, stores),
            last_sync=format_utc(self.health.last_sync),
        )

    def _unlisted_sessions(self, platform: Platform, stores: DiscoveredStores) -> dict[str, Stamp | None]:
        """Returns the sessions of databases that were not listed again because they did not change, by place."""
        opened = {database.path for database in stores.opened_databases}
        unopened = {one.path for one in stores.databases if one.path not in opened}
        return {
            place: one.stamp
            for place, one in self.health.transcripts.items()
            if one.platform == platform and one.store_key and one.is_main
            if place_file(place, one.store_key) in unopened
        }

    def _main_transcripts(self, transcripts: list[Transcript]) -> list[Transcript]:
        """Returns the transcripts that are not a subagent's: by the catalog, or by name if they were never read."""
        ids = {one.session_id for one in transcripts}
        beginnings = {one[-8:] for one in ids}  # Gemini CLI names a file after the first characters of its session's id
        main: list[Transcript] = []
        for one in transcripts:
            known = self.health.transcripts.get(one.place)
            parent_exists = one.parent in ids or one.parent[:8] in beginnings
            if known.is_main if known else not one.parent or not parent_exists:
                main.append(one)
        return main

    def _project_sessions(self, main: list[Transcript], stamps: Mapping[str, Stamp | None]) -> list[str]:
        """Returns the places of the project's sessions: those with turns of the project, and unread ones whose path or
        beginning says so."""
        places = [place for place in stamps if place in self.health.project_places]
        if self.project is None:
            return places
        unread = [one for one in main if one.place not in self.health.project_places and not self._is_read(one.place)]
        likely, others = split_likely_transcripts(unread, (), (str(self.project.root), *self.project.folders))
        return [*places, *(one.place for one in likely), *(one.place for one in others if self._begins_here(one))]

    def _begins_here(self, transcript: Transcript) -> bool:
        """Checks whether a session that names no folder outside its content begins in the project. The folders of
        Claude Code's sessions do, so those are not opened."""
        if self.project is None or transcript.cwd or transcript.platform == "claude":
            return False
        return self.owners.find_owner(find_working_folder(transcript)) == self.project.key

    def _is_read(self, place: str) -> bool:
        return place in self.health.transcripts and not self.health.is_unread(place)

    def _is_parsed(self, place: str, stamp: Stamp | None) -> bool:
        one = self.health.transcripts.get(place)
        return one is not None and not self.health.is_unread(place) and stamp is not None and one.stamp == stamp

    def _skipped(self, stores: DiscoveredStores, stamps: Mapping[str, Stamp | None]) -> list[SkippedView]:
        places_by_reason: dict[str, list[tuple[str, str]]] = {}
        for problem in stores.problems:
            reason = _REASONS.get(problem.code, UNREADABLE)
            places_by_reason.setdefault(reason, []).append((problem.path, problem.message))
        for place in stamps:
            one = self.health.transcripts.get(place)
            if one is None:
                continue
            if one.fault and (place in self.health.project_places or not one.is_in_other_project):
                places_by_reason.setdefault(one.fault, []).append((place, one.error))
            elif one.has_no_folder:
                places_by_reason.setdefault(NO_FOLDER, []).append((place, _HOMELESS))
        return [
            SkippedView(reason, len(places), clean_text(places[0][0]), clean_text(places[0][1]))
            for reason, places in places_by_reason.items()
        ]

    def _last_error(self, platform: Platform, stores: DiscoveredStores) -> LastErrorView | None:
        current = [problem for problem in stores.problems if problem.code not in UNREPORTED_CODES]
        if current:
            return LastErrorView(clean_text(current[0].message), clean_text(current[0].path), "")
        recorded = [(when, place, error) for of, place, error, when in self.health.failed_jobs if of == platform]
        recorded += [
            (one.failed_at, place, one.error)
            for place, one in self.health.transcripts.items()
            if one.platform == platform
            and one.fault
            and (place in self.health.project_places or not one.is_in_other_project)
        ]
        if not recorded:
            return None
        when, place, error = max(recorded, key=lambda one: one[0].timestamp() if one[0] else 0)
        return LastErrorView(clean_text(error), clean_text(place), format_utc(when))


def _store_view(root: Path) -> StoreView:
    try:
        root.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return StoreView(str(root), exists=False)
    except OSError:  # it may exist in a folder that we may not read
        pass
    return StoreView(str(root), exists=True)
