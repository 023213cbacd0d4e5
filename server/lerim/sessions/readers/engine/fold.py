"""Computes the totals of a session from its turns, for stores that are read as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from lerim.sessions.model import NO_TOKENS, Session, Tokens, Transcript, Turn
from lerim.sessions.readers.engine.fields import make_title

_NAMES = 64


def sum_session(
    transcript: Transcript,
    turns: Sequence[Turn],
    *,
    id: str = "",
    title: str = "",
    version: str = "",
    parent: str = "",
    injected: int = 0,
    api_errors: int = 0,
    tokens: Tokens | None = None,
    times: Iterable[datetime | None] = (),
    branches: tuple[str, ...] = (),
) -> Session:
    """Builds the session that these turns belong to. `times` are timestamps recorded outside its turns; the title falls
    back to the first prompt."""
    calls = [call for turn in turns for call in turn.tool_calls]
    moments = [one for one in (*times, *(turn.time for turn in turns)) if one is not None]
    first = next((turn.text for turn in turns if turn.kind == "prompt"), "")
    return Session(
        id=id or transcript.session_id,
        platform=transcript.platform,
        path=transcript.path,
        title=make_title(title) or make_title(first),
        started=min(moments, default=None),
        ended=max(moments, default=None),
        cwds=_names(turn.cwd for turn in turns) or ((transcript.cwd,) if transcript.cwd else ()),
        branches=branches,
        models=_names(turn.model for turn in turns),
        version=version,
        turns=len(turns),
        prompts=sum(turn.kind == "prompt" for turn in turns),
        tool_calls=len(calls),
        tool_errors=sum(call.status == "error" for call in calls),
        denials=sum(call.status == "denied" for call in calls),
        api_errors=api_errors,
        injected=injected,
        tokens=tokens,
        parent=parent or transcript.parent,
    )


def sum_tokens(turns: Iterable[Turn]) -> Tokens:
    """Returns the sum of the tokens of all turns."""
    return sum((turn.tokens for turn in turns), start=NO_TOKENS)


def count_final_turns(turns: Sequence[Turn]) -> int:
    """Returns how many turns from the start are final: all before the last turn of the person."""
    return next((at for at in range(len(turns) - 1, -1, -1) if turns[at].role == "user"), 0)


def _names(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))[:_NAMES]
