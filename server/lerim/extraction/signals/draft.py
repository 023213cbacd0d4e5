"""A draft: a proposal made from a signal, before the gate has judged, redacted and weighed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from lerim.memory import LearningKind, Primitive, Speaker
from lerim.sessions import Turn

Signal = Literal["prompt", "answer", "feedback", "plan", "reply", "fixed-command", "friction", "theme", "model"]
"""Where a proposal comes from: what a person typed, answered, or said when denying or approving a tool call; a plan
they approved; what the agent wrote; a command that failed and then passed; an error in several sessions; a folder
several sessions worked on; a model."""
RANKED_SIGNALS: Final[frozenset[str]] = frozenset(("prompt", "answer", "feedback", "plan", "reply"))
"""The signals of things that were said, which the ranker finds."""
Basis = Literal["ranked", "fixed", "replaced", "met", "worked", "model"]
"""What a draft rests on: it ranked high among what was said; the exit codes of commands (fixed: the same command
passed, replaced: another one did); several sessions met the same error or worked on it; a model said so."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Text that is verbatim in the turn with the id `turn`, and who said it."""

    text: str
    turn: str
    who: Speaker


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed memory. `chance` (0 to 1) is how likely it is worth keeping, `score` the score from the learned
    ranker, and `features` the ranker's inputs; None and empty if it was not ranked."""

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
    """What a person typed (None if the transcript starts with the model, or in a subagent) and all replies to it."""

    prompt: Turn | None = None
    replies: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """One exchange with its context: the exchange before, and the person's next words (None: none yet).

    `locate` maps a path as written and the turn's cwd to a repo-relative path, or "" for a path outside the repository.
    `known` contains words the session used as names: programs it ran, files it touched (in lower case). `symbols` maps
    names to the repository file that defines them, as far as the session saw it.
    """

    before: Exchange
    now: Exchange
    after: Turn | None
    locate: Callable[[str, str], str]
    known: frozenset[str] = field(default_factory=frozenset)
    symbols: Mapping[str, str] = field(default_factory=dict)
