"""What came back from a model, whatever the way it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lerim.models.usage import Usage

Finish = Literal["stop", "length", "content_filter"]
"""Why an answer ends: it is whole, it may not be longer, or the service kept the rest back."""


ONE_CALL = Usage(calls=1)
"""What is known of a call whose service counts nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The text, why it ends, and what it took as far as the service told: one call, tokens, cost."""

    text: str
    finish: Finish = "stop"
    usage: Usage = ONE_CALL


def number(value: int | None) -> int:
    """A service's count; 0 for what cannot be one."""
    return value if value is not None and 0 <= value < 10**12 else 0
