"""Renders one memory as one line of an agent's rules file, and parses such a line again.

A line states a fact: kind, title, the reason if there is room, day, places, and a mark of seven hex digits by which
`lerim export` finds the memory again when a person edits the line. The full id would cost an agent four times as
many tokens.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from lerim.memory import MemoryRecord, find_reason, neutral_line
from lerim.times import format_utc

MARK_LENGTH = 7
MAX_TITLE_CHARS, MAX_REASON_CHARS, MAX_PLACE_CHARS, MAX_PLACES = 200, 120, 120, 3
_BEFORE_REASON = " — "
_LINE = re.compile(
    r"^[-*+] (?:(?P<kind>[a-z ]{1,20}): )?(?P<title>.+?)"
    r"(?: \((?P<about>\d{4}-\d\d-\d\d[^\n]*)\))? \[(?P<mark>[0-9a-f]{7})\]\s*$"
)


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """The content of a line: the mark of its memory, and the title, which may be followed by the reason."""

    mark: str
    title: str


def make_mark(memory_id: str) -> str:
    """Returns the mark that identifies a memory in a line: the first seven hex digits of the hash of its id."""
    return hashlib.sha256(memory_id.encode("utf-8", "replace")).hexdigest()[:MARK_LENGTH]


def render_line(record: MemoryRecord, *, with_reason: bool = False) -> str:
    """Returns a memory as one line: `- decision: Prices are Decimal (2026-03-02, src/money.py#Price) [1a2b3c4]`, or
    with the reason after the title: `Prices are Decimal — floats lost cents`."""
    reason = _reason(record) if with_reason else ""
    text = f"{_title(record)}{_BEFORE_REASON}{reason}" if reason else _title(record)
    kind = "open question" if record.primitive == "question" else record.kind or record.primitive
    return f"- {kind}: {text} ({', '.join(_about(record))}) [{make_mark(record.id)}]"


def render_lines(record: MemoryRecord) -> set[str]:
    """Returns the lines that can be rendered for a memory: without and with the reason."""
    return {render_line(record), render_line(record, with_reason=True)}


def parse_line(text: str) -> ParsedLine | None:
    """Parses a line that `render_line` wrote, even if a person edited it since. Returns None for any other line."""
    found = _LINE.match(text.strip())
    if found is None:
        return None
    return ParsedLine(found["mark"], found["title"].strip())


def find_new_words(record: MemoryRecord, line: str) -> tuple[str, str] | None:
    """Returns the title and the reason that an edited line gives its memory; the reason is "" if it is still the
    memory's own. Returns None if the line says the same as the memory."""
    parsed = parse_line(line)
    title, reason = _title(record), _reason(record)
    if parsed is None or parsed.title in (title, f"{title}{_BEFORE_REASON}{reason}"):
        return None
    if reason and parsed.title.endswith(f"{_BEFORE_REASON}{reason}"):
        return parsed.title.removesuffix(f"{_BEFORE_REASON}{reason}"), ""
    if parsed.title.startswith(f"{title}{_BEFORE_REASON}"):
        return title, parsed.title.removeprefix(f"{title}{_BEFORE_REASON}")
    new_title, _, new_reason = parsed.title.partition(_BEFORE_REASON) if reason else (parsed.title, "", "")
    return new_title, new_reason


def _title(record: MemoryRecord) -> str:
    return neutral_line(record.title, MAX_TITLE_CHARS)


def _reason(record: MemoryRecord) -> str:
    return neutral_line(find_reason(record), MAX_REASON_CHARS)


def _about(record: MemoryRecord) -> list[str]:
    places = [neutral_line(reference, MAX_PLACE_CHARS) for reference in record.references]
    more = len(places) - MAX_PLACES
    return [format_utc(record.created)[:10], *places[:MAX_PLACES], *([f"{more} more"] if more > 0 else [])]
