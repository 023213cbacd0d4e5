"""Reads a transcript that only grows, line by line, from its start or from where the last reading ended.

The state to resume from is the offset of the first line of the oldest turn that is not final, together with the tally
before that line: everything from there on is then read again in exactly the same way. Subclasses define what the lines
mean.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from datetime import datetime
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.files import make_unreadable_error, open_buffered, open_unbuffered
from lerim.sessions.model import Role, Session, Transcript, Turn, TurnKind, make_turn_id
from lerim.sessions.readers.engine.compressed import SUFFIX, UnpackedFile
from lerim.sessions.readers.engine.lines import BLOCK, LineStream, fingerprint_file
from lerim.sessions.readers.engine.shapes import BadLine
from lerim.sessions.readers.engine.tally import RecentMarks, TranscriptTally
from lerim.sessions.readers.engine.turn_drafts import TurnDraft, TurnDrafts
from lerim.sessions.readers.live import CUT_SHORT

PROBLEMS = 100
"""How many problems are reported one by one; further ones are only counted."""

PEEK = 256 * 1024

Kept = TypeVar("Kept", bound=TranscriptTally)
Record = TypeVar("Record")
Ended = TypeVar("Ended", bound=TurnDrafts)


def read_beginning(path: Path, decode: Callable[[bytes], list[Record]]) -> Iterator[Record]:
    """Yields the readable records in a transcript's first 256 kB; none if the file cannot be read."""
    try:
        with open_buffered(path) as file:
            packed = path.name.endswith(SUFFIX)
            start = UnpackedFile(file, PEEK, path.stat().st_size).read(PEEK) if packed else file.read(PEEK)
    except OSError:
        return
    for line in start.split(b"\n"):
        try:
            records = decode(line)
        except BadLine as fault:
            records = fault.args[1]
        yield from records


class _Resume(msgspec.Struct):
    format: int
    offset: int
    fingerprint: bytes
    tally: msgspec.Raw
    seen: bytes


