"""How many tokens texts have, so that none is counted twice: a number for each digest, and no text."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping


def digest_text(text: str) -> int:
    """64 bits that stand for a text, as SQLite keeps a whole number."""
    whole = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(whole, "big", signed=True)


def find_token_count(db: sqlite3.Connection, text: int) -> int | None:
    """The tokens of the text with this digest; None where it was never counted."""
    row = db.execute("SELECT tokens FROM counted WHERE text = ?", (text,)).fetchone()
    return None if row is None else int(row[0])


def keep_token_counts(db: sqlite3.Connection, counted: Mapping[int, int]) -> None:
    """Keeps tokens by digest, inside a transaction."""
    db.executemany("INSERT OR REPLACE INTO counted VALUES (?, ?)", counted.items())
