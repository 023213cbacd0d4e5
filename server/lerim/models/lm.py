"""A DSPy language model over our engine, with everything off that would keep or repeat what was sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dspy

from lerim.models.choose import Model
from lerim.models.engine import Engine


def language_model(model: Model, engine: Engine) -> dspy.LM:
    """The model as DSPy knows it: no cache, and no retries of its own, for the engine has them."""
    # The model's name is the request's alone: DSPy gives names it knows settings of its own.
    return dspy.LM(f"lerim/{model.provider}", engine=engine, cache=False, num_retries=0)


@contextmanager
def asking(lm: dspy.LM) -> Iterator[None]:
    """Within this block DSPy's modules ask `lm`; nothing is remembered, and an answer that does not parse is no reason
    for a second, silent call."""
    adapter = dspy.ChatAdapter(use_json_adapter_fallback=False)
    with dspy.context(lm=lm, adapter=adapter, disable_history=True, trace=None, track_usage=False, callbacks=[]):
        yield
