"""Searches of memories that stay open between requests: opening one compares every file with the index."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lerim.memory import MemorySearch
from lerim.paths import Home
from lerim.project import Project

MAX_OPEN = 4
"""How many searches stay open; the least recently used one is closed."""
REFRESH_SECONDS = 30.0
"""After this time all files are compared again. Before, new, removed and renamed files are noticed, and the text of a
found memory is read from its file in any case."""


@dataclass(slots=True)
class _OpenSearch:
    lock: threading.Lock = field(default_factory=threading.Lock)
    search: MemorySearch | None = None
    refreshed: float = 0.0
    evicted: bool = False


@dataclass(slots=True)
class OpenSearches:
    """The open searches of a server, by project. Requests to the same project wait for one another."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: OrderedDict[tuple[str, str], _OpenSearch] = field(default_factory=OrderedDict)

    @contextmanager
    def use(self, project: Project | None, home: Home, *, is_current: bool = False) -> Iterator[MemorySearch]:
        """Gives the search of a project's and the person's memories, or without a project, of the person's own. With
        `is_current`, all files are compared again in any case."""
        one = self._find((project.key, str(project.root)) if project is not None else ("", ""))
        try:
            with one.lock:
                now = time.monotonic()
                if one.search is None:
                    one.search, one.refreshed = MemorySearch(project, home), now
                elif is_current or now - one.refreshed > REFRESH_SECONDS:
                    one.search.refresh()
                    one.refreshed = now
                else:
                    one.search.refresh_if_changed()
                yield one.search
        finally:
            if one.evicted:  # meanwhile, or before it was opened here
                _close(one)

    def close(self) -> None:
        """Closes all searches, each after the request that uses it."""
        with self._lock:
            left = list(self._open.values())
            self._open.clear()
        for one in left:
            _close(one)

    def _find(self, key: tuple[str, str]) -> _OpenSearch:
        with self._lock:
            one = self._open.setdefault(key, _OpenSearch())
            self._open.move_to_end(key)
            oldest = self._open.popitem(last=False)[1] if len(self._open) > MAX_OPEN else None
        if oldest is not None:
            oldest.evicted = True
            _close(oldest, wait=False)  # or the request that uses it closes it
        return one


def _close(one: _OpenSearch, *, wait: bool = True) -> None:
    if not one.lock.acquire(blocking=wait):
        return
    try:
        if one.search is not None:
            one.search.close()
            one.search = None
    finally:
        one.lock.release()
