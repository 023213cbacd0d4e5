"""Finding memories by words: ranked, over the project's memories and the person's own.

Any text is a safe query. Without an index that can be written, the same search runs over one built in memory.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lerim.errors import LerimError, MemoryError_, NotFoundError, Problem
from lerim.memory import files
from lerim.memory.filters import EVERY_STATUS, Filters
from lerim.memory.index import COMMON, RANKED, Index, Read, Spot
from lerim.memory.record import MemoryRecord, Scope
from lerim.memory.store import ARCHIVED, LIVE, Found, Store, Stored, stat_file, unreadable
from lerim.memory.terms import STOP, words
from lerim.paths import Home
from lerim.project import Project

__all__ = ["EVERY_STATUS", "GLOBAL_KEY", "Filters", "Hit", "MemorySearch", "search"]

GLOBAL_KEY = "global"
_MAX_TERMS = 32
_MANY = 4
_TRIES = 3
_HEAD = "{title tags}"
_ALIKE = 3_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found; a smaller score is better. Scope says whose it is."""

    stored: Stored
    scope: Scope
    score: float

    @property
    def record(self) -> MemoryRecord:
        return self.stored.record


def search(
    project: Project | None,
    home: Home,
    query: str,
    limit: int = 20,
    *,
    archived: bool = False,
    scan: bool = False,
    problems: list[Problem] | None = None,
) -> list[Hit]:
    """The memories matching any text, best first; the newest for an empty one. `scan` uses and writes no index.

    What could not be read, and why an index was not used, is added to `problems`.
    """
    with MemorySearch(project, home, scan=scan) as one:
        hits = one.search(query, limit, archived=archived)
        if problems is not None:
            problems += one.problems
        return hits


class MemorySearch:
    """A search that stays open: after the first stat pass it answers from its index and follows `apply`."""

    def __init__(self, project: Project | None, home: Home, *, scan: bool = False) -> None:
        self._scopes: list[_Scope] = []
        if project is not None:
            spot = None if scan else _project_spot(project, home)
            self._scopes.append(_Scope("project", Store(project.memory_dir, home.project(project.key)), spot))
        if not files.is_absent(home.memory):
            private = home.project(GLOBAL_KEY)
            spot = None if scan else Spot(home.root / "index" / "memories.sqlite3", home.root, private)
            self._scopes.append(_Scope("global", Store(home.memory, private, home.root), spot))
        self.refresh()

    def __enter__(self) -> MemorySearch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def problems(self) -> list[Problem]:
        """What the last refresh could not read."""
        return [problem for scope in self._scopes for problem in scope.problems]

    def refresh(self) -> None:
        """Bring the index up to the files by stat."""
        for scope in self._scopes:
            scope.refresh()

    def follow(self) -> None:
        """Bring the index up if a memory was added, removed or renamed into place since: eight stats, not thousands.

        Words written into a file in place are missed until `refresh`; the memories found are read from their files.
        """
        for scope in self._scopes:
            scope.follow()

    def near(self, text: str, limit: int) -> list[Stored]:
        """The project's own memories that share most of a text's words, also only some of them."""
        own = (scope for scope in self._scopes if scope.scope == "project")
        return [hit.stored for scope in own for hit in scope.search(f"{text}?", limit, False, _ALIKE)]

    def apply(self, path: Path) -> None:
        """Take over one file that was written or removed."""
        for scope in self._scopes:
            if path.is_relative_to(scope.store.memory_dir):
                scope.apply(path)

    def search(self, query: str, limit: int = 20, *, archived: bool = False) -> list[Hit]:
        """The memories matching any text, best first."""
        hits = [hit for scope in self._scopes for hit in scope.search(query, limit, archived)]
        return sorted(hits, key=lambda hit: hit.score)[:limit] if query.strip() else _newest(hits)[:limit]

    def close(self) -> None:
        """Close the indexes."""
        for scope in self._scopes:
            scope.close()


