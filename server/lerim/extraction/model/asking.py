"""One question to a model and what of its answer can be used: for any signature with one output field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import dspy
import json_repair
from pydantic import BaseModel, ValidationError

from lerim.errors import (
    LerimError,
    ModelAwayError,
    ModelError,
    ModelGoneError,
    ModelKeyError,
    ModelRefusedError,
    ModelSilentError,
    StoppedError,
    WindowTooLargeError,
)
from lerim.models import faults, use_language_model
from lerim.redaction import clean_text

MOST_ITEMS = 40  # items of one answer that are looked at
MOST_TEXT = 400_000  # characters of an answer that are looked at
BRACES = 400
NEARLY = 6  # characters from the end at which a word of JSON's that was cut begins
_NEXT = re.compile(r"^[ \t]{0,8}\[\[ ## \w{1,40} ## \]\]", re.MULTILINE)


Item = TypeVar("Item", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ParsedAnswer(Generic[Item]):
    """The items that could be read, why others could not, and whether nothing could be (`unread` says why).

    `cut`: the model reached the end of what it may write, so there is more to say. `off`: nobody told so, but it breaks
    off at its end.
    """

    items: tuple[Item, ...]
    faults: tuple[str, ...] = ()
    unread: str = ""
    cut: bool = False
    off: bool = False


def ask_signature(
    lm: dspy.LM,
    signature: type[dspy.Signature],
    inputs: Mapping[str, str],
    item: type[Item],
    *,
    think: bool = True,
    retry: bool = True,
) -> ParsedAnswer[Item]:
    """Asks once, and with `retry` once more with what was wrong where nothing of the answer can be read.

    `signature` has one output field, an `item` or a list of them; `inputs` has a text for each input field. What was
    wrong is added to the last of these. `think`: reasons are asked for before the answer.

    Raises ModelError (WindowTooLargeError, ModelKeyError, ModelGoneError, ModelRefusedError, ModelSilentError,
    ModelAwayError) where no answer came, whatever LerimError the engine raises, StoppedError.
    """
    answer = _once(lm, signature, inputs, item, think)
    if not answer.unread or (answer.cut and not answer.off) or not retry:
        return answer
    told = f"Your last answer could not be read: {answer.unread} Answer in the form that is asked for, in JSON."
    last = list(signature.input_fields)[-1]
    return _once(lm, signature, {**inputs, last: f"{inputs[last]}\n{told}"}, item, think)


def _once(
    lm: dspy.LM, signature: type[dspy.Signature], inputs: Mapping[str, str], item: type[Item], think: bool
) -> ParsedAnswer[Item]:
    [name] = signature.output_fields
    module = dspy.ChainOfThought(signature) if think else dspy.Predict(signature)
    with use_language_model(lm) as heard:
        try:
            value = getattr(module(**inputs), name)
        except dspy.AdapterParseError as error:  # the editor and a command never tell that an answer was cut
            return salvage_items(str(error.lm_response or ""), name, item, heard.cut)
        except dspy.LMError as error:
            raise _told(error) from error
    items = list(value) if isinstance(value, list) else [value]
    faults = (f"{len(items) - MOST_ITEMS} more than are looked at",) if len(items) > MOST_ITEMS else ()
    return ParsedAnswer(tuple(items[:MOST_ITEMS]), faults, cut=heard.cut)


def salvage_items(text: str, name: str, item: type[Item], cut: bool = False) -> ParsedAnswer[Item]:
    """The good items in an answer that as a whole does not parse; `name` is the field they stand in."""
    listed, broken = _list(text[:MOST_TEXT], name, set(item.model_fields))
    off = not cut and broken and _breaks_off(text, name)
    cut = cut or off
    if listed is None:
        return ParsedAnswer((), unread="there is no JSON list of what was asked for in it.", cut=cut, off=off)
    good: list[Item] = []
    faults = ["the answer breaks off or is no JSON; what of it is whole was taken"] if broken else []
    for value in listed[:MOST_ITEMS]:
        try:
            good.append(item.model_validate(value))
        except ValidationError as error:
            faults.append(_fault(error))
    if not good and faults:
        return ParsedAnswer((), tuple(faults), unread=f"nothing in it has the form: {faults[-1]}.", cut=cut, off=off)
    return ParsedAnswer(tuple(good), tuple(faults), cut=cut, off=off)


def _list(text: str, name: str, fields: set[str]) -> tuple[list[object] | None, bool]:
    """The list of items in an answer, None where there is none; and whether it is but what of it was whole. An item
    has one of `fields`."""
    field = re.search(rf"^[ \t]{{0,8}}\[\[ ## {name} ## \]\]", text, re.MULTILINE)
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
        value = _whole(body, start, decoder, fields) or _mended(body[start:])
    if isinstance(value, dict):
        listed = value.get(name)
        value = listed if isinstance(listed, list) else [value]
    if isinstance(value, list) and ((not value and not broken) or any(isinstance(one, dict) for one in value)):
        return value, broken
    return None, broken


def _breaks_off(text: str, name: str) -> bool:
    """Whether the JSON in an answer ends where the answer ends, in the middle."""
    body = (_field(text, name) or text).rstrip()
    start = min((at for at in (body.find("["), body.find("{")) if at >= 0), default=0)
    try:
        json.JSONDecoder().raw_decode(body, start)
    except json.JSONDecodeError as error:
        return not _NEXT.search(body) and (error.pos >= len(body) - NEARLY or error.msg.startswith("Unterminated"))
    except RecursionError:
        return False
    return False


def _field(text: str, name: str) -> str:
    """What follows the mark of a field, "" where there is none."""
    found = re.search(rf"^[ \t]{{0,8}}\[\[ ## {name} ## \]\]", text, re.MULTILINE)
    return text[found.end() :] if found else ""


def _whole(body: str, at: int, decoder: json.JSONDecoder, fields: set[str]) -> list[object]:
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
    return [one for one in out if isinstance(one, dict) and fields & one.keys()]


def _mended(body: str) -> object:
    """A list that is no JSON but nearly so: single quotation marks, missing commas."""
    try:
        return json_repair.loads(body)
    except (ValueError, RecursionError, IndexError):
        return None


def _fault(error: ValidationError) -> str:
    """What is wrong with one item, without its text."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return clean_text(f"{'.'.join(str(part) for part in first['loc']) or 'it'}: {first['msg']}")[:160]


