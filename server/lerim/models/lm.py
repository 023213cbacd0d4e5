"""A DSPy language model over our engine, with everything off that would keep or repeat what was sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dspy

from lerim.models.choose import Model
from lerim.models.engine import Engine


def language_model(model: Model, engine: Engine) -> dspy.LM:
    """The model as DSPy knows it: no cache, and no retries of its own, for the engine has them."""
    # The model's name is the request's alone: DSPy gives names it knows settings of its own.
    return dspy.LM(f"lerim/{model.provider}", engine=engine, cache=False, num_retries=0)


class WholeAnswers(dspy.ChatAdapter):  # type: ignore[misc]
    """DSPy's form of prompt and answer, but an answer without its end is not mended to look whole, and no second call
    is made in silence."""

    def __init__(self) -> None:
        super().__init__(use_json_adapter_fallback=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """The fields of an answer. Raises AdapterParseError, with the answer in it."""
        if "[[ ## completed ## ]]" not in completion:
            raise dspy.AdapterParseError("WholeAnswers", signature, completion, "The answer has no end.")
        fields: dict[str, Any] = super().parse(signature, completion)
        return fields


@contextmanager
def using(lm: dspy.LM) -> Iterator[None]:
    """Within this block DSPy's modules ask `lm`, and nothing of it is remembered."""
    with dspy.context(lm=lm, adapter=WholeAnswers(), disable_history=True, trace=None, track_usage=False, callbacks=[]):
        yield
