"""The engine DSPy calls: chat completions over HTTP, with the only retries there are.

DSPy's own routes are not used: they fetch a price list, and an environment variable turns them to another library.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping

import msgspec
from dspy import lm15

from lerim.extraction.redact import clean
from lerim.models.choose import Model
from lerim.models.usage import NOTHING, Usage
from lerim.models.wire import Reply, StoppedError, TooLargeError, TooSlowError, WireError, pause, post

TRIES = 3
BACK_OFF_SECONDS = (1.0, 4.0)
MOST_WAIT_SECONDS = 60.0
"""A service that wants a longer wait than this before the next try is given up for this run."""

_TOO_LONG = re.compile(
    r"context[ _](?:length|window)|maximum context|too many tokens|prompt is too long", re.IGNORECASE
)
_NO_MONEY = re.compile(r"insufficient_quota|insufficient credits|billing", re.IGNORECASE)


class _Part(msgspec.Struct):
    text: str = ""


class _Said(msgspec.Struct):
    content: str | list[_Part] | None = None


class _Choice(msgspec.Struct):
    message: _Said = msgspec.field(default_factory=_Said)
    finish_reason: str | None = None


class _Counted(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


class _Fault(msgspec.Struct):
    message: str | None = ""
    code: str | int | None = ""
    type: str | None = ""


class _Completion(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    choices: list[_Choice] = []
    usage: _Counted | None = None
    error: _Fault | str | None = None


class Engine:
    """Asks one model; DSPy calls `complete`. `spent` is what its calls took so far; `cancelled` ends one that waits."""

    supports_function_calling = False
    supports_reasoning = False
    supports_response_schema = False
    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(self, model: Model, cancelled: Callable[[], bool]) -> None:
        self._model = model
        self._cancelled = cancelled
        self.spent = NOTHING

    def complete(self, request: lm15.Request) -> lm15.Response:
        """One answer. Raises errors of `dspy.lm15`; TransportError with code "cancelled" when the person cancelled."""
        body = _payload(request, self._model)
        for tries in range(1, TRIES + 1):
            try:
                return self._once(request, body)
            except (lm15.RateLimitError, lm15.ServerError, lm15.TransportError) as error:
                wait = BACK_OFF_SECONDS[min(tries, len(BACK_OFF_SECONDS)) - 1]
                wait = wait if error.retry_after is None else error.retry_after
                if tries == TRIES or error.code == "cancelled" or wait > MOST_WAIT_SECONDS:
                    raise
            try:
                pause(wait, self._cancelled)
            except StoppedError as error:
                raise lm15.TransportError("cancelled", code="cancelled") from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Nothing stays open between calls."""

    def _once(self, request: lm15.Request, body: bytes) -> lm15.Response:
        model, began = self._model, time.monotonic()
        url = f"{model.base_url}/chat/completions"
        try:
            reply = post(url, body, model.key, seconds=model.timeout, cancelled=self._cancelled, local=model.local)
        except StoppedError as error:
            raise lm15.TransportError("cancelled", code="cancelled") from error
        except TooSlowError as error:
            raise lm15.TimeoutError(str(error)) from error
        except TooLargeError as error:
            raise lm15.InvalidRequestError(str(error)) from error
        except WireError as error:
            raise lm15.TransportError(str(error)) from error
        completion = _read(reply, model)
        usage = completion.usage or _Counted()
        tokens_in, tokens_out = _number(usage.prompt_tokens), _number(usage.completion_tokens)
        self.spent += Usage(1, tokens_in, tokens_out, cost=_cost(usage.cost), seconds=time.monotonic() - began)
        choice = completion.choices[0]
        return lm15.Response(
            id=completion.id,
            model=completion.model or request.model,
            message=lm15.Message.assistant([lm15.TextPart(_text(choice.message))]),
            finish_reason="length" if choice.finish_reason == "length" else "stop",
            usage=lm15.Usage(input_tokens=tokens_in, output_tokens=tokens_out),
        )


def _payload(request: lm15.Request, model: Model) -> bytes:
    """The request as chat completions want it; what is not said is the service's own choice."""
    messages = [{"role": message.role, "content": message.text or ""} for message in request.messages]
    if request.system is not None:
        system = request.system if isinstance(request.system, str) else "".join(part.text for part in request.system)
        messages.insert(0, {"role": "system", "content": system})
    body: dict[str, object] = {"model": model.name, "messages": messages}
    if request.config.temperature is not None:
        body["temperature"] = request.config.temperature
    if request.config.max_tokens is not None:
        body["max_tokens"] = request.config.max_tokens
    if model.provider == "openrouter":
        body["usage"] = {"include": True}  # else it does not tell what a call cost
    return json.dumps(body, ensure_ascii=True).encode()


def _read(reply: Reply, model: Model) -> _Completion:
    """The completion in a reply; what is none raises the error of `dspy.lm15` that says why."""
    completion: _Completion | None
    try:
        completion = msgspec.json.decode(reply.body, type=_Completion)
    except (msgspec.DecodeError, UnicodeDecodeError):
        completion = None
    fault = completion.error if completion is not None else None
    if 200 <= reply.status < 300 and fault is None:
        if completion is None or not completion.choices:
            raise lm15.TransportError("its answer broke off or is no chat completion", status=reply.status)
        return completion
    code, said = (str(fault.code or ""), fault.message or "") if isinstance(fault, _Fault) else ("", fault or "")
    status = reply.status
    if 200 <= status < 300:  # some services tell an error with a status of success
        status = int(code) if code.isdigit() and 300 <= int(code) < 600 else 500
    raise _error(status, code, said, reply.headers, model)


def _error(status: int, code: str, said: str, headers: Mapping[str, str], model: Model) -> lm15.LM15Error:
    # A service may repeat the key it refuses: what it says is told without it, or not at all where the key is at fault.
    told = clean(said.replace(model.key, "…") if model.key else said)
    told = f": {' '.join(told.split())[:200]}" if told.strip() else ""
    if status in (401, 403):
        return lm15.AuthError("it refused the key", status=status)
    if status == 402 or (status == 429 and _NO_MONEY.search(f"{code} {said}")):
        return lm15.BillingError(f"the account has no credit left{told}", status=status)
    if status == 429:
        return lm15.RateLimitError(f"too many requests{told}", status=status, retry_after=_retry_after(headers))
    if status in (408, 504):
        return lm15.TimeoutError("it took too long by its own account", status=status)
    if status >= 500:
        return lm15.ServerError(f"it failed{told}", status=status, retry_after=_retry_after(headers))
    if 300 <= status < 400:
        return lm15.InvalidRequestError("it sends elsewhere, which is not followed; correct base_url", status=status)
    if status == 413 or _TOO_LONG.search(f"{code} {said}"):
        return lm15.ContextLengthError(f"the window is too large for this model{told}", status=status)
    if status == 404:
        return lm15.UnsupportedModelError(f"there is no such model or address{told}", status=status)
    return lm15.InvalidRequestError(f"it refused the request{told}", status=status)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the service asks to wait; None where it does not say, or says it as a date."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _text(said: _Said) -> str:
    content = said.content
    return "".join(part.text for part in content) if isinstance(content, list) else content or ""


def _number(value: int | None) -> int:
    return value if value is not None and 0 <= value < 10**12 else 0


def _cost(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) and 0 <= value < 10**6 else 0.0
