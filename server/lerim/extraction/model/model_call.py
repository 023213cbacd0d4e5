"""Asks a model one question and parses the answer as far as possible, for any signature with one output field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from lerim.errors import (
    LerimError,
    ModelAwayError,
    ModelError,
    ModelFaultError,
    ModelGoneError,
    ModelKeyError,
    ModelRefusedError,
    ModelSilentError,
    StoppedError,
    WindowTooLargeError,
)
from lerim.extraction.facts import decode_complete_objects
from lerim.models import dspy, faults, use_language_model
from lerim.patterns import compile_later
from lerim.redaction import clean_text

MAX_ITEMS = 40  # items read of one answer
MAX_ANSWER_CHARS = 400_000  # characters read of an answer
MAX_TRUNCATED_LITERAL_CHARS = 6  # maximum characters from the end at which a truncated JSON literal begins
_JSON_START = compile_later(r"[\[{]")
_FIELD_MARKER = compile_later(r"^[ \t]{0,8}\[\[ ## \w{1,40} ## \]\]", re.MULTILINE)


Item = TypeVar("Item", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ParsedAnswer(Generic[Item]):
    """The items that could be parsed, and why others could not.

    If none could, `parse_error` has the reason. `is_truncated`: the model reached its output limit, so there is more
    to say. `truncation_unreported`: the model did not report that, but the answer ends in the middle of its JSON.
    """

    items: tuple[Item, ...]
    faults: tuple[str, ...] = ()
    parse_error: str = ""
    is_truncated: bool = False
    truncation_unreported: bool = False


def ask_signature(
    lm: dspy.LM,
    signature: type[dspy.Signature],
    inputs: Mapping[str, str],
    item: type[Item],
    *,
    think: bool = True,
    retry: bool = True,
) -> ParsedAnswer[Item]:
    """Asks once and, with `retry`, a second time with the error message if nothing in the answer can be parsed.

    `signature` has one output field, an `item` or a list of them; `inputs` has a text for each input field. The error
    is appended to the last of these. `think`: the model gives its reasoning before the answer.

    Raises ModelError (WindowTooLargeError, ModelKeyError, ModelGoneError, ModelRefusedError, ModelSilentError,
    ModelAwayError) if no answer came, any LerimError from the engine, and StoppedError.
    """
    answer = _ask_once(lm, signature, inputs, item, think)
    if not answer.parse_error or (answer.is_truncated and not answer.truncation_unreported) or not retry:
        return answer
    correction = (
        f"Your last answer could not be read: {answer.parse_error} Answer in the form that is asked for, in JSON."
    )
    last = list(signature.input_fields)[-1]
    return _ask_once(lm, signature, {**inputs, last: f"{inputs[last]}\n{correction}"}, item, think)


def ask_text(lm: dspy.LM, prompt: str) -> str:
    """Asks once and returns the answer as plain text, without a required form. Raises the same errors as
    `ask_signature`."""
    with use_language_model(lm):
        try:
            [answer, *_] = lm(prompt) or [""]
        except dspy.LMError as error:
            raise _convert_error(error) from error
    text = answer.get("text") if isinstance(answer, dict) else answer
    return str(text or "")[:MAX_ANSWER_CHARS]


def _ask_once(
    lm: dspy.LM, signature: type[dspy.Signature], inputs: Mapping[str, str], item: type[Item], think: bool
) -> ParsedAnswer[Item]:
    [name] = signature.output_fields
    module = dspy.ChainOfThought(signature) if think else dspy.Predict(signature)
    with use_language_model(lm) as response:
        try:
            value = getattr(module(**inputs), name)
        except dspy.AdapterParseError as error:  # not every model reports a truncated answer
            return salvage_items(str(error.lm_response or ""), name, item, response.cut)
        except dspy.LMError as error:
            raise _convert_error(error) from error
    items = list(value) if isinstance(value, list) else [value]
    faults = (f"{len(items) - MAX_ITEMS} items more than the limit",) if len(items) > MAX_ITEMS else ()
    return ParsedAnswer(tuple(items[:MAX_ITEMS]), faults, is_truncated=response.cut)


def salvage_items(text: str, name: str, item: type[Item], cut: bool = False) -> ParsedAnswer[Item]:
    """Returns the valid items of an answer that does not parse as a whole; `name` is the output field."""
    listed, broken = _find_list(text[:MAX_ANSWER_CHARS], name, set(item.model_fields))
    unreported = not cut and broken and _is_cut_off(text, name)
    good: list[Item] = []
    faults = ["the answer breaks off or is not JSON; its complete items were used"] if broken and listed else []
    for value in (listed or ())[:MAX_ITEMS]:
        try:
            good.append(item.model_validate(value))
        except ValidationError as error:
            faults.append(_describe_error(error))
    parse_error = f"nothing in it has the requested form: {faults[-1]}." if faults and not good else ""
    if listed is None:
        parse_error = "it contains no JSON list of what was asked for."
    return ParsedAnswer(tuple(good), tuple(faults), parse_error, cut or unreported, unreported)


def _find_list(text: str, name: str, fields: set[str]) -> tuple[list[object] | None, bool]:
    """Returns the list of items in an answer, or None, and whether the JSON is broken and only its complete objects are
    included. An item has at least one of `fields`."""
    field = _extract_field(text, name)
    body = _FIELD_MARKER.split(field, maxsplit=1)[0] if field is not None else text
    found = _JSON_START.search(body)
    if found is None:
        return None, False
    start = found.start()
    broken = False
    try:
        value: object = json.JSONDecoder().raw_decode(body, start)[0]
    except (ValueError, RecursionError):
        broken = True
        complete = [
            one for one in decode_complete_objects(body, start) if isinstance(one, dict) and fields & one.keys()
        ]
        value = complete or _parse_repaired_json(body[start:])
    if isinstance(value, dict):
        listed = value.get(name)
        value = listed if isinstance(listed, list) else [value]
    if isinstance(value, list) and ((not value and not broken) or any(isinstance(one, dict) for one in value)):
        return value, broken
    return None, broken


def _is_cut_off(text: str, name: str) -> bool:
    body = (_extract_field(text, name) or text).rstrip()
    start = _JSON_START.search(body)
    try:
        json.JSONDecoder().raw_decode(body, start.start() if start else 0)
    except json.JSONDecodeError as error:
        return not _FIELD_MARKER.search(body) and (
            error.pos >= len(body) - MAX_TRUNCATED_LITERAL_CHARS or error.msg.startswith("Unterminated")
        )
    except RecursionError:
        return False
    return False


def _extract_field(text: str, name: str) -> str | None:
    found = re.search(rf"^[ \t]{{0,8}}\[\[ ## {name} ## \]\]", text, re.MULTILINE)
    return text[found.end() :] if found else None


def _parse_repaired_json(body: str) -> object:
    """Parses a list that is almost JSON (single quotation marks, missing commas); None if that fails."""
    try:
        return json_repair.loads(body)
    except (ValueError, RecursionError, IndexError):
        return None


def _describe_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return clean_text(f"{'.'.join(str(part) for part in first['loc']) or 'it'}: {first['msg']}")[:160]


def _convert_error(error: dspy.LMError) -> Exception:
    """Converts a DSPy error to one of our own errors. An error of ours that passed through DSPy is returned
    unchanged."""
    causes = list(_iterate_causes(error))
    if ours := next((cause for cause in causes if isinstance(cause, LerimError)), None):
        return ours
    codes = {getattr(cause, "code", "") for cause in causes}
    if "cancelled" in codes:
        return StoppedError()
    said = str(error.message).partition("\n")[0]  # the following lines are DSPy's advice to programmers
    message = f"The model did not answer: {said.rstrip('.')}."
    if "gone" in codes or isinstance(error, dspy.LMUnsupportedModelError):
        return ModelGoneError(message, todo="Choose another model, or make it available again, then sync.")
    if isinstance(error, dspy.LMAuthError):
        return ModelKeyError(message, todo="Set a valid key in the environment, then sync again.")
    if isinstance(error, dspy.LMBillingError):
        return ModelKeyError(message, todo="Add credit to the account, or choose another model.")
    statuses = [getattr(cause, "status", None) or 0 for cause in causes]
    broken = any(statuses)  # an answer came, but an unusable one
    paid = any(isinstance(cause, faults.BrokenOffError) for cause in causes)  # it failed while it answered
    failed = isinstance(error, dspy.LMServerError) and not paid and any(status >= 500 for status in statuses)
    retried = "The next sync continues where this one stopped."
    if isinstance(error, dspy.LMRateLimitError) or faults.UNSENT in codes:
        return ModelAwayError(message, todo=retried)
    if failed or (isinstance(error, dspy.LMTransportError) and not broken):
        return ModelFaultError(message, todo=retried)
    if isinstance(error, dspy.LMTransportError | dspy.LMTimeoutError | dspy.LMServerError):
        todo = "It is tried again later; roles.extract.timeout gives it more time."
        return ModelSilentError(message, todo=todo)
    if isinstance(error, dspy.ContextWindowExceededError):
        return WindowTooLargeError(message, todo="Set roles.extract.max_window_tokens to what the model takes.")
    refused = faults.FLAGGED not in codes and any(300 <= status < 500 for status in statuses)
    return (ModelRefusedError if refused else ModelError)(message, todo="Check roles.extract in ~/.lerim/config.toml.")


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__
