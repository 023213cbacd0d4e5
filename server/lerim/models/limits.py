"""How many tokens a model takes, learned from what it says when a window was too large, and remembered.

A limit counts what is sent and what is answered together, in the model's own tokens, of which a text may have more than
the o200k tokens that windows are measured in.
"""

from __future__ import annotations

import re

from lerim.models.model import Model
from lerim.models.money import keep_limit, load_known_models
from lerim.paths import Home

MOST_OUTPUT_TOKENS = 16_000
"""What one answer may have at most, thoughts included: with it the worst cost of a call is known beforehand."""
LEAST, MOST = 512, 20_000_000
ASKING_TOKENS = 3_000
"""About what is sent beside a window: what to look for, in which form, and what is known already."""
LEAST_WINDOW = 500
OTHERS_TOKENS = 1.25
"""How many tokens of another model one token of o200k is at most, for the text of sessions."""

_NUMBER = r"(\d{1,3}(?:,\d{3}){1,3}|\d{3,8})(?!\d)(?! \+)"
_TOLD = tuple(
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


def parse_limit(said: str) -> int | None:
    """The number of tokens a model takes, from the words with which it refused more; None where they do not tell."""
    for pattern in _TOLD:
        if found := pattern.search(said[:20_000]):
            number = int(found[1].replace(",", ""))
            return number if LEAST <= number <= MOST else None
    return None


def load_limit(home: Home | None, label: str) -> int | None:
    """What is remembered of a model."""
    return None if home is None else load_known_models(home)[0].limits.get(label)


def remember_limit(home: Home, label: str, tokens: int) -> None:
    """Remembers what a model takes. Raises OSError, Timeout of filelock (an OSError)."""
    keep_limit(home, label, tokens)


def most_output_tokens(known: int | None) -> int:
    """How many tokens an answer may have: a quarter of a small model at most."""
    return MOST_OUTPUT_TOKENS if known is None else max(LEAST // 2, min(MOST_OUTPUT_TOKENS, known // 4))


def choose_window_tokens(model: Model, known: int | None) -> int:
    """How many o200k tokens a window for this model may have: what the settings say, or less where less fits."""
    if known is None:
        return model.max_window_tokens
    fits = int((known - most_output_tokens(known) - ASKING_TOKENS) / OTHERS_TOKENS)
    return min(model.max_window_tokens, max(LEAST_WINDOW, fits))
