"""Redacts turns. Everything that is learned from a turn, shown of it or sent to a model goes through here first.

A text is redacted as a whole before it is cut, cleaned or split, because half a secret is no longer recognized.
"""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from lerim.redaction import redact_secrets, remove_private_blocks
from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, Turn
from lerim.sessions.tables import StoredCall, parse_stored_calls


def redact_text(text: str) -> str:
    """Returns the text with `<private>` blocks removed and every secret replaced."""
    return redact_secrets(remove_private_blocks(text)).text


def redact_turn(turn: Turn) -> Turn:
    """Returns the turn with every text in it redacted."""
    return replace(
        turn,
        text=redact_text(turn.text),
        reasoning=redact_text(turn.reasoning),
        tool_calls=tuple(map(_redact_call, turn.tool_calls)),
    )


def redact_stored_calls(tools: str) -> tuple[StoredCall, ...]:
    """Returns the stored tool calls of a turn with their texts redacted."""
    return tuple(dataclasses.replace(call, text=redact_text(call.text)) for call in parse_stored_calls(tools))


def _redact_call(call: ToolCall) -> ToolCall:
    return replace(
        call,
        name=redact_text(call.name),
        command=redact_text(call.command),
        description=redact_text(call.description),
        paths=tuple(map(redact_text, call.paths)),
        edits=tuple(FileEdit(redact_text(one.path), redact_text(one.old), redact_text(one.new)) for one in call.edits),
        answers=tuple(map(_redact_answer, call.answers)),
        plan=redact_text(call.plan),
        output=redact_text(call.output),
        feedback=redact_text(call.feedback),
    )


def _redact_answer(answer: QuestionAnswer) -> QuestionAnswer:
    return QuestionAnswer(
        redact_text(answer.question),
        tuple(map(redact_text, answer.options)),
        redact_text(answer.answer),
        tuple(map(redact_text, answer.descriptions)),
    )
