"""The memories that coding agents may be given: accepted by a person, active, and fresh when they are given."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from lerim.errors import LerimError, Problem
from lerim.memory.freshness import Drift, DriftChecker, make_drift_subject
from lerim.memory.links import with_current_status
from lerim.memory.record import MemoryRecord, Scope
from lerim.memory.reference import WRONG_STATES, DriftState, parse_reference
from lerim.memory.search import GLOBAL_KEY, Hit, MemoryFilters, MemorySearch, load_all
from lerim.memory.serving.agent_text import tells_to_act
from lerim.memory.serving.servings import Channel, Serving, record_serving
from lerim.memory.store import Store, StoredMemory
from lerim.memory.uses import Uses
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.project import Git

MAX_CHECKED = 40
"""How many of the memories found are checked if fewer of the first ones may be given than are wanted."""
IsApproved = Callable[[StoredMemory, Scope], bool]
"""Whether a person wrote or accepted exactly the text of this memory's file, on this machine."""
_Withheld = Literal["inactive", "unchecked", "unapproved"]


@dataclass(frozen=True, slots=True)
class ServedMemory:
    """A memory given to an agent. `state` is its drift, `detail` what changed."""

    stored: StoredMemory
    scope: Scope
    state: DriftState
    detail: str = ""

    @property
    def record(self) -> MemoryRecord:
        return self.stored.record


class FileVersion(NamedTuple):
    """A file, its modification time in ns and its size, at the time it was read."""

    path: str
    mtime: int
    size: int


@dataclass(frozen=True, slots=True)
class ServableMemory:
    """A memory that agents may be given while its `file`, and the files it was compared with (`sources`), are as they
    were. A drifted one may only be given marked as such; `since` is the day (YYYY-MM-DD) on which that was first seen.
    `is_order`: it reads like an order, and a person approved exactly this text."""

    memory: ServedMemory
    file: FileVersion
    sources: tuple[FileVersion, ...] = ()
    since: str = ""
    is_order: bool = False


