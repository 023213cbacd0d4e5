"""Looks up what was said in the turns that are kept, and compares claims."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from lerim.extraction.bearing import Utterance
from lerim.extraction.opposite import is_sense_turned
from lerim.extraction.signals import Exchange, Scene
from lerim.extraction.state import ProposedClaim
from lerim.sessions import Turn

OUTPUT = 20_000  # characters kept of the output of one tool call
_SAME = 0.72  # word overlap from which two titles make the same claim
_PASSED_OVER = re.compile(r"\b(?:instead of|rather than|over|not|never)\b", re.IGNORECASE)
"""The words after this are rejected in favor of the words before it."""

_STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "in",
        "of",
        "to",
        "for",
        "on",
        "and",
        "or",
        "not",
        "is",
        "are",
        "be",
        "with",
        "as",
        "by",
        "it",
        "use",
        "do",
        "no",
        "over",
        "from",
        "at",
    ]
)


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
    """Returns a function that maps a turn id and a speaker to everything that speaker said in the turn, "" if it is not
    kept."""
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
    """Yields the utterances of a turn in order; what a tool call sends comes before its result."""
    if turn.role == "user":
        yield Utterance("user", turn.id, turn.text)
        return
    yield Utterance("assistant", turn.id, turn.text)
    for call in turn.tool_calls:
        wrote = "\n".join((call.command, call.plan, *(edit.new for edit in call.edits)))
        yield Utterance("assistant", turn.id, wrote[:OUTPUT])
        yield Utterance("user", turn.id, "\n".join((call.feedback, *(answer.answer for answer in call.answers))))
        if call.kind not in ("ask", "plan", "edit", "write"):
            yield Utterance("web" if call.kind == "web" else "tool", turn.id, call.output[:OUTPUT])


def latest_utterances(held: Sequence[Utterance], turn: Turn, most: int) -> list[Utterance]:
    """Returns the utterances kept so far plus those of this turn, dropping the oldest beyond `most` characters."""
    told = [*(one for one in held if one.turn != turn.id), *(one for one in turn_utterances(turn) if one.text.strip())]
    size = sum(len(one.text) for one in told)
    while told and size > most:
        size -= len(told.pop(0).text)
    return told


def content_words(title: str) -> tuple[str, ...]:
    """Returns the words that carry a title's meaning, sorted."""
    words = re.findall(r"[\w.@/+-]{1,60}", title.lower())
    return tuple(sorted({word.strip(".") for word in words} - _STOP))


def is_same_claim(one: ProposedClaim, two: ProposedClaim) -> bool:
    """Returns whether two claims say the same: one has hardly a word more than the other. Claims with the sides
    swapped, with another name or number, or with a "not" are different."""
    a, b = set(one.words), set(two.words)
    same = bool(a) and (a <= b or b <= a) and len(a & b) >= _SAME * len(a | b)
    if not same or is_opposed_claim(one, two):
        return False
    return not is_sense_turned(one.title, two.title) and not is_sense_turned(two.title, one.title)


def is_opposed_claim(one: ProposedClaim, two: ProposedClaim) -> bool:
    """Returns whether each of two claims proposes what the other replaces."""
    return (_replaces_claim(one, two) and _replaces_claim(two, one)) or _has_swapped_sides(one.title, two.title)


def _replaces_claim(one: ProposedClaim, two: ProposedClaim) -> bool:
    """Returns whether a claim is about something that the other replaces, without replacing it itself."""
    title = one.title.lower()
    return any(name in title and name not in one.replaces for name in two.replaces)


def _has_swapped_sides(one: str, two: str) -> bool:
    """Returns whether two titles make opposite choices between the same two things: "redis instead of sqlite"."""
    (wanted, left), (other_wanted, other_left) = _split_sides(one), _split_sides(two)
    return bool((wanted - left) & (other_left - other_wanted) and (left - wanted) & (other_wanted - other_left))


def _split_sides(title: str) -> tuple[set[str], set[str]]:
    chosen, _, rest = _PASSED_OVER.sub("\0", title, count=1).partition("\0")
    return set(content_words(chosen)), set(content_words(rest))