class LineReading(ABC, Generic[Record, Kept, Ended]):
    """One pass over a transcript. Iterate it to the end; after that, `session`, `resume` and `problems` are valid.

    Without `resume` the whole file is read. With it, only new lines and the turns that were not final are read; those
    turns are yielded again with the same id and ordinal. `restarted` is True if the file is not the one `resume` was
    made from, or is packed, and so was read from the start. `brief` leaves out what the catalog does not keep. Raises
    TranscriptError if the file cannot be opened or read.
    """

    FORMAT = 1
    ids: frozenset[str] | None = None

    def __init__(
        self,
        transcript: Transcript,
        resume: bytes | None,
        tally: Kept,
        drafts: Ended,
        *,
        brief: bool = False,
    ) -> None:
        self.path = transcript.path
        self.transcript = transcript
        self.restarted = False
        self.problems: list[Problem] = []
        self.resume = resume or b""
        self.session: Session
        self._known = resume
        self._brief = brief
        self._tally = tally
        self._drafts = drafts
        self._before: Kept = tally
        self._several = False
        self._seen = RecentMarks()
        self._faults = 0
        self._line = 0
        self._time: datetime | None = None
        self._offset = 0
        self._open: tuple[int, Kept] | None = None
        self._file: FileIO | None = None
        self.session = self._session()

    @abstractmethod
    def _decode(self, line: bytes) -> list[Record]:
        """Returns the records of a line. Raises BadLine."""

    @abstractmethod
    def _take(self, record: Record) -> None:
        """Adds a record to the tally and the drafts. If it may belong to a turn that has not begun yet, its offset and
        the tally before it are kept in `_open`."""

    @abstractmethod
    def _session(self) -> Session:
        """Returns the session as far as it was read."""

    def __iter__(self) -> Iterator[Turn]:
        try:
            known = self.path.stat()
            if not stat.S_ISREG(known.st_mode):
                raise TranscriptError("This transcript is not a file", where=str(self.path), todo="Remove it.")
            with open_unbuffered(self.path) as raw:
                if self.path.name.endswith(SUFFIX):
                    with UnpackedFile(raw, BLOCK, known.st_size) as file:
                        yield from self._packed(file)
                else:
                    with BufferedReader(raw, BLOCK) as file:
                        yield from self._growing(raw, file)
        except OSError as error:
            raise make_unreadable_error(self.path, error) from error
        finally:
            self._file = None

    def fold(self, records: Iterable[Record]) -> list[Turn]:
        """Returns the turns of records that do not come from a file of lines; `session` is valid afterwards."""
        for self._line, record in enumerate(records):
            self._take(record)
        turns = list(self._drafts.rest())
        self.session = self._session()
        return turns

    def checkpoint(self) -> bool:
        """Called during the iteration: sets `resume` and `session` to their state after the turns handed out so far.

        Returns False if that is not possible: for a packed file, before the first turn, and once the last turns are
        handed out.
        """
        if self._file is None or not self._offset:
            return False
        self._mark(self._file)
        self.session = self._session()
        return True

    def _packed(self, file: UnpackedFile) -> Iterator[Turn]:
        self.restarted = bool(self._known)
        self.resume = b""
        yield from self._read(file, 0)
        if file.stopped and not file.unpacked:
            what = f"This compressed transcript cannot be read: it {file.stopped}"
            raise TranscriptError(what, where=str(self.path), todo="Lerim tries again when it changes.")
        if file.stopped:
            self._told(CUT_SHORT, "", f"Only part of this compressed transcript was read: it {file.stopped}")
        yield from self._rest()

    def _growing(self, raw: FileIO, file: BufferedReader[Any]) -> Iterator[Turn]:
        self._file = raw
        self._offset = yield from self._read(file, self._continue(raw))
        self._file = None
        self._mark(raw)
        yield from self._rest()

    def _read(self, file: BufferedReader[Any], offset: int) -> Generator[Turn, None, int]:
        drafts, tally = self._drafts, self._tally
        decode, take = self._decode, self._take
        found = LineStream(file, offset)
        for start, end, data, complete in found:
            try:
                records = decode(data) if data is not None else self._skipped_line(start, complete)
            except BadLine as fault:
                records = self._faulty(fault, start) if complete else None
            if records is None:
                break
            self._line, offset = start, end
            if len(records) > 1:
                self._keep()
                self._several = True
            for record in records:
                take(record)
            self._several = False
            if drafts.due(tally.turns, offset):
                self._offset = offset
                yield from drafts.ready(tally.turns, offset)
                if self._seen.crowded:
                    self._seen.forget(self._start()[1].seen)
        if found.stopped:
            self._told(CUT_SHORT, "", f"Only part of this transcript was read: it {found.stopped}")
        return offset

    def _keep(self) -> None:
        """Keeps the tally as it was before the line; called before a record that may begin a turn."""
        if not self._several:
            self._before = self._tally.snapshot()

    def _turn(self, role: Role, kind: TurnKind, native: str, *, aside: bool, key: str = "") -> TurnDraft:
        """Begins a turn, at this line or at the earlier one kept in `_open`."""
        first, before = self._open or (self._line, self._before)
        self._open = None
        tally = self._tally
        ordinal = tally.turns
        tally.turns += 1
        return self._drafts.begin(
            TurnDraft(
                id=make_turn_id(self.transcript.platform, native),
                ordinal=ordinal,
                role=role,
                kind=kind,
                first=first,
                last=self._line,
                before=before,
                time=self._time,
                cwd=tally.cwd,
                branch=tally.branch,
                sidechain=aside,
                key=key,
            )
        )

    def _rest(self) -> Iterator[Turn]:
        yield from self._drafts.rest()
        if self._faults > PROBLEMS:
            self._told("many", "", f"{self._faults - PROBLEMS} more lines of this transcript could not be read")
        self.session = self._session()

    def _continue(self, raw: FileIO) -> int:
        if not self._known:
            return 0
        try:
            state = msgspec.json.decode(self._known, type=_Resume)
            tally = msgspec.json.decode(state.tally, type=type(self._tally))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self.restarted = True
            return 0
        size = os.fstat(raw.fileno()).st_size
        same = state.format == self.FORMAT and 0 <= state.offset <= size
        if not same or fingerprint_file(raw, state.offset) != state.fingerprint:
            self.restarted = True
            return 0
        self._tally = tally
        self._seen = RecentMarks(state.seen, tally.seen)
        return state.offset

    def _start(self) -> tuple[int, TranscriptTally]:
        return self._drafts.start(*(self._open or (self._offset, self._tally)))

    def _mark(self, raw: FileIO) -> None:
        start, tally = self._start()
        kept = msgspec.Raw(msgspec.json.encode(tally))
        self.resume = msgspec.json.encode(
            _Resume(self.FORMAT, start, fingerprint_file(raw, start), kept, self._seen.upto(tally.seen))
        )

    def _skipped_line(self, start: int, complete: bool) -> list[Record] | None:
        if not complete:
            return None
        self._problem("line-too-long", start, "A line of this transcript is too long and was skipped")
        return []

    def _faulty(self, fault: BadLine, start: int) -> list[Record]:
        what, records = fault.args
        self._problem("bad-line", start, f"A line of this transcript could not be read ({what}) and was skipped")
        return list(records)

    def _problem(self, code: str, start: int, message: str) -> None:
        self._faults += 1
        if self._faults <= PROBLEMS:
            self._told(code, f"@{start}", message)

    def _told(self, code: str, where: str, message: str) -> None:
        self.problems.append(Problem(code, f"{self.path}{where}", message))
