"""Translates a service's failures to errors of `dspy.lm15`, from the status, headers and body in any service's
format.

The service's own message is shown to the person, shortened and without the key and other secrets; a ModelStep
contains only Lerim's words.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec

from lerim.models.dspy_import import lm15
from lerim.models.money import Usage
from lerim.models.services.wire import (
    ServiceReply,
    TooLargeError,
    TooSlowError,
    UnreachedError,
    WireError,
    WireStoppedError,
)
from lerim.redaction import clean_text

Form = TypeVar("Form")

CANCELLED = "cancelled"
UNSENT = "unsent"
"""Codes of a TransportError: the person cancelled; or the service was not reached, and so cannot have counted any
usage."""
FLAGGED = "flagged"
"""Code of an InvalidRequestError: the service objects to this particular text."""
_MOST_SEARCHED_CHARACTERS = 20_000

TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|exceed_context|too many tokens|(?:prompt|input) (?:is too long|exceeds)"
    r"|maximum number of tokens allowed|max_model_len|reduce the length",
    re.IGNORECASE,
)
_RATE_LIMIT_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|credits|balance|funds)|credit balance|credits are depleted|in arrears|recharge"
    r"|billing_(?:error|not_active|hard)",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(r"API key not valid|API_KEY_INVALID|invalid[ _]api[ _]key|incorrect api key", re.IGNORECASE)
_FLAGGED = re.compile(r"moderation|flagged|content[ _-]?(?:policy|filter|management)", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|not a valid model|no models loaded|model[^.{}]{0,100}(?:does not exist|not found|not supported)",
    re.IGNORECASE,
)
_PARAMETER_RENAMED = re.compile(r"unsupported.{0,60}max_tokens.{0,80}max_completion_tokens", re.IGNORECASE | re.DOTALL)
_OUTPUT_LIMIT = re.compile(
    r"(?:supports at most|max_tokens: \d{1,8} >|maximum (?:number of )?(?:output|completion) tokens\D{0,20})"
    r" ?(\d{2,7})",
    re.IGNORECASE,
)
_RETRY_IN = re.compile(
    r"(?:again|retry) in (?:(\d{1,3})h)?(?:(\d{1,4})m(?!s))?(?:(\d{1,6}(?:\.\d{1,9})?) ?(ms|s))?", re.IGNORECASE
)


class ParameterError(lm15.InvalidRequestError):  # type: ignore[misc]
    """The limit of the answer was refused: at most `max_output_tokens` tokens are allowed, or the parameter has another
    name (`renamed`)."""

    def __init__(
        self, message: str, *, max_output_tokens: int | None = None, renamed: bool = False, status: int
    ) -> None:
        super().__init__(message, status=status)
        self.max_output_tokens = max_output_tokens
        self.renamed = renamed


class TooLongError(lm15.ContextLengthError):  # type: ignore[misc]
    """The window is too large. `service_message` may name a limit. `is_model_limit`: the limit is that of the model
    rather than a limit per minute for the account."""

    def __init__(self, message: str, *, service_message: str, status: int) -> None:
        super().__init__(message, status=status)
        self.service_message = service_message
        self.is_model_limit = status != 429


class BrokenOffError(lm15.ServerError):  # type: ignore[misc]
    """The service failed while it answered. `usage` is the usage that the service counts for the failed answer, None
    if it does not report any."""

    def __init__(self, message: str, *, usage: Usage | None) -> None:
        super().__init__(message, status=500)
        self.usage = usage


class _Error(msgspec.Struct):
    message: str | None = None
    code: str | int | float | None = None
    type: str | None = None
    status: str | None = None


class _Body(msgspec.Struct):
    error: _Error | str | None = None
    message: str | None = None
    code: str | int | float | None = None


def cancelled_error() -> lm15.TransportError:
    """Returns the error for a call that the person cancelled."""
    return lm15.TransportError("cancelled", code=CANCELLED)


def exchange_error(error: WireError) -> lm15.LM15Error:
    """Returns the error for an exchange that did not complete."""
    if isinstance(error, WireStoppedError):
        return cancelled_error()
    if isinstance(error, TooSlowError):
        return lm15.TimeoutError(str(error))
    if isinstance(error, TooLargeError):
        return lm15.InvalidRequestError(str(error))
    return lm15.TransportError(str(error), code=UNSENT if isinstance(error, UnreachedError) else None)


def invalid_reply_error(status: int) -> lm15.TransportError:
    """Returns the error for a reply with a success status but without a valid answer."""
    return lm15.TransportError("its answer is incomplete or in an unknown format", status=status)


def decode_reply(data: bytes, form: type[Form], status: int = 200) -> Form:
    """Returns the reply, or a part of it, decoded to this form. Raises the error of `invalid_reply_error` if it has
    another form."""
    try:
        return msgspec.json.decode(data, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise invalid_reply_error(status) from None


def refusal_error(reply: ServiceReply, key: str, model: str) -> lm15.LM15Error:
    """Returns the error for a reply that reports an error."""
    body = reply.body[:_MOST_SEARCHED_CHARACTERS].decode("utf-8", "replace")
    code, service_message = _parse_error_body(reply.body)
    status = reply.status
    if 200 <= status < 300:  # some services report an error with a success status
        status = int(code) if re.fullmatch(r"[345][0-9]{2}", code) else 500
    # A service may repeat the key it refuses, so the key is removed from its message.
    shown = " ".join(clean_text(service_message.replace(key, "…") if key else service_message).split())[:200]
    if status == 401 and not key:
        return lm15.AuthError("it asks for a key", status=status)
    return _error(status, code, f": {shown}" if shown else "", f"{code} {body}", reply.headers, model)


def _error(  # noqa: C901 - one line for each thing a service can mean
    status: int, code: str, message_suffix: str, searched_text: str, headers: Mapping[str, str], model: str
) -> lm15.LM15Error:
    wait = parse_retry_after(headers, searched_text)
    if status == 401 or (status in (400, 403) and _BAD_KEY.search(searched_text)):
        return lm15.AuthError("it refused the key", status=status)
    if status == 402 or (status in (400, 403, 429) and (_NO_MONEY.search(searched_text) or code == "1113")):
        return lm15.BillingError(f"the account has no credit left{message_suffix}", status=status)
    if status in (400, 403) and _FLAGGED.search(searched_text):
        return lm15.InvalidRequestError(f"it does not accept this text{message_suffix}", status=status, code=FLAGGED)
    if status == 403:
        return lm15.AuthError(f"it does not allow this with this key{message_suffix}", status=status)
    if status == 429 and not _RATE_LIMIT_TOO_LARGE.search(searched_text):
        return lm15.RateLimitError(f"too many requests{message_suffix}", status=status, retry_after=wait)
    if status in (408, 504):
        return lm15.TimeoutError("the service reported a timeout", status=status)
    if status in (413, 429) or code == "1261" or TOO_LONG.search(searched_text):
        return TooLongError(
            f"the window is too large for this model{message_suffix}", service_message=searched_text, status=status
        )
    if status >= 500:
        what = "it is overloaded" if status == 529 else "it failed"
        return lm15.ServerError(f"{what}{message_suffix}", status=status, retry_after=wait)
    if status < 400:
        return lm15.InvalidRequestError("the server redirected; set `base_url` to the final address", status=status)
    if status == 404 or code == "1211" or _NO_MODEL.search(searched_text):
        return lm15.UnsupportedModelError(f"there is no model {model} at this address{message_suffix}", status=status)
    if _PARAMETER_RENAMED.search(searched_text):
        return ParameterError(f"it refused the request{message_suffix}", renamed=True, status=status)
    if limit_match := _OUTPUT_LIMIT.search(searched_text):
        return ParameterError(
            f"it refused the request{message_suffix}", max_output_tokens=int(limit_match[1]), status=status
        )
    return lm15.InvalidRequestError(f"it refused the request{message_suffix}", status=status)


def parse_retry_after(headers: Mapping[str, str], searched_text: str = "") -> float | None:
    """Returns the seconds the service asks to wait, from its headers (a number or a date) or its message; None if it
    does not say."""
    for name, unit in (("retry-after-ms", 1_000), ("retry-after", 1)):
        header_value = headers.get(name, "").strip()
        try:
            seconds = float(header_value) / unit
        except ValueError:
            seconds = _seconds_until(header_value, headers)
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    match = _RETRY_IN.search(searched_text)
    if match is None or not any(match.groups()):
        return None
    hours, minutes, rest, unit_name = match.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(rest or 0) / (1_000 if unit_name == "ms" else 1)


def _seconds_until(date: str, headers: Mapping[str, str]) -> float:
    """Returns the seconds until a date, by the clock of the service if it sends its time; NaN if the date is
    invalid."""
    try:
        retry_time = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return math.nan
    try:
        now = parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        now = time.time()
    return max(0.0, retry_time - now)


def describe_error(error: lm15.LM15Error) -> str:
    """Describes an error in Lerim's words only."""
    if isinstance(error, lm15.RateLimitError):
        return "too many requests"
    if isinstance(error, lm15.ServerError):
        return "the service failed" if error.status is None else f"the service failed ({error.status})"
    if isinstance(error, lm15.UnsupportedModelError):
        return "there is no such model"
    return "the connection failed" if error.status is None else "the answer broke off"


def _parse_error_body(body: bytes) -> tuple[str, str]:
    """Returns the code and the message of an error in any service's format, "" if missing."""
    parsed: _Body | list[_Body]
    try:
        parsed = msgspec.json.decode(body, type=_Body | list[_Body])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return "", ""
    body_error = (parsed[0] if parsed else _Body()) if isinstance(parsed, list) else parsed
    match body_error.error:
        case _Error(message, code, kind, status):
            return str(code or kind or status or ""), message or ""
        case str(service_message):
            return str(body_error.code or ""), service_message
    return str(body_error.code or ""), body_error.message or ""


def error_message(error: lm15.LM15Error) -> str:
    """Returns the error's message without the advice for programmers that `dspy.lm15` appends."""
    return str(error.message).partition("\n")[0]
