"""The process that searches by meaning for an editor: `python -m lerim meaning`. It holds the sentence model, which is
too large for the sidecar, and the vectors of all memories.

It reads a `MeaningQuery` a line and writes a `MeaningAnswer` a line. It ends when its input does, or after
IDLE_SECONDS without a question.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from lerim.errors import LerimError
from lerim.memory.meaning import SentenceModel, load_sentence_model
from lerim.memory.record import Scope
from lerim.memory.reference import DriftState
from lerim.memory.search.by_meaning import Reading
from lerim.memory.search.filters import parse_memory_query
from lerim.memory.search.memory_search import MOST_BY_MEANING, MemorySearch
from lerim.paths import Home
from lerim.project import locate_project
from lerim.streams import claim_streams

IDLE_SECONDS = 600.0
MAX_READING_SECONDS = 1.0
"""How long a search reads new memories before it answers; the others are read after that."""
_BATCH_SIZE = 4
_MAX_LINE = 1_000_000


class MeaningQuery(msgspec.Struct, frozen=True):
    """A question with its filters about the memories of the repository at `root` and the personal ones, or only about
    those (empty); memories whose ids are in `skip` are left out."""

    root: str
    query: str
    skip: tuple[str, ...] = ()


class FoundByMeaning(msgspec.Struct, frozen=True):
    """A memory that was found, by its file."""

    path: str
    scope: Scope
    drift: DriftState


class MeaningAnswer(msgspec.Struct, frozen=True):
    """The memories nearest in meaning, best first. `unread`: how many could not be compared yet. `problem`: why there
    is no answer."""

    memories: tuple[FoundByMeaning, ...] = ()
    unread: int = 0
    problem: str = ""


def main() -> int:
    """Answers questions until the input ends. Returns the exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for numpy, whose threads would wait for one another busily
    source, output = claim_streams()
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read_lines, args=(source, lines), daemon=True).start()
    searcher: _Searcher | None = None
    while True:
        while searcher is not None and searcher.unread and lines.empty():
            searcher.read_more()
        try:
            line = lines.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            return 0
        if not line.endswith(b"\n"):
            return 0
        try:
            query = msgspec.json.decode(line, type=MeaningQuery)
            searcher = searcher or _Searcher(load_sentence_model(), Home.from_environ(os.environ))
            answer = searcher.search(query, time.monotonic() + MAX_READING_SECONDS)
        except (LerimError, msgspec.MsgspecError) as error:
            answer = MeaningAnswer(problem=str(error))
        output.write(msgspec.json.encode(answer) + b"\n")
        output.flush()


@dataclass(slots=True)
class _Searcher:
    """The loaded model, and an open search for each project that was asked about."""

    model: SentenceModel
    home: Home
    unread: int = 0
    _searches: dict[str, MemorySearch] = field(default_factory=dict)
    _last: MeaningQuery | None = None

    def search(self, query: MeaningQuery, deadline: float) -> MeaningAnswer:
        """Raises LerimError."""
        memories = self._searches.get(query.root)
        if memories is None:
            project = locate_project(Path(query.root), self.home) if query.root else None
            memories = self._searches[query.root] = MemorySearch(project, self.home)
        else:
            memories.refresh_if_changed()
        words, filters = parse_memory_query(query.query, datetime.now(UTC))
        reading = Reading(deadline=deadline, batch_size=_BATCH_SIZE)
        found = memories.find_by_meaning(
            words, MOST_BY_MEANING, filters, self.model, skip=frozenset(query.skip), reading=reading
        )
        self.unread, self._last = memories.unread_count, query
        near = (
            FoundByMeaning(str(folder.store.memory_dir / one.name), folder.scope, drift)
            for _, folder, one, drift in found
        )
        return MeaningAnswer(tuple(near), self.unread)

    def read_more(self) -> None:
        """Reads some of the memories that the last search could not compare."""
        assert self._last is not None
        self.search(self._last, time.monotonic() + MAX_READING_SECONDS / 4)


def _read_lines(source: BinaryIO, lines: queue.Queue[bytes]) -> None:
    """Puts each line into the queue; without a line end, the last one, or one that is too long, ends the process."""
    while True:
        line = source.readline(_MAX_LINE)
        lines.put(line)
        if not line.endswith(b"\n"):
            return
