"""One question to a model and what of its answer can be used."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import dspy
import json_repair
from pydantic import ValidationError

from lerim.errors import ModelError, ModelKeyError, ModelSilentError
from lerim.extraction.redact import clean
from lerim.extraction.signatures import MOST_ITEMS, MemoryCandidate
from lerim.models.lm import using

MOST_TEXT = 400_000  # characters of an answer that are looked at
BRACES = 400
_FIELD = re.compile(r"^[ \t]{0,8}\[\[ ## primitives ## \]\]", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]{0,8}\[\[ ## \w{1,40} ## \]\]", re.MULTILINE)


class CancelledCallError(Exception):
    """The person cancelled while a model was asked."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What both signatures are given; each is text, the last three JSON."""

    transcript: str
    metadata: str
    metrics: str
    guidance: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The candidates that could be read, why others could not, and whether nothing could be (`unread` says why)."""

    items: tuple[MemoryCandidate, ...]
    faults: tuple[str, ...] = ()
    unread: str = ""


def ask(lm: dspy.LM, signature: type[dspy.Signature], inputs: Inputs) -> Answer:
    """Asks once, and once more with what was wrong where nothing of the answer can be read.

    Raises ModelError (ModelKeyError, ModelSilentError) where no answer came, CancelledCallError.
    """
    answer = _once(lm, signature, inputs, "")
    return _once(lm, signature, inputs, answer.unread) if answer.unread else answer


def _once(lm: dspy.LM, signature: type[dspy.Signature], inputs: Inputs, wrong: str) -> Answer:
    guidance = inputs.guidance
    if wrong:
        told = f"Your last answer could not be read: {wrong} Answer in the form that is asked for, with a JSON list."
        guidance = f"{guidance}\n{told}"
    try:
        with using(lm):
            predicted = dspy.ChainOfThought(signature)(
                transcript=inputs.transcript, metadata=inputs.metadata, metrics=inputs.metrics, guidance=guidance
            )
    except dspy.AdapterParseError as error:
        return salvaged(str(error.lm_response or ""))
    except dspy.LMError as error:
        raise _told(error) from error
    items = list(predicted.primitives)
    faults = (f"{len(items) - MOST_ITEMS} more than are looked at",) if len(items) > MOST_ITEMS else ()
    return Answer(tuple(items[:MOST_ITEMS]), faults)


def salvaged(text: str) -> Answer:
    """The good candidates in an answer that as a whole does not parse."""
    listed, broken = _list(text[:MOST_TEXT])
    if listed is None:
        return Answer((), unread="there is no JSON list of candidates in it.")
    good: list[MemoryCandidate] = []
    faults = ["the answer breaks off or is no JSON; what of it is whole was taken"] if broken else []
    for value in listed[:MOST_ITEMS]:
        try:
            good.append(MemoryCandidate.model_validate(value))
        except ValidationError as error:
            faults.append(_fault(error))
    if not good and faults:
        return Answer((), tuple(faults), unread=f"no candidate has the form: {faults[-1]}.")
    return Answer(tuple(good), tuple(faults))


def _list(text: str) -> tuple[list[object] | None, bool]:
    """The list of candidates in an answer, None where there is none; and whether it is but what of it was whole."""
    field = _FIELD.search(text)
    body = _NEXT.split(text[field.end() :], maxsplit=1)[0] if field else text
    start = min((at for at in (body.find("["), body.find("{")) if at >= 0), default=-1)
    if start < 0:
        return None, False
    decoder = json.JSONDecoder()
    broken = False
    try:
        value: object = decoder.raw_decode(body, start)[0]
    except (ValueError, RecursionError):
        broken = True
        value = _whole(body, start, decoder) or _mended(body[start:])
    if isinstance(value, dict):
        listed = value.get("primitives")
        value = listed if isinstance(listed, list) else [value]
    if isinstance(value, list) and ((not value and not broken) or any(isinstance(one, dict) for one in value)):
        return value, broken
    return None, broken


def _whole(body: str, at: int, decoder: json.JSONDecoder) -> list[object]:
    """The objects of a broken list that are whole: what was cut off within one is not made up."""
    out: list[object] = []
    for _ in range(BRACES):
        at = body.find("{", at)
        if at < 0:
            break
        try:
            value, at = decoder.raw_decode(body, at)
            out.append(value)
        except (ValueError, RecursionError):
            at += 1
    return [one for one in out if isinstance(one, dict) and "title" in one]


def _mended(body: str) -> object:
    """A list that is no JSON but nearly so: single quotation marks, missing commas."""
    try:
        return json_repair.loads(body)
    except (ValueError, RecursionError, IndexError):
        return None


def _fault(error: ValidationError) -> str:
    """What is wrong with one candidate, without its text."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return clean(f"{'.'.join(str(part) for part in first['loc']) or 'it'}: {first['msg']}")[:160]


def _told(error: dspy.LMError) -> Exception:
    """DSPy's error in the words of ours."""
    if getattr(error.__cause__, "code", "") == "cancelled":
        return CancelledCallError()
    message = f"The model did not answer: {str(error.message).rstrip('.')}."
    if isinstance(error, dspy.LMAuthError):
        return ModelKeyError(message, todo="Set a valid key in the environment, then sync again.")
    if isinstance(error, dspy.LMBillingError):
        return ModelKeyError(message, todo="Add credit to the account, or choose another model.")
    if isinstance(error, dspy.LMTransportError | dspy.LMTimeoutError | dspy.LMServerError | dspy.LMRateLimitError):
        todo = "It is tried again later; roles.extract.timeout gives it more time."
        return ModelSilentError(message, todo=todo)
    if isinstance(error, dspy.ContextWindowExceededError):
        return ModelError(message, todo="Set roles.extract.max_window_tokens to what the model takes.")
    return ModelError(message, todo="Check roles.extract in ~/.lerim/config.toml.")
