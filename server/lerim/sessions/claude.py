"""Reading a transcript of Claude Code: each record is folded into a `ClaudeTally` and, where it says something, into a
`Draft` of a turn."""

from __future__ import annotations

from lerim.sessions.claude_files import begins_in, find
from lerim.sessions.claude_human import command_of, expands, interrupts, output_of, queued, typed, unattended
from lerim.sessions.claude_queue import operate, repeated, taken
from lerim.sessions.claude_records import Block, Record, decode
from lerim.sessions.claude_tally import ClaudeTally
from lerim.sessions.claude_tools import WENT_WELL, opened, result
from lerim.sessions.claude_turns import ClaudeDrafts, key_of
from lerim.sessions.jsonl import LineReading
from lerim.sessions.model import Role, Session, Transcript, TurnKind
from lerim.sessions.spills import results_folder, spilled
from lerim.sessions.turn_drafts import Draft
from lerim.sessions.typed import Typed, cut
from lerim.sessions.values import REDACTED, known, moment, plain

__all__ = ["Reading", "find", "probe", "read"]

_OWN = ("lerim-memories",)


def probe(transcript: Transcript) -> str:
    """The working folder the session begins in; '' if its transcript does not say."""
    return begins_in(transcript.path)


class Reading(LineReading[Record, ClaudeTally, ClaudeDrafts]):
    """One pass over a transcript; see `LineReading`. What calls that went well brought back, what was written to files
    and reasoning is a fifth of the time: that is what `brief` leaves out."""

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        path = transcript.path
        folder = results_folder(path)
        self._child = bool(transcript.parent) or path.name.startswith("agent-")
        super().__init__(
            transcript, resume, ClaudeTally(), ClaudeDrafts(lambda named: spilled(folder, named)), brief=brief
        )

    def _session(self) -> Session:
        transcript = self.transcript
        parent = transcript.parent or (self._tally.parent if self._child else "")
        return self._tally.session(transcript.session_id, self.path, parent if parent != transcript.session_id else "")

    _decode = staticmethod(decode)

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
        if self._opens(record):
            self._keep()
        native = record.uuid
        if native and native != REDACTED and not tally.new(self._seen, native):
            return
        self._time = moment(record.timestamp)
        tally.meet(record, self._time)
        self._entered(record)
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

    def _entered(self, record: Record) -> None:
        """Notes who prompts from here on, which records of the queue do not tell."""
        if record.entrypoint:
            self._tally.unattended = unattended(record)

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
        words = None if self._aside(record) or expands(record, tally.command) else typed(record)
        tally.command = command_of(record) or tally.command
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
        draft.unattended = unattended(record) or (not record.entrypoint and self._tally.unattended)
        draft.texts.append(words.text)
        if words.kind == "shell":
            self._drafts.run(draft)

    def _begin(self, record: Record, role: Role, kind: TurnKind, key: str, text: str = "") -> Draft:
        native = known(record.uuid)
        if not native:
            when = record.timestamp or f"{self.transcript.session_id} {self._tally.turns}"
            native = f"{role}\n{text}\n{key}\n{when}"
        return self._turn(role, kind, native, aside=self._aside(record), key=key)


read = Reading
