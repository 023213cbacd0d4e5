"""Verifies a memory: stores what its references are now, to compare with later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from lerim.errors import LerimError
from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import Baseline, Baselines, DriftRecord
from lerim.memory.freshness.moved_files import MovedFiles
from lerim.memory.freshness.sources import SourceReader
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, parse_reference
from lerim.paths import Home
from lerim.project import Project, commits

_MOST_A_DAY = 100
"""How many states of a reference can be verified on one day if nothing is committed."""


def verify_record(
    project: Project, home: Home, record: MemoryRecord, now: datetime, before: MemoryRecord | None = None
) -> MemoryRecord:
    """Returns the record as verified now, and stores its references as they are now. References that it already had
    `before` keep their former baseline.

    `verified` becomes `YYYY-MM-DD@<commit>`, or the day alone if no commit is checked out. Never raises for an
    unreadable file: its reference stays unknown. If nothing can be stored, the record is returned unchanged.
    """
    if project.is_personal:
        return replace(record, verified=f"{now:%Y-%m-%d}")  # its references belong to no repository
    references = tuple(dict.fromkeys(filter(None, map(parse_reference, record.references))))
    commit = commits.read_head_commit(project.root, project.common_dir)
    reader = SourceReader(project.root)
    now_is = {reference: reader.baseline(reference) for reference in references}
    try:
        with baselines.open_baselines(home.project(project.key), project.root) as kept, kept.transaction():
            found: list[tuple[Reference, Baseline, DriftRecord | None]] = []
            had = set(filter(None, map(parse_reference, before.references))) if before else set()
            for reference, base in now_is.items():
                was = kept.baseline(record.id, reference, before.verified) if before and reference in had else None
                look = kept.drift_record(record.id, reference)
                if was is not None:
                    found.append((reference, was, look))
                elif (there := _elsewhere(look, base, reader)) is not None:
                    found.append((reference, *there))
                elif base is not None:
                    stamp = reader.stamp(reference.path)
                    found.append(
                        (reference, base, DriftRecord(record.id, reference, "", reference.path, stamp, "fresh"))
                    )
            said = f"{now:%Y-%m-%d}@{commit[: commits.SHORT_HASH_LENGTH]}" if commit else f"{now:%Y-%m-%d}"
            said = unique_verified(kept, record.id, [one[:2] for one in found], said, commit)
            kept.delete_drift(record.id)
            for reference, base, look in found:
                kept.store_baseline(record.id, reference, said, base)
                if look is not None:
                    kept.store_drift(replace(look, verified=said))
            MovedFiles(project, kept).record_files_once()
    except LerimError:
        return record
    return replace(record, verified=said)


def _elsewhere(
    look: DriftRecord | None, base: Baseline | None, reader: SourceReader
) -> tuple[Baseline, DriftRecord] | None:
    """Returns the baseline and drift of a reference where it was last seen, if it has moved and is no longer (`base`)
    where its memory says; else None."""
    place = parse_reference(look.moved_to) if look else None
    if look is None or place is None or (base is not None and (base.digest or not look.reference.symbol)):
        return None
    found = reader.baseline(place)
    said = look.detail if look.state == "fresh" else f"`{look.reference.path}` is `{place.path}` now"
    fresh = replace(look, checked_path=place.path, stamp=reader.stamp(place.path), state="fresh", detail=said)
    return (found, fresh) if found is not None else None


def unique_verified(
    kept: Baselines, memory: str, found: Sequence[tuple[Reference, Baseline]], verified: str, commit: str
) -> str:
    """Returns `verified` with enough more digits of its commit, or without a commit with a number after the day, that
    no other baselines are stored under it. The former ones must stay, because an undo restores the former `verified` of
    the file."""
    day, _, short = verified.partition("@")
    if short and commit.startswith(short):
        more: Iterable[str] = (f"{day}@{commit[:length]}" for length in range(len(short), len(commit) + 1))
    else:
        more = () if short else (verified, *(f"{day}-{number}" for number in range(2, _MOST_A_DAY)))
    for said in more:
        if all(kept.baseline(memory, reference, said) in (None, base) for reference, base in found):
            return said
    return verified
