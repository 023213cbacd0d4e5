"""A session's turns as a model is shown them for a summary: as the catalog keeps them, without what tools printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lerim.extraction.transcript import ShownPiece, ShownTurn, shorten_middle
from lerim.sessions import SummaryTurn

TEXT = (13_000, 6_500)  # characters of what a person or the agent wrote in one turn: head and tail
CALL = (400, 200)
CALLS = 30  # tool calls shown of one turn: the first and the last ones


def show_summary_turns(turns: Sequence[SummaryTurn]) -> list[ShownTurn]:
    """What a model is shown of these turns; those of which nothing is for a model are left out."""
    found = (
        ShownTurn(turn.id, turn.number, turn.role, turn.time, turn.cwd, tuple(_pieces(turn)), turn.paths)
        for turn in turns
    )
    return [one for one in found if one.pieces]


def _pieces(turn: SummaryTurn) -> Iterator[ShownPiece]:
    text = shorten_middle(turn.text, *TEXT)
    if text.strip():
        yield ShownPiece("user" if turn.role == "user" else "assistant", text)
    calls = turn.calls
    for call in calls if len(calls) <= CALLS else (*calls[: CALLS // 2], *calls[-CALLS // 2 :]):
        told = shorten_middle(call.text, *CALL)
        if told.strip():
            ended = f"exit {call.exit_code}" if call.exit_code else call.status
            yield ShownPiece("assistant" if turn.role == "assistant" else "tool", told, f"call ({ended})")
