"""List prices of well-known models on 26 October 2026, for sessions without a recorded cost and Lerim's own calls.

A model that is not listed has no known price; nothing is inferred from a similar name. Batches, fast modes,
promotions and subscriptions are ignored. The higher price of long prompts applies only if the length of a prompt is
known, so not to a session's totals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lerim.models.money.usage import Usage
from lerim.sessions import Tokens


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Prices in USD per million tokens: sent, received, read from the cache, written to the cache.

    For a prompt of more than `long` tokens (0: no such threshold), `dearer` are the factors on the prices of input
    and output.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    long: int = 0
    dearer: tuple[float, float] = (1, 1)

    def of(self, tokens: Tokens) -> int:
        """Returns the cost of these tokens in 10^-12 USD: an integer, so that sums are exact."""
        return (
            _pico(self.input) * tokens.input
            + _pico(self.output) * tokens.output
            + _pico(self.cache_read) * tokens.cache_read
            + _pico(self.cache_write) * tokens.cache_write
        )


def _pico(per_million: float) -> int:
    return round(per_million * 1_000_000)


_FREE = ModelPrice(0, 0, 0, 0)
_OVER_272K = (272_000, (2, 1.5))
_OVER_200K = (200_000, (2, 1.5))

_FABLE = ModelPrice(10, 50, 1, 12.5)
_FABLE_5_1 = ModelPrice(10, 50, 0.25, 12.5)
_OPUS_5_5 = ModelPrice(4, 20, 0.2, 5)
_OPUS = ModelPrice(5, 25, 0.5, 6.25)
_OPUS_4 = ModelPrice(15, 75, 1.5, 18.75)
_SONNET_5_5 = ModelPrice(2, 10, 0.1, 2.5)
_SONNET_5 = ModelPrice(2, 10, 0.2, 2.5)
_SONNET = ModelPrice(3, 15, 0.3, 3.75)
_SONNET_4 = ModelPrice(3, 15, 0.3, 3.75, *_OVER_200K)
_GPT_5 = ModelPrice(1.25, 10, 0.125, 1.25)
_GPT_5_MINI = ModelPrice(0.25, 2, 0.025, 0.25)
_GPT_5_2 = ModelPrice(1.75, 14, 0.175, 1.75)
_GEMINI_3_PRO = ModelPrice(2, 12, 0.2, 2, *_OVER_200K)
_GEMINI_3_6_FLASH = ModelPrice(1.5, 7.5, 0.15, 1.5)
_GLM_5_1 = ModelPrice(1.4, 4.4, 0.26, 1.4)
_GLM_4 = ModelPrice(0.6, 2.2, 0.11, 0.6)

PRICES = {
    "claude-fable-5-1": _FABLE_5_1,
    "claude-fable-5": _FABLE,
    "claude-mythos-5-1": _FABLE_5_1,
    "claude-mythos-5": _FABLE,
    "claude-opus-5-5": _OPUS_5_5,
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-opus-4-1": _OPUS_4,
    "claude-opus-4": _OPUS_4,
    "claude-3-opus": _OPUS_4,
    "claude-sonnet-5-5": _SONNET_5_5,
    "claude-sonnet-5": _SONNET_5,
    "claude-sonnet-4-6": _SONNET,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-sonnet-4": _SONNET_4,
    "claude-3-7-sonnet": _SONNET,
    "claude-3-5-sonnet": _SONNET,
    "claude-haiku-5-5": ModelPrice(0.1, 0.5, 0.01, 0.125, 100_000, (5, 5)),
    "claude-haiku-4-5": ModelPrice(1, 5, 0.1, 1.25),
    "claude-3-5-haiku": ModelPrice(0.8, 4, 0.08, 1),
    "claude-3-haiku": ModelPrice(0.25, 1.25, 0.03, 0.3),
    "gpt-6-1-sol": ModelPrice(2, 10, 0.1, 2.5, *_OVER_272K),
    "gpt-6-1-terra": ModelPrice(1, 5, 0.05, 1.25, *_OVER_272K),
    "gpt-6-sol": ModelPrice(2, 10, 0.2, 2.5, *_OVER_272K),
    "gpt-6-luna": ModelPrice(0.1, 0.5, 0.01, 0.125, *_OVER_272K),
    "gpt-6-astra": ModelPrice(10, 50, 1, 12.5, *_OVER_272K),
    "gpt-5-6-terra": ModelPrice(2, 12, 0.2, 2.5, *_OVER_272K),
    "gpt-5-6-luna": ModelPrice(0.2, 1.2, 0.02, 0.25, *_OVER_272K),
    "gpt-5-5": ModelPrice(5, 30, 0.5, 5, *_OVER_272K),
    "gpt-5-4": ModelPrice(2.5, 15, 0.25, 2.5, *_OVER_272K),
    "gpt-5-4-mini": ModelPrice(0.75, 4.5, 0.075, 0.75),
    "gpt-5-4-nano": ModelPrice(0.2, 1.25, 0.02, 0.2),
    "gpt-5-3-codex": _GPT_5_2,
    "gpt-5-2": _GPT_5_2,
    "gpt-5-2-codex": _GPT_5_2,
    "gpt-5-1": _GPT_5,
    "gpt-5-1-codex": _GPT_5,
    "gpt-5-1-codex-max": _GPT_5,
    "gpt-5-1-codex-mini": _GPT_5_MINI,
    "gpt-5": _GPT_5,
    "gpt-5-codex": _GPT_5,
    "gpt-5-mini": _GPT_5_MINI,
    "gpt-5-nano": ModelPrice(0.05, 0.4, 0.005, 0.05),
    "gpt-4-1": ModelPrice(2, 8, 0.5, 2),
    "gpt-4-1-mini": ModelPrice(0.4, 1.6, 0.1, 0.4),
    "gpt-4-1-nano": ModelPrice(0.1, 0.4, 0.025, 0.1),
    "gpt-4o": ModelPrice(2.5, 10, 1.25, 2.5),
    "gpt-4o-mini": ModelPrice(0.15, 0.6, 0.075, 0.15),
    "o3": ModelPrice(2, 8, 0.5, 2),
    "o4-mini": ModelPrice(1.1, 4.4, 0.275, 1.1),
    "codex-mini": ModelPrice(1.5, 6, 0.375, 1.5),
    "gemini-3-8-flash": _GEMINI_3_6_FLASH,
    "gemini-3-7-flash": _GEMINI_3_6_FLASH,
    "gemini-3-6-flash": _GEMINI_3_6_FLASH,
    "gemini-3-5-flash": ModelPrice(1.5, 9, 0.15, 1.5),
    "gemini-3-5-flash-lite": ModelPrice(0.3, 2.5, 0.03, 0.3),
    "gemini-3-1-pro": _GEMINI_3_PRO,
    "gemini-3-1-flash-lite": ModelPrice(0.25, 1.5, 0.025, 0.25),
    "gemini-3-pro": _GEMINI_3_PRO,
    "gemini-3-flash": ModelPrice(0.5, 3, 0.05, 0.5),
    "gemini-2-5-pro": ModelPrice(1.25, 10, 0.125, 1.25, *_OVER_200K),
    "gemini-2-5-flash": ModelPrice(0.3, 2.5, 0.03, 0.3),
    "gemini-2-5-flash-lite": ModelPrice(0.1, 0.4, 0.01, 0.1),
    "glm-5-3": _GLM_5_1,
    "glm-5-3-flash": ModelPrice(0.15, 0.5, 0.03, 0.15),
    "glm-5-2": _GLM_5_1,
    "glm-5-1": _GLM_5_1,
    "glm-5-turbo": ModelPrice(1.2, 4, 0.24, 1.2),
    "glm-5": ModelPrice(1, 3.2, 0.2, 1),
    "glm-4-7": _GLM_4,
    "glm-4-7-flashx": ModelPrice(0.07, 0.4, 0.01, 0.07),
    "glm-4-6": _GLM_4,
    "glm-4-5": _GLM_4,
    "glm-4-5-air": ModelPrice(0.2, 1.1, 0.03, 0.2),
    "glm-4-5-flash": _FREE,
}

_NAME_SUFFIX = re.compile(
    r"-(?:20\d{2}-?[01]\d-?[0-3]\d|latest|preview|thinking|minimal|low|medium|high|xhigh|max-thinking)$"
)
_VERSION_BEFORE_FAMILY = re.compile(r"claude-(4(?:-\d)?)-(opus|sonnet|haiku)")


def find_price(model: str) -> ModelPrice | None:
    """Returns the list price of a model as named in a session or a setting, with or without its maker, date or
    effort; None if unknown. OpenRouter's `:free` models cost nothing; its other suffixes change the price, so models
    with one have no known price."""
    name = model.lower().rpartition("/")[2].replace(".", "-").replace("_", "-")[:80]
    if name.endswith(":free"):
        return _FREE
    name = _VERSION_BEFORE_FAMILY.sub(r"claude-\2-\1", name)
    while name not in PRICES and (shorter := _NAME_SUFFIX.sub("", name)) != name:
        name = shorter
    return PRICES.get(name)


def worst_cost(model: str, input_tokens: int, most_output_tokens: int) -> float | None:
    """Returns the maximum cost of one call in USD, given upper bounds of its input and output tokens; None if the
    price is not known."""
    price = find_price(model)
    if price is None:
        return None
    input_factor, output_factor = price.dearer if price.long and input_tokens > price.long else (1, 1)
    highest_input_price = max(price.input, price.cache_write, price.cache_read) * input_factor
    return (_pico(highest_input_price) * input_tokens + _pico(price.output * output_factor) * most_output_tokens) / 1e12


def compute_cost(model: str, usage: Usage) -> float | None:
    """Returns the cost of answered calls in USD at the list price, or None if that is not known.

    The price for long prompts applies if the average prompt of the calls is longer than the threshold.
    """
    price = find_price(model)
    if price is None:
        return None
    is_long = price.long and usage.input_tokens > price.long * max(usage.calls, 1)
    input_factor, output_factor = price.dearer if is_long else (1, 1)
    cached = min(usage.cached_tokens, usage.input_tokens)
    return (
        _pico(price.input * input_factor) * (usage.input_tokens - cached)
        + _pico(price.cache_read * input_factor) * cached
        + _pico(price.output * output_factor) * usage.output_tokens
    ) / 1e12
