"""Measures on labelled pairs how often the right memory is among the neighbours shown with a later claim.

Also counts the pairs that are equal once normalised, though labelled otherwise: only such pairs are dropped without
asking a person (a no-op).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.errors import SettingsError
from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.search.memory_search import MemorySearch
from lerim.memory.similarity import Neighbour, normalize_claim
from lerim.paths import Home
from lerim.project.project import Project
from lerim_evals.labelled_pairs import KnownMemory, Relation, read_pairs

SHOWN_COUNT = 3
_TIMESTAMP = datetime(2026, 1, 1, tzinfo=UTC)
_Z95 = 1.96


class PairResult(msgspec.Struct, frozen=True):
    """The result of one labelled pair.

    `place` is the rank of its memory among the neighbours, from 1, in a store with everything. `alone` is its rank
    without other writers' versions of the same memories. 0 means that it is not among the first ten. `similarity` is
    that of its memory (0 below the floor). `noop` says whether any memory equals the claim once normalised.
    """

    memory: str
    title: str
    wording: str
    what: Relation
    place: int
    alone: int
    similarity: float
    noop: bool

    @property
    def related(self) -> bool:
        return self.what != "different"


class NeighbourFigures(msgspec.Struct, frozen=True):
    """The share of related pairs whose memory is among the three shown, with a 95 % Wilson interval.

    `alone` is the share without other writers' versions. `wrong_noops` are no-ops on pairs not labelled "same".
    """

    pairs: int
    share: float
    interval: tuple[float, float]
    alone: float
    alone_interval: tuple[float, float]
    noops: int
    wrong_noops: int


class NeighbourEvaluation(msgspec.Struct, frozen=True):
    """One run: the number of memories in the store, the figures by wording and of all pairs, and every pair."""

    memories: int
    figures: dict[str, NeighbourFigures]
    pairs: list[PairResult]


class _MemoryLabel(msgspec.Struct, frozen=True):
    claim: str


class _SessionLabels(msgspec.Struct, frozen=True):
    must: tuple[_MemoryLabel, ...]
    maybe: tuple[_MemoryLabel, ...]


class _StoredClaim(msgspec.Struct, frozen=True):
    """A claim in the store, and who wrote it."""

    id: str
    writer: str
    title: str
    body: str = ""


def measure_neighbours(evals: Path, folder: Path, held: Iterable[bool] = (False,)) -> NeighbourEvaluation:
    """Searches the neighbours of each later claim in one large store.

    The store, made in `folder`, has the memories of all pairs, the later claims labelled "different", and the memories
    of `ranker/sessions.jsonl`. `held` selects the pairs that are measured: not held out, held out, or both.

    Raises SettingsError if a file of labels cannot be read.
    """
    files = {"near": read_pairs(evals / "pairs.toml"), "own": read_pairs(evals / "pairs-reworded.toml")}
    known = [(wording, one) for wording, memories in files.items() for one in memories]
    memories = [_StoredClaim(one.id, _writer(wording, one), one.title, one.body) for wording, one in known]
    different_claims = [
        _StoredClaim(_later_id(one, at), _writer(wording, one), later.title, later.body)
        for wording, one in known
        for at, later in enumerate(one.later)
        if later.what == "different"
    ]
    store = [*memories, *different_claims, *_read_other_claims(evals / "ranker" / "sessions.jsonl")]
    equal = {normalize_claim(one.title, one.body) for one in memories}
    wanted_parts = frozenset(held)
    pairs: list[PairResult] = []
    with _open_search(store, folder) as search:
        for wording, one in known:
            if one.held not in wanted_parts:
                continue
            writer = _writer(wording, one)
            other_tellings = {other.id for other in memories if other.writer != writer}
            for at, later in enumerate(one.later):
                own_id = _later_id(one, at)
                found = search.nearest(later.title, later.body, 10, {own_id})
                alone = search.nearest(later.title, later.body, 10, {own_id, *other_tellings})
                similarity = next((near.similarity for near in found if near.id == one.id), 0.0)
                noop = normalize_claim(later.title, later.body) in equal
                place, without = _find_place(one.id, found), _find_place(one.id, alone)
                pairs.append(PairResult(one.id, later.title, wording, later.what, place, without, similarity, noop))
    by_wording = {wording: _compute_figures([pair for pair in pairs if pair.wording == wording]) for wording in files}
    return NeighbourEvaluation(len(store), {**by_wording, "all": _compute_figures(pairs)}, pairs)


def neighbour_rows(measured: NeighbourEvaluation) -> Iterator[tuple[str, ...]]:
    """Rows of formatted figures, by wording."""
    for name, one in measured.figures.items():
        shares = ((one.share, one.interval), (one.alone, one.alone_interval))
        told = (f"{share:.1%} ({low:.1%} to {high:.1%})" for share, (low, high) in shares)
        yield name, str(one.pairs), *told, str(one.noops), str(one.wrong_noops)


def wilson_interval(hits: int, of: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of the share `hits / of`."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = share + _Z95**2 / (2 * of)
    half = _Z95 * math.sqrt(share * (1 - share) / of + _Z95**2 / (4 * of**2))
    scale = 1 + _Z95**2 / of
    return round((middle - half) / scale, 4), round((middle + half) / scale, 4)


def _compute_figures(pairs: Sequence[PairResult]) -> NeighbourFigures:
    related = [one for one in pairs if one.related]
    hits = sum(0 < one.place <= SHOWN_COUNT for one in related)
    alone = sum(0 < one.alone <= SHOWN_COUNT for one in related)
    size = max(1, len(related))
    return NeighbourFigures(
        len(related),
        round(hits / size, 4),
        wilson_interval(hits, len(related)),
        round(alone / size, 4),
        wilson_interval(alone, len(related)),
        sum(one.noop for one in pairs),
        sum(one.noop and one.what != "same" for one in pairs),
    )


def _find_place(memory: str, found: Sequence[Neighbour]) -> int:
    return next((place for place, near in enumerate(found, 1) if near.id == memory), 0)


def _writer(wording: str, known: KnownMemory) -> str:
    """Who wrote a pair. Six people did, many about the same memories; the ids of five begin with a letter for each."""
    return wording if wording == "near" else known.id.partition("-")[0]


def _later_id(known: KnownMemory, at: int) -> str:
    return f"{known.id}-beside-{at}"


def _read_other_claims(path: Path) -> list[_StoredClaim]:
    """Memories that readers labelled in other sessions, some of the same repositories."""
    try:
        lines = path.read_bytes().splitlines()
        sessions = [msgspec.json.decode(line, type=_SessionLabels) for line in lines]
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The labelled sessions cannot be read: {error}.", where=str(path), todo="Correct the file."
        ) from error
    texts = [text.claim for session in sessions for text in (*session.must, *session.maybe)]
    return [_StoredClaim(f"other-{at}", "", text) for at, text in enumerate(texts)]


def _open_search(store: Iterable[_StoredClaim], folder: Path) -> MemorySearch:
    project = Project("evaluation", folder, folder, folder, "", "evaluation")
    decisions = project.memory_dir / "decisions"
    decisions.mkdir(parents=True)
    for one in store:
        record = MemoryRecord(one.id, "decision", one.title, _TIMESTAMP, _TIMESTAMP, "manual", 0.8, (), one.body)
        (decisions / f"{one.id}.md").write_text(render_record(record), encoding="utf-8")
    return MemorySearch(project, Home(folder / "home"), scan=True)
