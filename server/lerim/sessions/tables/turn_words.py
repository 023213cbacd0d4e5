"""A turn's words in the full-text index: what was said, the tool calls, and what was said in the turns around it.

The index does not store its text, so the old columns of a row are needed to change it. They are computed again from
the rows of `turns`, on which alone they depend.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain

import msgspec

from lerim.sessions.tables.turn_text import space_ideographs, unpack_turn_text
from lerim.words import STOP_WORDS

NEIGHBOUR_TURNS = 2
"""How many turns of prose before and after a turn go into its column `near`."""
NEIGHBOUR_CHARACTERS = 140
"""How many characters of each neighbour, from its beginning."""
LONG_TURN_CHARACTERS = 600
"""Turns with more characters are indexed without the words of their neighbours."""

_WORD = re.compile(r"[^\W_]+")
_CASE_CHANGE = re.compile(r"[a-z][A-Z]")
_CAMEL_CASE_NAME = re.compile(rb"[A-Za-z][A-Z]{0,20}[a-z0-9]{1,40}[A-Z][A-Za-z0-9]{0,60}")
_CHARACTER_CLASSES = bytes(
    ord("a" if c in range(97, 123) else "A" if c in range(65, 91) else "0" if c in range(48, 58) else " ")
    for c in range(256)
)
"""Maps each byte of UTF-8 to `a`, `A`, `0` or a space (a separator): looking for `aA` in the result is much faster than
a pattern."""
_NAME_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class IndexedTurn(msgspec.Struct, frozen=True, gc=False):
    """The data of a turn that the index needs: its position among the turns of its transcript, and its texts."""

    ordinal: int
    is_prose: bool
    time: float | None
    text: str
    tools: str


IndexColumns = tuple[str, str, str]
"""text, tools, near."""


def is_prose(kind: str, text: str) -> bool:
    """Returns whether a person or the model speaks in this turn, rather than a command or only tool calls. Such turns
    are also found by what was said around them."""
    return kind != "shell" and bool(text) and not text.isspace()


def make_index_text(text: str) -> str:
    """Prepares `text` for the index: separates scripts without spaces and appends the parts of each `camelCase` name.

    The index itself splits `snake_case`, dotted and dashed names and paths; they are found as phrases.
    """
    plain = space_ideographs(text)
    data = plain.encode("utf-8", "surrogatepass")
    cases = data.translate(_CHARACTER_CLASSES)
    at = cases.find(b"aA")
    if at < 0:
        return plain
    names: dict[bytes, None] = {}
    while at >= 0:
        if found := _CAMEL_CASE_NAME.match(data, cases.rfind(b" ", 0, at) + 1):
            names[found[0]] = None
        end = cases.find(b" ", at)
        at = cases.find(b"aA", end) if end >= 0 else -1
    return "\n".join((plain, *map(_split_name_bytes, names)))


@lru_cache(20_000)
def _split_name_bytes(name: bytes) -> str:
    return " ".join(split_name(name.decode()))


def split_name(name: str) -> list[str]:
    """Splits `getUserName` into get, User, Name; returns any other word unchanged."""
    return _NAME_PART.findall(name) if name.isascii() and _CASE_CHANGE.search(name) else [name]


def date_to_words(time: float | None) -> str:
    """Returns the date of a time (UTC) as words, `saturday 21 november 2026`; '' for None."""
    return "" if time is None else _format_day(int(time // 86_400))


@lru_cache(1_000)
def _format_day(number: int) -> str:
    try:
        day = datetime.fromtimestamp(number * 86_400, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{DAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]} {day.year}"


_SELECT_ROWS = "SELECT id, ordinal, prose, time, body FROM turns WHERE transcript = :transcript"
_SELECT_AFFECTED = (
    f"{_SELECT_ROWS} AND ordinal BETWEEN :first AND :last"
    f" UNION ALL SELECT * FROM ({_SELECT_ROWS} AND prose AND ordinal < :first"
    "  ORDER BY ordinal DESC, id DESC LIMIT :reach)"
    f" UNION ALL SELECT * FROM ({_SELECT_ROWS} AND prose AND ordinal > :last ORDER BY ordinal, id LIMIT :reach)"
)


def load_indexed_turns(db: sqlite3.Connection, transcript: int, first: int, last: int) -> dict[int, IndexedTurn]:
    """Loads the rows whose index columns can change when turns between two ordinals change, and their neighbours."""
    reach = 2 * NEIGHBOUR_TURNS
    rows = db.execute(_SELECT_AFFECTED, {"transcript": transcript, "first": first, "last": last, "reach": reach})
    return {
        row: IndexedTurn(ordinal, bool(prose), time, *unpack_turn_text(body))
        for row, ordinal, prose, time, body in rows
    }


def update_index(
    db: sqlite3.Connection, before: Iterable[Mapping[int, IndexedTurn]], after: Iterable[Mapping[int, IndexedTurn]]
) -> None:
    """Updates the index from the previous to the current rows of some transcripts; call it inside a transaction. Each
    mapping is what `load_indexed_turns` returned for one transcript, or would return now."""
    columns_before: dict[int, IndexColumns] = {}
    columns_after: dict[int, IndexColumns] = {}
    for rows in before:
        columns_before |= make_index_columns(rows)
    for rows in after:
        columns_after |= make_index_columns(rows)
    removed = [(row, *words) for row, words in columns_before.items() if columns_after.get(row) != words]
    added = [(row, *words) for row, words in columns_after.items() if columns_before.get(row) != words]
    if removed:
        db.executemany("INSERT INTO words (words, rowid, text, tools, near) VALUES ('delete', ?, ?, ?, ?)", removed)
    db.executemany("INSERT INTO words (rowid, text, tools, near) VALUES (?, ?, ?, ?)", added)


def make_index_columns(rows: Mapping[int, IndexedTurn]) -> dict[int, IndexColumns]:
    """Returns by row the index columns for these turns of one transcript."""
    texts = {row: make_index_text(turn.text) for row, turn in rows.items()}
    prose = sorted((turn.ordinal, row) for row, turn in rows.items() if turn.is_prose)
    beginnings = [_list_content_words(texts[row][:NEIGHBOUR_CHARACTERS]) for _, row in prose]
    near_texts = dict.fromkeys(rows, "")
    for position, (_, row) in enumerate(prose):
        turn = rows[row]
        if len(turn.text) <= LONG_TURN_CHARACTERS:
            neighbour_words = (
                *beginnings[max(0, position - NEIGHBOUR_TURNS) : position],
                *beginnings[position + 1 : position + 1 + NEIGHBOUR_TURNS],
            )
            near_texts[row] = " ".join(dict.fromkeys(chain(date_to_words(turn.time).split(), *neighbour_words)))
    return {row: (texts[row], make_index_text(turn.tools), near_texts[row]) for row, turn in rows.items()}


def _list_content_words(text: str) -> list[str]:
    """Returns the words of a text that are not stop words."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]
