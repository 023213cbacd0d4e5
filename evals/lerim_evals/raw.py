"""What stands in a transcript file, read without our own readers: the ground on which quotes are checked."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

_CUT = re.compile(r"\[redacted:[a-z-]{1,30}\]|\\x[0-9a-f]{2}|\\u\{[0-9a-f]{1,6}\}")
_HIDDEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


def texts(path: Path) -> str:
    """Every string in a store (JSON lines, one JSON document, or all rows of a database), one after the other, each run
    of white space one space. JSON inside a string counts too."""
    with path.open("rb") as file:
        database = file.read(16) == b"SQLite format 3\0"
    return plain("\n".join(_rows(path) if database else _lines(path.read_text(encoding="utf-8", errors="replace"))))


def _lines(text: str) -> Iterator[str]:
    try:
        yield from _strings(json.loads(text))
        return
    except ValueError:
        pass  # not one document: a line each
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


def stands(quote: str, all_texts: str) -> bool:
    """Whether a quote stands in the file: every piece of it between what redaction cut out."""
    pieces = [plain(piece) for piece in _CUT.split(quote)]
    return any(pieces) and all(piece in all_texts for piece in pieces)


def records(path: Path) -> list[str]:
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


def plain(text: str) -> str:
    """The text without characters that do not show, each run of white space one space."""
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
