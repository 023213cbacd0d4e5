"""The question, the answer and its sources, in the form in which the command line prints them and the editor shows
them."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.models import ModelStep, RoleUsage
from lerim.sessions import Role

PassageKind = Literal["memory", "turn"]
AnswerState = Literal["done", "partial", "cancelled"]


class Citation(msgspec.Struct, frozen=True):
    """A source of a sentence. `number` is the number of its passage in this answer, `ref` is `m:<memory id>` or
    `t:<session>#<turn>`.

    `handle` opens a memory; `session` and `turn` open a turn of a transcript. Fields that do not apply are "".
    """

    number: int
    ref: str
    kind: PassageKind
    title: str
    handle: str = ""
    session: str = ""
    turn: str = ""


class Passage(msgspec.Struct, frozen=True):
    """A memory or turn that was found, without secrets.

    For a memory, `detail` is its kind and what is unusual about it (`decision, drifted`); for a turn, it is the
    agent's name, and `role` is who speaks. `time` is when it was said (ISO 8601, "" if unknown), and `path` is a
    memory's file. `flags` are the reasons not to show it to a model.
    """

    citation: Citation
    detail: str
    time: str
    text: str
    path: str = ""
    flags: tuple[str, ...] = ()
    role: Role | None = None

    @property
    def description(self) -> str:
        """The description of the passage that a model is shown: `decision, drifted` or `user, Claude Code`."""
        return f"{self.role}, {self.detail}" if self.role else self.detail


class Sentence(msgspec.Struct, frozen=True):
    """One sentence of an answer, with at least one source."""

    text: str
    citations: tuple[Citation, ...]


class SentenceEvent(msgspec.Struct, frozen=True, tag_field="event", tag="said"):
    """Reports that a sentence of the answer is complete."""

    sentence: Sentence


class Answer(msgspec.Struct, frozen=True):
    """The answer to a question.

    `known` is False if nothing was found that answers it. `passages` are sorted, best first. `model` is the label of
    the model that answered, "none" if there are only passages. `left_out` counts sentences that no source supports.
    `message` tells the person why there are no sentences, or why they end early.
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


class AnswerLine(msgspec.Struct, frozen=True, tag_field="event", tag="answered"):
    """The last event of an answer, which contains the whole answer."""

    answer: Answer


class Question(msgspec.Struct, frozen=True):
    """A question, which may be any text. With `model` "none", no model is asked. `everything` also searches memories
    that have ended, and memories whose place in the code changed or is gone."""

    text: str
    model: Literal["auto", "none"] = "auto"
    everything: bool = False
