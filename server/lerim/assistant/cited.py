"""An answer and what it rests on, as the command line prints it and the editor shows it."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.models import ModelStep, RoleUsage

PassageKind = Literal["memory", "turn"]
AnswerState = Literal["done", "partial", "cancelled"]


class Citation(msgspec.Struct, frozen=True):
    """A source: `number` is the passage's in this answer, `ref` `m:<memory id>` or `t:<session>#<turn>`.

    `handle` opens a memory, `session` and `turn` a turn of a transcript; what does not apply is "".
    """

    number: int
    ref: str
    kind: PassageKind
    title: str
    handle: str = ""
    session: str = ""
    turn: str = ""


class Passage(msgspec.Struct, frozen=True):
    """What was found, without secrets. `detail` says what it is (`decision`, `user, Claude Code`), `time` when it was
    said (ISO 8601, "" unknown), `path` a memory's file; `flags` are why it is not shown to a model."""

    citation: Citation
    detail: str
    time: str
    text: str
    path: str = ""
    flags: tuple[str, ...] = ()


class Sentence(msgspec.Struct, frozen=True):
    """One sentence of an answer, with at least one source."""

    text: str
    citations: tuple[Citation, ...]


class SentenceEvent(msgspec.Struct, frozen=True, tag_field="event", tag="said"):
    """A sentence of the answer is complete."""

    sentence: Sentence


class Answer(msgspec.Struct, frozen=True):
    """What is known of a question. `known` False: nothing that answers it was found.

    `model` is the label of the model that answered, "none" where the passages themselves are all there is, best first.
    `left_out` sentences named no source that holds them. `message` is for the person: why there are no sentences, or
    why they end early.
    """

    question: str
    sentences: list[Sentence]
    passages: list[Passage]
    known: bool
    model: str = "none"
    left_out: int = 0
    spent: list[RoleUsage] = []
    steps: list[ModelStep] = []
    problems: list[Problem] = []
    state: AnswerState = "done"
    message: str = ""
    seconds: float = 0.0


class Question(msgspec.Struct, frozen=True):
    """What is asked: any text. `model` "none" asks no model; `everything` adds memories that are over, changed under
    them or gone."""

    text: str
    model: Literal["auto", "none"] = "auto"
    everything: bool = False
