"""Reads a transcript that only grows, line by line, from its start or from where the last reading ended.

The state to resume from is the offset of the first line of the oldest turn that is not final, together with the
tally before that line: everything from there on is then read again in exactly the same way. Subclasses interpret the
lines.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from io import BufferedReader, FileIO
from itertools import islice
from typing import Any, Generic, TypeVar

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.files import open_unbuffered
from lerim.sessions.model import OmittedProblems, Role, Session, Transcript, Turn, TurnKind, make_turn_id
from lerim.sessions.readers.engine.compressed import COMPRESSED_SUFFIX, UnpackedStream
from lerim.sessions.readers.engine.line_stream import (
    BLOCK_BYTES,
    TOO_LONG,
    LineStream,
    fingerprint_file,
    report_cut,
    report_line,
    report_unknown_form,
)
from lerim.sessions.readers.engine.tally import RecentIds, TranscriptTally
from lerim.sessions.readers.engine.turn_drafts import TurnDraft, TurnDrafts

PROBLEM_LIMIT = 100
"""How many problems are reported one by one; further ones are only counted."""

_FORMAT = 2
"""The format version of the states to resume from. States of earlier versions are not used: their transcripts are
read from the start."""

LINES_OF_A_FORM = 200
"""How many lines of a session without turns are checked for a form that its reader knows."""

Tally = TypeVar("Tally", bound=TranscriptTally)
Record = TypeVar("Record")


class _Resume(msgspec.Struct):
    format: int
    offset: int
    fingerprint: bytes
    tally: msgspec.Raw
    seen: bytes


class LineReading(ABC, Generic[Record, Tally]):
    """One pass over a transcript. Iterate it to the end; after that, `session`, `resume` and `problems` are valid.

    Without `resume` the whole file is read. With it, only new lines and the turns that were not final are read; those
    turns are yielded again with the same id and ordinal. `restarted` is True if the file is not the one `resume` was
    made from, or is packed, and so was read from the start. `brief` leaves out what the catalog does not keep. Raises
    TranscriptError if the file cannot be opened or read.
    """

    ids: frozenset[str] | None = None

    def __init__(
        self,
        transcript: Transcript,
        resume: bytes | None,
        tally: Tally,
        drafts: TurnDrafts,
        *,
        brief: bool = False,
    ) -> None:
        self.path = transcript.path
        self.transcript = transcript
        self.restarted = False
        self.problems: list[Problem] = []
        self.resume = resume or b""
        self._known_resume = resume
        self._brief = brief
        self._tally = tally
        self._drafts = drafts
        self._tally_before: Tally = tally
        self._has_several_records = False
        self._seen_ids = RecentIds()
        self._fault_count = 0
        self._line_offset = 0
        self._time: datetime | None = None
        self._offset = 0
        self._open_start: tuple[int, Tally] | None = None
        self._file: FileIO | None = None
        self.session = self._build_session()

    @abstractmethod
    def _decode_line(self, line: bytes) -> tuple[list[Record], str]:
        """Returns the records of a line, and what is wrong with the rest of the line; '' if nothing is wrong."""

    @abstractmethod
    def _add_record(self, record: Record) -> None:
        """Adds a record to the tally and the drafts. If it may belong to a turn that has not begun yet, its offset and
        the tally before it are kept in `_open_start`."""

    @abstractmethod
    def _is_known(self, record: Record) -> bool:
        """Returns whether a record has a form that this reader knows, even if it is part of no turn."""

    @abstractmethod
    def _build_session(self) -> Session:
        """Returns the session as far as it was read."""

    def __iter__(self) -> Iterator[Turn]:
        try:
            with open_unbuffered(self.path) as raw:
                if self.path.name.endswith(COMPRESSED_SUFFIX):
                    stream = UnpackedStream(raw, os.fstat(raw.fileno()).st_size)
                    with BufferedReader(stream, BLOCK_BYTES) as packed_file:
                        yield from self._read_compressed(packed_file, stream)
                else:
                    with BufferedReader(raw, BLOCK_BYTES) as file:
                        yield from self._read_plain(raw, file)
        finally:
            self._file = None

    def fold(self, records: Iterable[Record]) -> list[Turn]:
        """Returns the turns of records that do not come from a file of lines; `session` is valid afterwards."""
        for self._line_offset, record in enumerate(records):
            self._add_record(record)
        turns = list(self._drafts.take_unfinished_turns())
        self.session = self._build_session()
        return turns

    def checkpoint(self) -> bool:
        """Sets `resume` and `session` to their state after the turns handed out so far; called during the iteration.

        Returns False if that is not possible: for a packed file, before the first turn, and once the last turns are
        handed out.
        """
        if self._file is None or not self._offset:
            return False
        self._save_resume(self._file)
        self.session = self._build_session()
        return True

    def _read_compressed(self, file: BufferedReader[Any], stream: UnpackedStream) -> Iterator[Turn]:
        self.restarted = bool(self._known_resume)
        self.resume = b""
        yield from self._read_lines(file, 0)
        if stream.stop_reason and not stream.unpacked_bytes:
            what = f"This compressed transcript cannot be read: it {stream.stop_reason}"
            raise TranscriptError(what, where=str(self.path), todo="Lerim tries again when it changes.")
        if stream.stop_reason:
            report_cut(self.path, stream.stop_reason, self.problems)
        yield from self._finish()

    def _read_plain(self, raw: FileIO, file: BufferedReader[Any]) -> Iterator[Turn]:
        self._file = raw
        self._offset = yield from self._read_lines(file, self._restore_state(raw))
        if not self._tally.turns and self._knows_no_record(file):
            report_unknown_form(self.path, self.problems)
        self._file = None
        self._save_resume(raw)
        yield from self._finish()

    def _read_lines(self, file: BufferedReader[Any], offset: int) -> Generator[Turn, None, int]:
        drafts, tally = self._drafts, self._tally
        decode, add_record = self._decode_line, self._add_record
        lines = LineStream(file, offset)
        for start, end, data, complete in lines:
            records, fault = ([], TOO_LONG) if data is None else decode(data)
            if fault:
                if not complete:
                    break
                self._fault_count += 1
                if self._fault_count <= PROBLEM_LIMIT:
                    report_line(self.path, start, fault, self.problems)
            self._line_offset, offset = start, end
            if len(records) > 1:
                self._save_tally()
                self._has_several_records = True
            for record in records:
                add_record(record)
            self._has_several_records = False
            if drafts.has_final_turns(tally.turns, offset):
                self._offset = offset
                yield from drafts.take_final_turns(tally.turns, offset)
                if self._seen_ids.needs_trimming:
                    self._seen_ids.trim(self._find_resume_point()[1].seen_count)
        if lines.stop_reason:
            report_cut(self.path, lines.stop_reason, self.problems)
        return offset

    def _knows_no_record(self, file: BufferedReader[Any]) -> bool:
        """Returns whether there are records at the beginning of a file and none of them has a form that this reader
        knows."""
        is_record_known = [
            self._is_known(record)
            for _, _, data, _ in islice(LineStream(file, 0), LINES_OF_A_FORM)
            for record in (self._decode_line(data)[0] if data is not None else ())
        ]
        return bool(is_record_known) and not any(is_record_known)

    def _save_tally(self) -> None:
        """Saves the tally as it was before the current line; called before a record that may begin a turn."""
        if not self._has_several_records:
            self._tally_before = msgspec.structs.replace(self._tally)

    def _begin_turn(
        self, role: Role, kind: TurnKind, native_id: str, *, is_sidechain: bool, key: str = ""
    ) -> TurnDraft:
        """Begins a turn, at this line or at the earlier one kept in `_open_start`."""
        first, before = self._open_start or (self._line_offset, self._tally_before)
        self._open_start = None
        tally = self._tally
        ordinal = tally.turns
        tally.turns += 1
        return self._drafts.add_draft(
            TurnDraft(
                id=make_turn_id(self.transcript.platform, native_id),
                ordinal=ordinal,
                role=role,
                kind=kind,
                first_offset=first,
                last_offset=self._line_offset,
                tally_before=before,
                time=self._time,
                cwd=tally.cwd,
                branch=tally.branch,
                sidechain=is_sidechain,
                message_key=key,
            )
        )

    def _finish(self) -> Iterator[Turn]:
        yield from self._drafts.take_unfinished_turns()
        if self._fault_count > PROBLEM_LIMIT:
            omitted = self._fault_count - PROBLEM_LIMIT
            message = f"{omitted} more lines of this transcript could not be read"
            self.problems.append(OmittedProblems("many", str(self.path), message, omitted))
        self.session = self._build_session()

    def _restore_state(self, raw: FileIO) -> int:
        if not self._known_resume:
            return 0
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            state = msgspec.json.decode(self._known_resume, type=_Resume)
            tally = msgspec.json.decode(state.tally, type=type(self._tally))
            is_usable = state.format == _FORMAT and 0 <= state.offset <= os.fstat(raw.fileno()).st_size
            if is_usable and fingerprint_file(raw, state.offset) == state.fingerprint:
                self._tally = tally
                self._seen_ids = RecentIds(state.seen, tally.seen_count)
                return state.offset
        self.restarted = True
        return 0

    def _find_resume_point(self) -> tuple[int, TranscriptTally]:
        return self._drafts.find_resume_point(*(self._open_start or (self._offset, self._tally)))

    def _save_resume(self, raw: FileIO) -> None:
        start, tally = self._find_resume_point()
        encoded = msgspec.Raw(msgspec.json.encode(tally))
        seen = self._seen_ids.encode_until(tally.seen_count)
        self.resume = msgspec.json.encode(_Resume(_FORMAT, start, fingerprint_file(raw, start), encoded, seen))
