"""Turns of Claude Code in the making: results of tools and the output of the person's own commands."""

from __future__ import annotations

from lerim.sessions.claude_records import Block, Record
from lerim.sessions.claude_tools import Result, Spilled, closed, printed
from lerim.sessions.model import ToolKind
from lerim.sessions.turn_drafts import Draft, Drafts, own_command
from lerim.sessions.values import REDACTED, known


class ClaudeDrafts(Drafts):
    """The turns of a transcript of Claude Code that are not final yet."""

    def __init__(self, spilled: Spilled) -> None:
        super().__init__()
        self._spilled = spilled

    def run(self, draft: Draft) -> None:
        """Adds the person's own command to its turn, which then waits for what it prints."""
        draft.calls.append(own_command(draft.texts[0]))
        draft.waiting = 1

    def printed(self, text: str, offset: int) -> None:
        """Gives the person's last command its output; if none waits it is left alone."""
        for draft in reversed(self._queue):
            if draft.kind == "shell" and draft.waiting:
                draft.calls = [printed(draft.calls[0], text)]
                draft.waiting = 0
                draft.last = offset
                return

    def kind(self, native: str | None) -> ToolKind | None:
        """What the call of this id is, while its turn is unfinished."""
        held = self._calls.get(native or "")
        return held[-1][0].calls[held[-1][1]].kind if held else None

    def close(self, ended: Result, block: Block, record: Record, offset: int) -> None:
        """Gives a call its result; one that belongs to no open turn is left alone."""
        held = self._calls.get(block.tool_use_id or "")
        if not held:
            return
        draft, at = held[0] if len(held) == 1 else _waiting(held)
        if draft.calls[at].status == "pending":
            draft.waiting -= 1
        draft.calls[at] = closed(draft.calls[at], ended, record, self._spilled)
        draft.last = offset


def _waiting(held: list[tuple[Draft, int]]) -> tuple[Draft, int]:
    """The first call without a result of those that share an id, else the last."""
    return next((one for one in held if one[0].calls[one[1]].status == "pending"), held[-1])


def key_of(record: Record) -> str:
    """What the records of one API message share."""
    message = record.message
    native = message.id if message else ""
    if native and native != REDACTED:
        return native
    return known(record.request_id) or known(record.uuid)
