"""The vectors of memories, kept so that each text is embedded once: `meaning.sqlite3` in a private folder.

They are derived from the memories. If the file is deleted, or a memory or the model changes, they are made again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lerim import files, sqlite
from lerim.errors import MemoryError_, Problem

VECTORS_DATABASE = "meaning.sqlite3"
MOST_OTHERS = 5_000
"""How many vectors are kept of texts that are not in the current folder."""
_TABLES = (
    "CREATE TABLE vectors (text_hash TEXT PRIMARY KEY, model TEXT NOT NULL, title BLOB NOT NULL, body BLOB NOT NULL)"
)
_SCHEMA = sqlite.Schema(
    name="The vectors of memories",
    version=1,
    upgrade=lambda db, version: sqlite.run_script(db, _TABLES),
    settings=("synchronous = NORMAL",),
    error=MemoryError_,
    failure="The vectors of memories cannot be stored",
    todo="Check the file's permissions and the free disk space. Until then, each search makes them again.",
    todo_damaged="They are made again.",
    replacement_notice="The vectors of all memories are made again.",
    code="meaning",
)


@dataclass(frozen=True, slots=True)
class MemoryVectors:
    """The vectors of a memory's title and of its text; without a text, the title's vector stands for both."""

    title: bytes
    body: bytes


class StoredVectors:
    """The stored vectors of a project's memories, in all its worktrees. Nothing here raises: what fails is in
    `problems`."""

    def __init__(self, private: Path, model: str) -> None:
        self._path = private / VECTORS_DATABASE
        self._model = model
        self.problems: list[Problem] = []

    def load(self) -> dict[str, MemoryVectors]:
        """Returns all stored vectors of this model, by the hash of their text."""
        query = "SELECT text_hash, title, body FROM vectors WHERE model = ?"
        rows: list[tuple[str, bytes, bytes]] = []
        with sqlite.note_errors(self._path, _SCHEMA, self.problems):
            db = sqlite.open_existing(self._path, _SCHEMA)
            if db is not None:
                with closing(db):
                    rows = db.execute(query, (self._model,)).fetchall()
        return {name: MemoryVectors(title, body) for name, title, body in rows}

    def save(self, made: Mapping[str, MemoryVectors]) -> None:
        """Stores vectors, by the hash of their text."""
        rows = [(name, self._model, one.title, one.body) for name, one in made.items()]
        with sqlite.note_errors(self._path, _SCHEMA, self.problems):
            files.make_folder(self._path.parent, 0o700)
            with closing(sqlite.open_database(self._path, _SCHEMA, self.problems)) as db, sqlite.transaction(db):
                db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def drop_old(self, in_use: Collection[str]) -> None:
        """Deletes the stored vectors of other models. Of texts whose hashes are not `in_use`, all but the newest are
        deleted: another worktree of the repository may need them."""
        others = "text_hash NOT IN (SELECT value FROM json_each(?2))"
        newest = f"SELECT rowid FROM vectors WHERE {others} ORDER BY rowid DESC LIMIT {MOST_OTHERS}"
        query = f"DELETE FROM vectors WHERE model != ?1 OR {others} AND rowid NOT IN ({newest})"
        with sqlite.note_errors(self._path, _SCHEMA, self.problems):
            db = sqlite.open_existing(self._path, _SCHEMA)
            if db is not None:
                with closing(db), sqlite.transaction(db):
                    db.execute(query, (self._model, json.dumps(list(in_use))))
