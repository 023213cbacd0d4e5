"""Redacted copies of sessions at a path that the person names: a folder, a bucket, or whatever else fsspec reads.

A copy is a file of JSON lines: what is known of the session and its project, then each turn of the project,
redacted. Its name is the hash of its bytes, so that an incomplete or changed copy is never used.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lerim import files
from lerim.errors import OrgError, Problem, TranscriptError
from lerim.jobs import ReadingScope, SessionReading
from lerim.org.machine.extraction import extract_by_rules, make_whole_scope
from lerim.project import FolderOwners, Project
from lerim.redaction import redact_json
from lerim.sessions import Platform, Transcript, Turn, faults_as_errors, redact_turn
from lerim.team import name_project

if TYPE_CHECKING:
    import fsspec

COPY_MARK = "copy:"
"""What the place of a session begins with in the database if it is a copy; the hash of the copy follows."""
MAX_COPY_BYTES = 512_000_000
_FORMAT = 1
_PASSWORD = re.compile(r"//[^/@]*@")


class _CopiedProject(msgspec.Struct, frozen=True):
    """The repository of a copied session: its `name` on all machines, its folders on the machine of the session, and
    those paths in it that the session is about and that exist there."""

    name: str
    title: str
    remote: str
    folders: tuple[str, ...]
    existing: tuple[str, ...] = ()


class _CopyHead(msgspec.Struct, frozen=True):
    """The first line of a copy."""

    format: int
    platform: Platform
    session: str
    parent: str
    project: _CopiedProject


@dataclass(frozen=True, slots=True)
class _CopyReading:
    """A pass over the turns of a copy, from the first."""

    turns: tuple[Turn, ...]
    resume: bytes = b""
    problems: list[Problem] = field(default_factory=list)
    restarted: bool = False

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)


@dataclass(frozen=True, slots=True)
class SessionCopy:
    """A copy in memory. `project` is the name that its repository has on all machines."""

    transcript: Transcript
    scope: ReadingScope
    project: str


@dataclass(frozen=True, slots=True)
class CopyFolder:
    """Where copies are. `address` is the path as a URL, which all machines must have in common."""

    filesystem: fsspec.AbstractFileSystem
    path: str
    address: str

    @property
    def queue(self) -> str:
        """The name of the team's queue for jobs whose sessions are copies in this folder. It does not reveal the
        path."""
        return f"{COPY_MARK}{hashlib.sha256(self.address.encode()).hexdigest()[:16]}"

    def write(self, transcript: Transcript, project: Project, owners: FolderOwners) -> str:
        """Writes the copy of a session, unless a complete one exists, and returns its place for the database. Raises
        TranscriptError, or another error of reading the session, and OrgError if it cannot be written."""
        with faults_as_errors(transcript.platform, transcript.place):
            data = _encode_copy(transcript, project, owners)
        if len(data) > MAX_COPY_BYTES:
            what = f"It is larger than {MAX_COPY_BYTES // 1_000_000} MB, too large for a copy"
            raise TranscriptError(what, where=transcript.place, todo="A worker of this machine can read it.")
        digest = hashlib.sha256(data).hexdigest()
        with self._convert_errors():
            self.filesystem.makedirs(self.path, exist_ok=True)
            file = self._file(digest)
            if not (self.filesystem.exists(file) and self.filesystem.cat_file(file) == data):
                self.filesystem.pipe_file(file, data)
        return COPY_MARK + digest

    def load_copy(self, place: str) -> SessionCopy | None:
        """Returns the copy at a place that the database names; None if there is none. Raises TranscriptError if it
        is incomplete, and OrgError if it cannot be read at the moment."""
        digest = place.removeprefix(COPY_MARK)
        if not re.fullmatch("[0-9a-f]{64}", digest):
            return None
        with self._convert_errors():
            try:
                with self.filesystem.open(self._file(digest), "rb") as file:
                    data: bytes = file.read(MAX_COPY_BYTES + 1)
            except FileNotFoundError:
                return None
        if hashlib.sha256(data).hexdigest() != digest:
            raise TranscriptError("The copy of the session is incomplete or was changed.", where=place)
        return _decode_copy(data, place)

    def _file(self, digest: str) -> str:
        return f"{self.path.rstrip('/')}/{digest}.jsonl"

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Turns every error of a filesystem into OrgError; each driver has its own, and they may quote a password."""
        try:
            yield
        except FileNotFoundError as error:
            raise OrgError("The folder of the copies does not exist.", where=_hide_password(self.address)) from error
        except Exception as error:
            raise OrgError(
                f"The copies cannot be read or written: {type(error).__name__}.",
                where=_hide_password(self.address),
                todo="Check the path and that you may write there. What was written is kept.",
            ) from error


