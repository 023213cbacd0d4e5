"""How small a session becomes for a model, and whether what its labels rest on is still there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from lerim.extraction.model.material import Material
from lerim.extraction.transcript import ShownTurn
from lerim.models import tokens
from lerim.sessions.model import Platform, Transcript, Turn
from lerim_evals.extractors import read
from lerim_evals.labels import Expected, Label


class Rendered(msgspec.Struct, frozen=True):
    """One session: tokens (o200k) of its file and of what a model is shown of it; None where it is part of a database.

    `memories` is how many memories its label names, `lost` the claims whose evidence a model would not see.
    """

    session: str
    platform: Platform
    raw: int | None
    shown: int
    memories: int
    lost: tuple[str, ...]


def rendered(transcript: Transcript, label: Label) -> Rendered:
    """Renders a session as a sync does, and looks in it for what each labelled memory rests on.

    Raises TranscriptError if it cannot be read, SettingsError where tokens cannot be counted.
    """
    turns, turn_of, _ = read(transcript, label.until)
    material = Material(None, transcript.session_id, transcript.platform)
    for turn in turns:
        material.add(turn)
    ready = material.window_turns(True)
    whole = {turn.id: _words(turn) for turn in turns}
    seen = {turn.id: _seen(turn) for turn in ready}
    lost = tuple(one.claim for one in label.expected if not _kept(one, turn_of, whole, seen))
    raw = None if transcript.store_key else sum(map(tokens.count_tokens, _lines(transcript)))
    shown = sum(tokens.count_tokens(turn.header + turn.body()) for turn in ready)
    return Rendered(label.session, label.platform, raw, shown, len(label.expected), lost)


def rows(sessions: Sequence[Rendered]) -> list[tuple[str, ...]]:
    """Session, agent, tokens of the file, tokens shown, their share, memories of the label, how many lost evidence; the
    last row is the sum over sessions that have a file of their own."""
    listed = [
        (one.session[:8], one.platform, _number(one.raw), _number(one.shown), _share(one), *_memories([one]))
        for one in sessions
    ]
    files = [one for one in sessions if one.raw is not None]
    both = Rendered("all", "claude", sum(one.raw or 0 for one in files), sum(one.shown for one in files), 0, ())
    return [*listed, ("all", "", _number(both.raw), _number(both.shown), _share(both), *_memories(sessions))]


def _kept(one: Expected, turn_of: dict[str, str], whole: dict[str, str], seen: dict[str, str]) -> bool:
    """Whether each group of the label's terms that the named turns speak of is still there in what is shown of them."""
    named = [turn for native in one.turns if (turn := turn_of.get(native, "")) in whole]
    before = " ".join(whole[turn] for turn in named).lower()
    after = " ".join(seen.get(turn, "") for turn in named).lower()
    if named and not after:
        return False
    return all(_any(group, after) for group in one.terms if _any(group, before))


def _any(group: Sequence[str], text: str) -> bool:
    return any(term.lower() in text for term in group)


def _words(turn: Turn) -> str:
    """Everything a turn says."""
    calls = (text for call in turn.tool_calls for text in (call.command, call.output, call.plan, call.feedback))
    answers = (text for call in turn.tool_calls for one in call.answers for text in (one.question, one.answer))
    return "\n".join((turn.text, *calls, *answers))


def _seen(turn: ShownTurn) -> str:
    return turn.body()


def _lines(transcript: Transcript) -> Iterator[str]:
    with transcript.path.open(encoding="utf-8", errors="replace") as file:
        yield from file


def _memories(sessions: Sequence[Rendered]) -> tuple[str, str]:
    return str(sum(one.memories for one in sessions)), str(sum(len(one.lost) for one in sessions))


def _share(one: Rendered) -> str:
    return "" if not one.raw else f"{one.shown / one.raw * 100:.1f} %"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
