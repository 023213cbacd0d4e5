"""The engine DSPy calls. It asks one model over the model's wire, and is the only place that retries calls.

DSPy's own clients are not used: they download a price list, and an environment variable can switch them to another
library. Any number of threads may use an engine at once.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, assert_never

import msgspec
from dspy import lm15

from lerim.errors import BudgetError, SpendingError
from lerim.models import limits
from lerim.models.agents import call, command
from lerim.models.answer import ONE_CALL, ModelAnswer
from lerim.models.editor import EditorBridge, EditorRefusedError
from lerim.models.model import Model
from lerim.models.money import (
    CURRENT_SUBJECT,
    NO_USAGE,
    DayBudget,
    ModelStep,
    RoleUsage,
    StepKind,
    Usage,
    merge_role_usage,
    price_usage,
)
from lerim.models.services import (
    EventStream,
    ModelBounds,
    OutputBound,
    ServiceReply,
    WireError,
    WireStoppedError,
    anthropic,
    chat,
    faults,
    post_json,
    wait_unless_cancelled,
)
from lerim.models.tokens import count_tokens
from lerim.paths import Home
from lerim.redaction import clean_text

TRIES = 3
BACK_OFF_SECONDS = (1.0, 4.0)
MOST_WAIT_SECONDS = 60.0
"""If a service asks for a longer wait before the next try, no further try is made."""
CUT_SHORT = 0.5
"""Ollama silently truncates prompts that are too long. If it counted less than this share of the tokens, it did."""
CERTAIN_TOKENS = 2_000
"""The truncation check needs a prompt of more tokens than this to be reliable."""

_Passing = (lm15.RateLimitError, lm15.ServerError, lm15.TransportError)
"""Errors that may be gone a moment later."""


class Engine:
    """Asks one model, or its fallbacks if it fails; DSPy calls `complete`. A call ends early when `cancelled` returns
    true.

    Limits are remembered in `home`; `environ` is the environment of commands and agents; billed calls are paid from
    `purse` if there is one; the editor's models are asked over `bridge`; an answer has at most `most` tokens.
    `spent` is the usage of all calls, `steps` lists retries, fallbacks and other irregular events.
    """

    def __init__(
        self,
        model: Model,
        cancelled: Callable[[], bool],
        *,
        home: Home | None = None,
        environ: Mapping[str, str] | None = None,
        purse: DayBudget | None = None,
        bridge: EditorBridge | None = None,
        most: int = limits.MOST_OUTPUT_TOKENS,
    ) -> None:
        self._models = [model, *(replace(model, name=name, fallbacks=()) for name in model.fallbacks)]
        self._cancelled = cancelled
        self._home = home
        self._environ = os.environ if environ is None else environ
        self._purse = purse
        self._bridge = bridge
        self._lock = threading.Lock()
        self._at = 0
        self._bounds = ModelBounds(home, lambda model, why, tokens: self._step("limited", model, why, tokens), most)
        self._spent: list[RoleUsage] = []
        self._steps: list[ModelStep] = []

    @property
    def spent(self) -> list[RoleUsage]:
        """The usage so far, by role and model."""
        with self._lock:
            return merge_role_usage(self._spent)

    @property
    def usage(self) -> Usage:
        """The total usage so far."""
        return sum((one.usage for one in self.spent), NO_USAGE)

    @property
    def steps(self) -> list[ModelStep]:
        """The retries, fallbacks and other irregular events so far, in order."""
        with self._lock:
            return list(self._steps)

    @property
    def window_tokens(self) -> int:
        """The most o200k tokens a window may have now: less than the settings say once the model has reported a smaller
        limit."""
        model = self._models[self._at]
        return limits.choose_window_tokens(model, self._bounds.limit(model))

    def complete(self, request: lm15.Request, hear: Callable[[str], None] | None = None) -> lm15.Response:
        """Returns one answer; `finish_reason` is "length" if it was cut.

        `hear` receives the text as it arrives if the wire streams, else all at once. Once it has received text, a
        failed call is not retried.

        Raises errors of `dspy.lm15`: TransportError with code "cancelled" if the person cancelled. Also raises
        BudgetError, SpendingError and ModelGoneError.
        """
        at = self._at
        ear = None if hear is None else _Ear(hear)
        while True:
            model = self._models[at]
            try:
                answer = self._patiently(request, model, ear)
            except (*_Passing, lm15.UnsupportedModelError) as error:
                if error.code == faults.CANCELLED or (ear is not None and ear.any):
                    raise
                if at + 1 == len(self._models):
                    self._at = 0  # the next call begins with the model that was chosen
                    raise
                at = self._next(at, error)
            else:
                return _response(request, answer)

    def close(self) -> None:
        """Does nothing, because no connection stays open between calls."""

    def _patiently(self, request: lm15.Request, model: Model, ear: _Ear | None) -> ModelAnswer:
        """Returns one answer, retrying errors that may pass and limits that can be corrected."""
        tries = 0
        while True:
            output = self._bounds.output(model)
            try:
                return self._once(request, model, output, ear)
            except _Passing as error:
                if ear is not None and ear.any:
                    raise
                tries += 1
                wait = BACK_OFF_SECONDS[min(tries, len(BACK_OFF_SECONDS)) - 1]
                wait = wait if error.retry_after is None else error.retry_after
                if (
                    tries == TRIES
                    or error.code in (faults.CANCELLED, command.COMMAND_FAILED)
                    or wait > MOST_WAIT_SECONDS
                ):
                    raise
                self._step("retried", model, f"{faults.describe_error(error)}; retried after {wait:g} s")
            except faults.ParameterError as error:
                if not self._bounds.refused(model, output, error):
                    raise
                continue
            except faults.TooLongError as error:
                if not self._bounds.too_long(model, output, _at_most(_text(request)), error):
                    raise
                continue
            try:
                wait_unless_cancelled(wait, self._cancelled)
            except WireStoppedError as error:
                raise faults.cancelled_error() from error

    def _next(self, at: int, error: lm15.LM15Error) -> int:
        """Switches to the next model for the rest of the run and returns its index."""
        with self._lock:
            moved = self._at == at
            if moved:
                self._at = at + 1
        if moved:
            instead = self._models[at + 1].name
            self._step("fallback", self._models[at], f"{faults.describe_error(error)}; {instead} is used instead")
        return at + 1

    def _once(self, request: lm15.Request, model: Model, output: OutputBound, ear: _Ear | None) -> ModelAnswer:
        """Asks once. A billed call is recorded before and after it."""
        text = _text(request)
        with self._paying(model, _at_most(text), output.most) as paid:
            began = time.monotonic()

            def took(usage: Usage) -> Usage:
                usage = price_usage(model, msgspec.structs.replace(usage, seconds=time.monotonic() - began))
                paid.append(usage)
                with self._lock:
                    self._spent.append(RoleUsage(model.role, model.label, usage))
                return usage

            try:
                answer = self._sent(request, model, output, ear)
            except faults.BrokenOffError as error:
                if error.usage is not None:
                    took(error.usage)
                raise
            told = _counts(model, heard=ear is not None) or answer.usage != ONE_CALL
            usage = took(answer.usage if told else Usage(1, count_tokens(text), count_tokens(answer.text)))
            if ear is not None and not ear.any:
                ear.hear(answer.text)
        if model.provider == "ollama" and CERTAIN_TOKENS < count_tokens(text) * CUT_SHORT > usage.input_tokens > 0:
            read = f"Ollama read only {usage.input_tokens} tokens of the window"
            raise lm15.ContextLengthError(f"{read}; OLLAMA_CONTEXT_LENGTH sets how many it reads")
        return answer

    @contextmanager
    def _paying(self, model: Model, tokens: int, most: int) -> Iterator[list[Usage]]:
        """Reserves the cost of a billed call while the block runs; the block appends the call's usage to the list."""
        if self._purse is None or not model.billed:
            yield []
            return
        try:
            held = self._purse.reserve(model, tokens, most, self._cancelled)
        except (BudgetError, SpendingError) as error:
            if self._cancelled():
                raise faults.cancelled_error() from error
            raise
        paid: list[Usage] = []
        unpaid: Usage | None = None  # if the usage is unknown, the reservation stays
        try:
            if self._cancelled():
                unpaid = NO_USAGE
                raise faults.cancelled_error()
            yield paid
        except lm15.LM15Error as error:
            refused = (error.status or 0) >= 300 and not isinstance(error, faults.BrokenOffError)
            if refused or error.code == faults.UNSENT:
                unpaid = NO_USAGE  # a refused request is not billed
            raise
        finally:
            self._purse.settle(held, paid[0] if paid else unpaid, self._cancelled)

    def _sent(self, request: lm15.Request, model: Model, output: OutputBound, ear: _Ear | None) -> ModelAnswer:
        stream = ear is not None
        match model.wire:
            case "chat":
                body = chat.encode_chat_request(request, model, output.most, output.name, stream=stream)
                came = chat.ChatStream(model)
                reply = self._posted(model, chat.chat_url(model), body, chat.chat_headers(model), _hearing(came, ear))
                return came.answer() if reply.streams and stream else chat.parse_chat_reply(reply, model)
            case "anthropic":
                body = anthropic.encode_anthropic_request(request, model, output.most, stream=stream)
                said = anthropic.AnthropicStream(model)
                reply = self._posted(
                    model, anthropic.anthropic_url(model), body, anthropic.anthropic_headers(model), _hearing(said, ear)
                )
                return said.answer() if reply.streams and stream else anthropic.parse_anthropic_reply(reply, model)
            case "command":
                folder = Path(tempfile.gettempdir()) if self._home is None else self._home.root
                printed = command.run_command(
                    model.command,
                    _text(request),
                    seconds=model.timeout,
                    cancelled=self._cancelled,
                    environ=self._environ,
                    folder=folder,
                )
                return ModelAnswer(printed)
            case "agent":
                return call.ask_agent(
                    model, _text(request), self._cancelled, self._environ, self._home or Home.of(self._environ)
                )
            case "editor":
                return ModelAnswer(self._asked_editor(request, model, output, ear))
        assert_never(model.wire)

    def _posted(
        self, model: Model, url: str, body: bytes, signed: Mapping[str, str], heard: Callable[[bytes], None] | None
    ) -> ServiceReply:
        try:
            return post_json(
                url, body, signed, seconds=model.timeout, cancelled=self._cancelled, local=model.local, heard=heard
            )
        except WireError as error:
            raise faults.exchange_error(error) from error

    def _asked_editor(self, request: lm15.Request, model: Model, output: OutputBound, ear: _Ear | None) -> str:
        if self._bridge is None:
            raise lm15.InvalidRequestError("the editor's models can be used only by a sync in the editor", code="gone")
        try:
            return self._bridge.ask(
                model.name,
                chat.system_text(request),
                _messages(request),
                max_tokens=output.most,
                seconds=model.timeout,
                cancelled=self._cancelled,
                hear=None if ear is None else ear.hear,
            )
        except EditorRefusedError as error:
            told = f"{error}: {' '.join(clean_text(error.message).split())[:200]}" if error.message else str(error)
            raise _editor_error(error, told) from error

    def _step(self, kind: StepKind, model: Model, why: str, tokens: int = 0) -> None:
        with self._lock:
            self._steps.append(ModelStep(kind, model.role, model.label, why, *CURRENT_SUBJECT.get(), tokens))


