"""Tracks how much each model accepts and may answer with in one run, from what is known and from its refusals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from lerim.models import limits
from lerim.models.model import Model
from lerim.models.services import chat
from lerim.models.services.faults import ParameterError, TooLongError
from lerim.paths import Home


@dataclass(frozen=True, slots=True)
class OutputBound:
    """The limit of an answer: the number of tokens, and the name of the chat completions parameter for it."""

    most: int
    name: chat.BoundName


class ModelBounds:
    """Tracks each model's limits, for any number of threads. New limits are saved in `home` and reported with
    `tell(model, message, tokens)`. No answer may have more than `most` tokens."""

    def __init__(self, home: Home | None, tell: Callable[[Model, str, int], None], most: int) -> None:
        self._home = home
        self._most = most
        self._tell = tell
        self._lock = threading.RLock()
        self._limits: dict[str, int | None] = {}
        self._outputs: dict[str, OutputBound] = {}

    def limit(self, model: Model) -> int | None:
        """Returns the tokens a model accepts in total, None if it has not reported that."""
        with self._lock:
            if model.label not in self._limits:
                self._limits[model.label] = limits.load_limit(self._home, model.label)
            return self._limits[model.label]

    def output(self, model: Model) -> OutputBound:
        """Returns the limit of the next answer."""
        with self._lock:
            known = self._outputs.get(model.label)
            return known or OutputBound(
                min(self._most, limits.most_output_tokens(self.limit(model))), chat.guess_bound_name(model)
            )

    def refused(self, model: Model, asked: OutputBound, error: ParameterError) -> bool:
        """Adopts the service's correction of the limit that a request `asked` for. Returns whether retrying with the
        new limit makes sense."""
        with self._lock:
            before = self.output(model)
            most = before.most if error.most is None else max(1, min(before.most, error.most))
            after = OutputBound(most, "max_completion_tokens" if error.renamed else before.name)
            self._outputs[model.label] = after
        if after.most != before.most:
            self._tell(model, f"its answers have at most {after.most} tokens", after.most)
        return after != asked

    def too_long(self, model: Model, asked: OutputBound, tokens: int, error: TooLongError) -> bool:
        """Adopts the limit the model reported. Returns whether a request of `tokens` tokens, which `asked` for this
        much output, fits if the answer gets less room."""
        told = limits.parse_limit(error.said)
        if told is None:
            return False
        room = limits.most_output_tokens(told)
        with self._lock:
            known, output = self.limit(model), self.output(model)
            new = known is None or told < known
            if new:
                self._limits[model.label] = told
            if room < output.most:
                self._outputs[model.label] = replace(output, most=room)
        if new:
            self._tell(model, f"it takes {told} tokens in all", told)
            if error.lasting:
                self._remember(model, told)
        return room < asked.most and tokens + room <= told

    def _remember(self, model: Model, tokens: int) -> None:
        if self._home is None:
            return
        try:
            limits.remember_limit(self._home, model.label, tokens)
        except OSError as error:
            self._tell(model, f"this could not be remembered: {error.strerror or 'it is locked'}", 0)
