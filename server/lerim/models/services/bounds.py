"""Tracks how many tokens each model accepts and may answer with in one run, based on its known limits and on its
refusals."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from lerim.models import limits
from lerim.models.model import Model
from lerim.models.money import keep_limit
from lerim.models.services import chat
from lerim.models.services.faults import ParameterError, TooLongError
from lerim.paths import Home


@dataclass(frozen=True, slots=True)
class OutputBound:
    """The limit of an answer: the number of tokens, and the name of the chat completions parameter for it."""

    max_output_tokens: int
    parameter: chat.LimitParameter


class ModelBounds:
    """Tracks each model's limits, for any number of threads. New limits are saved in `home` and reported with
    `report_limit(model, message, tokens)`. No answer may have more than `max_output_tokens` tokens."""

    def __init__(
        self, home: Home | None, report_limit: Callable[[Model, str, int], None], max_output_tokens: int
    ) -> None:
        self._home = home
        self._max_output_tokens = max_output_tokens
        self._report_limit = report_limit
        self._lock = threading.RLock()
        self._limits: dict[str, int | None] = {}
        self._outputs: dict[str, OutputBound] = {}

    def get_limit(self, model: Model) -> int | None:
        """Returns the number of tokens that a model accepts in total; None if it has not reported that."""
        with self._lock:
            if model.label not in self._limits:
                self._limits[model.label] = limits.load_limit(self._home, model.label)
            return self._limits[model.label]

    def get_output_bound(self, model: Model) -> OutputBound:
        """Returns the limit of the next answer."""
        with self._lock:
            known = self._outputs.get(model.label)
            return known or OutputBound(
                min(self._max_output_tokens, limits.most_output_tokens(self.get_limit(model))),
                chat.guess_limit_parameter(model),
            )

    def adopt_correction(self, model: Model, requested: OutputBound, error: ParameterError) -> bool:
        """Adopts the service's correction of the limit that was `requested`. Returns whether retrying with the
        new limit makes sense."""
        with self._lock:
            old = self.get_output_bound(model)
            allowed = old.max_output_tokens
            if error.max_output_tokens is not None:
                allowed = max(1, min(allowed, error.max_output_tokens))
            new = OutputBound(allowed, "max_completion_tokens" if error.renamed else old.parameter)
            self._outputs[model.label] = new
        if new.max_output_tokens != old.max_output_tokens:
            self._report_limit(model, f"its answers have at most {new.max_output_tokens} tokens", new.max_output_tokens)
        return new != requested

    def adopt_limit(self, model: Model, requested: OutputBound, tokens: int, error: TooLongError) -> bool:
        """Adopts the limit that the model reported. Returns whether a request of `tokens` tokens fits if less room
        is left for the answer than was `requested`."""
        limit = limits.parse_limit(error.service_message)
        if limit is None:
            return False
        output_room = limits.most_output_tokens(limit)
        with self._lock:
            known_limit, output = self.get_limit(model), self.get_output_bound(model)
            is_new = known_limit is None or limit < known_limit
            if is_new:
                self._limits[model.label] = limit
            if output_room < output.max_output_tokens:
                self._outputs[model.label] = replace(output, max_output_tokens=output_room)
        if is_new:
            self._report_limit(model, f"it takes {limit} tokens in all", limit)
            if error.is_model_limit:
                self._save_limit(model, limit)
        return output_room < requested.max_output_tokens and tokens + output_room <= limit

    def _save_limit(self, model: Model, tokens: int) -> None:
        if self._home is None:
            return
        try:
            keep_limit(self._home, model.label, tokens)
        except OSError as error:
            self._report_limit(model, f"this could not be remembered: {error.strerror or 'it is locked'}", 0)