@dataclass(frozen=True, slots=True)
class ServableMemories:
    """All memories that may be given, and how many active ones of the project may not: `unchecked` and `unapproved` as
    in `Recalled`."""

    memories: tuple[ServableMemory, ...]
    unchecked: int
    unapproved: int

    @property
    def fresh(self) -> list[ServedMemory]:
        """Those whose code is as it was."""
        return [one.memory for one in self.memories if one.memory.state == "fresh"]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The memories for a question or for files, best first, and how many relevant ones were not given: because their
    code has changed (`drifted`), because they were never compared with the code here (`unchecked`), and because they
    read like an order that no person here approved (`unapproved`)."""

    memories: tuple[ServedMemory, ...]
    drifted: int = 0
    unchecked: int = 0
    unapproved: int = 0


class AgentMemories:
    """An open search for what agents are given: the project's memories and the person's own.

    `git` finds out what memories from elsewhere were verified against. Everything raises MemoryError_ only if nothing
    at all can be read; what could not be read is in `problems`.
    """

    def __init__(self, project: Project | None, home: Home, is_approved: IsApproved, git: Git | None = None) -> None:
        self._project = project
        self._home = home
        self._is_approved = is_approved
        self._git = git
        self._search = MemorySearch(project, home)
        self._check_problems: list[Problem] = []
        self._load_problems: list[Problem] = []

    def __enter__(self) -> AgentMemories:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the indexes."""
        self._search.close()

    @property
    def problems(self) -> list[Problem]:
        """What could not be read."""
        return list(dict.fromkeys((*self._search.problems, *self._check_problems, *self._load_problems)))

    def recall(
        self, question: str, files: Sequence[str] = (), limit: int = 5, *, include_drifted: bool = False
    ) -> Recalled:
        """Returns the memories about a question, those about `files` first; without a question, the newest about them.
        `files` are paths from the repository's root, or `path#symbol`."""
        self._search.refresh_if_changed()
        for most in (2 * limit, MAX_CHECKED):
            hits: dict[tuple[Scope, str], Hit] = {}
            is_complete = True
            for words, filters in _list_searches(question, files):
                found = self._search.search(words, most, filters)
                is_complete &= len(found) < most
                for hit in found:
                    hits.setdefault((hit.scope, hit.record.id), hit)
            recalled = self._select(list(hits.values()), limit, include_drifted)
            if is_complete or len(recalled.memories) == limit:
                break
        return recalled

    def list_servable(self, harmless: Container[FileVersion] = frozenset()) -> ServableMemories:
        """Returns every memory that may be given, by the same rules as `recall`, and the drifted ones. `harmless` are
        files that were found before not to read like an order, which takes long to find out."""
        own, problems = _load_own(self._project, self._home)
        personal, more = _load_personal(self._project, self._home)
        self._load_problems = [*problems, *more]
        copies = {one.record.id for one in own} | {(one.record.title, one.record.body) for one in own}
        kept = [one for one in personal if not {one.record.id, (one.record.title, one.record.body)} & copies]
        active = [one.record for one in own if one.status == "active"]
        drifts = self._check_drift(active)
        files = {} if self._check_problems else self._list_checked_files([record.id for record in active])
        found: list[ServableMemory | _Withheld] = [
            self._judge(stored, "project", drifts, files, harmless) for stored in own
        ]
        unchecked, unapproved = found.count("unchecked"), found.count("unapproved")
        found += [self._judge(stored, "global", {}, {}, harmless) for stored in kept]
        given = tuple(one for one in found if isinstance(one, ServableMemory))
        return ServableMemories(given, unchecked, unapproved)

    def _judge(
        self,
        stored: StoredMemory,
        scope: Scope,
        drifts: Mapping[str, Drift],
        files: Mapping[str, tuple[FileVersion, ...]],
        harmless: Container[FileVersion],
    ) -> ServableMemory | _Withheld:
        if stored.status != "active":
            return "inactive"
        drift = drifts.get(stored.record.id, Drift("fresh", ""))
        version = FileVersion(str(stored.path), *stored.stamp[:2])
        is_order = version not in harmless and tells_to_act(stored.record)
        if is_order and not self._is_approved(stored, scope):
            return "unapproved"
        if drift.state == "unknown":
            return "unchecked"
        detail, since = (drift.detail, drift.since) if drift.state != "fresh" else ("", "")
        served = ServedMemory(stored, scope, drift.state, detail)
        return ServableMemory(served, version, files.get(stored.record.id, ()), since, is_order)

    def _list_checked_files(self, ids: Sequence[str]) -> dict[str, tuple[FileVersion, ...]]:
        if self._project is None or not ids:
            return {}
        root = str(self._project.root)
        found = DriftChecker(self._project, self._home, self._git).checked_files(ids)
        return {
            memory: tuple(FileVersion(f"{root}{os.sep}{path}", stamp[0], stamp[1]) for path, stamp in checked if stamp)
            for memory, checked in found.items()
        }

    def note_served(self, memories: Iterable[ServedMemory], channel: Channel, agent: str, event: str) -> None:
        """Counts a use of each of these memories by an agent, and records what it was given. `event` is as in
        `Serving`."""
        given = list(memories)
        time = datetime.now(UTC)
        for scope in ("project", "global"):
            ids = [one.record.id for one in given if one.scope == scope]
            if not ids:
                continue
            key = self._project.key if scope == "project" and self._project is not None else GLOBAL_KEY
            folder = self._home.project(key)
            Uses(folder).record_use(ids, "served", time)
            problem = record_serving(folder, Serving(time.timestamp(), channel, agent, event, tuple(ids)))
            if problem is not None:
                self._check_problems.append(problem)

    def _select(self, hits: Sequence[Hit], limit: int, include_drifted: bool) -> Recalled:
        drifts = self._check_drift([hit.record for hit in hits if hit.scope == "project"])
        given: list[ServedMemory] = []
        fresh = Drift("fresh", "")
        drifted = unchecked = unapproved = 0
        for hit in hits:
            drift = drifts.get(hit.record.id, fresh) if hit.scope == "project" else fresh
            if hit.stored.status != "active":
                continue
            if tells_to_act(hit.record) and not self._is_approved(hit.stored, hit.scope):
                unapproved += 1
            elif drift.state == "fresh" or include_drifted:
                if len(given) < limit:
                    detail = drift.detail if drift.state in WRONG_STATES else ""
                    given.append(ServedMemory(hit.stored, hit.scope, drift.state, detail))
            elif drift.state in WRONG_STATES:
                drifted += 1
            else:
                unchecked += 1
        return Recalled(tuple(given), drifted, unchecked, unapproved)

    def _check_drift(self, records: Sequence[MemoryRecord]) -> dict[str, Drift]:
        """Compares the files that these memories are about with what they were verified against; returns the memories
        that are not fresh, by id. If that fails, all of them are unknown."""
        subjects = [subject for subject in map(make_drift_subject, records) if subject.references]
        if not subjects or self._project is None:
            return {}
        try:
            found = DriftChecker(self._project, self._home, self._git).check_memories(subjects)
        except LerimError as error:
            self._check_problems = [error.problem(code="freshness")]
            return {one.id: Drift("unknown", "") for one in subjects}
        self._check_problems = []
        return found


def _load_own(project: Project | None, home: Home) -> tuple[list[StoredMemory], list[Problem]]:
    if project is None:
        return [], []
    stored, problems = load_all(project, home, Store(project.memory_dir, home.project(project.key)))
    return with_current_status(stored), problems


def _load_personal(project: Project | None, home: Home) -> tuple[list[StoredMemory], list[Problem]]:
    if project is not None and project.is_personal:
        return [], []
    stored, problems = Store(home.memory, home.project(GLOBAL_KEY), home.root).load_all(archived=True)
    return with_current_status(stored), problems


def _list_searches(question: str, files: Sequence[str]) -> list[tuple[str, MemoryFilters]]:
    words = f"{question.strip().rstrip('?')}?" if question.strip() else ""  # as a question, some of its words suffice
    places = tuple(file for file in files if parse_reference(file) is not None)
    searches = [(words, MemoryFilters(files=places))] if places and words else []
    searches += [("", MemoryFilters(files=places))] if places else []
    searches += [(words, MemoryFilters())] if words else []
    return searches
