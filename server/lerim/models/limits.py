"""The number of tokens that each model accepts, learned from its error message when a window was too large, and
remembered.

A limit covers the request and the answer together, in the model's own tokens. A text may have more of these than
o200k tokens, which are the unit for windows.
"""

from __future__ import annotations

import re

from lerim.models.model import Model
from lerim.models.money import load_known_models
from lerim.paths import Home

MOST_OUTPUT_TOKENS = 16_000
"""Maximum number of tokens of one answer, including reasoning. With it, the worst-case cost of a call is known in
advance."""
_SMALLEST_LIMIT, _LARGEST_LIMIT = 512, 20_000_000
PROMPT_TOKENS = 3_000
"""The approximate number of tokens sent in addition to a window: what to look for, the output format, and what is
already known."""
LEAST_WINDOW = 500
MOST_TOKENS_PER_O200K = 1.25
"""Maximum number of tokens that another model counts for one o200k token in the text of sessions."""

_NUMBER = r"(\d{1,3}(?:,\d{3}){1,3}|\d{3,8})(?!\d)(?! \+)"
_LIMIT_PATTERNS = tuple(
    re.compile(pattern.replace("NUMBER", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"\"n_ctx\": ?NUMBER",  # llama.cpp's own field
        r"context (?:length|window|size|limit)(?: is| of|:)?(?: only| limited to)? \(?NUMBER",
        r"tokens allowed \(?NUMBER",
        r"max_model_len(?: is| of|=)? ?NUMBER",
        r"Limit:? NUMBER, Requested",
        r"> ?NUMBER",  # sent > allowed
    )
)


def parse_limit(message: str) -> int | None:
    """Returns the number of tokens a model accepts, parsed from its error message; None if the message does not say."""
    for pattern in _LIMIT_PATTERNS:
        if match := pattern.search(message[:20_000]):
            number = int(match[1].replace(",", ""))
            return number if _SMALLEST_LIMIT <= number <= _LARGEST_LIMIT else None
    return None


def load_limit(home: Home | None, label: str) -> int | None:
    """Returns a model's remembered limit in tokens; None if there is none."""
    return None if home is None else load_known_models(home)[0].limits.get(label)


def most_output_tokens(known: int | None) -> int:
    """Returns the maximum number of tokens of an answer: at most a quarter of the model's limit if that is `known`."""
    return MOST_OUTPUT_TOKENS if known is None else max(_SMALLEST_LIMIT // 2, min(MOST_OUTPUT_TOKENS, known // 4))


def choose_window_tokens(model: Model, known: int | None) -> int:
    """Returns the maximum number of o200k tokens of a window for this model: the configured maximum, or less if the
    model's limit requires it."""
    if known is None:
        return model.max_window_tokens
    window = int((known - most_output_tokens(known) - PROMPT_TOKENS) / MOST_TOKENS_PER_O200K)
    return min(model.max_window_tokens, max(LEAST_WINDOW, window))
