"""Which memories refer to a file or a symbol: the in-memory map behind hovers and code lenses.

The map is built from the files and follows their changes; an unreadable file is a problem and does not affect others.
One thread may change the map while others read it: what a reader gets is never changed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lerim import files
from lerim.errors import LerimError, MemoryError_, NotFoundError, Problem
from lerim.memory.claims import claim_text
from lerim.memory.links import EndingLink, EndKind, ending_links, find_ended
from lerim.memory.reference import Reference
from lerim.memory.references.conflicting_answers import answer_problems, find_conflicting_answers
from lerim.memory.references.entries import (
    MemoryEntry,
    MovedReferences,
    ReferenceMoves,
    entry_of,
    find_title_bucket,
    moved_references,
    newest_first,
    symbol_names,
)
from lerim.memory.store import (
    LIVE_FOLDERS,
    MemoryFile,
    StoredMemory,
    find_memory_files,
    read_memory_file,
    stat_memory_file,
    unreadable_problem,
)
from lerim.memory.stray_files import DUPLICATE_ID_CODE

ReadOutcome = tuple[StoredMemory, list[Problem]] | MemoryError_
"""The result of reading a memory's file."""


@dataclass(slots=True)
class MemoryFileChanges:
    """Files that are gone, files that are new or changed, and what was read of them so far."""

    removed: list[str]
    changed: list[MemoryFile]
    anchor: Path
    outcomes: dict[str, ReadOutcome] = field(default_factory=dict)

    def read_files(self) -> Iterator[None]:
        """Reads the files, one per step."""
        for item in self.changed:
            self.outcomes[item.name] = _read_outcome(item, self.anchor)
            yield


