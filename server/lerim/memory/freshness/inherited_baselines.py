"""Passes baselines and drift on to a memory that replaces others, or to the same memory after its references were
updated. Nobody verified it again, so what had drifted stays drifted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lerim.errors import LerimError
from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import Baseline, Baselines, DriftRecord
from lerim.memory.freshness.drift import drift_rank
from lerim.memory.freshness.fingerprint import SymbolFingerprint, fingerprint_kind
from lerim.memory.freshness.sources import SourceReader
from lerim.memory.freshness.verifying import unique_verified
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, parse_reference, reference_text
from lerim.paths import Home
from lerim.project import Project, commits


@dataclass(frozen=True, slots=True)
class _Held:
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
    project: Project, home: Home, heir: MemoryRecord, sources: Sequence[MemoryRecord]
) -> MemoryRecord:
    """Returns the heir with the oldest `verified` of its sources. Each of its references takes the baseline and drift
    of the source in which it drifted most.

    The heir may be one of the sources. Never raises: if the database cannot be used, nothing is inherited.
    """
    if project.is_personal:
        return heir
    try:
        with baselines.open_baselines(home.project(project.key), project.root) as kept:
            held = [one for source in sources for one in _held(kept, source)]
            verified = _longest_ago(held) or heir.verified
            reader = SourceReader(project.root)
            taken = list(_taken(heir, held, reader))
            if any(source.id != heir.id for source in sources):
                commit = commits.read_head_commit(project.root, project.common_dir)
                verified = unique_verified(kept, heir.id, [one[:2] for one in taken], verified, commit)
            with kept.transaction():
                kept.delete_drift(heir.id)
                for reference, base, look in taken:
                    kept.store_baseline(heir.id, reference, verified, base)
                    if look is not None:
                        kept.store_drift(replace(look, verified=verified))
    except LerimError:
        return heir
    return replace(heir, verified=verified)


def _held(kept: Baselines, source: MemoryRecord) -> Iterator[_Held]:
    for reference in _references(source):
        look = kept.drift_record(source.id, reference)
        known = look if look is not None and look.verified == source.verified else None
        yield _Held(source, reference, kept.baseline(source.id, reference, source.verified), known)


def _references(memory: MemoryRecord) -> tuple[Reference, ...]:
    return tuple(dict.fromkeys(filter(None, map(parse_reference, memory.references))))


def _longest_ago(held: Sequence[_Held]) -> str:
    """Returns the oldest `verified`; of several on one day, that of the worst drift: its commit was before the
    change."""
    said = ((one.source.verified[:10], -one.rank, one.source.verified) for one in held if one.source.verified)
    return min(said, default=("", 0, ""))[2]


def _taken(
    heir: MemoryRecord, held: Sequence[_Held], reader: SourceReader
) -> Iterator[tuple[Reference, Baseline, DriftRecord | None]]:
    for reference in _references(heir):
        there = [one for one in held if one.is_at(reference)]
        found = max(there, key=lambda one: one.rank, default=None)
        if found is None or found.baseline is None:
            continue
        look = found.drift
        if look is not None:
            moved = look.moved_to if look.moved_to != reference_text(reference) else ""
            detail = look.detail if look.state != "fresh" or moved else ""
            look = replace(look, memory=heir.id, reference=reference, moved_to=moved, detail=detail)
        yield reference, _under(reference, found.reference, found.baseline, reader), look


def _under(reference: Reference, before: Reference, base: Baseline, reader: SourceReader) -> Baseline:
    """Returns a reference's baseline under its present name. A renamed symbol that still contains its old name
    (`json.load` in `load`) has another fingerprint under its new name: while it is unchanged, that one is returned."""
    source = reader.source(reference.path) if before.symbol != reference.symbol and base.digest else None
    if source is None or source.text is None:
        return base
    found = reader.outline(reference.path, source.text, fingerprint_kind(base.digest))
    if (
        found is None
        or found.find_renamed(before.symbol, SymbolFingerprint(base.digest, base.word_count), base.twins)
        != reference.symbol
    ):
        return base
    return reader.baseline(reference) or base
