"""What calls of a model took."""

from __future__ import annotations

import msgspec


class Usage(msgspec.Struct, frozen=True):
    """Calls that were answered, tokens in and out as the service counted them, its cost in US dollars, seconds waited.

    `cost` is 0 where the service does not tell it.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            round(self.cost + other.cost, 8),
            round(self.seconds + other.seconds, 3),
        )


NOTHING = Usage()
