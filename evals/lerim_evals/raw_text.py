"""Reads the text of transcript files without Lerim's own readers, so that quotes are checked independently of them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

_CUT = re.compile(r"\[redacted:[a-z-]{1,30}\]|\\x[0-9a-f]{2}|\\u\{[0-9a-f]{1,6}\}")
_HIDDEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


def read_all_text(path: Path) -> str:
    """All strings of a file (JSON lines, one JSON document, or an SQLite database) as one normalised text.

    JSON inside of strings is parsed as well.
    """
    with path.open("rb") as file:
        database = file.read(16) == b"SQLite format 3\0"
    return normalise_text(
        "\n".join(_rows(path) if database else _lines(path.read_text(encoding="utf-8", errors="replace")))
    )


def _lines(text: str) -> Iterator[str]:
    try:
        yield from _strings(json.loads(text))
        return
    except ValueError:
        pass  # not a single document, so one per line
    for line in text.split("\n"):
        try:
            yield from _strings(json.loads(line))
        except ValueError:
            continue


def _rows(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                    yield from _strings(text)


def contains_quote(quote: str, all_texts: str) -> bool:
    """Whether a file's text contains a quote. Of a redacted quote, each piece between the cuts has to be there."""
    pieces = [normalise_text(piece) for piece in _CUT.split(quote)]
    return any(pieces) and all(piece in all_texts for piece in pieces)


def read_record_ids(path: Path) -> list[str]:
    """The native ids (`uuid`) of a Claude Code transcript's records, in the order of the file."""
    found: list[str] = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(uuid := record.get("uuid"), str):
            found.append(uuid)
    return found


def normalise_text(text: str) -> str:
    """The text without invisible characters, and with each run of white space as one space."""
    return " ".join(_HIDDEN.sub("", text).split())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                yield from _strings(json.loads(value))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
