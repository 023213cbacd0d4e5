"""A DSPy language model on top of our engine. Every DSPy feature that would store or repeat what was sent is turned
off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol

from lerim.models.dspy_import import dspy, lm15


class AnsweringEngine(Protocol):
    """The interface that DSPy expects of an engine. DSPy never closes an engine that it was given."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Returns one answer."""


@dataclass(slots=True)
class AnswerEnding:
    """Information about an answer that DSPy does not report. `cut`: the answer ended at the length limit."""

    cut: bool = False


_current_ending: ContextVar[AnswerEnding | None] = ContextVar("heard", default=None)


class _EndingRecorder:
    """Wraps an engine and records how its answers end."""

    supports_function_calling = False
    supports_reasoning = False
    supports_response_schema = False
    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(self, engine: AnsweringEngine) -> None:
        self._engine = engine

    def complete(self, request: lm15.Request) -> lm15.Response:
        response = self._engine.complete(request)
        ending = _current_ending.get()
        if ending is not None:
            ending.cut = response.finish_reason == "length"
        # DSPy would print a warning about a cut answer to the terminal, which the person should not see.
        return replace(response, finish_reason="stop")


def make_language_model(engine: AnsweringEngine) -> dspy.LM:
    """Creates the DSPy language model, without a cache and without DSPy's retries, because the engine retries."""
    # The engine knows the model's name. DSPy changes settings for names it knows.
    return dspy.LM("lerim/model", engine=_EndingRecorder(engine), cache=False, num_retries=0)


class WholeAnswers(dspy.ChatAdapter):  # type: ignore[misc]
    """DSPy's chat format for prompts and answers, with two differences: an incomplete answer is not repaired to look
    complete, and no second call is made silently."""

    def __init__(self) -> None:
        super().__init__(use_json_adapter_fallback=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Parses the fields of an answer. Raises AdapterParseError, which contains the answer, if it is incomplete or
        malformed."""
        if "[[ ## completed ## ]]" not in completion:
            raise dspy.AdapterParseError("WholeAnswers", signature, completion, "The answer is incomplete.")
        fields: dict[str, Any] = super().parse(signature, completion)
        return fields


@contextmanager
def use_language_model(lm: dspy.LM) -> Iterator[AnswerEnding]:
    """Makes DSPy's modules ask `lm` within this block. DSPy records nothing of it; only how the last answer ended is
    kept."""
    ending = AnswerEnding()
    reset_token = _current_ending.set(ending)
    try:
        with dspy.context(
            lm=lm, adapter=WholeAnswers(), disable_history=True, trace=None, track_usage=False, callbacks=[]
        ):
            yield ending
    finally:
        _current_ending.reset(reset_token)
