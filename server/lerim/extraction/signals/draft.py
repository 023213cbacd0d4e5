"""A draft: what a signal proposes, before the gate has judged, redacted and weighed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from lerim.memory import LearningKind, Primitive, Speaker
from lerim.sessions import Turn

Signal = Literal["prompt", "answer", "feedback", "plan", "reply", "fixed-command", "friction", "theme", "model"]
"""Where a proposal comes from: what a person typed, answered, or said on denying or approving a call; a plan they
approved; what the agent wrote; a command that failed and then passed; an error several sessions met; the ground they
worked on; a model."""
RANKED_SIGNALS: Final[frozenset[str]] = frozenset(("prompt", "answer", "feedback", "plan", "reply"))
"""The signals of what was said, which the ranker finds."""
Basis = Literal["ranked", "fixed", "replaced", "met", "worked", "model"]
"""On what a draft rests: it ranked high among what was said; a command's exit codes show it (fixed: the same command,
replaced: another); several sessions met the same error, or worked on it; a model said so."""


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
    """A proposed memory. `chance` (0 to 1) is how likely it is worth keeping, `score` what the learned ranker gave it
    and `features` what the ranker was given; None and empty where nothing ranked it."""

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
    chance: float | None = None
    score: float | None = None
    features: tuple[float, ...] = ()


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
