"""Reads a transcript of Claude Code: each record updates a `ClaudeTally` and, if it contains a part of a turn, a
`TurnDraft`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from lerim.sessions.model import Role, Session, ToolCall, ToolStatus, Transcript, TurnKind
from lerim.sessions.readers.claude.calls import close_claude_call, parse_claude_call, parse_claude_result
from lerim.sessions.readers.claude.human import (
    command_key,
    is_command_expansion,
    is_interruption,
    is_unattended_record,
    parse_claude_prompt,
    parse_command_output,
    parse_queued_attachment,
    parse_request,
)
from lerim.sessions.readers.claude.queue import apply_queue_operation, consume_queued_repeat, register_queued_prompt
from lerim.sessions.readers.claude.records import ClaudeBlock, ClaudeRecord, decode_claude_line, list_blocks
from lerim.sessions.readers.claude.spilled_outputs import results_folder
from lerim.sessions.readers.claude.tally import ClaudeTally
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    LineReading,
    TurnDraft,
    TurnDrafts,
    TypedText,
    close_call,
    cut_blocks,
    make_own_command,
    parse_timestamp,
    usable_id,
    without_nul,
)

_TELLS_END = re.compile(rb'"(?:interrupted":\s{0,3}true|exitCode":)')
"""Matches the fields in which a result that is not an error may say how a command ended."""


_NAMES_OF_TYPES = """
    user assistant system attachment progress queue-operation summary ai-title custom-title last-prompt mode
    permission-mode pr-link frame-link file-history-snapshot file-history-delta relocated worktree-state agent-name
    agent-setting tag bridge-session content-replacement attribution-snapshot task-summary
