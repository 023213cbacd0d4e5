"""Renders a session's turns for a model that summarizes them: as stored in the catalog, without tool output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lerim.extraction.transcript import ShownPiece, ShownTurn, shorten_middle
from lerim.sessions import SummaryTurn

TEXT_CHARS = (13_000, 6_500)  # characters of text that the person or the agent wrote in one turn: head and tail
CALL_CHARS = (400, 200)
MAX_CALLS = 30  # tool calls shown per turn: the first and the last ones


def show_summary_turns(turns: Sequence[SummaryTurn]) -> list[ShownTurn]:
    """Returns these turns as a model is shown them, without turns that have nothing to show."""
    shown_turns = (
        ShownTurn(turn.id, turn.number, turn.role, turn.time, turn.cwd, tuple(_pieces(turn)), turn.paths)
        for turn in turns
    )
    return [one for one in shown_turns if one.pieces]


def _pieces(turn: SummaryTurn) -> Iterator[ShownPiece]:
    text = shorten_middle(turn.text, *TEXT_CHARS)
    if text.strip():
        yield ShownPiece("user" if turn.role == "user" else "assistant", text)
    calls = turn.calls
    for call in calls if len(calls) <= MAX_CALLS else (*calls[: MAX_CALLS // 2], *calls[-MAX_CALLS // 2 :]):
        shown_text = shorten_middle(call.text, *CALL_CHARS)
        if shown_text.strip():
            ended = f"exit {call.exit_code}" if call.exit_code else call.status
            yield ShownPiece("assistant" if turn.role == "assistant" else "tool", shown_text, f"call ({ended})")
