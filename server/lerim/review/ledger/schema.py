"""The tables of the review ledger, and their migration from older versions."""

from __future__ import annotations

import secrets
import sqlite3

from lerim.extraction import decode_candidate
from lerim.review.compare import fingerprint, pack_hashes

LEDGER_VERSION = 6
_CLAIMS = """
CREATE TABLE claims (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, text BLOB NOT NULL, title BLOB NOT NULL, words BLOB NOT NULL,
    state TEXT NOT NULL, memory TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
    blocked INTEGER NOT NULL DEFAULT 0, written TEXT NOT NULL DEFAULT '', said INTEGER NOT NULL DEFAULT 0,
    told BLOB NOT NULL DEFAULT x''
) WITHOUT ROWID;
"""
_CHOICES = """
CREATE TABLE choices (
    number INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, claim BLOB NOT NULL, title BLOB NOT NULL,
    words BLOB NOT NULL, source TEXT NOT NULL, memory TEXT NOT NULL, made TEXT NOT NULL, answer TEXT NOT NULL
);
"""
_SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
{_CLAIMS}
CREATE TABLE ours (hash TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE actions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, label TEXT NOT NULL,
    candidate TEXT NOT NULL, memory TEXT NOT NULL, was TEXT NOT NULL, becomes TEXT NOT NULL, stage TEXT NOT NULL,
    time TEXT NOT NULL, changes TEXT NOT NULL
);
CREATE TABLE left_out (
    id TEXT PRIMARY KEY, reason TEXT NOT NULL, detail TEXT NOT NULL, title TEXT NOT NULL, session TEXT NOT NULL,
    turn TEXT NOT NULL, at REAL NOT NULL, said REAL NOT NULL, score REAL, candidate BLOB,
    proposed TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE judgments (
    number INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL UNIQUE, candidate TEXT NOT NULL, at REAL NOT NULL,
    what TEXT NOT NULL, signal TEXT NOT NULL, primitive TEXT NOT NULL, kind TEXT, score REAL NOT NULL,
    features BLOB NOT NULL
);
{_CHOICES}"""


class TooOldLedgerError(Exception):
    """The ledger is of a version that is not migrated (docs/decisions/0091-catalogs-made-anew.md)."""

    def __init__(self) -> None:
        super().__init__("an early version of Lerim, which was never released, made it")


def migrate_ledger(connection: sqlite3.Connection, version: int) -> None:
    """Creates the tables (`version` 0), or migrates those of version 5. Runs inside a transaction."""
    if 0 < version < 5:
        raise TooOldLedgerError
    if version == 0:
        for statement in _SCHEMA.split(";")[:-1]:
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('salt', ?)", (secrets.token_bytes(32),))
    else:
        connection.execute(_CHOICES)
        _add_text_hashes(connection)


def _add_text_hashes(connection: sqlite3.Connection) -> None:
    """Replaces the hashes of each claim's names and numbers with a hash of its text, computed from the claim as it was
    proposed. A claim stored without its text is recognised only by its turn."""
    salt = connection.execute("SELECT value FROM meta WHERE key='salt'").fetchone()[0]
    if any(row[1] == "text" for row in connection.execute("PRAGMA table_info(claims)")):
        return
    connection.execute("ALTER TABLE claims ADD COLUMN text BLOB NOT NULL DEFAULT x''")
    for claim_id, told in connection.execute("SELECT id, told FROM claims WHERE told!=x''").fetchall():
        if (candidate := decode_candidate(told)) is not None:
            known = fingerprint(salt, candidate.title, candidate.body)
            hashes = (known.text, pack_hashes(known.title), pack_hashes(known.words))
            connection.execute("UPDATE claims SET text=?, title=?, words=? WHERE id=?", (*hashes, claim_id))
    connection.execute("ALTER TABLE claims RENAME TO claims_before")
    connection.execute(_CLAIMS)
    columns = "id, source, text, title, words, state, memory, note, blocked, written, said, told"
    connection.execute(f"INSERT INTO claims ({columns}) SELECT {columns} FROM claims_before")
    connection.execute("DROP TABLE claims_before")