"""
_RECORD_TYPES = frozenset(_NAMES_OF_TYPES.split())
"""The types of records that Claude Code is known to write."""


class ClaudeReading(LineReading[ClaudeRecord, ClaudeTally]):
    """One pass over a transcript; see `LineReading`. `brief` leaves out the results of successful tool calls, text
    written to files, and reasoning, because decoding these takes a fifth of the time."""

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        self._is_subagent = bool(transcript.parent) or transcript.path.name.startswith("agent-")
        self._is_compaction = transcript.path.name.startswith("agent-acompact-")
        self._results_folder = results_folder(transcript)
        super().__init__(transcript, resume, ClaudeTally(), TurnDrafts(), brief=brief)

    def _build_session(self) -> Session:
        return self._tally.build_session(self.transcript, parent=None if self._is_subagent else "")

    _decode_line = staticmethod(decode_claude_line)

    def _is_known(self, record: ClaudeRecord) -> bool:
        return record.type in _RECORD_TYPES

    # --- records -------------------------------------------------------------------------------------------------

    def _may_begin_turn(self, record: ClaudeRecord) -> bool:
        """Checks whether a turn may begin with this record, in which case the tally before it has to be kept."""
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
        if self._may_begin_turn(record):
            self._save_tally()
        native_id = usable_id(record.uuid)
        if native_id and not tally.register_id(self._seen_ids, native_id):
            return
        self._time = parse_timestamp(record.timestamp)
        tally.note_record(record, self._time)
        if record.entrypoint:  # records of the queue do not say whether a program sends the prompts
            tally.unattended = is_unattended_record(record)
        if kind == "assistant":
            self._add_answer(record)
        elif kind == "user":
            self._add_user_record(record)
        elif kind in ("attachment", "queue-operation"):
            typed = self._parse_queued_prompt(record)
            if typed is not None and register_queued_prompt(tally, typed):
                self._add_prompt(record, typed)
        elif kind in ("summary", "ai-title", "custom-title"):
            tally.set_title(record, self._seen_ids)

    def _parse_queued_prompt(self, record: ClaudeRecord) -> TypedText | None:
        if self._is_sidechain(record):
            return None
        if record.type == "queue-operation":
            return apply_queue_operation(self._tally, record)
        return parse_queued_attachment(record.attachment) if record.attachment else None

    def _add_answer(self, record: ClaudeRecord) -> None:
        tally, message = self._tally, record.message
        if record.is_api_error_message or message is None or message.model == "<synthetic>":
            return
        tally.answered = True
        key = _api_message_key(record)
        tokens = tally.count_tokens(key, message.usage)
        if self._is_compaction:  # a summary of the session for the program itself
            return
        draft = self._drafts.find_draft(key) if key else None
        if draft is None:
            draft = self._begin_claude_turn(record, "assistant", "reply", key)
        draft.last_offset = self._line_offset
        draft.tokens = tokens
        if message.model and message.model != draft.model:
            draft.model = without_nul(message.model)[:200]
            tally.add_model(draft.model)
        for block in list_blocks(message.content):
            if block.type == "text" and block.text:
                draft.texts.append(without_nul(cut_blocks(block.text, (MEMORIES_TAG,))))
            elif block.type == "thinking" and block.thinking and not self._brief:
                draft.reasoning.append(without_nul(cut_blocks(block.thinking, (MEMORIES_TAG,))))
            elif block.type == "tool_use":
                native_id = usable_id(block.id)
                if not native_id or tally.register_id(self._seen_ids, f"call:{native_id}"):
                    tally.tool_calls += 1
                    self._drafts.add_call(draft, parse_claude_call(block, brief=self._brief))

    def _add_user_record(self, record: ClaudeRecord) -> None:
        tally, message = self._tally, record.message
        results = [one for one in list_blocks(message.content) if one.type == "tool_result"] if message else []
        for block in results:
            close: Callable[[ToolCall], ToolCall] = partial(replace, status="ok")
            status: ToolStatus = "ok"
            if not (self._brief and self._is_result_unused(record, block)):
                status, text = parse_claude_result(record, block)
                folder = self._results_folder
                close = partial(close_claude_call, status=status, text=text, record=record, results_folder=folder)
            call = self._drafts.update_call(block.tool_use_id or "", self._line_offset, close)
            status = status if call is None else call.status
            tally.denials += status == "denied"
            tally.tool_errors += status == "error"
        if is_interruption(record):
            self._drafts.interrupt_calls(self._line_offset)
        if results:
            return
        typed = (
            None
            if self._is_sidechain(record) or is_command_expansion(record, tally.command_key)
            else parse_claude_prompt(record)
        )
        tally.command_key = command_key(record) or tally.command_key
        if typed is not None and not consume_queued_repeat(tally, typed, record.prompt_source):
            self._add_prompt(record, typed)
        if typed is None:
            tally.note_request(parse_request(record, is_subagent=self._is_subagent))
        if typed is None or typed.kind == "shell":
            output = parse_command_output(record)
            if output is not None:
                close = partial(close_call, status="ok", text=without_nul(cut_blocks(output)), brief=False)
                self._drafts.update_call("", self._line_offset, close)  # the person's own command has no id

    def _is_result_unused(self, record: ClaudeRecord, block: ClaudeBlock) -> bool:
        """Checks whether the catalog keeps nothing of this result; it does keep errors, answers and plans."""
        call = self._drafts.find_call(block.tool_use_id or "", self._line_offset)
        if block.is_error or record.tool_denial_kind or (call is not None and call.kind in ("ask", "plan")):
            return False
        is_known = call is None or call.kind not in ("shell", "other")
        return is_known or not _TELLS_END.search(memoryview(record.tool_use_result))

    def _is_sidechain(self, record: ClaudeRecord) -> bool:
        return self._is_subagent or bool(record.is_sidechain)

    def _add_prompt(self, record: ClaudeRecord, typed: TypedText) -> None:
        self._tally.count_prompt(typed)
        draft = self._begin_claude_turn(record, "user", typed.kind, "", typed.text)
        draft.unattended = is_unattended_record(record) or (not record.entrypoint and self._tally.unattended)
        draft.texts.append(typed.text)
        if typed.kind == "shell":
            self._drafts.add_call(draft, make_own_command(typed.text))

    def _begin_claude_turn(
        self, record: ClaudeRecord, role: Role, kind: TurnKind, key: str, text: str = ""
    ) -> TurnDraft:
        native_id = usable_id(record.uuid)
        if not native_id:
            when = record.timestamp or f"{self.transcript.session_id} {self._tally.turns}"
            native_id = f"{role}\n{text}\n{key}\n{when}"
        return self._begin_turn(role, kind, native_id, is_sidechain=self._is_sidechain(record), key=key)


def _api_message_key(record: ClaudeRecord) -> str:
    """Returns an id that all records of one API message share."""
    message_id = record.message.id if record.message else ""
    return usable_id(message_id) or usable_id(record.request_id) or usable_id(record.uuid)
