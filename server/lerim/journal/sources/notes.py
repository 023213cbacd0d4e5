"""Reads notes and feed files of the person, and finds those that belong to a day.

A note belongs to the day in its name (`2026-03-02 meeting.md`, `2026/03/02.md`, `20260302.md`), otherwise to the day
in its header's `date` or `created`, otherwise to the day on which it was last changed. Symbolic links are not
followed, and everything is limited, because a folder may be a whole home.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path

from lerim import files
from lerim.errors import LerimError, MemoryError_, Problem, error_reason
from lerim.extraction import shorten
from lerim.journal.days import FIRST_DAY, LAST_DAY, DaySpan, local_day
from lerim.journal.entry import DraftSentence, JournalSource
from lerim.journal.sources.feeds import parse_feed
from lerim.memory import load_header, split_header
from lerim.redaction import clean_text, find_flags, strip_markup
from lerim.times import format_utc

MAX_FILES = 2_000
"""Maximum number of entries of a folder and its subfolders that are looked at."""
MAX_DEPTH = 4
MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_NOTES = 20
"""Maximum number of notes and feed items of one day that are included."""
MAX_TITLE_CHARS, MAX_TEXT_CHARS = 120, 280
NOTE_SUFFIXES, FEED_SUFFIXES = (".md", ".markdown", ".txt"), (".xml", ".rss", ".atom", ".json")
TOPIC = "Notes"
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)")
_MARKS = re.compile(r"^[ \t>]{0,12}(?:#{1,6}[ \t]+|[-*•][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,2}[.)][ \t]+)?")


@dataclass(frozen=True, slots=True)
class DayNote:
    """A note or an item of a feed, without secrets. `name` is unique among the sources of a day; `time` is None for
    a note if only its day is known, not its hour."""

    name: str
    title: str
    text: str
    time: datetime | None


def read_notes(
    sources: Sequence[str], home: Path, span: DaySpan, zone: tzinfo | None
) -> tuple[list[DayNote], list[Problem]]:
    """Returns the notes and feed items of a span, in the order of the sources and their names, and a problem for
    each source or file that cannot be read. `home` is the folder that `~` stands for."""
    notes: list[DayNote] = []
    problems: list[Problem] = []
    for source in sources:
        path = home / source[2:] if source.startswith("~") else Path(source)
        try:
            notes += _read_source(path, span, zone, problems)
        except LerimError as error:
            problems.append(error.problem(str(path)))
        except OSError as error:
            message = f"This source of the journal cannot be read: {error_reason(error)}."
            problems.append(Problem("journal-source", str(path), message))
    return notes[:MAX_NOTES], problems


def describe_notes(notes: Sequence[DayNote]) -> Iterator[DraftSentence]:
    """Yields a sentence for each note, except those that read like an order to an agent."""
    for note in notes:
        if find_flags(note.title, note.text):
            continue
        text = f"“{note.title}”: “{shorten(note.text, MAX_TEXT_CHARS)}”" if note.text else f"“{note.title}”"
        yield DraftSentence("done", text, (note_source(note),), "note", TOPIC)


def note_source(note: DayNote) -> JournalSource:
    """Returns a note as a source."""
    return JournalSource(0, f"n:{note.name}", "note", note.title, format_utc(note.time))


def _read_source(path: Path, span: DaySpan, zone: tzinfo | None, problems: list[Problem]) -> Iterator[DayNote]:
    if not path.is_dir():
        if path.suffix.lower() in FEED_SUFFIXES:
            yield from _read_feed(path, span)
        else:
            yield from _read_note(path, path.name, span, zone)
        return
    for file in sorted(_walk(path, problems), key=str):
        try:
            yield from _read_note(file, file.relative_to(path).as_posix(), span, zone)
        except (MemoryError_, OSError) as error:
            reason = error.explanation if isinstance(error, MemoryError_) else f"{error_reason(error)}."
            problems.append(Problem("journal-source", files.path_to_text(file), reason))


def _walk(top: Path, problems: list[Problem]) -> Iterator[Path]:
    waiting, left = [(top, 0)], MAX_FILES
    while waiting:
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            message = f"This folder of notes cannot be read: {error_reason(error)}."
            problems.append(Problem("journal-source", files.path_to_text(folder), message))
            continue
        for entry in listed:
            left -= 1
            if left < 0:
                return
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
                waiting.append((Path(entry.path), depth + 1))
            elif entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(NOTE_SUFFIXES):
                yield Path(entry.path)


def _read_note(path: Path, name: str, span: DaySpan, zone: tzinfo | None) -> Iterator[DayNote]:
    """Yields the note in a file if it belongs to the span. Raises MemoryError_."""
    day, changed = _day_of_name(name), datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    if day is not None and day != span.day:
        return
    text = files.read_text(path, MAX_FILE_BYTES)
    body, header_day = _split_note(text, zone)
    known_day = day or header_day
    if known_day is None and not span.since <= changed < span.until:
        return
    if known_day is not None and known_day != span.day:
        return
    lines = [line for line in (_MARKS.sub("", line).strip() for line in clean_text(body).splitlines()) if line]
    shown = clean_text(files.path_to_text(name))
    title, rest = (lines[0], lines[1:]) if lines else (shown, [])
    yield DayNote(
        shown,
        shorten(strip_markup(title), MAX_TITLE_CHARS),
        strip_markup(" ".join(rest)[: 4 * MAX_TEXT_CHARS]),
        None if known_day else changed,
    )


def _read_feed(path: Path, span: DaySpan) -> Iterator[DayNote]:
    """Yields the items of a feed that belong to the span. Raises FeedError, MemoryError_."""
    items = parse_feed(files.read_text(path, MAX_FILE_BYTES).encode(), str(path))
    for number, item in enumerate(item for item in items if span.since <= item.time < span.until):
        title, text = (strip_markup(clean_text(part)) for part in (item.title, item.text))
        name = f"{clean_text(files.path_to_text(path.name))}#{item.time:%Y%m%dT%H%M%SZ}-{number}"
        yield DayNote(
            name, shorten(title or text, MAX_TITLE_CHARS), text[: 4 * MAX_TEXT_CHARS] if title else "", item.time
        )


def _day_of_name(name: str) -> date | None:
    match = _DAY.search(name)
    try:
        return date(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def _split_note(text: str, zone: tzinfo | None) -> tuple[str, date | None]:
    """Returns a note's text without its header, and the day in the header. A time without a zone is in the person's
    zone."""
    parts = split_header(text)
    if parts is None:
        return text, None
    try:
        header = load_header(text[parts.start : parts.end], "")
    except MemoryError_:
        return text[parts.body :], None
    value = header.get("date", header.get("created"))
    if isinstance(value, datetime):
        is_of_a_day = FIRST_DAY <= value.date() <= LAST_DAY  # Go's zero time is in no calendar west of Greenwich
        return text[parts.body :], local_day(value, zone) if value.tzinfo and is_of_a_day else value.date()
    if isinstance(value, str) and (day := _day_of_name(value[:10])):
        return text[parts.body :], day
    return text[parts.body :], value if isinstance(value, date) else None
