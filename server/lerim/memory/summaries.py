"""Session summaries: `summaries/YYYYMMDD/HHMMSS/<slug>.md`, by the session's start in UTC.

A session has one file, which stays where it was first written. The hashes of the texts that Lerim wrote are recorded
privately: a file with another hash was edited by a person and is left alone. A hash is recorded before its text is
written, so that a kill in between leaves nothing that looks like a person's edit.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from lerim import files, sqlite
from lerim.errors import MemoryError_, StaleError
from lerim.memory.record import FOLDERS, MAX_FILE_BYTES, MemoryRecord, id_of, parse_record, render_record
from lerim.memory.slug import make_slug

SummaryChange = Literal["written", "updated", "unchanged", "theirs"]
"""`theirs`: a person edited the summary, and it was left alone."""
DATABASE = "summaries.sqlite3"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS summaries"
    " (session TEXT PRIMARY KEY, name TEXT NOT NULL, maker TEXT NOT NULL, hashes TEXT NOT NULL) WITHOUT ROWID"
)
_SCHEMA = sqlite.Schema(
    name="The record of summaries",
    version=1,
    upgrade=lambda db, version: sqlite.run_script(db, _TABLES),
    settings=("synchronous = NORMAL",),
    wal=True,
    wait=30.0,
    error=MemoryError_,
    failure="The record of summaries cannot be used",
    todo="Check the free disk space and the file's permissions.",
    todo_damaged="If the file is damaged, delete it. Existing summaries are then left unchanged.",
    damage_errors=(ValueError,),
)
_MAX_HASHES = 4
"""How many of our latest texts of a file are recognised: another worktree may have an older one."""
_MAX_NAME_NUMBER = 100


class Summaries:
    """The summaries below `memory_dir`; `private_dir` contains the record of what was written. Close it after use.

    `anchor` may be reached through a symbolic link; nothing below it may. Raises MemoryError_ if the private folder
    cannot be used.
    """

    def __init__(self, memory_dir: Path, anchor: Path, private_dir: Path) -> None:
        self._memory_dir = memory_dir
        self._anchor = anchor
        self._path = private_dir / DATABASE
        self._db = sqlite.open_database(self._path, _SCHEMA)

    def close(self) -> None:
        """Closes the database; a second call does no harm."""
        self._db.close()

    def made_by(self, session: str) -> str:
        """Returns what made the last summary of a session (`claude:5e1f…`): "rules", a model's label, or "" if it has
        none."""
        return self._load(session)[1]

    def is_edited(self, session: str) -> bool:
        """Returns whether a person edited the summary of a session. Raises MemoryError_, BoundaryError."""
        name, _, hashes = self._load(session)
        if not name or files.is_absent(path := self._memory_dir / name):
            return False
        text = files.read_text(path, MAX_FILE_BYTES, self._anchor)
        return bool(text.strip()) and files.hash_text(text) not in hashes

    def write(self, record: MemoryRecord, session: str, maker: str) -> tuple[Path, SummaryChange]:
        """Writes the summary of a session, or rewrites it if the file is still as we wrote it.

        `record.created` is the session's start; the record's id follows from the path. Raises MemoryError_ or
        BoundaryError, and then leaves an existing file as it was.
        """
        name, _, hashes = self._load(session)
        path = self._memory_dir / name if name else None
        if path is None or files.is_absent(path):
            path = _find_in_folder(_session_folder(self._memory_dir, record.created), self._anchor, session) or path
        if path is None or files.is_absent(path):
            return self._create(record, session, maker, path, hashes), "written"
        text = render_record(replace(record, id=id_of(path)))
        before = files.read_text(path, MAX_FILE_BYTES, self._anchor)
        # a power cut can leave a file empty: they are not flushed, because summaries can be made again
        if before.strip() and files.hash_text(before) not in hashes and before != text:
            return path, "theirs"
        self._record_hashes(session, path, maker, [*hashes, files.hash_text(text)])
        if before == text:
            return path, "unchanged"
        try:
            files.replace_file(
                path, text, anchor=self._anchor, before=before, flush=False, temporary_folder=self._temporary_folder()
            )
        except StaleError:
            return path, "theirs"  # a person has just saved it
        return path, "updated"

    def _create(self, record: MemoryRecord, session: str, maker: str, place: Path | None, hashes: list[str]) -> Path:
        folder = _session_folder(self._memory_dir, record.created)
        first = make_slug(record.title)
        names = [first, *(f"{first}-{number}" for number in range(2, _MAX_NAME_NUMBER))]
        for path in (*([place] if place else []), *(folder / f"{name}.md" for name in names)):
            if not files.is_absent(path):
                continue
            text = render_record(replace(record, id=id_of(path)))
            self._record_hashes(session, path, maker, [*hashes, files.hash_text(text)])
            files.make_folder(path.parent, anchor=self._anchor)
            if files.create_file(
                path, text, anchor=self._anchor, flush=False, temporary_folder=self._temporary_folder()
            ):
                return path
        message = "No file name is free for the summary."
        raise MemoryError_(message, where=str(folder), todo="Remove files there that are not summaries.")

    def _temporary_folder(self) -> Path:
        """Returns the folder for temporary files. A session's folder may never be written to again, so that the
        temporary file of a killed process would stay there."""
        return self._memory_dir / FOLDERS["summary"]

    def _load(self, session: str) -> tuple[str, str, list[str]]:
        """Returns the name, the maker and the hashes of a session's summary; empty if it has none."""
        with sqlite.convert_errors(self._path, _SCHEMA):
            query = "SELECT name, maker, hashes FROM summaries WHERE session = ?"
            row = self._db.execute(query, (session,)).fetchone()
            return (str(row[0]), str(row[1]), [str(one) for one in json.loads(row[2])]) if row else ("", "", [])

    def _record_hashes(self, session: str, path: Path, maker: str, hashes: list[str]) -> None:
        name = path.relative_to(self._memory_dir).as_posix()
        kept = json.dumps(list(dict.fromkeys(reversed(hashes)))[:_MAX_HASHES][::-1])
        with sqlite.convert_errors(self._path, _SCHEMA):
            self._db.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?)", (session, name, maker, kept))