def _told(error: dspy.LMError) -> Exception:
    """DSPy's error in the words of ours; one of ours that came through DSPy as it was."""
    causes = list(_causes(error))
    if ours := next((cause for cause in causes if isinstance(cause, LerimError)), None):
        return ours
    codes = {getattr(cause, "code", "") for cause in causes}
    if "cancelled" in codes:
        return StoppedError()
    said = str(error.message).partition("\n")[0]  # after it comes advice of DSPy's to programmers
    message = f"The model did not answer: {said.rstrip('.')}."
    if "gone" in codes or isinstance(error, dspy.LMUnsupportedModelError):
        return ModelGoneError(message, todo="Choose another model, or make it available again, then sync.")
    if isinstance(error, dspy.LMAuthError):
        return ModelKeyError(message, todo="Set a valid key in the environment, then sync again.")
    if isinstance(error, dspy.LMBillingError):
        return ModelKeyError(message, todo="Add credit to the account, or choose another model.")
    broken = any(getattr(cause, "status", None) for cause in causes)  # it answered, but nothing that makes sense
    if isinstance(error, dspy.LMRateLimitError) or (isinstance(error, dspy.LMTransportError) and not broken):
        return ModelAwayError(message, todo="The next sync goes on where this one stopped.")
    if isinstance(error, dspy.LMTransportError | dspy.LMTimeoutError | dspy.LMServerError):
        todo = "It is tried again later; roles.extract.timeout gives it more time."
        return ModelSilentError(message, todo=todo)
    if isinstance(error, dspy.ContextWindowExceededError):
        return WindowTooLargeError(message, todo="Set roles.extract.max_window_tokens to what the model takes.")
    statuses = [getattr(cause, "status", None) or 0 for cause in causes]
    refused = faults.FLAGGED not in codes and any(300 <= status < 500 for status in statuses)
    return (ModelRefusedError if refused else ModelError)(message, todo="Check roles.extract in ~/.lerim/config.toml.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__
