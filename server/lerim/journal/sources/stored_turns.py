"""Turns of the catalog in the form that the rules of extraction read.

The catalog has the whole text of a turn but only the first lines of its tool calls. It outlives the transcripts, which
agents delete after weeks.
"""

from __future__ import annotations

from lerim.sessions import StoredCall, SummaryTurn, ToolCall, ToolKind, Turn


def to_turn(turn: SummaryTurn) -> Turn:
    """Returns a turn of the catalog as a reader would have read it, as far as the catalog has it."""
    calls = tuple(_to_call(call, turn, f"{turn.id}-{number}") for number, call in enumerate(turn.calls))
    return Turn(
        id=turn.id,
        ordinal=turn.number,
        role=turn.role,
        kind=turn.kind,
        text=turn.text,
        time=turn.time,
        cwd=turn.cwd,
        branch=turn.branch,
        tool_calls=calls,
    )


def _to_call(call: StoredCall, turn: SummaryTurn, call_id: str) -> ToolCall:
    first, _, rest = call.text.partition("\n")
    if first.startswith("$ "):
        return ToolCall(
            call_id,
            "shell",
            "shell",
            call.status,
            command=first[2:],
            output=rest if call.status == "error" else "",
            exit_code=_exit_code(call),
        )
    paths, answers = tuple(call.find_named_paths(turn.paths)), call.answers
    kind: ToolKind = "ask" if answers else "edit" if call.changes_files else "other"
    return ToolCall(call_id, first.partition(" ")[0], kind, call.status, paths=paths, answers=answers)


def _exit_code(call: StoredCall) -> int | None:
    """Returns the exit code. The catalog does not tell 0 from an unknown one, so that of a command that passed is 0."""
    return 0 if call.exit_code is None and call.status == "ok" else call.exit_code
