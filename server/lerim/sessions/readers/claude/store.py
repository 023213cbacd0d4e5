"""Reads a transcript of Claude Code: each record updates a `ClaudeTally` and, if it contains a part of a turn, a
`TurnDraft`."""

from __future__ import annotations

from lerim.sessions.model import Role, Session, Transcript, TurnKind
from lerim.sessions.readers.claude.files import find_first_cwd, scan_root
from lerim.sessions.readers.claude.human import (
    command_key,
    is_command_expansion,
    is_interruption,
    is_unattended_record,
    parse_claude_prompt,
    parse_command_output,
    parse_queued_attachment,
)
from lerim.sessions.readers.claude.queue import apply_queue_operation, consume_queued_repeat, register_queued_prompt
from lerim.sessions.readers.claude.records import ClaudeBlock, ClaudeRecord, decode_claude_line
from lerim.sessions.readers.claude.spilled_output import read_spilled_output, results_folder
from lerim.sessions.readers.claude.tally import ClaudeTally
from lerim.sessions.readers.claude.tools import SUCCESSFUL_RESULT, parse_claude_call, parse_claude_result
from lerim.sessions.readers.claude.turns import ClaudeDrafts, api_message_key
from lerim.sessions.readers.engine import (
    REDACTED,
    LineReading,
    TurnDraft,
    TypedText,
    cut_blocks,
    parse_timestamp,
    usable_id,
    without_nul,
)

__all__ = ["ClaudeReading", "open_session", "probe_folder", "scan_root"]

_OWN = ("lerim-memories",)


def probe_folder(transcript: Transcript) -> str:
    """Returns the working folder the session begins in, or '' if its transcript does not name it."""
    return find_first_cwd(transcript.path)


