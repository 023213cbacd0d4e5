"""Checks whether what memories refer to still exists and is unchanged: fresh, drifted, gone, or unknown. A reference is
checked again only when its file's stamp has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import Baseline, Baselines, DriftRecord, StatStamp, format_stamp
from lerim.memory.freshness.drift_summary import Drift, DriftSummary, summarize_drift, worst_drift
from lerim.memory.freshness.fingerprint import MIN_WORDS, SymbolFingerprint, fingerprint_kind, matches_sketch
from lerim.memory.freshness.moved_files import MovedFiles, committed_baselines
from lerim.memory.freshness.reference_check import contains_symbol, is_missing
from lerim.memory.freshness.sources import MAX_SOURCE, SourceReader, are_unchanged, is_blank
from lerim.memory.record import MemoryRecord
from lerim.memory.reference import Reference, can_be_written, parse_reference, reference_text
from lerim.memory.references import ReferenceMap
from lerim.paths import Home
from lerim.project import Project, find_word, read_head_commit, tracked

if TYPE_CHECKING:
    from lerim.project import Git

MAX_SEARCHED_FILES = 40
"""How many files that have the name of a missing symbol are read for it."""
BATCH_SIZE = 500
"""How many references have their baselines loaded at once."""


@dataclass(frozen=True, slots=True)
class DriftSubject:
    """What a drift check needs to know about a memory."""

    id: str
    references: tuple[Reference, ...]
    verified: str = ""


def make_drift_subject(record: MemoryRecord) -> DriftSubject:
    """Returns the subject of a memory: its id, its `verified`, and its references without invalid ones."""
    return DriftSubject(
        record.id, tuple(dict.fromkeys(filter(None, map(parse_reference, record.references)))), record.verified
    )


@dataclass(slots=True)
class LastCheck:
    """What `DriftChecker.check_changed` found and what that depends on; keep one for each project."""

    keys: Mapping[str, str] = field(default_factory=dict)
    databases: tuple[StatStamp, str] = ((), "")
    stamps: Mapping[str, StatStamp] = field(default_factory=dict)
    summary: DriftSummary | None = None


class DriftChecker:
    """Checks the drift of the memories of one worktree. `git` is passed in jobs, never where a person waits: without
    it, renames are found among the files in git's index, and a memory verified elsewhere stays unknown. Every method
    raises MemoryError_ if the database cannot be used."""

    def __init__(self, project: Project, home: Home, git: Git | None = None) -> None:
        self._project = project
        self._private = home.project(project.key)
        self._git = git

    def check(
        self,
        paths: Iterable[str] | None = None,
        *,
        now: datetime | None = None,
        subjects: Iterable[DriftSubject] | None = None,
        whole: bool = False,
        on_summary: Callable[[DriftSummary], None] | None = None,
        raise_if_cancelled: Callable[[], None] = lambda: None,
    ) -> set[str]:
        """Checks references that may have changed; returns the ids of the memories whose drift changed. `paths`: the
        files that changed (None: all checked before, by stat); `subjects`: memories to check besides, and, with
        `whole`, all there are. `on_summary` is called with the drift of all memories before the database is closed,
        which may wait for the disk. An exception of `raise_if_cancelled` ends the check, and nothing is stored."""
        if self._project.is_personal:
            return set()
        whole = whole or (paths is None and subjects is None)
        given = self._all_subjects() if subjects is None and whole else list(subjects or ())
        with baselines.open_baselines(self._private, self._project.root) as database:
            check = _Check(self._project, database, self._git, now, raise_if_cancelled)
            check.add_subjects(given)
            if whole:
                check.forget_others(subject.id for subject in given)
            check.add_changed_files(None if paths is None else list(paths))
            changed = check.run()
            if on_summary is not None:
                on_summary(summarize_drift(database))
            return changed

    def check_memories(self, subjects: Sequence[DriftSubject]) -> dict[str, Drift]:
        """Checks only these memories, in a time that does not grow with the project; returns the drift of those that
        are not fresh or have moved, by id."""
        if self._project.is_personal or not subjects:
            return {}
        with baselines.open_baselines(self._private, self._project.root) as database:
            check = _Check(self._project, database, self._git)
            check.add_subjects(subjects, changed_files=True)
            check.run()
            found = database.drift_records_of(subject.id for subject in subjects)
        return {memory: drift for memory, records in found.items() if (drift := worst_drift(records)) is not None}

    def check_changed(
        self, keys: Mapping[str, str], load_subjects: Callable[[list[str]], Iterable[DriftSubject]], last: LastCheck
    ) -> DriftSummary:
        """Checks all memories and returns their drift; `keys` are their `comparison_key`s, by id. Only memories whose
        key is new are loaded. If nothing changed since `last`, which is updated, files are only looked at by stat."""
        root = self._project.root
        databases = baselines.baselines_stamp(self._private), tracked.read_index_stamp(root)
        is_same = (last.keys, last.databases) == (keys, databases)
        if last.summary is not None and is_same and are_unchanged(root, last.stamps):
            return last.summary
        with baselines.open_baselines(self._private, root) as database:
            known, checked = database.read_checked()
            check = _Check(self._project, database, self._git)
            if changed := [memory for memory, key in keys.items() if known.get(memory) != key]:
                check.add_subjects(list(load_subjects(changed)))
            check.add_changed_files(None, checked)
            check.run()
            last.summary = summarize_drift(database)
        last.keys, last.databases, last.stamps = keys, databases, check.seen_stamps
        return last.summary

    def checked_files(self, memories: Iterable[str]) -> dict[str, tuple[tuple[str, StatStamp], ...]]:
        """Returns, by memory, the files that it was last compared with, and the stamp that each had then."""
        if self._project.is_personal or not baselines.has_baselines(self._private):
            return {}
        with baselines.open_baselines(self._private, self._project.root) as database:
            found = database.drift_records_of(memories)
        return {
            memory: tuple(dict.fromkeys((record.checked_path, record.stamp) for record in records))
            for memory, records in found.items()
        }

    def summary(self) -> DriftSummary:
        """Returns the drift of all memories, as it was found by the last checks."""
        if not baselines.has_baselines(self._private):
            return DriftSummary()
        with baselines.open_baselines(self._private, self._project.root) as database:
            return summarize_drift(database)

    def _all_subjects(self) -> list[DriftSubject]:
        live = ReferenceMap(self._project.memory_dir)
        live.scan()
        return [DriftSubject(entry.id, entry.references, entry.verified) for entry in live.entries]


class _Check:
    """One check of many references: collects what is due, checks it file by file, and stores it in one transaction."""

    def __init__(
        self,
        project: Project,
        database: Baselines,
        git: Git | None,
        now: datetime | None = None,
        raise_if_cancelled: Callable[[], None] = lambda: None,
    ) -> None:
        self._raise_if_cancelled = raise_if_cancelled
        self._database = database
        self._git = git
        self._day = f"{now or datetime.now(UTC):%Y-%m-%d}"
        self._reader = SourceReader(project.root)
        self._moved_files = MovedFiles(project, database, git)
        self._head = read_head_commit(project.root, project.common_dir) if git is not None else ""
        self._due: dict[tuple[str, Reference], tuple[str, DriftRecord | None]] = {}
        self._forgotten: dict[str, tuple[Reference, ...]] = {}
        self._is_complete = False

    @property
    def seen_stamps(self) -> Mapping[str, StatStamp]:
        """The stamps of all files that were looked at, by path."""
        return self._reader.stamps

    def add_subjects(self, subjects: Sequence[DriftSubject], *, changed_files: bool = False) -> None:
        """Adds the references of these memories that were never checked, have another `verified` now, or are unknown or
        gone and can be checked with git; with `changed_files`, also those of changed, moved or missing files."""
        known = self._database.drift_records_of(subject.id for subject in subjects)
        for subject in subjects:
            self._raise_if_cancelled()
            drift_records = {drift_record.reference: drift_record for drift_record in known.get(subject.id, ())}
            for reference in subject.references:
                drift_record = drift_records.pop(reference, None)
                state = drift_record.state if drift_record is not None else ""
                again = state in ("unknown", "gone") and self._git is not None
                changed = changed_files and drift_record is not None and self._is_outdated(drift_record)
                if drift_record is None or drift_record.verified != subject.verified or again or changed:
                    self._due[subject.id, reference] = (subject.verified, drift_record)
            if drift_records:
                self._forgotten[subject.id] = subject.references

    def _is_outdated(self, drift_record: DriftRecord) -> bool:
        stamp = drift_record.stamp
        return self._is_back(drift_record) or not stamp or self._reader.stamp(drift_record.checked_path) != stamp

    def _is_back(self, drift_record: DriftRecord) -> bool:
        path = drift_record.reference.path
        return drift_record.checked_path != path and bool(self._reader.stamp(path))

    def forget_others(self, live: Iterable[str]) -> None:
        """Marks the drift records of all other memories for deletion: `live` are all memories there are."""
        for memory in self._database.checked_memories() - set(live):
            self._forgotten[memory] = ()

    def add_changed_files(self, paths: Sequence[str] | None, checked: Iterable[tuple[str, str]] | None = None) -> None:
        """Adds the references whose file's stamp has changed, or whose file is back after a move; if `paths` is None,
        also those of missing files."""
        if paths is None:
            self._is_complete = True
            known = self._database.checked_files() if checked is None else checked
            changed = {place for place, stamp in known if not stamp or format_stamp(self._reader.stamp(place)) != stamp}
        else:
            changed = set(paths)
        for place in changed:
            self._raise_if_cancelled()
            for one in self._database.drift_records_in(place):
                if self._is_complete or self._reader.stamp(place) != one.stamp:
                    self._due.setdefault((one.memory, one.reference), (one.verified, one))
        for one in self._database.stale_records():
            if self._is_back(one) and (self._is_complete or one.reference.path in changed):
                self._due.setdefault((one.memory, one.reference), (one.verified, one))

    def run(self) -> set[str]:
        """Checks all references that were added and stores the results; returns the memories whose drift changed."""
        self._moved_files.set_missing(self._missing_files())
        todo = sorted(self._due.items(), key=lambda one: one[0][1].path)  # by file, so that each is read once
        bases = self._committed_baselines()
        found: list[tuple[DriftRecord, DriftRecord | None]] = []
        new: list[tuple[str, Reference, str, Baseline]] = []
        for at in range(0, len(todo), BATCH_SIZE):
            some = todo[at : at + BATCH_SIZE]
            known = self._database.baselines({memory for (memory, _), _ in some})
            for (memory, reference), (verified, before) in some:
                self._raise_if_cancelled()
                if memory in self._forgotten and reference not in self._forgotten[memory]:
                    continue
                baseline = known.get((memory, reference_text(reference), verified))
                if baseline is None:
                    baseline = bases.get((memory, reference)) or self._first_baseline(reference, verified)
                    if baseline is not None:
                        new.append((memory, reference, verified, baseline))
                drift_record = self._check_reference(memory, reference, verified, baseline, before)
                now = (drift_record.state, drift_record.moved_to)
                since = before.since if before is not None and (before.state, before.moved_to) == now else ""
                was_never_there = baseline is None and drift_record.state == "gone"
                since = since or ("" if was_never_there else self._day)
                found.append((replace(drift_record, since=since), before))
        with self._database.transaction():
            for one in new:
                self._raise_if_cancelled()
                self._database.store_baseline(*one)
            self._database.store_drift(*(drift_record for drift_record, before in found if drift_record != before))
            for memory, references in self._forgotten.items():
                self._raise_if_cancelled()
                self._database.delete_drift(memory, references)
            if self._is_complete:
                self._moved_files.record_files()
        return {*self._forgotten, *(one.memory for one, before in found if _has_changed(one, before))}

    def _missing_files(self) -> dict[str, str]:
        missing: dict[str, str] = {}
        for (_, reference), (verified, _) in self._due.items():
            if not self._reader.stamp(reference.path):
                commit = verified.partition("@")[2]
                missing[reference.path] = commit or missing.get(reference.path, "")
        return missing

    def _committed_baselines(self) -> dict[tuple[str, Reference], Baseline]:
        if self._git is None:
            return {}
        wanted = [
            (memory, reference, verified.partition("@")[2])
            for (memory, reference), (verified, _) in self._due.items()
            if "@" in verified and self._database.baseline(memory, reference, verified) is None
        ]
        return committed_baselines(self._git, self._reader, self._moved_files, self._head, wanted)

    def _first_baseline(self, reference: Reference, verified: str) -> Baseline | None:
        """Returns a reference's present state; None if a job may still read it at the verified commit."""
        return None if "@" in verified and self._git is None else self._reader.baseline(reference)

    def _check_reference(
        self, memory: str, reference: Reference, verified: str, baseline: Baseline | None, before: DriftRecord | None
    ) -> DriftRecord:
        place = reference.path
        if baseline is not None and not self._reader.stamp(place):
            known = before.checked_path if before and self._reader.stamp(before.checked_path) else ""
            place = known or self._moved_files.find_new_path(place, baseline, self._reader) or place
        fresh = DriftRecord(memory, reference, verified, place, self._reader.stamp(place), "fresh")
        if baseline is None:
            if self._is_not_found(reference, verified):
                return replace(fresh, state="gone", detail=not_found_text(reference))
            return replace(fresh, state="unknown", detail="not verified here yet")
        if not fresh.stamp:
            return replace(fresh, state="gone", detail=not_found_text(Reference(reference.path)))
        if place != reference.path:
            moved_to = reference_text(Reference(place, reference.symbol))
            fresh = replace(fresh, moved_to=moved_to, detail=f"`{reference.path}` was moved to `{place}`")
        source = self._reader.source(place)
        if source is None:
            return replace(fresh, state="unknown", detail=f"`{place}` cannot be read")
        if source.text is None:
            if not baseline.sketch:
                return fresh
            if fresh.stamp[1] > MAX_SOURCE:  # too large to read
                unknown = replace(fresh, state="unknown", detail=f"`{place}` is too large")
                return replace(before, checked_path=place, stamp=fresh.stamp) if before else unknown
            return replace(fresh, state="drifted", detail=f"`{place}` is no longer text")
        if not baseline.digest:
            return _check_whole_file(fresh, baseline, source.text)
        return self._check_symbol(fresh, baseline, source.text, before)

    def _check_symbol(
        self, fresh: DriftRecord, baseline: Baseline, text: str, before: DriftRecord | None
    ) -> DriftRecord:
        symbol, place = fresh.reference.symbol, fresh.checked_path
        found = self._reader.outline(place, text, fingerprint_kind(baseline.digest))
        if found is None:  # probably in the middle of an edit: the drift stays as it was
            return replace(before, stamp=fresh.stamp) if before else replace(fresh, state="unknown", detail="")
        prints = [one.digest for one in found.fingerprints(symbol)]
        if baseline.digest in prints and not found.is_redefined(symbol, baseline.digest):
            return fresh
        if prints:
            return replace(fresh, state="drifted", detail=f"`{symbol}` changed")
        known = SymbolFingerprint(baseline.digest, baseline.word_count)
        if name := found.find_renamed(symbol, known, baseline.identical_symbols):
            moved_to = reference_text(Reference(place, name))
            return replace(fresh, moved_to=moved_to, detail=f"`{symbol}` was renamed to `{name}`")
        gone = replace(fresh, state="gone", moved_to="", detail=not_found_text(Reference(place, symbol)))
        return self._find_in_other_file(fresh, baseline, before) or gone

    def _find_in_other_file(
        self, fresh: DriftRecord, baseline: Baseline, before: DriftRecord | None
    ) -> DriftRecord | None:
        """Returns the record of a symbol that was moved to another file, where it is unchanged and defined once. A job
        finds that file with git; then it is known."""
        if baseline.word_count < MIN_WORDS:
            return None
        symbol, old = fresh.reference.symbol, fresh.checked_path
        known = parse_reference(before.moved_to) if before is not None else None
        if known is not None and known.path != old:
            paths = [known.path]
        else:
            name = symbol.rpartition(".")[2]
            found = find_word(self._reader.root, name, os.environ) if self._git is not None else []
            paths = [one for one in found if one != old and Path(one).suffix == Path(old).suffix][:MAX_SEARCHED_FILES]
            paths = [one for one in paths if can_be_written(Reference(one, symbol))]
        records: list[DriftRecord] = []
        for path in paths:
            outline = self._reader.outline_now(path, fingerprint_kind(baseline.digest))
            prints = [one.digest for one in outline.fingerprints(symbol)] if outline is not None else []
            moved_to = reference_text(Reference(path, symbol))
            moved = replace(fresh, checked_path=path, stamp=self._reader.stamp(path), moved_to=moved_to)
            if baseline.digest in prints:
                records.append(replace(moved, detail=f"`{symbol}` was moved to `{path}`"))
            elif prints and known is not None:
                records.append(replace(moved, state="drifted", detail=f"`{symbol}` changed"))
        return records[0] if len(records) == 1 else None

    def _is_not_found(self, reference: Reference, verified: str) -> bool:
        """The former text of a reference without a baseline may still tell a job with git where a file was moved to."""
        if not self._reader.stamp(reference.path):
            return "@" not in verified or self._git is not None
        return is_missing(self._reader, reference)


def _check_whole_file(fresh: DriftRecord, baseline: Baseline, text: str) -> DriftRecord:
    reference, place = fresh.reference, fresh.checked_path
    if not contains_symbol(text, reference):
        return replace(fresh, state="gone", moved_to="", detail=not_found_text(Reference(place, reference.symbol)))
    if baseline.word_count and is_blank(text):
        return replace(fresh, state="drifted", detail=f"`{place}` is now empty")
    if matches_sketch(reference.path, baseline.sketch, text):
        return fresh
    return replace(fresh, state="drifted", detail=f"`{place}` changed")


def not_found_text(reference: Reference) -> str:
    """Returns "`load` in `src/app.py`", or the path alone without a symbol."""
    return f"`{reference.symbol}` in `{reference.path}`" if reference.symbol else f"`{reference.path}`"


def _has_changed(drift_record: DriftRecord, before: DriftRecord | None) -> bool:
    was = (before.state, before.moved_to, before.detail) if before else ("fresh", "", drift_record.detail)
    return (drift_record.state, drift_record.moved_to, drift_record.detail) != was
