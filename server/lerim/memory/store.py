"""The memory files of one folder: finding, reading and writing them.

The files are authoritative. An unreadable file is reported as a Problem and left as it is; a write never overwrites a
change it has not seen.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lerim import files
from lerim.errors import BoundaryError, ConflictError, MemoryError_, NotFoundError, Problem, error_reason
from lerim.memory import slug
from lerim.memory.claims import IsWrittenByLerim, never_written_by_lerim
from lerim.memory.lifecycle import Status, ended_status
from lerim.memory.local_quotes import Quotes
from lerim.memory.record import FOLDERS, MAX_FILE_BYTES, MemoryRecord, examine_record
from lerim.memory.stray_files import find_duplicate_ids, find_stray_files
from lerim.project import folder

FileStamp = tuple[int, int, int]
"""(mtime in ns, size, inode): changes whenever the file does."""
LIVE_FOLDERS = tuple(FOLDERS[primitive] for primitive in ("decision", "learning", "question", "theme"))
ARCHIVED_FOLDERS = tuple(f"archived/{name}" for name in LIVE_FOLDERS)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A memory file, known by stat alone; `name` is its path relative to `folder`, with forward slashes."""

    folder: Path
    name: str
    stamp: FileStamp

    @property
    def path(self) -> Path:
        return self.folder / self.name

    @property
    def is_archived(self) -> bool:
        return self.name.startswith("archived/")


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory and the file it was read from. `text_hash` is the hash of the file's text; private quotes are joined,
    except by `read_memory_file`."""

    record: MemoryRecord
    path: Path
    stamp: FileStamp
    text_hash: str
    status: Status


class Store:
    """The memories below `memory_dir`; `private_dir` contains the quotes kept out of git.

    `anchor`, the worktree by default, may be reached through a symbolic link; nothing below it may. `make_parent`
    creates the parent of `memory_dir` before a write (in a repository with a `.gitignore`). `written_by_lerim` takes a
    memory's id and text hash and returns a test for the sentences that Lerim wrote; by default it finds none.
    """

    def __init__(
        self,
        memory_dir: Path,
        private_dir: Path,
        anchor: Path | None = None,
        make_parent: Callable[[Path], None] = folder.make_lerim_folder,
        written_by_lerim: Callable[[str, str], IsWrittenByLerim] = lambda _, __: never_written_by_lerim,
    ) -> None:
        self.memory_dir = memory_dir
        self.anchor = anchor or memory_dir.parent.parent
        self.quotes = Quotes(private_dir)
        self._make_parent = make_parent
        self.written_by_lerim = written_by_lerim

    def find_files(self, *, archived: bool = False) -> tuple[list[MemoryFile], list[Problem]]:
        """Returns every memory file by stat alone; symbolic links and folders that lead elsewhere are problems."""
        return find_memory_files(self.memory_dir, self.anchor, archived=archived)

    def load_all(self, *, archived: bool = False) -> tuple[list[StoredMemory], list[Problem]]:
        """Returns every readable memory, and a problem for each unreadable file."""
        found, problems = self.find_files(archived=archived)
        memories: list[StoredMemory] = []
        for item in found:
            try:
                stored, more = self.load_file(item)
            except NotFoundError:
                continue  # removed since it was listed
            except MemoryError_ as error:
                problems.append(unreadable_problem(str(item.path), error))
                continue
            memories.append(stored)
            problems += more
        return memories, problems

    def load(self, path: Path) -> tuple[StoredMemory, list[Problem]]:
        """Reads one memory from its file. Raises MemoryError_, BoundaryError."""
        return self.load_file(stat_memory_file(self.memory_dir, self.relative_name(path)))

    def load_file(self, found: MemoryFile) -> tuple[StoredMemory, list[Problem]]:
        """Reads one memory that `find_files` returned. Raises MemoryError_, and NotFoundError if it is gone."""
        stored, problems = read_memory_file(found, self.anchor)
        joined, more = self.quotes.join_quotes(stored.record)
        return stored if joined is stored.record else replace(stored, record=joined), [*problems, *more]

    def relative_name(self, path: Path) -> str:
        """Returns a file's path relative to `memory_dir`, with forward slashes. Raises BoundaryError if outside."""
        return files.resolve_inside(self.anchor, path).relative_to(self.memory_dir).as_posix()

    def path_of(self, memory_id: str) -> Path | None:
        """Returns the file of a memory id, live or archived; None if there is none."""
        return next(iter(self.paths_of(memory_id)), None)

    def paths_of(self, memory_id: str) -> list[Path]:
        """Returns the files of a memory id, live ones first. More than one is reported as a problem
        (`memory-twice`)."""
        if not slug.is_id(memory_id):
            return []
        paths = (self.memory_dir / name / f"{memory_id}.md" for name in (*LIVE_FOLDERS, *ARCHIVED_FOLDERS))
        return [path for path in paths if not files.is_absent(path)]

    def all_ids(self) -> set[str]:
        """Returns the ids of all files, live and archived, by file name alone."""
        found: set[str] = set()
        for name in (*LIVE_FOLDERS, *ARCHIVED_FOLDERS):
            with suppress(OSError), os.scandir(self.memory_dir / name) as entries:  # listing the memories reports it
                found.update(entry.name[:-3] for entry in entries if entry.name.endswith(".md"))
        return found

    def load_by_id(self, memory_id: str) -> StoredMemory:
        """Reads one memory by its id. Raises NotFoundError, and MemoryError_ if its file cannot be read."""
        path = self.path_of(memory_id)
        if path is None:
            todo = "See `lerim memory list`."
            raise NotFoundError(f"There is no memory {memory_id[:80]!r}.", where=str(self.memory_dir), todo=todo)
        return self.load(path)[0]

    def read_text(self, path: Path) -> str:
        """Returns a memory file's text. Raises MemoryError_, BoundaryError."""
        return files.read_text(path, MAX_FILE_BYTES, self.anchor)

    def new_id(self, record: MemoryRecord, is_taken: Callable[[str], bool] = lambda _: False) -> str:
        """Returns a free id for this record's title and day. It is not one for which `is_taken` returns True."""
        return slug.new_id(record.title, record.created.date(), lambda name: bool(self.path_of(name)) or is_taken(name))

    def path_for(self, record: MemoryRecord, *, archived: bool = False) -> Path:
        """Returns the path of this record's file, live or archived."""
        return self.memory_dir / ("archived" if archived else "") / FOLDERS[record.primitive] / f"{record.id}.md"

    def make_folder(self, place: Path) -> None:
        """Creates the folder that a memory is about to be written to. Raises MemoryError_, BoundaryError."""
        self._make_parent(self.memory_dir.parent)
        files.make_folder(place, anchor=self.anchor)


