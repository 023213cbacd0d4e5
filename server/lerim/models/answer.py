"""What came back from a model, whatever the way it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lerim.models.money import Usage

FinishReason = Literal["stop", "length", "content_filter"]
"""Why an answer ends: it is whole, it may not be longer, or the service kept the rest back."""


ONE_CALL = Usage(calls=1)
"""What is known of a call whose service counts nothing."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The text, why it ends, and what it took as far as the service told: one call, tokens, cost."""

    text: str
    finish: FinishReason = "stop"
    usage: Usage = ONE_CALL


def valid_count(value: int | None) -> int:
    """A service's count; 0 for what cannot be one."""
    return value if value is not None and 0 <= value < 10**12 else 0
