"""Caches how many tokens texts have: a number per digest, without the text."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping


def digest_text(text: str) -> int:
    """Returns a 64-bit digest of a text, as a signed integer for SQLite."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def find_token_count(db: sqlite3.Connection, text: int) -> int | None:
    """Returns how many tokens the text with this digest has, or None if it was never counted."""
    row = db.execute("SELECT tokens FROM counted WHERE text = ?", (text,)).fetchone()
    return None if row is None else int(row[0])


def keep_token_counts(db: sqlite3.Connection, counted: Mapping[int, int]) -> None:
    """Saves token counts by digest; call it inside a transaction."""
    db.executemany("INSERT OR REPLACE INTO counted VALUES (?, ?)", counted.items())
