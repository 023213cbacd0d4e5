"""A model's answer, in the same form for every way of asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lerim.models.money import Usage

FinishReason = Literal["stop", "length", "content_filter"]
"""Why an answer ended: it is complete, it reached the length limit, or the service withheld the rest."""


ONE_CALL = Usage(calls=1)
"""The usage of a call if the service reports no counts."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer's text, why it ended, and its usage as far as the service reported it: one call, tokens, cost."""

    text: str
    finish: FinishReason = "stop"
    usage: Usage = ONE_CALL


def valid_count(value: float | None) -> int:
    """Returns a count reported by a service, or 0 if it is missing or implausible."""
    return int(value) if value is not None and 0 <= value < 10**12 else 0
