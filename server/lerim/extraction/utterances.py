"""The utterances of a session: who said what in the turns that are kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from lerim.extraction.signals import Exchange, Scene
from lerim.memory import Speaker
from lerim.sessions import Turn

MAX_OUTPUT_CHARS = 20_000
"""Maximum number of characters kept of the output of one tool call."""


class Utterance(NamedTuple):
    """Something one speaker said in one turn."""

    who: Speaker
    turn: str
    text: str


def lighten_exchange(exchange: Exchange) -> Exchange:
    """Returns a past exchange with only what later exchanges need: its last words and which files were changed."""
    return dataclasses.replace(
        exchange,
        replies=tuple(
            replace(
                turn,
                text=turn.text if at >= len(exchange.replies) - 3 else "",
                tool_calls=tuple(
                    replace(call, output="", plan="")
                    for call in turn.tool_calls
                    if call.kind in ("edit", "write", "shell")
                ),
            )
            for at, turn in enumerate(exchange.replies)
            if turn.tool_calls or at >= len(exchange.replies) - 3
        ),
    )


def make_words_lookup(scene: Scene) -> Callable[[str, str], str]:
    """Returns a function that maps a turn id and a speaker to everything that the speaker said in that turn, or to
    "" if the turn is not kept."""
    turns = {
        turn.id: turn
        for exchange in (scene.before, scene.now)
        for turn in (exchange.prompt, *exchange.replies)
        if turn is not None
    }

    def look(turn_id: str, who: str) -> str:
        turn = turns.get(turn_id)
        if turn is None:
            return ""
        if turn.role == "user":
            return turn.text if who == "user" else ""
        calls = turn.tool_calls
        if who == "user":
            return "\n\n".join(
                [call.feedback for call in calls] + [answer.answer for call in calls for answer in call.answers]
            )
        if who == "assistant":
            asked = [f"{answer.question}\n" + "\n".join(answer.options) for call in calls for answer in call.answers]
            made = [edit.new for call in calls for edit in call.edits]
            spoken = [turn.text, *(call.plan for call in calls), *(call.command for call in calls), *asked, *made]
            return "\n\n".join(spoken)
        web = who == "web"
        return "\n\n".join(call.output for call in calls if (call.kind == "web") == web)

    return look


def turn_utterances(turn: Turn) -> Iterator[Utterance]:
    """Yields the utterances of a turn in order. The input of a tool call comes before its result."""
    if turn.role == "user":
        yield Utterance("user", turn.id, turn.text)
        return
    yield Utterance("assistant", turn.id, turn.text)
    for call in turn.tool_calls:
        wrote = "\n".join((call.command, call.plan, *(edit.new for edit in call.edits)))
        yield Utterance("assistant", turn.id, wrote[:MAX_OUTPUT_CHARS])
        yield Utterance("user", turn.id, "\n".join((call.feedback, *(answer.answer for answer in call.answers))))
        if call.kind not in ("ask", "plan", "edit", "write"):
            yield Utterance("web" if call.kind == "web" else "tool", turn.id, call.output[:MAX_OUTPUT_CHARS])


def latest_utterances(earlier: Sequence[Utterance], turn: Turn, max_chars: int) -> list[Utterance]:
    """Returns the utterances kept so far plus those of this turn, dropping the oldest beyond `max_chars` characters."""
    utterances = [one for one in earlier if one.turn != turn.id]
    utterances += [one for one in turn_utterances(turn) if one.text.strip()]
    size, first = sum([len(one.text) for one in utterances]), 0
    while size > max_chars:
        size -= len(utterances[first].text)
        first += 1
    return utterances[first:]