class ClaudeReading(LineReading[ClaudeRecord, ClaudeTally, ClaudeDrafts]):
    """One pass over a transcript; see `LineReading`. `brief` leaves out the results of successful tool calls, text
    written to files, and reasoning, which take a fifth of the time."""

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        path = transcript.path
        folder = results_folder(path)
        self._child = bool(transcript.parent) or path.name.startswith("agent-")
        super().__init__(
            transcript,
            resume,
            ClaudeTally(),
            ClaudeDrafts(lambda named: read_spilled_output(folder, named)),
            brief=brief,
        )

    def _build_session(self) -> Session:
        transcript = self.transcript
        parent = transcript.parent or (self._tally.parent if self._child else "")
        return self._tally.build_session(
            transcript.session_id, self.path, parent if parent != transcript.session_id else ""
        )

    _decode_line = staticmethod(decode_claude_line)

    # --- records -------------------------------------------------------------------------------------------------

    def _opens(self, record: ClaudeRecord) -> bool:
        """Checks whether a turn may begin with this record, so that the tally before it has to be kept."""
        message = record.message
        if record.type == "assistant":
            return message is None or self._drafts.find_draft(message.id or "") is None
        if record.type == "user" and message is not None:
            content = message.content
            return not (isinstance(content, list) and content and content[0].type == "tool_result")
        return record.type in ("user", "attachment", "queue-operation")

    def _add_record(self, record: ClaudeRecord) -> None:
        kind, tally = record.type, self._tally
        if kind == "progress":
            return
        if self._opens(record):
            self._save_tally()
        native_id = record.uuid
        if native_id and native_id != REDACTED and not tally.register_id(self._seen_ids, native_id):
            return
        self._time = parse_timestamp(record.timestamp)
        tally.meet(record, self._time)
        self._entered(record)
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "attachment":
            words = (
                parse_queued_attachment(record.attachment) if record.attachment and not self._aside(record) else None
            )
            if words is not None and register_queued_prompt(tally, words):
                self._say(record, words)
        elif kind == "queue-operation":
            words = None if self._child else apply_queue_operation(tally, record)
            if words is not None and register_queued_prompt(tally, words):
                self._say(record, words)
        elif kind in ("summary", "ai-title", "custom-title"):
            tally.name(record, self._seen_ids)
        elif kind == "system" and record.subtype == "api_error":
            tally.api_errors += 1

    def _entered(self, record: ClaudeRecord) -> None:
        """Notes whether a program sends the prompts from here on, because queue records do not say so."""
        if record.entrypoint:
            self._tally.unattended = is_unattended_record(record)

    def _assistant(self, record: ClaudeRecord) -> None:
        tally, message = self._tally, record.message
        if record.is_api_error_message:
            tally.api_errors += 1
            return
        if message is None or message.model == "<synthetic>":
            return
        tally.answered = True
        key = api_message_key(record)
        spent = tally.spend(key, message.usage)
        draft = self._drafts.find_draft(key) if key else None
        if draft is None:
            draft = self._begin(record, "assistant", "reply", key)
        draft.last_offset = self._line_offset
        draft.tokens = spent
        if message.model and message.model != draft.model:
            draft.model = without_nul(message.model)[:200]
            tally.add_model(draft.model)
        if isinstance(message.content, str):
            draft.texts.append(without_nul(cut_blocks(message.content, _OWN)))
            return
        for block in message.content or ():
            if block.type == "text" and block.text:
                draft.texts.append(without_nul(cut_blocks(block.text, _OWN)))
            elif block.type == "thinking" and block.thinking and not self._brief:
                draft.reasoning.append(without_nul(cut_blocks(block.thinking, _OWN)))
            elif block.type == "tool_use":
                native_id = usable_id(block.id)
                if not native_id or tally.register_id(self._seen_ids, f"call:{native_id}"):
                    tally.tool_calls += 1
                    self._drafts.add_call(draft, parse_claude_call(block, brief=self._brief))

    def _user(self, record: ClaudeRecord) -> None:
        tally, message = self._tally, record.message
        content = message.content if message else None
        results = [one for one in content if one.type == "tool_result"] if isinstance(content, list) else []
        for block in results:
            ended = (
                SUCCESSFUL_RESULT if self._brief and self._unread(record, block) else parse_claude_result(record, block)
            )
            tally.denials += ended.status == "denied"
            tally.tool_errors += bool(block.is_error) and ended.status != "denied"
            self._drafts.close(ended, block, record, self._line_offset)
        if is_interruption(record):
            self._drafts.interrupt_calls(self._line_offset)
        if results:
            return
        words = (
            None if self._aside(record) or is_command_expansion(record, tally.command) else parse_claude_prompt(record)
        )
        tally.command = command_key(record) or tally.command
        if words is None:
            tally.injected += 1
        elif not consume_queued_repeat(tally, words, record.prompt_source):
            self._say(record, words)
        if words is None or words.kind == "shell":
            told = parse_command_output(record)
            if told is not None:
                self._drafts.printed(told, self._line_offset)

    def _unread(self, record: ClaudeRecord, block: ClaudeBlock) -> bool:
        """Checks whether the catalog keeps nothing of this result; it does keep errors, answers and plans."""
        failed = block.is_error or record.tool_denial_kind
        return not failed and self._drafts.kind(block.tool_use_id) not in ("ask", "plan")

    def _aside(self, record: ClaudeRecord) -> bool:
        return self._child or bool(record.is_sidechain)

    def _say(self, record: ClaudeRecord, words: TypedText) -> None:
        self._tally.count_prompt(words)
        draft = self._begin(record, "user", words.kind, "", words.text)
        draft.unattended = is_unattended_record(record) or (not record.entrypoint and self._tally.unattended)
        draft.texts.append(words.text)
        if words.kind == "shell":
            self._drafts.run(draft)

    def _begin(self, record: ClaudeRecord, role: Role, kind: TurnKind, key: str, text: str = "") -> TurnDraft:
        native_id = usable_id(record.uuid)
        if not native_id:
            when = record.timestamp or f"{self.transcript.session_id} {self._tally.turns}"
            native_id = f"{role}\n{text}\n{key}\n{when}"
        return self._begin_turn(role, kind, native_id, aside=self._aside(record), key=key)


open_session = ClaudeReading
