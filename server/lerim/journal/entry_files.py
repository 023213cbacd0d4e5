"""Writes entries as files, `journal/YYYY/MM/DD.md` in the folder of memories, but only when the person asks for it.

The header has a `digest` of the rest of the file. A file that matches its digest is as Lerim wrote it, on whichever
machine, and can be rewritten. Any other file belongs to the person and is left as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from lerim import files
from lerim.errors import MemoryError_, NotFoundError, StaleError
from lerim.journal.entry import JournalEntry
from lerim.journal.render import link_from_entry, render_body
from lerim.memory import MemoryRecord, record
from lerim.paths import Home
from lerim.project import Project
from lerim.review import ReviewPaths

FOLDER = "journal"
MAX_ENTRY_BYTES = 1024 * 1024
EntryChange = Literal["written", "updated", "unchanged", "theirs", "empty"]
"""The result of writing an entry. `theirs`: a person edited the file, and it was left as it is. `empty`: there was
nothing to write."""
_DIGEST_LINE = re.compile(r"^digest: ['\"]?([0-9a-f]{16})['\"]?[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """The result of writing an entry's file. `diff` shows what writing it would have changed, if a person edited it."""

    change: EntryChange
    path: Path
    diff: str = ""


def entry_path(project: Project, day: date) -> Path:
    """Returns the path of a day's file."""
    return project.memory_dir / FOLDER / f"{day:%Y}" / f"{day:%m}" / f"{day:%d}.md"


def render_entry_file(entry: JournalEntry) -> str:
    """Returns the text of an entry's file: a header in the same form as that of memories, and the entry."""
    day = date.fromisoformat(entry.day)
    times = [source.time for source in entry.sources if source.time and source.kind != "memory"]
    written_of = datetime.fromisoformat(max(times)) if times else datetime(day.year, day.month, day.day, tzinfo=UTC)
    header = MemoryRecord(
        id=f"{day:%Y%m%d}-journal",
        primitive="summary",
        title=entry.title,
        created=written_of,
        updated=written_of,
        source="journal",
        confidence=1.0,
        tags=(),
        body=render_body(entry, link_from_entry).rstrip("\n"),
    )
    return record.render_record(header, {"digest": files.hash_text(record.render_record(header))})


def is_as_written(text: str) -> bool:
    """Returns whether a file is as Lerim wrote it. Line ends do not matter, because git may have changed them."""
    text = text.replace("\r\n", "\n")
    head, found, _ = text.partition("\n---\n")
    match = _DIGEST_LINE.search(f"{head}\n") if found else None
    return match is not None and files.hash_text(text[: match.start()] + text[match.end() :]) == match[1]


def write_entry(project: Project, home: Home, entry: JournalEntry) -> WrittenEntry:
    """Writes the file of an entry, unless a person edited it.

    Raises MemoryError_ or BoundaryError; an existing file is then unchanged.
    """
    path = entry_path(project, date.fromisoformat(entry.day))
    if not entry.sentences:
        return WrittenEntry("empty", path)
    store, text = ReviewPaths(project, home).store(), render_entry_file(entry)
    staging = project.memory_dir / FOLDER  # a month's folder may never be written to again
    try:
        before = files.read_text(path, MAX_ENTRY_BYTES, store.anchor)
    except NotFoundError:
        store.make_folder(path.parent)
        if files.create_file(path, text, anchor=store.anchor, temporary_folder=staging):
            return WrittenEntry("written", path)
        before = files.read_text(path, MAX_ENTRY_BYTES, store.anchor)  # another process has just written it
    if before.replace("\r\n", "\n") == text:
        return WrittenEntry("unchanged", path)
    if is_as_written(before):
        try:
            files.replace_file(path, text, anchor=store.anchor, before=before, temporary_folder=staging)
            return WrittenEntry("updated", path)
        except StaleError:
            before = _read_again(path, store.anchor)  # a person has just saved it
    return WrittenEntry("theirs", path, files.render_diff(files.FileUpdate(path, before, text, "the journal")))


def _read_again(path: Path, anchor: Path) -> str:
    try:
        return files.read_text(path, MAX_ENTRY_BYTES, anchor)
    except MemoryError_:
        return ""
