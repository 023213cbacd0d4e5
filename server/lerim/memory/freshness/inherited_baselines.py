"""What a memory takes over of how others stood: one that they became, or itself at the places it names now. Nobody
verified it anew, so that what had drifted stays drifted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lerim.errors import LerimError
from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import Baseline, Baselines, DriftRecord, reference_text
from lerim.memory.freshness.drift import drift_rank
from lerim.memory.freshness.fingerprint import SymbolFingerprint, fingerprint_kind
from lerim.memory.freshness.sources import SourceReader
from lerim.memory.freshness.verifying import unique_verified
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, parse_reference
from lerim.paths import Home
from lerim.project import Project, commits


@dataclass(frozen=True, slots=True)
class _Held:
    """A reference of a memory that is taken over: what it was when that was verified, and how it stands, as far as
    either is known."""

    source: MemoryRecord
    reference: Reference
    base: Baseline | None
    look: DriftRecord | None

    @property
    def rank(self) -> int:
        return drift_rank(self.look) if self.look else 0

    def is_at(self, reference: Reference) -> bool:
        """Whether it is this one, or is there now."""
        return self.reference == reference or (
            self.look is not None and self.look.moved_to == reference_text(reference)
        )


def inherit_baselines(
    project: Project, home: Home, heir: MemoryRecord, sources: Sequence[MemoryRecord]
) -> MemoryRecord:
    """The heir, verified when the longest ago verified of its sources was; each of its references is compared with
    what it was to the source it stands worst for.

    The heir may be one of the sources itself. Never raises: where what is kept cannot be used, nothing is taken over.
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
            with kept.writing():
                kept.forget(heir.id)
                for reference, base, look in taken:
                    kept.keep(heir.id, reference, verified, base)
                    if look is not None:
                        kept.put(replace(look, verified=verified))
    except LerimError:
        return heir
    return replace(heir, verified=verified)


def _held(kept: Baselines, source: MemoryRecord) -> Iterator[_Held]:
    for reference in _references(source):
        look = kept.look(source.id, reference)
        known = look if look is not None and look.verified == source.verified else None
        yield _Held(source, reference, kept.baseline(source.id, reference, source.verified), known)


def _references(memory: MemoryRecord) -> tuple[Reference, ...]:
    return tuple(dict.fromkeys(filter(None, map(parse_reference, memory.references))))


def _longest_ago(held: Sequence[_Held]) -> str:
    """The oldest `verified` there is; of one day, that of what stands worst, whose commit was before the change."""
    said = ((one.source.verified[:10], -one.rank, one.source.verified) for one in held if one.source.verified)
    return min(said, default=("", 0, ""))[2]


def _taken(
    heir: MemoryRecord, held: Sequence[_Held], reader: SourceReader
) -> Iterator[tuple[Reference, Baseline, DriftRecord | None]]:
    for reference in _references(heir):
        there = [one for one in held if one.is_at(reference)]
        found = max(there, key=lambda one: one.rank, default=None)
        if found is None or found.base is None:
            continue
        look = found.look
        if look is not None:
            moved = look.moved_to if look.moved_to != reference_text(reference) else ""
            detail = look.detail if look.state != "fresh" or moved else ""
            look = replace(look, memory=heir.id, reference=reference, moved_to=moved, detail=detail)
        yield reference, _under(reference, found.reference, found.base, reader), look


def _under(reference: Reference, before: Reference, base: Baseline, reader: SourceReader) -> Baseline:
    """A reference's baseline under its present name. A renamed symbol that still names its old one (`json.load` in
    `load`) has another fingerprint under its own: while it is what it was, that one."""
    source = reader.source(reference.path) if before.symbol != reference.symbol and base.digest else None
    if source is None or source.text is None:
        return base
    found = reader.outline(reference.path, source.text, fingerprint_kind(base.digest))
    if (
        found is None
        or found.renamed(before.symbol, SymbolFingerprint(base.digest, base.words), base.twins) != reference.symbol
    ):
        return base
    return reader.baseline(reference) or base