class _Scope:
    """One store and its index; the index moves into memory where it cannot be written."""

    def __init__(self, scope: Scope, store: Store, spot: Spot | None) -> None:
        self.scope: Scope = scope
        self.store = store
        self._own: list[Problem] = []
        self._told: list[Problem] = []
        self._spot = spot
        self._index: Index | None = None
        self._folders: tuple[int, ...] = ()

    def close(self) -> None:
        if self._index is not None:
            self._index.close()

    @property
    def problems(self) -> list[Problem]:
        return list(dict.fromkeys((*self._own, *self._told)))

    def follow(self) -> None:
        if self._folders != self._changed():
            self.refresh()

    def _changed(self) -> tuple[int, ...]:
        """When each folder of memories was last changed; 0 where it is not there."""
        return tuple(_when(self.store.memory_dir / name) for name in (*LIVE, *ARCHIVED))

    def refresh(self) -> None:
        self._folders = self._changed()
        found, self._own = self.store.find(archived=True)
        if not found and self._index is None:
            return  # nothing to index: nothing is made
        try:
            self._bring_up(found)
        except LerimError as error:
            self._give_up(error)
            self._bring_up(found)

    def apply(self, path: Path) -> None:
        try:
            name = self.store.name(path)
            if name.rpartition("/")[0] not in (*LIVE, *ARCHIVED) or path.suffix != ".md":
                return
            found = stat_file(self.store.memory_dir, name)
            if self._index is not None and self._index.update(self._read([found])):
                self._told = self._index.problems()
                return
        except LerimError:
            pass  # gone, a link, or the index is damaged: the stat pass says which
        self.refresh()

    def search(self, query: str, limit: int, archived: bool, most: int = RANKED) -> list[Hit]:
        if self._index is None:
            return []
        try:
            found = self._ask(self._index, query, limit, archived, most)
        except LerimError as error:
            self._give_up(error)
            self._bring_up(self.store.find(archived=True)[0])
            found = self._ask(self._index, query, limit, archived, most)
        scores = dict(found)
        loaded, problems = self.store.load_many(scores)
        self._own += [problem for problem in problems if problem not in self._own]
        return [Hit(stored, self.scope, scores[name]) for name, stored in loaded.items()]

    def _ask(self, index: Index, query: str, limit: int, archived: bool, most: int) -> list[tuple[str, float]]:
        if not query.strip():
            return index.newest(limit, archived=archived)
        terms, question = _terms(query)
        if not terms:
            return []
        found: list[tuple[str, float]] = []
        if not question:
            found = _match_all(index, terms, query, limit, archived)
        if len(found) < limit and (question or len(terms) > 1):
            have = {name for name, _ in found}
            worst = max((score for _, score in found), default=-math.inf)
            # what has every word stays before what has some of them
            more = _match_some(index, terms, limit, archived, most)
            found += [(name, max(score, worst)) for name, score in more if name not in have]
        return found[:limit]

    def _bring_up(self, found: list[Found]) -> None:
        if self._index is None:
            self._index = Index(self.store.memory_dir, self._spot)
        for _ in range(_TRIES):
            changed, gone = self._index.stale(found)
            if not (changed or gone) or self._index.update(self._read(sorted(changed, key=_age)), gone):
                self._told = self._index.problems()
                return
        raise MemoryError_("The index changes all the time.", where=str(self.store.memory_dir), todo="Try again.")

    def _read(self, found: Iterable[Found]) -> Iterator[Read]:
        for item in found:
            try:
                stored, problems = self.store.load_found(item)
            except NotFoundError:
                continue
            except MemoryError_ as error:
                problem = unreadable(str(item.path), error)
                yield Read(item, None, (problem,))
                continue
            yield Read(item, stored.record, tuple(problems))

    def _give_up(self, error: LerimError) -> None:
        message = f"{error.message} {error.todo} Memories were searched without it."
        self._own.append(Problem("index", error.where, message))
        self.close()
        self._index = None
        self._spot = None


def _age(found: Found) -> str:
    """Names begin with the day: what is indexed last is the newest."""
    return found.name.rpartition("/")[2]


def _when(folder: Path) -> int:
    """When something was last added to a folder or removed from it, in ns; 0 where it is not there."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _project_spot(project: Project, home: Home) -> Spot | None:
    """Where the project's index lies; None before anything of Lerim's is there. Each worktree has its own."""
    state = project.state_dir(home)
    private = home.project(project.key)
    if not state.is_dir():
        return None
    name = "memories.sqlite3"
    if project.main is not None and project.root != project.main:
        name = f"memories-{hashlib.sha256(str(project.root).encode('utf-8', 'replace')).hexdigest()[:8]}.sqlite3"
    return Spot(state / "index" / name, state if state == private else state.parent, private)


def _terms(text: str) -> tuple[list[str], bool]:
    """FTS5 terms for the words that matter in a text, and whether it is a question: its answer has not all of them.

    A word with parts matches whole or by its parts.
    """
    found = list(dict.fromkeys(words(text)))[:_MAX_TERMS]
    content = [word for word in found if word[0] not in STOP] or found
    asks = len(content) < len(found) or len(content) > _MANY or text.rstrip().endswith(("?", "？"))
    return [_term(whole, parts) for whole, parts in content], asks


def _match_all(index: Index, terms: Sequence[str], text: str, limit: int, archived: bool) -> list[tuple[str, float]]:
    """The best of what has all of the terms; the last word may be unfinished, unless it is common as it is."""
    last = re.search(r"\w{3,}\Z", text)
    if last is not None and index.count(terms[-1]) < COMMON:
        terms = [*terms[:-1], f'({terms[-1]} OR "{last.group().lower()}"*)']
    return index.match(" AND ".join(terms), _headed(terms), limit, archived=archived)


def _headed(terms: Sequence[str]) -> tuple[str, ...]:
    """Queries for what has all of the terms, first all of them in title or tags, then any."""
    every, some = " AND ".join(terms), " OR ".join(terms)
    headed = f"{_HEAD} : ({every})"
    return (headed, f"({every}) AND {_HEAD} : ({some})") if len(terms) > 1 else (headed,)


def _match_some(index: Index, terms: Sequence[str], limit: int, archived: bool, most: int) -> list[tuple[str, float]]:
    """The best of what has any of the terms. Words most memories have only rank what a rarer word found."""
    terms = sorted(terms, key=index.count)
    rare = [term for term in terms if index.count(term) < COMMON] or terms
    query = " OR ".join(rare)
    if common := " OR ".join(terms[len(rare) :]):
        query = f"({query}) OR (({query}) AND ({common}))"
    room, kept = most, 0
    while kept < len(rare) and (room := room - index.count(rare[kept])) >= 0:
        kept += 1
    telling = [*rare[:kept], *([f"{_HEAD} : ({' OR '.join(rare[kept:])})"] if kept < len(rare) else [])]
    rarest = rare[:2]
    likely = (*_headed(rarest), " AND ".join(rarest), " OR ".join(telling))
    return index.match(query, likely, limit, archived=archived, most=most)


def _term(whole: str, parts: tuple[str, ...]) -> str:
    if not parts:
        return f'"{whole}"'
    split = " AND ".join(f'"{part}"' for part in parts)
    return f'("{whole}" OR ({split}))'


def _newest(hits: list[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.record.updated, hit.record.id), reverse=True)
