"""What would have been remembered of a session: the memories that a project gets when it ends.

`proposed` accepts everything that is proposed without a model, which is what ranks above the cut. `written` is what
readers wrote down: the labels of `evals/ranker`, and the claims of the labelled repeats from where they were said
first. Nobody has both by default; the one says what the deterministic rules are worth, the other what serving is worth
if the memory is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from lerim.extraction.candidate import Candidate, Withdrawal
from lerim.extraction.facts import find_paths
from lerim.extraction.pipeline import Extraction
from lerim.memory.record import Evidence, LearningKind, MemoryRecord, Primitive
from lerim.memory.slug import make_slug
from lerim_evals.extractors import make_path_check
from lerim_evals.replay.projects import ReplaySession
from lerim_evals.replay.repeats import LabelledRepeat

Variant: TypeAlias = Literal["proposed", "written"]
VARIANTS: tuple[Variant, ...] = ("proposed", "written")
LABELS = Path(__file__).parents[2] / "ranker" / "sessions.jsonl"
_KIND_OF_TYPE: Mapping[str, tuple[Primitive, LearningKind | None]] = {
    "decision": ("decision", None),
    "rule": ("learning", "preference"),
    "pitfall": ("learning", "pitfall"),
    "procedure": ("learning", "procedure"),
    "question": ("question", None),
    "fact": ("learning", "insight"),
}


def remember_proposals(session: ReplaySession) -> list[MemoryRecord]:
    """Returns everything that is proposed of a session without a model, as memories. Raises RankerError."""
    extraction = Extraction(None, session.id, session.platform, exists=make_path_check(list(session.turns)))
    for turn in session.turns:
        extraction.feed(turn)
    results = extraction.finish(True)
    refuted = {(one.refuted_turn, one.title) for one in results if isinstance(one, Withdrawal)}
    return [
        MemoryRecord(
            _make_id(one.time, one.title),
            one.primitive,
            one.title,
            one.time,
            one.time,
            one.source,
            one.confidence,
            (),
            one.body,
            one.kind,
            one.references,
            one.evidence,
        )
        for one in results
        if isinstance(one, Candidate) and (one.turn, one.title) not in refuted
    ]


def remember_written(session: ReplaySession, repeats: Iterable[LabelledRepeat]) -> list[MemoryRecord]:
    """Returns what readers wrote down of a session: its labels, and the claims of repeats that it says first."""
    times = {turn.id: turn.time for turn in session.turns if turn.time is not None}
    found: list[MemoryRecord] = []
    for label in _load_labels().get(session.id, ()):
        turn = next((one for one in label.turns if one in times), "")
        if turn:
            primitive, kind = _KIND_OF_TYPE[label.type]
            found.append(_write(session, label.claim, label.said, turn, times[turn], primitive, kind))
    for what, said, turn in _first_statements(repeats):
        if turn in times:
            found.append(_write(session, what, said, turn, times[turn], "learning", "preference"))
    return found


class _Label(msgspec.Struct, frozen=True):
    type: str
    claim: str
    said: str
    turns: tuple[str, ...]


class _LabelledSession(msgspec.Struct, frozen=True):
    session: str
    must: tuple[_Label, ...]
    maybe: tuple[_Label, ...]


@lru_cache
def _load_labels() -> Mapping[str, tuple[_Label, ...]]:
    decoder = msgspec.json.Decoder(_LabelledSession)
    sessions = map(decoder.decode, LABELS.read_bytes().splitlines())
    return {one.session: (*one.must, *one.maybe) for one in sessions}


def _first_statements(repeats: Iterable[LabelledRepeat]) -> list[tuple[str, str, str]]:
    """Returns claim, words and turn of each thing that is repeated, from where it was said first."""
    chains: dict[str, list[LabelledRepeat]] = defaultdict(list)
    for repeat in repeats:
        chains[repeat.what].append(repeat)
    found = []
    for what, chain in chains.items():
        later = {one.turn for one in chain}
        first = next(one for one in chain if one.before_turn not in later)
        found.append((what, first.said_before, first.before_turn))
    return found


def _write(
    session: ReplaySession,
    claim: str,
    said: str,
    turn: str,
    time: datetime,
    primitive: Primitive,
    kind: LearningKind | None,
) -> MemoryRecord:
    source, evidence = f"{session.platform}:{session.id}#{turn}", (Evidence(said[:200], turn, "user"),)
    names = tuple(find_paths(claim))
    return MemoryRecord(_make_id(time, claim), primitive, claim, time, time, source, 0.9, (), "", kind, names, evidence)


def _make_id(time: datetime, title: str) -> str:
    return f"{time:%Y%m%d}-{make_slug(title)}"
