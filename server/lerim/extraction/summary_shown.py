"""A session's turns as a model is shown them for a summary: as the catalog keeps them, without what tools printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lerim.extraction.transcript import Piece, Shown, in_short
from lerim.sessions.retold import Told

TEXT = (13_000, 6_500)  # characters of what a person or the agent wrote in one turn: head and tail
CALL = (400, 200)
CALLS = 30  # tool calls shown of one turn: the first and the last ones


def shown(turns: Sequence[Told]) -> list[Shown]:
    """What a model is shown of these turns; those of which nothing is for a model are left out."""
    found = (
        Shown(turn.id, turn.number, turn.role, turn.time, turn.cwd, tuple(_pieces(turn)), turn.paths) for turn in turns
    )
    return [one for one in found if one.pieces]


def _pieces(turn: Told) -> Iterator[Piece]:
    text = in_short(turn.text, *TEXT)
    if text.strip():
        yield Piece("user" if turn.role == "user" else "assistant", text)
    calls = turn.calls
    for call in calls if len(calls) <= CALLS else (*calls[: CALLS // 2], *calls[-CALLS // 2 :]):
        told = in_short(call.text, *CALL)
        if told.strip():
            ended = f"exit {call.exit_code}" if call.exit_code else call.status
            yield Piece("assistant" if turn.role == "assistant" else "tool", told, f"call ({ended})")
