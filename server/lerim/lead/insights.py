"""The words of insights by a model: asked, checked by code against the learnings, and left where anything is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lerim.errors import (
    BudgetError,
    LerimError,
    ModelGoneError,
    ModelKeyError,
    ModelSilentError,
    SpendingError,
    TooDearError,
)
from lerim.memory.groups import MOST_TEXT
from lerim.memory.losses import losses
from lerim.memory.record import MemoryRecord
from lerim.models.editor import Bridge
from lerim.models.model import Model
from lerim.models.spending import Purse
from lerim.models.usage import Spent, Step
from lerim.paths import Home
from lerim.redaction import clean

if TYPE_CHECKING:
    import dspy

    from lerim.models.engine import Engine

TRIES = 2
SILENT = 2
"""Questions in a row without an answer before no more are asked."""
MOST_TITLE = 160
MOST_LOSSES = 20
"""So many of the things an answer lost are told to the model."""


@dataclass(slots=True)
class Insights:
    """Asks one model for insights, each at most twice. `spent` and `steps` are what that took; `over`: no more is asked
    in this run. Calls that are paid for are paid from `purse`."""

    model: Model
    home: Home
    cancelled: Callable[[], bool]
    purse: Purse
    bridge: Bridge | None = None
    steps: list[Step] = field(default_factory=list)
    over: bool = False
    _silent: int = field(default=0, init=False)
    _told: int = field(default=0, init=False)
    _engine: Engine | None = field(default=None, init=False)
    _lm: dspy.LM | None = field(default=None, init=False)

    @property
    def spent(self) -> list[Spent]:
        return self._engine.spent if self._engine else []

    def words(self, plain: MemoryRecord, sources: Sequence[MemoryRecord]) -> MemoryRecord | None:
        """The insight `plain` in the model's words; None where there are none that keep all of the sources.

        Never raises for a model that fails: what happened is in `steps`.
        """
        notes = ""
        for _ in range(TRIES):
            if self.over or self.cancelled():
                return None
            told = self._asked(plain, sources, notes)
            if told is None:
                return None
            lost = losses(told, sources) or ([] if _readable(told) else ["it is too long, or has no title"])
            if not lost:
                return told
            notes = "; ".join(lost[:MOST_LOSSES])
        what = f"its words for {len(sources)} learnings were not taken, for something was lost or made up"
        self.steps.append(Step("lost", self.model.role, self.model.label, what))
        return None

    def _asked(self, plain: MemoryRecord, sources: Sequence[MemoryRecord], notes: str) -> MemoryRecord | None:
        from lerim.extraction.asking import CancelledCallError, ask
        from lerim.lead.insight_signature import Insight, InsightSignature

        learnings = [
            {"day": f"{one.updated:%Y-%m-%d}", "title": one.title, "text": one.body, "tags": one.tags}
            for one in sources
        ]
        inputs = {"learnings": clean(json.dumps(learnings, ensure_ascii=False)), "notes": notes}
        try:
            answer = ask(self._ready(), InsightSignature, inputs, Insight)
        except CancelledCallError:
            self.over = True
            return None
        except LerimError as error:
            self._failed(error)
            return None
        finally:
            self._hear()
        self._silent = 0
        if not answer.items or answer.cut:
            self.steps.append(Step("unread", self.model.role, self.model.label, "its insight cannot be read"))
            return None
        said = answer.items[0]
        tags = tuple(tag for tag in said.tags if tag in plain.tags)
        title, body = " ".join(clean(said.title).split()).rstrip("."), clean(said.body).strip()
        return replace(plain, title=title, body=body, tags=tags or plain.tags)

    def _failed(self, error: LerimError) -> None:
        self._silent += isinstance(error, ModelSilentError)
        stops = isinstance(error, BudgetError | ModelKeyError | ModelGoneError | SpendingError)
        if (stops and not isinstance(error, TooDearError)) or self._silent == SILENT:
            self.over = True
        why = error.safe_message
        self.steps.append(Step("stopped" if self.over else "unread", self.model.role, self.model.label, why))

    def _hear(self) -> None:
        if self._engine is not None:
            steps = self._engine.steps
            self.steps += steps[self._told :]
            self._told = len(steps)

    def _ready(self) -> dspy.LM:
        """DSPy's model, made at the first question: importing DSPy takes a second."""
        if self._lm is None:
            from lerim.models.engine import Engine
            from lerim.models.lm import language_model

            self._engine = Engine(self.model, self.cancelled, home=self.home, purse=self.purse, bridge=self.bridge)
            self._lm = language_model(self.model, self._engine)
        return self._lm


def _readable(told: MemoryRecord) -> bool:
    return bool(told.title) and len(told.title) <= MOST_TITLE and len(told.body) <= MOST_TEXT