def read_summary(memory_dir: Path, anchor: Path, private_dir: Path, session: str) -> tuple[MemoryRecord, Path] | None:
    """Returns the summary of a session and its file; None if this installation wrote none, or if it is gone. Raises
    BoundaryError, MemoryError_."""
    path = private_dir / DATABASE
    if not path.exists():
        return None
    with sqlite.convert_errors(path, _SCHEMA), closing(sqlite.open_database(path, _SCHEMA)) as db:
        row = db.execute("SELECT name FROM summaries WHERE session = ?", (session,)).fetchone()
    if row is None:
        return None
    place = memory_dir / str(row[0])
    found = _find_in_folder(place.parent, anchor, session) if files.is_absent(place) else place
    return (parse_record(files.read_text(found, MAX_FILE_BYTES, anchor), found, "summary"), found) if found else None


def _find_in_folder(folder: Path, anchor: Path, session: str) -> Path | None:
    """Returns the summary of a session (`claude:5e1f…`) in a folder, found by its `source`; None if there is no
    readable one. Raises BoundaryError if a symbolic link leads there."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md" and not path.name.startswith("."))
    except OSError:
        return None
    files.resolve_inside(anchor, folder)
    for path in paths:
        try:
            record = parse_record(files.read_text(path, MAX_FILE_BYTES, anchor), path, "summary")
        except MemoryError_:
            continue
        if record.source.rpartition("#")[0] == session:
            return path
    return None


def _session_folder(memory_dir: Path, started: datetime) -> Path:
    return memory_dir / FOLDERS["summary"] / f"{started.astimezone(UTC):%Y%m%d}" / f"{started.astimezone(UTC):%H%M%S}"


def open_summaries(memory_dir: Path, anchor: Path, private_dir: Path) -> closing[Summaries]:
    """Opens the summaries; they are closed at the end of the `with` block."""
    return closing(Summaries(memory_dir, anchor, private_dir))
