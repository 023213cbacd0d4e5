"""Measures how much of a session a model is shown, and whether that still contains the evidence of its labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from lerim.extraction.model.material import Material
from lerim.extraction.transcript import ShownTurn
from lerim.models import tokens
from lerim.sessions.model import Platform, Transcript, Turn
from lerim_evals.extractors import read_turns
from lerim_evals.labels import ExpectedMemory, Label


class RenderedSession(msgspec.Struct, frozen=True):
    """One session: the o200k tokens of its file (`raw`, None for a session in a database) and of what a model is shown.

    `memories` is the number of memories in its label, `lost` has the claims whose evidence a model would not see.
    """

    session: str
    platform: Platform
    raw: int | None
    shown: int
    memories: int
    lost: tuple[str, ...]


def render_session(transcript: Transcript, label: Label) -> RenderedSession:
    """Renders a session as a sync does, and looks for the evidence of each labelled memory in the result.

    Raises TranscriptError if the session cannot be read, SettingsError if tokens cannot be counted.
    """
    turns, turn_of, _ = read_turns(transcript, label.until)
    material = Material(None, transcript.session_id, transcript.platform)
    for turn in turns:
        material.add(turn)
    ready = material.window_turns(True)
    whole = {turn.id: _full_text(turn) for turn in turns}
    seen = {turn.id: _shown_text(turn) for turn in ready}
    lost = tuple(one.claim for one in label.expected if not _has_evidence(one, turn_of, whole, seen))
    raw = None if transcript.store_key else sum(map(tokens.count_tokens, _file_lines(transcript)))
    shown = sum(tokens.count_tokens(turn.header + turn.body()) for turn in ready)
    return RenderedSession(label.session, label.platform, raw, shown, len(label.expected), lost)


def rendering_rows(sessions: Sequence[RenderedSession]) -> list[tuple[str, ...]]:
    """Rows of session, agent, tokens of the file, tokens shown, their share, labelled memories, and memories that lost
    their evidence. The last row has the totals; its tokens are those of sessions with a file of their own."""
    listed = [
        (
            one.session[:8],
            one.platform,
            _format_count(one.raw),
            _format_count(one.shown),
            _share(one),
            *_memory_counts([one]),
        )
        for one in sessions
    ]
    files = [one for one in sessions if one.raw is not None]
    total = RenderedSession("all", "claude", sum(one.raw or 0 for one in files), sum(one.shown for one in files), 0, ())
    return [
        *listed,
        ("all", "", _format_count(total.raw), _format_count(total.shown), _share(total), *_memory_counts(sessions)),
    ]


def _has_evidence(one: ExpectedMemory, turn_of: dict[str, str], whole: dict[str, str], seen: dict[str, str]) -> bool:
    """Whether each group of terms that occurs in the labelled turns also occurs in what is shown of them."""
    named = [turn for native in one.turns if (turn := turn_of.get(native, "")) in whole]
    before = " ".join(whole[turn] for turn in named).lower()
    after = " ".join(seen.get(turn, "") for turn in named).lower()
    if named and not after:
        return False
    return all(_contains_any(group, after) for group in one.terms if _contains_any(group, before))


def _contains_any(group: Sequence[str], text: str) -> bool:
    return any(term.lower() in text for term in group)


def _full_text(turn: Turn) -> str:
    """The whole text of a turn with its tool calls."""
    calls = (text for call in turn.tool_calls for text in (call.command, call.output, call.plan, call.feedback))
    answers = (text for call in turn.tool_calls for one in call.answers for text in (one.question, one.answer))
    return "\n".join((turn.text, *calls, *answers))


def _shown_text(turn: ShownTurn) -> str:
    return turn.body()


def _file_lines(transcript: Transcript) -> Iterator[str]:
    with transcript.path.open(encoding="utf-8", errors="replace") as file:
        yield from file


def _memory_counts(sessions: Sequence[RenderedSession]) -> tuple[str, str]:
    return str(sum(one.memories for one in sessions)), str(sum(len(one.lost) for one in sessions))


def _share(one: RenderedSession) -> str:
    return "" if not one.raw else f"{one.shown / one.raw * 100:.1f} %"


def _format_count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