def _counts(model: Model, *, heard: bool) -> bool:
    """Returns whether the service always reports the tokens of a call; it may leave them out of a stream."""
    return model.wire in ("chat", "anthropic") and not heard


@dataclass(slots=True)
class _Ear:
    """Passes an answer's text on as it arrives. `any`: some text has been passed on."""

    _hear: Callable[[str], None]
    any: bool = False

    def hear(self, text: str) -> None:
        if text:
            self.any = True
            self._hear(text)


class _Coming(Protocol):
    """A streamed answer in the format of either service."""

    def take(self, data: bytes) -> str:
        """Returns the text of one event."""


def _hearing(came: _Coming, ear: _Ear | None) -> Callable[[bytes], None] | None:
    """Returns a function that takes the bytes of an event stream, or None if there is no listener."""
    if ear is None:
        return None
    events = EventStream()

    def heard(piece: bytes) -> None:
        try:
            found = list(events.feed(piece))
        except ValueError as error:
            raise faults.invalid_reply_error(200) from error
        for data in found:
            ear.hear(came.take(data))

    return heard


def _editor_error(error: EditorRefusedError, told: str) -> lm15.LM15Error:
    match error.why:
        case "cancelled":
            return faults.cancelled_error()
        case "timeout":
            return lm15.TimeoutError(told)
        case "not-found" | "gone":
            return lm15.UnsupportedModelError(told, code="gone")
        case "no-permission":
            return lm15.InvalidRequestError(told, code="gone")
        case "quota":
            return lm15.BillingError(told)
        case "blocked":  # temporary: the account's rate limit
            return lm15.RateLimitError(told, retry_after=faults.parse_retry_after({}, error.message))
        case "failed":
            return lm15.ServerError(told)
    assert_never(error.why)


def _response(request: lm15.Request, answer: ModelAnswer) -> lm15.Response:
    usage = lm15.Usage(input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens)
    message = lm15.Message.assistant([lm15.TextPart(answer.text)])
    return lm15.Response(id=None, model=request.model, message=message, finish_reason=answer.finish, usage=usage)


def _messages(request: lm15.Request) -> str:
    return "\n\n".join(message.text or "" for message in request.messages)


def _text(request: lm15.Request) -> str:
    """Returns everything that is sent, as one text."""
    return f"{chat.system_text(request)}\n\n{_messages(request)}".strip()


def _at_most(text: str) -> int:
    """Returns an upper bound of the tokens any service counts for a text: no tokenizer counts more than 1.5 times as
    many as o200k, or more tokens than bytes."""
    return min(len(text.encode("utf-8", "replace")) + 100, count_tokens(text) * 3 // 2 + 100)
