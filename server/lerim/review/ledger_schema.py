"""The tables of the review ledger, and how those of an older version become these."""

from __future__ import annotations

import secrets
import sqlite3

VERSION = 5
_LEFT_OUT = """
CREATE TABLE left_out (
    id TEXT PRIMARY KEY, reason TEXT NOT NULL, detail TEXT NOT NULL, title TEXT NOT NULL, session TEXT NOT NULL,
    turn TEXT NOT NULL, at REAL NOT NULL, said REAL NOT NULL, score REAL, candidate BLOB,
    proposed TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
"""
_JUDGMENTS = """
CREATE TABLE IF NOT EXISTS judgments (
    number INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL UNIQUE, candidate TEXT NOT NULL, at REAL NOT NULL,
    what TEXT NOT NULL, signal TEXT NOT NULL, primitive TEXT NOT NULL, kind TEXT, score REAL NOT NULL,
    features BLOB NOT NULL
);
"""
_SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE claims (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, title BLOB NOT NULL, words BLOB NOT NULL, hard BLOB NOT NULL,
    state TEXT NOT NULL, memory TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
    blocked INTEGER NOT NULL DEFAULT 0, written TEXT NOT NULL DEFAULT '', said INTEGER NOT NULL DEFAULT 0,
    told BLOB NOT NULL DEFAULT x''
) WITHOUT ROWID;
CREATE TABLE ours (hash TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE actions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, label TEXT NOT NULL,
    candidate TEXT NOT NULL, memory TEXT NOT NULL, was TEXT NOT NULL, becomes TEXT NOT NULL, stage TEXT NOT NULL,
    time TEXT NOT NULL, changes TEXT NOT NULL
);
{_LEFT_OUT}{_JUDGMENTS}"""


def bring_up(connection: sqlite3.Connection, version: int) -> None:
    """Make the tables, or those of an older version these, inside a transaction."""
    if version == 0:
        for statement in _SCHEMA.split(";")[:-1]:
            connection.execute(statement)
    if version == 1:
        connection.execute("ALTER TABLE claims ADD COLUMN written TEXT NOT NULL DEFAULT ''")
    if version in (1, 2):
        connection.execute("ALTER TABLE claims ADD COLUMN said INTEGER NOT NULL DEFAULT 0")
        connection.execute("ALTER TABLE claims ADD COLUMN told BLOB NOT NULL DEFAULT x''")
        connection.execute("CREATE TABLE ours (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    if version in (1, 2, 3):
        connection.execute(_LEFT_OUT)
    if version in (1, 2, 3, 4):
        connection.execute(_JUDGMENTS)
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('salt', ?)", (secrets.token_bytes(32),))
