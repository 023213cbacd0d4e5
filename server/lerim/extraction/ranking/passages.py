"""From a turn to its passages: what a person or an agent said that could be kept, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from lerim.extraction.ranking.sentences import LineKind, sentences_of
from lerim.facts.handed_over import before_handed_over, third_party
from lerim.sessions.model import Turn
from lerim.sessions.typed import parts_of

Source = Literal["prompt", "answer", "feedback", "plan", "reply"]
"""Where a passage stands: in what a person typed, chose or typed as the answer to the agent's question, said on denying
or approving a call; in a plan the person approved; in what the agent wrote."""


class Passage(msgspec.Struct, frozen=True, gc=False):
    """A sentence, verbatim. `index` counts the passages of its text, `of` is how many there are.

    `before` is the sentence before it in the same text. Of an answer, `heading` is the agent's question and
    `before` what the agent said of the choice.
    """

    turn: str
    ordinal: int
    source: Source
    text: str
    kind: LineKind
    heading: str
    before: str
    index: int
    of: int

    @property
    def is_persons(self) -> bool:
        return self.source in ("prompt", "answer", "feedback")


def passages_of(turn: Turn) -> Iterator[Passage]:
    """The passages of a turn. Of a person's message only their own words count, of a script's message nothing does."""
    if turn.role == "user":
        if turn.kind != "shell" and not turn.unattended and not turn.sidechain:
            own = "".join(part.text for part in parts_of(turn.text) if part.own)
            if not third_party(own):
                yield from _of_texts(turn, "prompt", [own[: before_handed_over(own)]])
        return
    yield from _of_texts(turn, "reply", [turn.text])
    for call in turn.tool_calls:
        if call.plan and call.status == "ok":
            yield from _of_texts(turn, "plan", [call.plan])
        if call.feedback:
            yield from _of_texts(turn, "feedback", [call.feedback])
        for one in call.answers:
            if one.answer:
                yield Passage(turn.id, turn.ordinal, "answer", one.answer, "paragraph", one.question, one.chosen, 0, 1)


def _of_texts(turn: Turn, source: Source, texts: list[str]) -> Iterator[Passage]:
    found = [(text[one.start : one.end], one) for text in texts for one in sentences_of(text)]
    before = ""
    for index, (said, one) in enumerate(found):
        yield Passage(turn.id, turn.ordinal, source, said, one.kind, one.heading, before, index, len(found))
        before = said
