"""Reads rows of a database that belongs to another program: columns come and go, values have any type, pages may be
damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

Row = tuple[object, ...]


def table_columns(db: sqlite3.Connection, table: str) -> frozenset[str]:
    """Returns the columns a table has in this version of its program; empty if there is no such table."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone():
        return frozenset()
    return frozenset(column_text(name) for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def is_table_missing(db: sqlite3.Connection, table: str) -> bool:
    """Returns whether a table that its program always creates is missing, or its name is used by something else.

    Returns False for a database in which nothing was created yet.
    """
    if table_columns(db, table):
        return False
    (made,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(made) or column_number(db.execute("PRAGMA page_count").fetchone()[0]) > 1


def read_rows(
    db: sqlite3.Connection, table: str, wanted: str, where: str, parameters: tuple[str | int, ...], lost: list[int]
) -> Iterator[Row]:
    """Yields the rows of `SELECT wanted FROM table WHERE where`, in no particular order; skips only the rows that
    cannot be read.

    `wanted` are expressions separated by commas. The rowids of rows that are damaged or too long are added to `lost`.
    Raises sqlite3.Error if not even the rowids can be read.
    """
    yielded: set[object] = set()
    try:
        for row in db.execute(f"SELECT rowid, {wanted} FROM {table} WHERE {where}", parameters):
            yielded.add(row[0])
            yield row[1:]
        return
    except sqlite3.Error as error:
        if not _is_row_error(error):
            raise
    for (one,) in db.execute(f"SELECT rowid FROM {table} WHERE {where}", parameters).fetchall():
        if one in yielded:
            continue
        try:
            yield from db.execute(f"SELECT {wanted} FROM {table} WHERE rowid = ?", (one,)).fetchall()
        except sqlite3.Error as error:
            if not _is_row_error(error):
                raise
            lost.append(one)


def _is_row_error(error: sqlite3.Error) -> bool:
    """Returns whether other rows may still be readable. In some versions, a value over the limit of a connection raises
    an error without a code."""
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_ERROR)
    return isinstance(error, sqlite3.DataError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in codes


def column_text(value: object) -> str:
    """Converts a value of any column to text that can be stored: '' for NULL, with invalid UTF-8 and NUL replaced."""
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.replace("\0", "\ufffd")


def column_number(value: object) -> int:
    """Converts a value of any column to a 64-bit integer; returns 0 if that is not possible."""
    try:
        number = int(value) if isinstance(value, (int, float, bytes)) else 0
    except (ValueError, OverflowError):
        return 0
    return number if -(1 << 63) <= number < 1 << 63 else 0
