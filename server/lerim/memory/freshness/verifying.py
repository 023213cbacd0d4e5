"""Verifies a memory: stores what its references are now, to compare with later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from lerim.errors import LerimError
from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import Baseline, Baselines, DriftRecord
from lerim.memory.freshness.drift import make_drift_subject
from lerim.memory.freshness.moved_files import MovedFiles
from lerim.memory.freshness.reference_check import is_missing
from lerim.memory.freshness.sources import SourceReader
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, parse_reference, reference_text, update_references
from lerim.paths import Home
from lerim.project import SHORT_HASH_LENGTH, Project, read_head_commit

_MAX_PER_DAY = 100
"""How many times a reference can be verified on one day if nothing is committed."""


def verify_record(
    project: Project, home: Home, record: MemoryRecord, now: datetime, before: MemoryRecord | None = None
) -> MemoryRecord:
    """Returns the record as verified now, and stores its references as they are now. References that it already had
    `before` keep their former baseline. A reference to a place that has moved becomes one to where it is.

    `verified` becomes `YYYY-MM-DD@<commit>`, or the day alone if no commit is checked out. Never raises for an
    unreadable file: its reference stays unknown. If a reference is not found or nothing can be
    stored, the record is returned unchanged: nobody can have verified it.
    """
    if project.is_personal:
        return replace(record, verified=f"{now:%Y-%m-%d}")  # its references belong to no repository
    references = make_drift_subject(record).references
    commit = read_head_commit(project.root, project.common_dir)
    reader = SourceReader(project.root)
    now_is = {reference: reader.baseline(reference) for reference in references}
    moved: dict[str, str] = {}
    try:
        with baselines.open_baselines(home.project(project.key), project.root) as database, database.transaction():
            found: list[tuple[Reference, Baseline, DriftRecord | None]] = []
            had = make_drift_subject(before).references if before else ()
            for reference, baseline in now_is.items():
                was = database.baseline(record.id, reference, before.verified) if before and reference in had else None
                drift_record = database.drift_record(record.id, reference)
                if was is not None:
                    found.append((reference, was, drift_record))
                elif (there := _place_after_move(drift_record, baseline)) and (state := reader.baseline(there)):
                    moved[reference_text(reference)] = reference_text(there)
                    found.append((there, state, _fresh(record.id, there, reader)))
                elif is_missing(reader, reference):
                    return record
                elif baseline is not None:
                    found.append((reference, baseline, _fresh(record.id, reference, reader)))
            said = f"{now:%Y-%m-%d}@{commit[:SHORT_HASH_LENGTH]}" if commit else f"{now:%Y-%m-%d}"
            said = unique_verified(database, record.id, [one[:2] for one in found], said, commit)
            database.replace_references(record.id, said, found)
            MovedFiles(project, database).record_files_once()
    except LerimError:
        return record
    return replace(record, verified=said, references=update_references(record.references, moved))


def _fresh(memory: str, reference: Reference, reader: SourceReader) -> DriftRecord:
    return DriftRecord(memory, reference, "", reference.path, reader.stamp(reference.path), "fresh")


def _place_after_move(drift_record: DriftRecord | None, baseline: Baseline | None) -> Reference | None:
    """Returns where a reference was last seen, if it has moved and is no longer (`baseline`) where its memory says;
    else None."""
    place = parse_reference(drift_record.moved_to) if drift_record else None
    if drift_record is None or place is None:
        return None
    is_there = baseline is not None and (baseline.digest or not drift_record.reference.symbol)
    return None if is_there else place


def unique_verified(
    database: Baselines, memory: str, found: Sequence[tuple[Reference, Baseline]], verified: str, commit: str
) -> str:
    """Returns `verified`, made unique: no other baselines are stored under it. Digits of its commit are added or,
    without a commit, a number after the day. The former baselines must stay, because an undo restores the former
    `verified` of the file."""
    day, _, short = verified.partition("@")
    if short and commit.startswith(short):
        more: Iterable[str] = (f"{day}@{commit[:length]}" for length in range(len(short), len(commit) + 1))
    else:
        more = () if short else (verified, *(f"{day}-{number}" for number in range(2, _MAX_PER_DAY)))
    for said in more:
        if all(database.baseline(memory, reference, said) in (None, baseline) for reference, baseline in found):
            return said
    return verified
