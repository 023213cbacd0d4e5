"""Reading a transcript of Claude Code, from its start or from where the last reading ended.

A reading takes lines one by one, folds each record into a `Tally` and, where it says something, into a `Draft` of a
turn. The state to resume from is the tally as it stood before the first line of the oldest turn that is not final,
together with that offset: what follows is then read again in exactly the same way.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime
from io import BufferedReader, FileIO
from typing import BinaryIO

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.sessions.claude_files import begins_in, find
from lerim.sessions.claude_human import Typed, cut, interrupts, output_of, queued, typed
from lerim.sessions.claude_queue import operate, repeated, taken
from lerim.sessions.claude_records import BadLine, Block, Record, decode
from lerim.sessions.claude_tally import REDACTED, Seen, Tally, known, moment
from lerim.sessions.claude_tools import WENT_WELL, opened, plain, result
from lerim.sessions.claude_turns import Draft, Drafts, key_of
from lerim.sessions.lines import BLOCK, Line, fingerprint, lines
from lerim.sessions.model import Role, Session, Transcript, Turn, TurnKind, turn_id
from lerim.sessions.spills import results_folder, spilled

__all__ = ["Reading", "find", "probe", "read"]

PROBLEMS = 100
"""Problems told one by one; what comes after is only counted."""

_FORMAT = 1
_OWN = ("lerim-memories",)


def probe(transcript: Transcript) -> str:
    """The working folder the session begins in; '' if its transcript does not say."""
    return begins_in(transcript.path)


class _Resume(msgspec.Struct):
    format: int
    offset: int
    fingerprint: bytes
    tally: Tally
    seen: bytes


class Reading:
    """One pass over a transcript. Iterate it to the end; then `session`, `resume` and `problems` hold.

    Without `resume` the whole file is read. With it, only what is new and the turns that were not final: those come
    again with the same id and ordinal. `restarted` says that the file is not the one `resume` was made from, and that
    it was read from the start. `brief` leaves out what the catalog does not keep, which takes a fifth less time: what
    calls that went well brought back, what was written to files, reasoning. Raises TranscriptError when the file cannot
    be opened or read.
    """

    ids: frozenset[str] | None = None

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        self.path = path = transcript.path
        self.transcript = transcript
        self.restarted = False
        self.problems: list[Problem] = []
        self.resume = resume or b""
        self._known = resume
        self._brief = brief
        self._tally = Tally()
        self._seen = Seen()
        self._folder = results_folder(path)
        self._drafts = Drafts(lambda named: spilled(self._folder, named))
        self._child = bool(transcript.parent) or path.name.startswith("agent-")
        self._faults = 0
        self._line = 0
        self._offset = 0
        self._file: FileIO | None = None
        self._time: datetime | None = None
        self._before = self._tally
        self.session: Session = self._session()

    def __iter__(self) -> Iterator[Turn]:
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise TranscriptError("This transcript is not a file", where=str(self.path), todo="Remove it.")
            with self.path.open("rb", buffering=0) as raw, BufferedReader(raw, BLOCK) as file:
                yield from self._read(raw, file)
        except OSError as error:
            raise TranscriptError(
                f"The transcript cannot be read: {error.strerror or error}",
                where=str(self.path),
                todo="Check that the file is still there and that you may read it.",
            ) from error
        finally:
            self._file = None

    def _read(self, raw: FileIO, file: BinaryIO) -> Iterator[Turn]:
        self._file = raw
        offset = self._continue(raw)
        drafts, tally = self._drafts, self._tally
        for line in lines(file, offset):
            records = self._records(line)
            if records is None:
                break
            self._line, offset = line[0], line[1]
            if not records:
                continue
            if len(records) > 1 or self._opens(records[0]):
                self._before = tally.snapshot()
            for record in records:
                self._take(record)
            if drafts.due(tally.turns, offset):
                self._offset = offset
                yield from drafts.ready(tally.turns, offset)
                if self._seen.crowded:
                    self._seen.forget(drafts.start(offset, tally)[1].seen)
        self._offset = offset
        self._file = None
        yield from drafts.rest()
        self._finish(raw)

    def _continue(self, raw: FileIO) -> int:
        if not self._known:
            return 0
        try:
            state = msgspec.json.decode(self._known, type=_Resume)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self.restarted = True
            return 0
        size = os.fstat(raw.fileno()).st_size
        same = state.format == _FORMAT and 0 <= state.offset <= size
        if not same or fingerprint(raw, state.offset) != state.fingerprint:
            self.restarted = True
            return 0
        self._tally = state.tally
        self._seen = Seen(state.seen, state.tally.seen)
        return state.offset

    def checkpoint(self) -> bool:
        """In the middle of the iteration: makes `resume` and `session` what they are after the turns handed out so far.

        False where that cannot be said: before the first turn, and once the last ones are handed out.
        """
        if self._file is None or not self._offset:
            return False
        self._mark(self._file)
        return True

    def _finish(self, raw: FileIO) -> None:
        self._mark(raw)
        if self._faults > PROBLEMS:
            self._problem_now("many", "", f"{self._faults - PROBLEMS} more lines of this transcript could not be read")

    def _mark(self, raw: FileIO) -> None:
        start, tally = self._drafts.start(self._offset, self._tally)
        state = _Resume(_FORMAT, start, fingerprint(raw, start), tally, self._seen.upto(tally.seen))
        self.resume = msgspec.json.encode(state)
        self.session = self._session()

    def _session(self) -> Session:
        transcript = self.transcript
        parent = transcript.parent or (self._tally.parent if self._child else "")
        return self._tally.session(transcript.session_id, self.path, parent if parent != transcript.session_id else "")

    # --- lines ---------------------------------------------------------------------------------------------------

    def _records(self, line: Line) -> list[Record] | None:
        """The records of a line; None for the last one while it is still being written."""
        start, _, data, complete = line
        if data is None:
            if not complete:
                return None
            self._problem("line-too-long", start, "A line of this transcript is too long and was skipped")
            return []
        try:
            return decode(data)
        except BadLine as fault:
            if not complete:
                return None
            what, records = fault.args
            self._problem("bad-line", start, f"A line of this transcript could not be read ({what}) and was skipped")
            return list(records)

    def _problem(self, code: str, start: int, message: str) -> None:
        self._faults += 1
        if self._faults <= PROBLEMS:
            self._problem_now(code, f"@{start}", message)

    def _problem_now(self, code: str, where: str, message: str) -> None:
        self.problems.append(Problem(code, f"{self.path}{where}", message))

    # --- records -------------------------------------------------------------------------------------------------

    def _opens(self, record: Record) -> bool:
        """Whether a turn may begin with this record, so that the tally before it has to be kept."""
        message = record.message
        if record.type == "assistant":
            return message is None or self._drafts.of(message.id or "") is None
        if record.type == "user" and message is not None:
            content = message.content
            return not (isinstance(content, list) and content and content[0].type == "tool_result")
        return record.type in ("user", "attachment", "queue-operation")

    def _take(self, record: Record) -> None:
        kind, tally = record.type, self._tally
        if kind == "progress":
            return
        native = record.uuid
        if native and native != REDACTED and not tally.new(self._seen, native):
            return
        self._time = moment(record.timestamp)
        tally.meet(record, self._time)
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "attachment":
            words = queued(record.attachment) if record.attachment and not self._aside(record) else None
            if words is not None and taken(tally, words):
                self._say(record, words)
        elif kind == "queue-operation":
            words = None if self._child else operate(tally, record)
            if words is not None and taken(tally, words):
                self._say(record, words)
        elif kind in ("summary", "ai-title", "custom-title"):
            tally.name(record, self._seen)
        elif kind == "system" and record.subtype == "api_error":
            tally.api_errors += 1

    def _assistant(self, record: Record) -> None:
        tally, message = self._tally, record.message
        if record.is_api_error_message:
            tally.api_errors += 1
            return
        if message is None or message.model == "<synthetic>":
            return
        tally.answered = True
        key = key_of(record)
        spent = tally.spend(key, message.usage)
        draft = self._drafts.of(key) if key else None
        if draft is None:
            draft = self._begin(record, "assistant", "reply", key)
        draft.last = self._line
        draft.tokens = spent
        if message.model and message.model != draft.model:
            draft.model = plain(message.model)[:200]
            tally.model(draft.model)
        if isinstance(message.content, str):
            draft.texts.append(plain(cut(message.content, _OWN)))
            return
        for block in message.content or ():
            if block.type == "text" and block.text:
                draft.texts.append(plain(cut(block.text, _OWN)))
            elif block.type == "thinking" and block.thinking and not self._brief:
                draft.reasoning.append(plain(cut(block.thinking, _OWN)))
            elif block.type == "tool_use":
                native = known(block.id)
                if not native or tally.new(self._seen, f"call:{native}"):
                    tally.tool_calls += 1
                    self._drafts.call(draft, opened(block, brief=self._brief))

    def _user(self, record: Record) -> None:
        tally, message = self._tally, record.message
        content = message.content if message else None
        results = [one for one in content if one.type == "tool_result"] if isinstance(content, list) else []
        for block in results:
            ended = WENT_WELL if self._brief and self._unread(record, block) else result(record, block)
            tally.denials += ended.status == "denied"
            tally.tool_errors += bool(block.is_error) and ended.status != "denied"
            self._drafts.close(ended, block, record, self._line)
        if interrupts(record):
            self._drafts.interrupt(self._line)
        if results:
            return
        words = None if self._aside(record) else typed(record)
        if words is None:
            tally.injected += 1
        elif not repeated(tally, words, record.prompt_source):
            self._say(record, words)
        if words is None or words.kind == "shell":
            told = output_of(record)
            if told is not None:
                self._drafts.printed(told, self._line)

    def _unread(self, record: Record, block: Block) -> bool:
        """Whether the catalog keeps nothing of this result: it does of errors, answers and plans."""
        failed = block.is_error or record.tool_denial_kind
        return not failed and self._drafts.kind(block.tool_use_id) not in ("ask", "plan")

    def _aside(self, record: Record) -> bool:
        return self._child or bool(record.is_sidechain)

    def _say(self, record: Record, words: Typed) -> None:
        self._tally.say(words)
        draft = self._begin(record, "user", words.kind, "", words.text)
        draft.texts.append(words.text)
        if words.kind == "shell":
            self._drafts.run(draft)

    def _begin(self, record: Record, role: Role, kind: TurnKind, key: str, text: str = "") -> Draft:
        tally = self._tally
        ordinal = tally.turns
        native = known(record.uuid)
        if not native:
            when = record.timestamp or f"{self.transcript.session_id} {ordinal}"
            native = f"{role}\n{text}\n{key}\n{when}"
        tally.turns += 1
        return self._drafts.begin(
            Draft(
                id=turn_id("claude", native),
                ordinal=ordinal,
                role=role,
                kind=kind,
                first=self._line,
                last=self._line,
                before=self._before,
                time=self._time,
                cwd=tally.cwd,
                branch=tally.branch,
                sidechain=self._aside(record),
                key=key,
            )
        )


read = Reading
