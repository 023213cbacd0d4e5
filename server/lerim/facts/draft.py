"""A draft: what a signal proposes, before the gate has judged, redacted and weighed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lerim.memory.record import LearningKind, Primitive, Speaker
from lerim.sessions.model import Turn

Signal = Literal[
    "correction",
    "answer",
    "plan",
    "fixed-command",
    "choice",
    "model",
    "diagnosis",
    "friction",
    "lesson",
    "rule",
    "remark",
    "question",
    "theme",
]
Basis = Literal[
    "insisted",
    "denied",
    "corrected",
    "stated",
    "answered",
    "picked",
    "planned",
    "accepted",
    "fixed",
    "replaced",
    "found",
    "mended",
    "met",
    "logged",
    "recorded",
    "conceded",
    "open",
    "worked",
    "model",
]
"""On what a draft rests: the person said always, never or said it again; denied a call and said why; corrected the
agent; stated a choice unasked; answered a question tool; picked an option the agent offered in plain text;
approved a plan; accepted the agent's own choice; found: the agent named a cause that was borne out (mended: one
that is gone and leaves no rule); logged: the agent wrote it into the project's notes; met: several sessions met
the same error; or a command's exit codes show it (fixed: same command, replaced: another). recorded: the agent
wrote down what the person had said, where it keeps rules; conceded: the person remarked on it, the agent
agreed, said it in full and did so; open: asked and not answered; worked: several sessions worked on it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that stand verbatim in the turn with the id `turn`, and who said them.

    `around` is the piece of that turn they were taken from; it is looked at where the turn itself is no longer held.
    """

    text: str
    turn: str
    who: Speaker
    around: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed memory. `prefer` and `over` name what was chosen and what was rejected, where a signal knows
    them. `ascribed`: only the text of a tool's result says that the person said it."""

    signal: Signal
    basis: Basis
    primitive: Primitive
    kind: LearningKind | None
    title: str
    body: str
    turn: Turn
    quotes: tuple[Quote, ...]
    artifacts: tuple[str, ...]
    references: tuple[str, ...] = ()
    prefer: str = ""
    over: str = ""
    ascribed: bool = False


@dataclass(frozen=True, slots=True)
class Unclear:
    """A signal that was seen but of which no clean memory could be made; `why` is for the report."""

    signal: Signal
    text: str
    turn: Turn
    why: str


Found = Draft | Unclear


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person typed (None where the transcript starts with the model, or in a subagent) and all that "
    "answered."""

    prompt: Turn | None = None
    replies: tuple[Turn, ...] = ()

    @property
    def said(self) -> Turn | None:
        """The prompt where the person speaks to the agent in it: no command, nothing of a subagent."""
        prompt = self.prompt
        return prompt if prompt is not None and prompt.kind == "prompt" and not prompt.sidechain else None


@dataclass(frozen=True, slots=True)
class Scene:
    """One exchange with what stands around it: the exchange before, and the person's next words (None: none yet).

    `locate` maps a path as written and the turn's cwd to a repo-relative path, or "" where it lies outside.
    `known` holds words the session used as names: programs it ran, files it touched (in lower case). `symbols` says in
    which file of the repository a name is defined, as far as the session saw it.
    """

    before: Exchange
    now: Exchange
    after: Turn | None
    locate: Callable[[str, str], str]
    known: frozenset[str] = field(default_factory=frozenset)
    symbols: Mapping[str, str] = field(default_factory=dict)
