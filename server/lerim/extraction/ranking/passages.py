"""Splits a turn into passages: the sentences of a person or an agent that could be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from lerim.extraction.facts import LineKind, find_sentences, select_own_words
from lerim.sessions import Turn

PassageSource = Literal["prompt", "answer", "feedback", "plan", "reply"]
"""Where a passage comes from: what a person typed, what they chose or typed as the answer to the agent's question, what
they said when denying or approving a tool call; a plan the person approved; what the agent wrote."""


class TurnPassage(msgspec.Struct, frozen=True, gc=False):
    """A sentence, verbatim. `index` is its position among the `passage_count` passages of its text.

    `before` is the sentence before it in the same text. For an answer, `heading` is the agent's question and `before`
    what the agent said about the chosen option.
    """

    turn: str
    ordinal: int
    source: PassageSource
    text: str
    kind: LineKind
    heading: str
    before: str
    index: int
    passage_count: int

    @property
    def is_persons(self) -> bool:
        return self.source in ("prompt", "answer", "feedback")


def split_passages(turn: Turn) -> Iterator[TurnPassage]:
    """Yields the passages of a turn. Of a person's message only their own words count; a program's message has none."""
    if turn.role == "user":
        if turn.kind != "shell" and not turn.unattended and not turn.sidechain:
            said = turn.text.partition(" ")[2] if turn.kind == "command" else turn.text  # without the command's name
            yield from _split_text(turn, "prompt", select_own_words(said))
        return
    yield from _split_text(turn, "reply", turn.text)
    for call in turn.tool_calls:
        if call.plan and call.status == "ok":
            yield from _split_text(turn, "plan", call.plan)
        if call.feedback:
            yield from _split_text(turn, "feedback", call.feedback)
        for answer in call.answers:
            if answer.answer:
                yield TurnPassage(
                    turn.id,
                    turn.ordinal,
                    "answer",
                    answer.answer,
                    "paragraph",
                    answer.question,
                    answer.chosen_descriptions,
                    0,
                    1,
                )


def _split_text(turn: Turn, source: PassageSource, text: str) -> Iterator[TurnPassage]:
    found, before = find_sentences(text), ""
    for index, one in enumerate(found):
        sentence = text[one.start : one.end]
        yield TurnPassage(turn.id, turn.ordinal, source, sentence, one.kind, one.heading, before, index, len(found))
        before = sentence
