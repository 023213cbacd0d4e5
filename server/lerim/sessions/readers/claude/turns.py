"""Drafts of Claude Code turns: adds tool results and the output of the person's own commands."""

from __future__ import annotations

from lerim.sessions.model import ToolKind
from lerim.sessions.readers.claude.records import ClaudeBlock, ClaudeRecord
from lerim.sessions.readers.claude.tools import (
    ClaudeToolResult,
    SpilledOutputReader,
    attach_command_output,
    close_claude_call,
)
from lerim.sessions.readers.engine import REDACTED, TurnDraft, TurnDrafts, make_own_command, usable_id


class ClaudeDrafts(TurnDrafts):
    """The turns of a transcript of Claude Code that are not final yet."""

    def __init__(self, read_spilled: SpilledOutputReader) -> None:
        super().__init__()
        self._read_spilled = read_spilled

    def add_own_command(self, draft: TurnDraft) -> None:
        """Adds the person's own command to its turn, which then waits for the output."""
        draft.calls.append(make_own_command(draft.texts[0]))
        draft.pending_calls = 1

    def add_command_output(self, text: str, offset: int) -> None:
        """Adds output to the person's last command; does nothing if none is waiting for it."""
        for draft in reversed(self._queue):
            if draft.kind == "shell" and draft.pending_calls:
                draft.calls = [attach_command_output(draft.calls[0], text)]
                draft.pending_calls = 0
                draft.last_offset = offset
                return

    def find_call_kind(self, native_id: str | None) -> ToolKind | None:
        """Returns the kind of the tool call with this id, or None if its turn is final or unknown."""
        entries = self._calls_by_id.get(native_id or "")
        return entries[-1][0].calls[entries[-1][1]].kind if entries else None

    def close_call(self, result: ClaudeToolResult, block: ClaudeBlock, record: ClaudeRecord, offset: int) -> None:
        """Adds a result to its tool call; does nothing if no open turn contains that call."""
        entries = self._calls_by_id.get(block.tool_use_id or "")
        if not entries:
            return
        draft, index = entries[0] if len(entries) == 1 else _first_pending(entries)
        if draft.calls[index].status == "pending":
            draft.pending_calls -= 1
        draft.calls[index] = close_claude_call(draft.calls[index], result, record, self._read_spilled)
        draft.last_offset = offset


def _first_pending(entries: list[tuple[TurnDraft, int]]) -> tuple[TurnDraft, int]:
    """Of the tool calls that share an id, returns the first one without a result, or else the last."""
    return next((one for one in entries if one[0].calls[one[1]].status == "pending"), entries[-1])


def api_message_key(record: ClaudeRecord) -> str:
    """Returns an id that all records of one API message share."""
    message = record.message
    native_id = message.id if message else ""
    if native_id and native_id != REDACTED:
        return native_id
    return usable_id(record.request_id) or usable_id(record.uuid)
