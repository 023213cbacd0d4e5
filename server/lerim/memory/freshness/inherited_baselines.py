"""Passes baselines and drift on to a memory that replaces others, or to the same memory after its references were
updated. Nobody verified it again, so what had drifted stays drifted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lerim.errors import LerimError
from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import Baseline, Baselines, DriftRecord
from lerim.memory.freshness.drift import make_drift_subject
from lerim.memory.freshness.drift_summary import drift_rank
from lerim.memory.freshness.fingerprint import SymbolFingerprint, fingerprint_kind
from lerim.memory.freshness.sources import SourceReader
from lerim.memory.freshness.verifying import unique_verified
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, reference_text
from lerim.paths import Home
from lerim.project import Project, read_head_commit


@dataclass(frozen=True, slots=True)
class _SourceReference:
    """A reference of a source memory: its baseline when that was verified, and its drift, as far as they are known."""

    source: MemoryRecord
    reference: Reference
    baseline: Baseline | None
    drift: DriftRecord | None

    @property
    def rank(self) -> int:
        return drift_rank(self.drift) if self.drift else 0

    def is_at(self, reference: Reference) -> bool:
        """Returns whether this is the given reference, or has moved there."""
        return self.reference == reference or (
            self.drift is not None and self.drift.moved_to == reference_text(reference)
        )


def inherit_baselines(
    project: Project, home: Home, successor: MemoryRecord, sources: Sequence[MemoryRecord]
) -> MemoryRecord:
    """Returns the successor with the oldest `verified` of its sources. Each of its references takes the baseline and
    drift of the source in which it drifted most.

    The successor may be one of the sources. Never raises: if the database cannot be used, nothing is inherited.
    """
    if project.is_personal:
        return successor
    try:
        with baselines.open_baselines(home.project(project.key), project.root) as database:
            held = [one for source in sources for one in _source_references(database, source)]
            verified = _oldest_verified(held) or successor.verified
            reader = SourceReader(project.root)
            taken = list(_inherited_baselines(successor, held, reader))
            if any(source.id != successor.id for source in sources):
                commit = read_head_commit(project.root, project.common_dir)
                verified = unique_verified(database, successor.id, [one[:2] for one in taken], verified, commit)
            with database.transaction():
                database.replace_references(successor.id, verified, taken)
    except LerimError:
        return successor
    return replace(successor, verified=verified)


def _source_references(database: Baselines, source: MemoryRecord) -> Iterator[_SourceReference]:
    for reference in make_drift_subject(source).references:
        drift_record = database.drift_record(source.id, reference)
        known = drift_record if drift_record is not None and drift_record.verified == source.verified else None
        yield _SourceReference(source, reference, database.baseline(source.id, reference, source.verified), known)


def _oldest_verified(held: Sequence[_SourceReference]) -> str:
    """Returns the oldest `verified`; of several on one day, that of the worst drift: its commit was before the
    change."""
    said = ((one.source.verified[:10], -one.rank, one.source.verified) for one in held if one.source.verified)
    return min(said, default=("", 0, ""))[2]


def _inherited_baselines(
    successor: MemoryRecord, held: Sequence[_SourceReference], reader: SourceReader
) -> Iterator[tuple[Reference, Baseline, DriftRecord | None]]:
    for reference in make_drift_subject(successor).references:
        there = [one for one in held if one.is_at(reference)]
        found = max(there, key=lambda one: one.rank, default=None)
        if found is None or found.baseline is None:
            continue
        drift_record = found.drift
        if drift_record is not None:
            moved = drift_record.moved_to if drift_record.moved_to != reference_text(reference) else ""
            detail = drift_record.detail if drift_record.state != "fresh" or moved else ""
            drift_record = replace(
                drift_record, memory=successor.id, reference=reference, moved_to=moved, detail=detail
            )
        yield reference, _baseline_under_new_name(reference, found.reference, found.baseline, reader), drift_record


def _baseline_under_new_name(
    reference: Reference, before: Reference, baseline: Baseline, reader: SourceReader
) -> Baseline:
    """Returns a reference's baseline under its present name. A renamed symbol that still contains its old name
    (`json.load` in `load`) has another fingerprint under its new name: while it is unchanged, that one is returned."""
    if before.symbol == reference.symbol or not baseline.digest:
        return baseline
    found = reader.outline_now(reference.path, fingerprint_kind(baseline.digest))
    known = SymbolFingerprint(baseline.digest, baseline.word_count)
    if found is None or found.find_renamed(before.symbol, known, baseline.identical_symbols) != reference.symbol:
        return baseline
    return reader.baseline(reference) or baseline