class ReferenceMap:
    """The live memories of one folder, by file and by symbol. Empty until the first `scan`.

    A memory that another live memory ends is left out, even while its file is still in a live folder.
    """

    def __init__(self, memory_dir: Path, anchor: Path | None = None) -> None:
        self.memory_dir = memory_dir
        self._anchor = anchor or memory_dir.parent.parent
        self._stamps: dict[str, int] = {}  # as hashes, to save memory with ten thousand files
        self._entries: dict[str, MemoryEntry] = {}
        self._change_count = 0
        self._sorted: tuple[int, tuple[MemoryEntry, ...]] = (0, ())  # by which change, and the entries then
        self._linking: tuple[int, Mapping[str, Sequence[MemoryEntry]]] = (0, {})  # by the id that they name
        self._titled: tuple[int, Mapping[int, Sequence[MemoryEntry]]] = (0, {})  # by the buckets of their titles
        self._links: dict[str, tuple[EndingLink, ...]] = {}
        self._end_kinds: Mapping[str, EndKind] = {}
        self._ended_entries: dict[str, MemoryEntry] = {}
        self._by_file: dict[str, tuple[MemoryEntry, ...]] = {}
        self._paths_by_name: dict[str, tuple[str, ...]] = {}  # of symbols, by the last part of their names
        self._moves: ReferenceMoves = {}
        self._moved_references: MovedReferences = {}
        self._file_problems: dict[str, tuple[Problem, ...]] = {}
        self._folder_problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, or only with a guess, and questions that two memories answer."""
        files = [problem for problems in list(self._file_problems.values()) for problem in problems]
        return [*self._folder_problems, *files, *self._answer_problems()]

    @property
    def entries(self) -> tuple[MemoryEntry, ...]:
        """Every live memory, newest first. They are sorted at the first use after a change."""
        count, found = self._change_count, self._sorted  # the count grows after a change: a sort during it is not kept
        if found[0] != count:
            found = self._sorted = (count, newest_first(list(self._entries.values())))
        return found[1]

    def entry_for(self, path: Path) -> MemoryEntry | None:
        """Returns the live memory of a file, or None."""
        return self._entries.get(f"{path.parent.name}/{path.name}")

    def for_file(self, path: str) -> tuple[MemoryEntry, ...]:
        """Returns the memories that refer to a file or to something in it, newest first. `path` is as in references."""
        moved = [entry for _, entry in self._moved_references.get(path, ())]
        return _merge_entries(self._by_file.get(path, ()), moved)

    def for_symbol(self, path: str, symbol: str) -> tuple[MemoryEntry, ...]:
        """Returns the memories that refer to a symbol of a file; `save` finds `Store.save`, too."""
        here = [entry for entry in self._by_file.get(path, ()) if _refers_to(entry, path, symbol)]
        moved = [entry for one, entry in self._moved_references.get(path, ()) if symbol in symbol_names(one)]
        return _merge_entries(tuple(here), moved)

    def is_about_file(self, entry: MemoryEntry, path: str) -> bool:
        """Returns whether a memory refers to a file itself, not only to symbols of it."""
        moved = (place for place, one in self._moved_references.get(path, ()) if one.name == entry.name)
        return any(place.path == path and not place.symbol for place in (*entry.references, *moved))

    def symbols_named(self, name: str) -> list[Reference]:
        """Returns the symbols with this last name that memories refer to, in whichever file they are."""
        found = {
            one
            for path in self._paths_by_name.get(name, ())
            for entry in self._by_file.get(path, ())
            for one in entry.references
            if one.path == path and _last_name(one) == name
        }
        return sorted(found, key=lambda one: (one.path, one.symbol))

    def by_symbol(self, path: str) -> dict[str, list[MemoryEntry]]:
        """Returns the memories about each symbol of a file, as `for_symbol` does, by its name as it is written there or
        its present name, in order."""
        written = (
            (one, entry) for entry in self._by_file.get(path, ()) for one in entry.references if one.path == path
        )
        places = [*written, *self._moved_references.get(path, ())]
        found: dict[str, dict[str, MemoryEntry]] = {}
        for place, entry in places:
            for name in symbol_names(place):
                found.setdefault(name, {})[entry.name] = entry
        return {name: list(found[name].values()) for name in sorted({place.symbol for place, _ in places} - {""})}

    def for_folder(self, path: str) -> tuple[MemoryEntry, ...]:
        """Returns the memories that refer to a file or folder, or to something in it, newest first."""
        inside = [
            entries for place, entries in list(self._by_file.items()) if place == path or place.startswith(f"{path}/")
        ]
        return newest_first({entry.name: entry for entries in inside for entry in entries}.values())

    def linking_to(self, memory_id: str) -> tuple[MemoryEntry, ...]:
        """Returns the live memories that name this memory in a link, newest first."""
        count, found = self._change_count, self._linking  # made at the first use after a change, as `entries`
        if found[0] != count:
            linking: dict[str, list[MemoryEntry]] = {}
            for entry in self.entries:
                for link in entry.links:
                    linking.setdefault(link, []).append(entry)
            found = self._linking = (count, linking)
        return tuple(found[1].get(memory_id, ()))

    def titled_like(self, title: str) -> tuple[MemoryEntry, ...]:
        """Returns the live memories whose titles differ from this one at most in form, newest first."""
        count, found = self._change_count, self._titled  # made at the first use after a change, as `entries`
        if found[0] != count:
            titled: dict[int, list[MemoryEntry]] = {}
            for entry in self.entries:
                titled.setdefault(entry.title_bucket, []).append(entry)
            found = self._titled = (count, titled)
        form = claim_text(title, "")
        alike = found[1].get(find_title_bucket(title), ())
        return tuple(entry for entry in alike if claim_text(entry.title, "") == form)

    def entry_of_id(self, memory_id: str) -> MemoryEntry | None:
        """Returns the live memory with this id, or None."""
        names = (f"{folder}/{memory_id}.md" for folder in LIVE_FOLDERS)
        return next((entry for name in names if (entry := self._entries.get(name)) is not None), None)

    @property
    def moves(self) -> ReferenceMoves:
        """Where renamed or moved references are now, by memory."""
        return self._moves

    def set_moves(self, moves: ReferenceMoves) -> None:
        """Sets where renamed or moved references are now: by memory, the old and the new reference as written."""
        self._moves = moves
        self._moved_references = moved_references(self._moves, self._entries)

    def scan(self) -> bool:
        """Compares every file's stat with the known one and reads changed files; returns whether anything changed."""
        found, problems = find_memory_files(self.memory_dir, self._anchor)
        changed = tuple(problems) != self._folder_problems
        self._folder_problems = tuple(problems)
        now = {item.name for item in found}
        gone = [name for name in self._stamps if name not in now]
        new = [item for item in found if self._stamps.get(item.name) != hash(item.stamp)]
        return self.apply_changes(MemoryFileChanges(gone, new, self._anchor)) or changed

    def update(self, *paths: Path) -> bool:
        """Updates the map for files that were written, moved or removed, at once; returns whether anything changed."""
        changes = self.find_changes(paths)
        return self.scan() if changes is None else self.apply_changes(changes)

    def find_changes(self, paths: Iterable[Path]) -> MemoryFileChanges | None:
        """Returns which of these files changed, by stat alone; None if a `scan` is needed."""
        gone: list[str] = []
        new: list[MemoryFile] = []
        inside: set[str] = set()
        for path in dict.fromkeys(paths):
            name = self._name(path)
            folder, _, file = name.rpartition("/")
            if not name or path.suffix != ".md" or file.startswith("."):
                continue
            if folder not in LIVE_FOLDERS:
                if name.split("/")[0] in ("archived", "summaries", "journal"):
                    continue
                return None  # a misplaced file
            try:
                if folder not in inside:
                    files.resolve_inside(self._anchor, path.parent)
                    inside.add(folder)
                if path.is_symlink():
                    return None
                item = stat_memory_file(self.memory_dir, name)
            except NotFoundError:
                gone += [name] if name in self._stamps else []
                continue
            except LerimError:
                return None  # a link, or a folder that cannot be listed: the scan reports it
            if self._stamps.get(name) != hash(item.stamp):
                new.append(item)
        return None if self._has_duplicate_ids(gone, new) else MemoryFileChanges(gone, new, self._anchor)

    def _answer_problems(self) -> list[Problem]:
        links = dict(self._links)
        live = [entry for name in links if (entry := self._entries.get(name)) is not None]
        titles = {entry.id: entry.title for entry in live}
        found = find_conflicting_answers((link for many in links.values() for link in many), titles)
        return answer_problems(found, titles, {entry.id: entry.path for entry in live})

    def _name(self, path: Path) -> str:
        try:
            return path.relative_to(self.memory_dir).as_posix()
        except ValueError:
            return ""

    def _has_duplicate_ids(self, gone: list[str], new: list[MemoryFile]) -> bool:
        now = {item.name for item in new}
        for name in (*gone, *now):
            folder, _, file = name.rpartition("/")
            others = [f"{other}/{file}" for other in LIVE_FOLDERS if other != folder]
            if any(other in now or (other in self._stamps and other not in gone) for other in others):
                return True
        return any(problem.code == DUPLICATE_ID_CODE for problem in self._folder_problems)

    def apply_changes(self, changes: MemoryFileChanges) -> bool:
        """Applies the result of `find_changes`, reading files not read yet; returns whether anything changed."""
        gone, new = changes.removed, changes.changed
        removed: dict[str, MemoryEntry] = {}
        added: dict[str, MemoryEntry] = {}
        links_changed = False
        for name in (*gone, *(item.name for item in new)):
            links_changed = self._links.pop(name, None) is not None or links_changed
            self._remove_entry(name, removed)
        for item in new:
            self._add_entry(item, changes.outcomes.get(item.name) or _read_outcome(item, self._anchor), added)
            links_changed = item.name in self._links or links_changed
        if links_changed:
            self._end_kinds = find_ended(link for links in self._links.values() for link in links)
            for name in [name for name, entry in self._ended_entries.items() if entry.id not in self._end_kinds]:
                self._entries[name] = added[name] = self._ended_entries.pop(name)
            self._hide_ended(self._end_kinds, removed, added)
        elif self._end_kinds:
            self._hide_ended([entry.id for entry in added.values() if entry.id in self._end_kinds], removed, added)
        if removed or added:
            self._rebuild(removed, added)
            self._moved_references = moved_references(self._moves, self._entries)
            self._change_count += 1
        return bool(gone or new)

    def _hide_ended(self, ended: Iterable[str], removed: dict[str, MemoryEntry], added: dict[str, MemoryEntry]) -> None:
        for name in [f"{folder}/{memory}.md" for memory in ended for folder in LIVE_FOLDERS]:
            if name in self._entries:
                self._ended_entries[name] = self._entries.pop(name)
                if added.pop(name, None) is None:
                    removed[name] = self._ended_entries[name]

    def _add_entry(self, item: MemoryFile, outcome: ReadOutcome, added: dict[str, MemoryEntry]) -> None:
        if isinstance(outcome, NotFoundError):
            return
        self._stamps[item.name] = hash(item.stamp)
        if isinstance(outcome, MemoryError_):
            self._file_problems[item.name] = (unreadable_problem(str(item.path), outcome),)
            return
        stored, problems = outcome
        if problems:
            self._file_problems[item.name] = tuple(problems)
        if links := ending_links(stored.record):
            self._links[item.name] = links
        if stored.status == "active":
            self._entries[item.name] = added[item.name] = entry_of(stored, item)

    def _remove_entry(self, name: str, removed: dict[str, MemoryEntry]) -> None:
        self._stamps.pop(name, None)
        self._file_problems.pop(name, None)
        self._ended_entries.pop(name, None)
        entry = self._entries.pop(name, None)
        if entry is not None:
            removed[name] = entry

    def _rebuild(self, removed: Mapping[str, MemoryEntry], added: Mapping[str, MemoryEntry]) -> None:
        """Rebuilds only the lists that these entries leave or join."""
        touched: dict[str, list[MemoryEntry]] = {}
        for entry in removed.values():
            for path in {reference.path for reference in entry.references}:
                touched.setdefault(path, [])
        for entry in added.values():
            for path in {reference.path for reference in entry.references}:
                touched.setdefault(path, []).append(entry)
        for path, new in touched.items():
            before = self._by_file.get(path, ())
            remaining = [entry for entry in before if entry.name not in removed]
            after = newest_first((*remaining, *new))
            if after:
                self._by_file[path] = after
            else:
                self._by_file.pop(path, None)
            self._rename_symbols(path, _last_names(path, before), _last_names(path, after))

    def _rename_symbols(self, path: str, before: set[str], after: set[str]) -> None:
        for name in before - after:
            paths = tuple(one for one in self._paths_by_name.get(name, ()) if one != path)
            if paths:
                self._paths_by_name[name] = paths
            else:
                self._paths_by_name.pop(name, None)
        for name in after - before:
            self._paths_by_name[name] = (*self._paths_by_name.get(name, ()), path)


def _read_outcome(item: MemoryFile, anchor: Path) -> ReadOutcome:
    try:
        return read_memory_file(item, anchor)
    except MemoryError_ as error:
        return error


def _last_name(reference: Reference) -> str:
    return symbol_names(reference)[-1] if reference.symbol else ""


def _last_names(path: str, entries: Iterable[MemoryEntry]) -> set[str]:
    return {_last_name(one) for entry in entries for one in entry.references if one.path == path} - {""}


def _refers_to(entry: MemoryEntry, path: str, symbol: str) -> bool:
    return any(reference.path == path and symbol in symbol_names(reference) for reference in entry.references)


def _merge_entries(here: tuple[MemoryEntry, ...], moved: Sequence[MemoryEntry]) -> tuple[MemoryEntry, ...]:
    return newest_first({entry.name: entry for entry in (*here, *moved)}.values()) if moved else here
