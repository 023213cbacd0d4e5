"""A turn's words in the full-text index: what was said, what tools were asked, and what was said around it.

The index holds no text of its own, so that it must be told what it had whenever a row changes. That is made again from
the rows of `turns`: the columns of a turn depend on nothing else.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from lerim.memory.terms import STOP
from lerim.sessions.turn_text import searchable, unpack

NEIGHBOURS = 2
"""So many turns of prose before and behind one stand in its column `near`."""
NEAR_CHARACTERS = 160
"""Of each of them, at its beginning."""
LONG = 600
"""Characters of a turn that needs no others to be found."""

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[a-z][A-Z]")
_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Z]{0,20}[a-z0-9]{1,40}[A-Z][A-Za-z0-9]{0,60}")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@dataclass(frozen=True, slots=True)
class Said:
    """What the index takes of a turn: its place among the turns of its transcript, and its texts."""

    ordinal: int
    prose: bool
    time: float | None
    text: str
    tools: str


Columns = tuple[str, str, str]
"""text, tools, near."""


def is_prose(kind: str, text: str) -> bool:
    """Whether people or the model speak, so that a turn is found by what was said around it too: it is no command, and
    not tool calls alone."""
    return kind != "shell" and bool(text) and not text.isspace()


def index_text(text: str) -> str:
    """`text` for the index: scripts without spaces apart, and behind it the parts of each `camelCase` name.

    The index itself parts `snake_case`, dotted and dashed names and paths; as a phrase they are found whole.
    """
    plain = searchable(text)
    if not _HUMP.search(plain):
        return plain
    return "\n".join((plain, *map(_parted, dict.fromkeys(_NAME.findall(plain)))))


@lru_cache(20_000)
def _parted(name: str) -> str:
    return " ".join(parts(name))


def parts(name: str) -> list[str]:
    """`getUserName`: get, User, Name; any other word is its only part."""
    return _PART.findall(name) if name.isascii() and _HUMP.search(name) else [name]


def date_words(time: float | None) -> str:
    """The date of a moment (UTC) as words, `saturday 21 november 2026`; '' for none."""
    return "" if time is None else _day(int(time // 86_400))


@lru_cache(1_000)
def _day(number: int) -> str:
    try:
        day = datetime.fromtimestamp(number * 86_400, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{DAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]} {day.year}"


_ROW = "SELECT id, ordinal, prose, time, body FROM turns WHERE transcript = :transcript"
_STANDING = (
    f"{_ROW} AND ordinal BETWEEN :first AND :last"
    f" UNION ALL SELECT * FROM ({_ROW} AND prose AND ordinal < :first ORDER BY ordinal DESC, id DESC LIMIT :reach)"
    f" UNION ALL SELECT * FROM ({_ROW} AND prose AND ordinal > :last ORDER BY ordinal, id LIMIT :reach)"
)


def standing(db: sqlite3.Connection, transcript: int, first: int, last: int) -> dict[int, Said]:
    """The rows whose columns can change with a change between two ordinals of a transcript, and their neighbours."""
    reach = 2 * NEIGHBOURS
    rows = db.execute(_STANDING, {"transcript": transcript, "first": first, "last": last, "reach": reach})
    return {row: Said(ordinal, bool(prose), time, *unpack(body)) for row, ordinal, prose, time, body in rows}


def update(db: sqlite3.Connection, before: Iterable[Mapping[int, Said]], after: Iterable[Mapping[int, Said]]) -> None:
    """Brings the index from the rows of some transcripts as they stood to what they are now; inside a transaction. A
    mapping is what `standing` said of one transcript, or would say now."""
    had: dict[int, Columns] = {}
    has: dict[int, Columns] = {}
    for rows in before:
        had |= columns(rows)
    for rows in after:
        has |= columns(rows)
    gone = [(row, *words) for row, words in had.items() if has.get(row) != words]
    come = [(row, *words) for row, words in has.items() if had.get(row) != words]
    if gone:
        db.executemany("INSERT INTO words (words, rowid, text, tools, near) VALUES ('delete', ?, ?, ?, ?)", gone)
    db.executemany("INSERT INTO words (rowid, text, tools, near) VALUES (?, ?, ?, ?)", come)


def refill(db: sqlite3.Connection) -> None:
    """Fills the empty index, and says which turns are prose, from the texts of all turns; inside a transaction."""
    for (transcript,) in db.execute("SELECT DISTINCT transcript FROM turns").fetchall():
        rows = {}
        found = db.execute("SELECT id, ordinal, kind, time, body FROM turns WHERE transcript = ?", (transcript,))
        for row, ordinal, kind, time, body in found:
            text, tools = unpack(body)
            rows[row] = Said(ordinal, is_prose(kind, text), time, text, tools)
        db.executemany("UPDATE turns SET prose = 1 WHERE id = ?", [(row,) for row, said in rows.items() if said.prose])
        update(db, (), (rows,))


def columns(rows: Mapping[int, Said]) -> dict[int, Columns]:
    """By row what the index holds of these turns of one transcript."""
    found = {row: (index_text(said.text), index_text(said.tools), "") for row, said in rows.items()}
    prose = sorted((said.ordinal, row) for row, said in rows.items() if said.prose)
    heads = [_telling(found[row][0][:NEAR_CHARACTERS]) for _, row in prose]
    for at, (_, row) in enumerate(prose):
        if len(rows[row].text) > LONG:
            continue
        near = dict.fromkeys(date_words(rows[row].time).split())
        for words in (*heads[max(0, at - NEIGHBOURS) : at], *heads[at + 1 : at + 1 + NEIGHBOURS]):
            near |= words
        found[row] = (*found[row][:2], " ".join(near))
    return found


def _telling(text: str) -> dict[str, None]:
    """The words of a text that tell something, each once."""
    return dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in STOP)
