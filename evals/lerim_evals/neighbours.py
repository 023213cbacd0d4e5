"""How often the right memory is among the neighbours shown with a later claim, on labelled pairs; and how many pairs
that differ are equal once normalised, which alone makes an automatic no-op."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.errors import SettingsError
from lerim.memory.claims.similarity import Neighbour, normalise_claim
from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.search.memory_search import MemorySearch
from lerim.paths import Home
from lerim.project.project import Project
from lerim_evals.labelled import Is, Known, read_pairs

SHOWN = 3
_THEN = datetime(2026, 1, 1, tzinfo=UTC)
_Z95 = 1.96


class Pair(msgspec.Struct, frozen=True):
    """One labelled pair. `place` is where its memory stands among the neighbours, from 1, in a store with everything;
    `alone` the same without what other writers made of the same memories. 0: it is not among the first ten.

    `similarity` is that of its memory (0 below the floor), `noop` whether any memory says the same once normalised.
    """

    memory: str
    title: str
    wording: str
    what: Is
    place: int
    alone: int
    similarity: float
    noop: bool

    @property
    def related(self) -> bool:
        return self.what != "different"


class Shown(msgspec.Struct, frozen=True):
    """Of the related pairs the share whose memory is among the three shown, with a 95 % interval (Wilson); the same
    without other writers' tellings; no-ops, and those among them on pairs that differ."""

    pairs: int
    share: float
    interval: tuple[float, float]
    alone: float
    alone_interval: tuple[float, float]
    noops: int
    wrong_noops: int


class Measured(msgspec.Struct, frozen=True):
    """One run: how many memories there were to choose from, the figures by wording and of all pairs, and every pair."""

    memories: int
    figures: dict[str, Shown]
    pairs: list[Pair]


class _Text(msgspec.Struct, frozen=True):
    claim: str


class _Session(msgspec.Struct, frozen=True):
    must: tuple[_Text, ...]
    maybe: tuple[_Text, ...]


class _Claim(msgspec.Struct, frozen=True):
    """A text that stands in the store, and whose it is."""

    id: str
    writer: str
    title: str
    body: str = ""


def measure(evals: Path, folder: Path, held: Iterable[bool] = (False,)) -> Measured:
    """Puts all memories of all pairs, what stands beside them and the memories of `ranker/sessions.jsonl` into one
    store in `folder`, and looks for the neighbours of what was said later; of which pairs, `held` says.

    Raises SettingsError where a file of labels cannot be read.
    """
    files = {"near": read_pairs(evals / "pairs.toml"), "own": read_pairs(evals / "pairs-reworded.toml")}
    known = [(wording, one) for wording, memories in files.items() for one in memories]
    memories = [_Claim(one.id, _writer(wording, one), one.title, one.body) for wording, one in known]
    beside = [
        _Claim(_beside(one, at), _writer(wording, one), later.title, later.body)
        for wording, one in known
        for at, later in enumerate(one.later)
        if later.what == "different"
    ]
    store = [*memories, *beside, *_others(evals / "ranker" / "sessions.jsonl")]
    equal = {normalise_claim(one.title, one.body) for one in memories}
    wanted = frozenset(held)
    pairs: list[Pair] = []
    with _search(store, folder) as search:
        for wording, one in known:
            if one.held not in wanted:
                continue
            writer = _writer(wording, one)
            foreign = {other.id for other in memories if other.writer != writer}
            for at, later in enumerate(one.later):
                own = _beside(one, at)
                found = search.nearest(later.title, later.body, 10, {own})
                alone = search.nearest(later.title, later.body, 10, {own, *foreign})
                similarity = next((near.similarity for near in found if near.id == one.id), 0.0)
                noop = normalise_claim(later.title, later.body) in equal
                place, without = _place(one.id, found), _place(one.id, alone)
                pairs.append(Pair(one.id, later.title, wording, later.what, place, without, similarity, noop))
    by_wording = {wording: _shown([pair for pair in pairs if pair.wording == wording]) for wording in files}
    return Measured(len(store), {**by_wording, "all": _shown(pairs)}, pairs)


def rows(measured: Measured) -> Iterator[tuple[str, ...]]:
    """The figures as a person reads them."""
    for name, one in measured.figures.items():
        shares = ((one.share, one.interval), (one.alone, one.alone_interval))
        told = (f"{share:.1%} ({low:.1%} to {high:.1%})" for share, (low, high) in shares)
        yield name, str(one.pairs), *told, str(one.noops), str(one.wrong_noops)


def interval(hits: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    share = hits / of
    middle = share + _Z95**2 / (2 * of)
    half = _Z95 * math.sqrt(share * (1 - share) / of + _Z95**2 / (4 * of**2))
    scale = 1 + _Z95**2 / of
    return round((middle - half) / scale, 4), round((middle + half) / scale, 4)


def _shown(pairs: Sequence[Pair]) -> Shown:
    related = [one for one in pairs if one.related]
    hits = sum(0 < one.place <= SHOWN for one in related)
    alone = sum(0 < one.alone <= SHOWN for one in related)
    size = max(1, len(related))
    return Shown(
        len(related),
        round(hits / size, 4),
        interval(hits, len(related)),
        round(alone / size, 4),
        interval(alone, len(related)),
        sum(one.noop for one in pairs),
        sum(one.noop and one.what != "same" for one in pairs),
    )


def _place(memory: str, found: Sequence[Neighbour]) -> int:
    return next((place for place, near in enumerate(found, 1) if near.id == memory), 0)


def _writer(wording: str, known: Known) -> str:
    """Six people wrote the pairs, many of them about the same memories: the ids of five begin with a letter each."""
    return wording if wording == "near" else known.id.partition("-")[0]


def _beside(known: Known, at: int) -> str:
    return f"{known.id}-beside-{at}"


def _others(path: Path) -> list[_Claim]:
    """What readers found worth remembering in other sessions, some of them of the same repositories."""
    try:
        lines = path.read_bytes().splitlines()
        sessions = [msgspec.json.decode(line, type=_Session) for line in lines]
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The labelled sessions cannot be read: {error}.", where=str(path), todo="Correct the file."
        ) from error
    texts = [text.claim for session in sessions for text in (*session.must, *session.maybe)]
    return [_Claim(f"other-{at}", "", text) for at, text in enumerate(texts)]


def _search(store: Iterable[_Claim], folder: Path) -> MemorySearch:
    project = Project("evaluation", folder, folder, folder, "", "evaluation")
    decisions = project.memory_dir / "decisions"
    decisions.mkdir(parents=True)
    for one in store:
        record = MemoryRecord(one.id, "decision", one.title, _THEN, _THEN, "manual", 0.8, (), one.body)
        (decisions / f"{one.id}.md").write_text(render_record(record), encoding="utf-8")
    return MemorySearch(project, Home(folder / "home"), scan=True)
