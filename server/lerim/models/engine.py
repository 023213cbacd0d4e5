"""The engine that DSPy calls. It asks one model, records the usage, and is the only place that retries calls.

DSPy's own clients are not used: they download a price list, and an environment variable can switch them to another
library. Any number of threads may use an engine at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import msgspec

from lerim.errors import BudgetError, SpendingError
from lerim.models import limits
from lerim.models.agents import command
from lerim.models.answer import ModelAnswer
from lerim.models.dspy_import import lm15
from lerim.models.editor import EditorBridge
from lerim.models.model import Model
from lerim.models.money import (
    CURRENT_SUBJECT,
    NO_USAGE,
    ModelStep,
    Reservation,
    RoleUsage,
    StepKind,
    Usage,
    merge_role_usage,
    price_usage,
)
from lerim.models.services import ModelBounds, OutputBound, WireStoppedError, faults, wait_unless_cancelled
from lerim.models.tokens import count_tokens
from lerim.models.transport import TextListener, Transport, join_request
from lerim.paths import Home

MOST_TRIES = 3
BACK_OFF_SECONDS = (1.0, 4.0)
MOST_WAIT_SECONDS = 60.0
"""If a service asks for a longer wait before the next try, no further try is made."""
LEAST_SHARE_READ = 0.5
"""Ollama silently truncates prompts that are too long. A count of less than this share of the tokens shows that it
did."""
LEAST_CHECKED_TOKENS = 2_000
"""The truncation check is only reliable for a prompt with more tokens than this."""

_TRANSIENT_ERRORS = (lm15.RateLimitError, lm15.ServerError, lm15.TransportError)
"""Errors that may be gone a moment later."""


class CallBudget(Protocol):
    """The budget from which calls are paid. Each call is reserved before it is made and settled after it. Any number
    of threads may use a budget at once."""

    def reserve(
        self, model: Model, input_tokens: int, most_output_tokens: int, cancelled: Callable[[], bool]
    ) -> Reservation:
        """Reserves one call; see `DayBudget.reserve`. Raises a LerimError if the call must not be made now."""

    def settle(self, reservation: Reservation, usage: Usage | None, cancelled: Callable[[], bool]) -> None:
        """Replaces a reservation with the call's usage; None if it is not known. Never raises."""


