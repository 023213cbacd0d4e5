"""Which files the tool calls of a turn read or changed, for searches by file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from lerim.sessions.model import Turn
from lerim.sessions.tables.column_values import to_json_list
from lerim.sessions.tables.turn_text import replace_surrogates

MOST_TURN_PATHS = 200
"""The most paths kept per turn; a tool call that names more is a listing."""


def list_touched_paths(turn: Turn) -> frozenset[str]:
    """Returns the files a turn's tool calls name, with forward slashes."""
    found = {path for call in turn.tool_calls for path in (*call.paths, *(edit.path for edit in call.edits))}
    return frozenset(_normalize_path(path) for path in sorted(found)[:MOST_TURN_PATHS] if path.strip())


def write_touched_files(
    db: sqlite3.Connection, turns: Mapping[int, frozenset[str]], previous_rows: Iterable[int] = ()
) -> None:
    """Saves which files turns touched, by row; call it inside a transaction. `previous_rows` had files
    before."""
    db.executemany("DELETE FROM touched WHERE turn = ?", [(row,) for row in previous_rows])
    paths = frozenset().union(*turns.values())
    if not paths:
        return
    rows = _load_file_rows(db, paths)
    if new := [(path, path.rpartition("/")[2]) for path in paths if path not in rows]:
        db.executemany("INSERT INTO files (path, name) VALUES (?, ?)", new)
        rows = _load_file_rows(db, paths)
    pairs = [(turn, rows[path]) for turn, turn_paths in turns.items() for path in turn_paths]
    db.executemany("INSERT INTO touched (turn, file) VALUES (?, ?)", pairs)


def find_touched_files(db: sqlite3.Connection, file: str) -> list[int]:
    """Returns the rows of the files that match a filter, ignoring case. The filter is a path, the end of a path that
    begins at a folder, or a name."""
    wanted = _normalize_path(file).strip("/")
    name = wanted.rpartition("/")[2]
    names = (name, name.lower(), name.capitalize(), name.upper())  # SQLite ignores the case of ASCII letters only
    rows = db.execute("SELECT id, path FROM files WHERE name IN (?, ?, ?, ?)", names)
    return [row for row, path in rows if f"/{path.lower()}".endswith(f"/{wanted.lower()}")]


def _load_file_rows(db: sqlite3.Connection, paths: Iterable[str]) -> dict[str, int]:
    path_list = to_json_list(paths)
    return dict(db.execute("SELECT path, id FROM files WHERE path IN (SELECT value FROM json_each(?))", (path_list,)))


def _normalize_path(path: str) -> str:
    return replace_surrogates(path.strip()).replace("\0", "").replace("\\", "/").removeprefix("./").rstrip("/") or "/"
