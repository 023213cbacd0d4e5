"""The drift of whole memories: the worst of their references, and where those that moved are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lerim.errors import LerimError
from lerim.memory.freshness.baselines import Baselines, DriftRecord, open_baselines
from lerim.memory.reference import DriftState, reference_text

DRIFT_RANKS: dict[DriftState, int] = {"fresh": 0, "unknown": 1, "drifted": 3, "gone": 4}
MOVED_RANK = 2
"""The rank of a reference that is fresh, but has moved."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The drift of a memory's reference. `moved_to` is the reference that means the same now: it may be fresh there.

    `detail` says what happened (“`load` changed”), `since` (YYYY-MM-DD) when that was first seen; "" for what has not
    been there since the first check.
    """

    state: DriftState
    reference: str
    moved_to: str = ""
    detail: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class DriftSummary:
    """The drift of memories, by id. `drift_by_memory`: the worst drift of each memory that is not fresh or has moved.
    `moved_references`: where each of its renamed or moved references is now, both as written. `all_by_memory`: the
    drift of every such reference, the worst first."""

    drift_by_memory: Mapping[str, Drift] = field(default_factory=dict)
    moved_references: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    all_by_memory: Mapping[str, tuple[Drift, ...]] = field(default_factory=dict)


def summarize_drift(database: Baselines) -> DriftSummary:
    """Returns the drift of all memories that the last checks found. Raises MemoryError_."""
    by_memory: dict[str, list[DriftRecord]] = {}
    for drift_record in database.stale_records():
        by_memory.setdefault(drift_record.memory, []).append(drift_record)
    drifts: dict[str, tuple[Drift, ...]] = {}
    moved: dict[str, dict[str, str]] = {}
    for memory, drift_records in by_memory.items():
        drifts[memory] = tuple(map(_make_drift, sorted(drift_records, key=drift_rank, reverse=True)))
        if moves := {reference_text(one.reference): one.moved_to for one in drift_records if one.moved_to}:
            moved[memory] = moves
    return DriftSummary({memory: some[0] for memory, some in drifts.items()}, moved, drifts)


def read_worst_states(private: Path, root: Path) -> dict[str, DriftState]:
    """Returns the worst state of each memory that the last checks found not to be fresh, from the private folder of the
    project at `root`; {} if they cannot be read, which the drift check reports."""
    worst: dict[str, DriftState] = {}
    try:
        with open_baselines(private, root) as database:
            for found in database.stale_records():
                if DRIFT_RANKS[found.state] > DRIFT_RANKS[worst.get(found.memory, "fresh")]:
                    worst[found.memory] = found.state
    except LerimError:
        return {}
    return worst


def worst_drift(drift_records: Sequence[DriftRecord]) -> Drift | None:
    """Returns the worst drift of a memory; None if all of its references are fresh and have not moved."""
    one = max(drift_records, key=drift_rank, default=None)
    if one is None or drift_rank(one) == 0:
        return None
    return _make_drift(one)


def _make_drift(one: DriftRecord) -> Drift:
    return Drift(one.state, reference_text(one.reference), one.moved_to, one.detail, one.since)


def drift_rank(drift_record: DriftRecord) -> int:
    """Returns how bad the drift is; 0 if there is none."""
    return max(DRIFT_RANKS[drift_record.state], MOVED_RANK if drift_record.moved_to else 0)