def open_copies(path: str) -> CopyFolder:
    """Returns the folder of copies at a local path or a URL of fsspec, such as s3://bucket/folder. Raises OrgError
    if it is none, or if the package for its kind of filesystem is not installed."""
    where = _hide_password(path)
    try:
        import fsspec  # with the driver of its filesystem; only who makes or reads copies needs it

        filesystem, inside = fsspec.url_to_fs(path)
    except ImportError as error:
        protocol = path.partition("://")[0] if "://" in path else "file"
        raise OrgError(
            f"The package that reads {protocol}:// is not installed.",
            where=where,
            todo=f"Install it: pip install 'lerim[org]' 'fsspec[{protocol}]'.",
        ) from error
    except Exception as error:  # each driver has its own, and they may quote a password
        todo = "Name a folder, or a URL that fsspec reads, such as s3://bucket/folder."
        raise OrgError(
            f"This path cannot be used for copies: {type(error).__name__}.", where=where, todo=todo
        ) from error
    return CopyFolder(filesystem, inside, str(filesystem.unstrip_protocol(inside)).rstrip("/"))


def _hide_password(path: str) -> str:
    return _PASSWORD.sub("//", path)


def _encode_copy(transcript: Transcript, project: Project, owners: FolderOwners) -> bytes:
    reading = SessionReading(transcript, make_whole_scope(project, owners))
    lines = [_encode_line(redact_turn(turn)) for turn in reading]
    folders = tuple(dict.fromkeys(project.all_folders))
    copied = _CopiedProject(name_project(project), project.name, project.remote, folders)
    head = _CopyHead(_FORMAT, transcript.platform, transcript.session_id, transcript.parent, copied)
    existing: set[str] = set()

    def exists(path: str) -> bool:
        found = not files.is_absent(project.root / path)
        if found:
            existing.add(path)
        return found

    without = _decode_copy(b"\n".join([_encode_line(head), *lines]), transcript.place, exists)
    extract_by_rules(without.transcript, without.scope)  # it asks for every path that the session is about
    head = msgspec.structs.replace(head, project=msgspec.structs.replace(copied, existing=tuple(sorted(existing))))
    return b"\n".join([_encode_line(head), *lines])


def _encode_line(value: msgspec.Struct) -> bytes:
    return redact_json(msgspec.json.encode(value).decode()).encode()


def _decode_copy(data: bytes, place: str, exists: Callable[[str], bool] | None = None) -> SessionCopy:
    """Returns what a copy holds. `exists` is used instead of the paths it lists. Raises TranscriptError."""
    first, *others = data.split(b"\n")
    try:
        head = msgspec.json.decode(first, type=_CopyHead)
        decoder = msgspec.json.Decoder(Turn)
        turns = tuple(map(decoder.decode, others))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise TranscriptError("The copy of the session is not one of this version of Lerim.", where=place) from error
    root, *folders = head.project.folders or ("/",)
    project = Project(
        key=head.project.name,
        root=Path(root),
        main_worktree=None,
        common_dir=Path(root, ".git", "copied"),  # a folder that git does not make: nothing of this machine counts
        remote=head.project.remote,
        name=head.project.title,
        aliases=tuple(folders),
    )
    scope = ReadingScope(
        project,
        owners=None,
        now=math.inf,
        open_session=lambda transcript, resume: _CopyReading(turns),
        exists=exists or frozenset(head.project.existing).__contains__,
    )
    transcript = Transcript(head.platform, Path(place), head.session, len(data), 0, 0, head.parent)
    return SessionCopy(transcript, scope, head.project.name)