class Engine:
    """Asks one model, or its fallbacks if it fails; DSPy calls `complete`. A call ends early when `cancelled` returns
    true.

    Limits are remembered in `home`; `environ` is the environment of commands and agents; calls are paid from `budget`
    if there is one; the editor's models are asked over `bridge`; an answer has at most `max_output_tokens` tokens; a
    call that fails is made at most `most_tries` times. `role_usage` is the usage of all calls, `steps` lists retries,
    fallbacks and other irregular events.
    """

    def __init__(
        self,
        model: Model,
        cancelled: Callable[[], bool],
        *,
        home: Home | None = None,
        environ: Mapping[str, str] | None = None,
        budget: CallBudget | None = None,
        bridge: EditorBridge | None = None,
        max_output_tokens: int = limits.MOST_OUTPUT_TOKENS,
        most_tries: int = MOST_TRIES,
    ) -> None:
        self._models = [model, *(replace(model, name=name, fallbacks=()) for name in model.fallbacks)]
        self._cancelled = cancelled
        self._transport = Transport(cancelled, home, environ, bridge)
        self._budget = budget
        self._most_tries = most_tries
        self._lock = threading.Lock()
        self._model_index = 0
        self._bounds = ModelBounds(
            home, lambda model, why, tokens: self._add_step("limited", model, why, tokens), max_output_tokens
        )
        self._role_usage: list[RoleUsage] = []
        self._steps: list[ModelStep] = []

    @property
    def role_usage(self) -> list[RoleUsage]:
        """The usage so far, by role and model."""
        with self._lock:
            return merge_role_usage(self._role_usage)

    @property
    def usage(self) -> Usage:
        """The total usage so far."""
        return sum((one.usage for one in self.role_usage), NO_USAGE)

    @property
    def steps(self) -> list[ModelStep]:
        """The retries, fallbacks and other irregular events so far, in order."""
        with self._lock:
            return list(self._steps)

    @property
    def window_tokens(self) -> int:
        """The maximum number of o200k tokens that a window may have now. It is less than the settings say once the
        model has reported a smaller limit."""
        model = self._models[self._model_index]
        return limits.choose_window_tokens(model, self._bounds.get_limit(model))

    def complete(self, request: lm15.Request, on_text: Callable[[str], None] | None = None) -> lm15.Response:
        """Returns one answer; `finish_reason` is "length" if the answer was cut off.

        `on_text` receives the text as it arrives if the wire streams, otherwise all at once. Once it has received
        text, a failed call is not retried. Raises errors of `dspy.lm15`: TransportError with code "cancelled" if the
        person cancelled. Also raises BudgetError, SpendingError and ModelGoneError.
        """
        index = self._model_index
        listener = None if on_text is None else TextListener(on_text)
        while True:
            model = self._models[index]
            try:
                answer = self._ask_with_retries(request, model, listener)
            except (*_TRANSIENT_ERRORS, lm15.UnsupportedModelError) as error:
                if error.code == faults.CANCELLED or (listener is not None and listener.has_text):
                    raise
                if index + 1 == len(self._models):
                    self._model_index = 0  # the next call begins with the model that was chosen
                    raise
                index = self._switch_model(index, error)
            else:
                return _make_response(request, answer)

    def _ask_with_retries(self, request: lm15.Request, model: Model, listener: TextListener | None) -> ModelAnswer:
        tries = 0
        while True:
            output = self._bounds.get_output_bound(model)
            try:
                return self._ask_once(request, model, output, listener)
            except _TRANSIENT_ERRORS as error:
                if listener is not None and listener.has_text:
                    raise
                tries += 1
                wait = BACK_OFF_SECONDS[min(tries, len(BACK_OFF_SECONDS)) - 1]
                wait = wait if error.retry_after is None else error.retry_after
                if (
                    tries == self._most_tries
                    or error.code in (faults.CANCELLED, command.COMMAND_FAILED)
                    or wait > MOST_WAIT_SECONDS
                ):
                    raise
                self._add_step("retried", model, f"{faults.describe_error(error)}; retried after {wait:g} s")
            except faults.ParameterError as error:
                if not self._bounds.adopt_correction(model, output, error):
                    raise
                continue
            except faults.TooLongError as error:
                if not self._bounds.adopt_limit(model, output, _estimate_most_tokens(join_request(request)), error):
                    raise
                continue
            try:
                wait_unless_cancelled(wait, self._cancelled)
            except WireStoppedError as error:
                raise faults.cancelled_error() from error

    def _switch_model(self, index: int, error: lm15.LM15Error) -> int:
        with self._lock:
            is_first = self._model_index == index
            if is_first:
                self._model_index = index + 1
        if is_first:
            next_name = self._models[index + 1].name
            self._add_step(
                "fallback", self._models[index], f"{faults.describe_error(error)}; {next_name} is used instead"
            )
        return index + 1

    def _ask_once(
        self, request: lm15.Request, model: Model, output: OutputBound, listener: TextListener | None
    ) -> ModelAnswer:
        text = join_request(request)
        with self._reserve_cost(model, _estimate_most_tokens(text), output.max_output_tokens) as recorded:
            began = time.monotonic()

            def record_usage(usage: Usage) -> Usage:
                usage = price_usage(model, msgspec.structs.replace(usage, seconds=time.monotonic() - began))
                recorded.append(usage)
                with self._lock:
                    self._role_usage.append(RoleUsage(model.role, model.label, usage))
                return usage

            try:
                answer = self._transport.send(request, model, output, listener)
            except faults.BrokenOffError as error:
                if error.usage is not None:
                    record_usage(error.usage)
                raise
            usage = record_usage(
                msgspec.structs.replace(
                    answer.usage,  # counts the service did not report are made here
                    input_tokens=answer.usage.input_tokens or count_tokens(text),
                    output_tokens=answer.usage.output_tokens or count_tokens(answer.text),
                )
            )
            if listener is not None and not listener.has_text:
                listener.on_text(answer.text)
        if (
            model.provider == "ollama"
            and LEAST_CHECKED_TOKENS < count_tokens(text) * LEAST_SHARE_READ > usage.input_tokens > 0
        ):
            read = f"Ollama read only {usage.input_tokens} tokens of the window"
            raise lm15.ContextLengthError(f"{read}; OLLAMA_CONTEXT_LENGTH sets how many it reads")
        return answer

    @contextmanager
    def _reserve_cost(self, model: Model, tokens: int, max_output_tokens: int) -> Iterator[list[Usage]]:
        """Reserves the cost of a call while the block runs; the block appends the call's usage to the list."""
        if self._budget is None:
            yield []
            return
        try:
            reservation = self._budget.reserve(model, tokens, max_output_tokens, self._cancelled)
        except (BudgetError, SpendingError) as error:
            if self._cancelled():
                raise faults.cancelled_error() from error
            raise
        recorded: list[Usage] = []
        usage_if_failed: Usage | None = None  # if the usage is unknown, the reservation stays
        try:
            if self._cancelled():
                usage_if_failed = NO_USAGE
                raise faults.cancelled_error()
            yield recorded
        except lm15.LM15Error as error:
            may_have_answered = isinstance(error, faults.BrokenOffError | lm15.TimeoutError)
            if error.code == faults.UNSENT or ((error.status or 0) >= 300 and not may_have_answered):
                usage_if_failed = NO_USAGE  # a refused request is not billed
            raise
        finally:
            self._budget.settle(reservation, recorded[0] if recorded else usage_if_failed, self._cancelled)

    def _add_step(self, kind: StepKind, model: Model, why: str, tokens: int = 0) -> None:
        with self._lock:
            self._steps.append(ModelStep(kind, model.role, model.label, why, *CURRENT_SUBJECT.get(), tokens))


def _make_response(request: lm15.Request, answer: ModelAnswer) -> lm15.Response:
    usage = lm15.Usage(input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens)
    message = lm15.Message.assistant([lm15.TextPart(answer.text)])
    return lm15.Response(id=None, model=request.model, message=message, finish_reason=answer.finish, usage=usage)


def _estimate_most_tokens(text: str) -> int:
    """Returns an upper bound of the tokens any service counts for a text: no tokenizer counts more than 1.5 times as
    many as o200k, or more tokens than bytes."""
    return min(len(text.encode("utf-8", "replace")) + 100, count_tokens(text) * 3 // 2 + 100)