def find_memory_files(
    memory_dir: Path, anchor: Path, *, archived: bool = False
) -> tuple[list[MemoryFile], list[Problem]]:
    """Returns the memory files of a folder by stat alone, and a problem for each file that is not one."""
    found: list[MemoryFile] = []
    problems: list[Problem] = []
    names = (*LIVE_FOLDERS, *(ARCHIVED_FOLDERS if archived else ()))
    for name in names:
        place = memory_dir / name
        try:
            files.resolve_inside(anchor, place)
            found += _list_memory_files(memory_dir, name, problems)
        except FileNotFoundError:
            continue
        except BoundaryError as error:
            problems.append(error.problem())
        except OSError as error:
            message = f"The folder cannot be listed: {error_reason(error)}."
            problems.append(Problem("folder-unreadable", str(place), message))
    with suppress(BoundaryError):  # already reported above, for each folder
        files.resolve_inside(anchor, memory_dir)
        problems += find_stray_files(memory_dir, names)
    problems += find_duplicate_ids(memory_dir, (item.name for item in found))
    return found, problems


def read_memory_file(found: MemoryFile, anchor: Path | None = None) -> tuple[StoredMemory, list[Problem]]:
    """Reads a memory file that was found, without private quotes. Raises MemoryError_; with an `anchor` also if
    something below it has become a symbolic link."""
    if found.stamp[1] > MAX_FILE_BYTES:
        message = f"The file is larger than {MAX_FILE_BYTES // 1024} kB."
        raise MemoryError_(message, where=str(found.path), todo="Shorten it or move it away.")
    path = found.path
    try:
        text = files.read_text(path, MAX_FILE_BYTES, anchor)
    except BoundaryError as error:
        raise MemoryError_(error.message, where=error.where, todo=error.todo) from error
    record, problems = examine_record(text, path)
    return StoredMemory(
        record, path, found.stamp, files.hash_text(text), status_of(record, found.is_archived)
    ), problems


def unreadable_problem(path: str, error: MemoryError_) -> Problem:
    """Returns the problem that reports an unreadable file; git's conflict markers have a separate code."""
    return error.problem(path, code=error.code if isinstance(error, ConflictError) else "memory-unreadable")


def status_of(record: MemoryRecord, archived: bool) -> Status:
    """Returns a record's status: how it ended according to its header, else active or archived by its file's folder."""
    if record.superseded_by:
        return "superseded"
    if record.resolved_by:
        return ended_status("resolved", record.primitive)
    return "archived" if archived else "active"


def _list_memory_files(memory_dir: Path, name: str, problems: list[Problem]) -> Iterator[MemoryFile]:
    with os.scandir(memory_dir / name) as entries:
        for entry in entries:
            if not entry.name.endswith(".md") or entry.name.startswith("."):
                continue
            if files.path_to_text(entry.name) != entry.name:
                message = "This file was not read because its name is not UTF-8. Rename it."
                problems.append(Problem("memory-unreadable", files.path_to_text(entry.path), message))
                continue
            try:
                state = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed since the folder was listed
            if not stat.S_ISREG(state.st_mode):
                what = "a symbolic link" if entry.is_symlink() else "not a regular file"
                problems.append(Problem("boundary", entry.path, f"This is {what} and was not read. Move it away."))
                continue
            yield MemoryFile(memory_dir, f"{name}/{entry.name}", (state.st_mtime_ns, state.st_size, entry.inode()))


def stat_memory_file(memory_dir: Path, name: str) -> MemoryFile:
    """Returns one memory file by stat. Raises NotFoundError, MemoryError_."""
    path = f"{memory_dir}/{name}"
    try:
        state = os.lstat(path)
    except FileNotFoundError as error:
        raise NotFoundError("This memory no longer exists.", where=path, todo="List the memories again.") from error
    except OSError as error:
        raise MemoryError_(
            f"The file cannot be read: {error_reason(error)}.", where=path, todo="Check its permissions."
        ) from error
    return MemoryFile(memory_dir, name, (state.st_mtime_ns, state.st_size, state.st_ino))
