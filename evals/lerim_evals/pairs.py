"""How well a later claim is told from a memory: pairs labelled by hand, decided by code, counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

import msgspec

from lerim.extraction.candidate import Candidate
from lerim.memory.reconcile import Decision, Neighbour, decide
from lerim.memory.record import Evidence, MemoryRecord
from lerim_evals.labelled import Is, Known, Later, read_pairs

Action = Literal["add", "update", "supersede", "noop"]
RIGHT: dict[Is, Action] = {"same": "noop", "updates": "update", "replaces": "supersede", "different": "add"}
_THEN = datetime(2026, 1, 1, tzinfo=UTC)


class Judged(msgspec.Struct, frozen=True):
    """One pair: what it is, what code made of it alone, and whether among all memories it found the same one; `asked`:
    code is not sure, and a lead would be asked, if there is a model."""

    memory: str
    title: str
    held: bool
    what: Is
    action: Action
    asked: bool
    among: Action
    similarity: float

    @property
    def right(self) -> bool:
        return RIGHT[self.what] == self.action


class Confusion(msgspec.Struct, frozen=True):
    """Of one half: the share decided rightly, alone and among all memories; the share decided rightly or put to a lead;
    of what code ends or changes, the share that is right in it; no-ops on pairs that are not the same; and for each
    label how often each action was chosen."""

    pairs: int
    accuracy: float
    among: float
    reached: float
    ended_rightly: float
    changed_rightly: float
    wrong_noops: int
    table: dict[Is, dict[Action, int]]


class Compared(msgspec.Struct, frozen=True):
    """All figures: of the half that was tuned on, of the half set aside, of both; and every pair."""

    tuned: Confusion
    held: Confusion
    total: Confusion
    pairs: list[Judged]


class Wordings(msgspec.Struct, frozen=True):
    """The pairs whose two sides are worded alike, and those in which each side has words of its own."""

    near: Compared
    reworded: Compared


def both(folder: Path) -> Wordings:
    """Decides all labelled pairs of a folder. Raises SettingsError where a file cannot be read."""
    return Wordings(*(compare(read_pairs(folder / name)) for name in ("pairs.toml", "pairs-reworded.toml")))


def compare(memories: Sequence[Known]) -> Compared:
    """Decides every pair, each memory by itself and among all others."""
    everything = [Neighbour(_record(known), _THEN) for known in memories]
    judged = []
    for at, known in enumerate(memories):
        for later in known.later:
            said = _candidate(known, later)
            alone = decide(said, everything[at : at + 1])
            among = decide(said, everything)
            judged.append(
                Judged(
                    known.id,
                    later.title,
                    known.held,
                    later.what,
                    alone.action,
                    not alone.sure,
                    _found(among, known.id),
                    alone.similarity,
                )
            )
    tuned, held = ([one for one in judged if one.held == side] for side in (False, True))
    return Compared(_confusion(tuned), _confusion(held), _confusion(judged), judged)


def rows(found: Compared) -> Iterator[tuple[str, ...]]:
    """The confusion of each half as a person reads it: a row for each label."""
    for name, part in (("tuned on", found.tuned), ("set aside", found.held), ("all", found.total)):
        for what in get_args(Is):
            counts = part.table[what]
            yield name, what, *(str(counts[action]) for action in get_args(Action))


def totals(found: Compared) -> Iterator[tuple[str, ...]]:
    """Each half: its pairs, the shares of `Confusion` in their order, and how many no-ops were wrong."""
    for name, part in (("tuned on", found.tuned), ("set aside", found.held), ("all", found.total)):
        shares = (part.accuracy, part.among, part.reached, part.ended_rightly, part.changed_rightly)
        yield name, str(part.pairs), *(f"{share:.1%}" for share in shares), str(part.wrong_noops)


def _found(decision: Decision, memory: str) -> Action:
    """What was decided; of another memory than the one it is about it counts as an addition."""
    return decision.action if decision.target is None or decision.target.id == memory else "add"


def _confusion(judged: Iterable[Judged]) -> Confusion:
    pairs = list(judged)
    table: dict[Is, dict[Action, int]] = {
        what: {action: sum((one.what, one.action) == (what, action) for one in pairs) for action in get_args(Action)}
        for what in get_args(Is)
    }
    size = max(1, len(pairs))

    def rightly(action: Action) -> float:
        taken = [one.right for one in pairs if one.action == action]
        return round(sum(taken) / max(1, len(taken)), 4)

    return Confusion(
        len(pairs),
        round(sum(one.right for one in pairs) / size, 4),
        round(sum(RIGHT[one.what] == one.among for one in pairs) / size, 4),
        round(sum(one.right or one.asked for one in pairs) / size, 4),
        rightly("supersede"),
        rightly("update"),
        sum(one.what != "same" and "noop" in (one.action, one.among) for one in pairs),
        table,
    )


def _record(known: Known) -> MemoryRecord:
    return MemoryRecord(
        known.id, known.primitive, known.title, _THEN, _THEN, "manual", 0.8, (), known.body, kind=known.kind
    )


def _candidate(known: Known, later: Later) -> Candidate:
    return Candidate(
        primitive=known.primitive,
        kind=known.kind,
        title=later.title,
        body=later.body,
        confidence=0.8,
        tags=(),
        references=(),
        evidence=(Evidence(later.title, "later", "user"),),
        platform="claude",
        session="later",
        turn="later",
        time=_THEN + timedelta(days=1),
        signal="prompt",
        replaces=later.replaces,
    )
