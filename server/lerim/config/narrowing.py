"""What a repository's own settings may do: narrow what the person allows, never widen it.

Each setting has a width: how much it lets Lerim read, send, spend, show to others or do without asking. A repository's
value applies only if it is not wider than the person's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from lerim.config.providers import ROLES, RoleName
from lerim.config.schema import SettingValue
from lerim.times import parse_time

WidthFunction = Callable[[SettingValue, datetime], float]
"""Returns how wide a value is at a given time; larger is wider."""


def _later(value: SettingValue, now: datetime) -> float:
    return -parse_time(value, now).timestamp() if isinstance(value, str) and value else math.inf


def _lower(value: SettingValue, _now: datetime) -> float:
    return _number(value)


def _lower_bound(value: SettingValue, _now: datetime) -> float:
    """0 means no limit."""
    return _number(value) or math.inf


def _higher_or_never(value: SettingValue, _now: datetime) -> float:
    """0 means never."""
    return -_number(value) if value else -math.inf


def _ordered(*narrowest_first: str) -> WidthFunction:
    return lambda value, _now: narrowest_first.index(str(value))


def _free(_value: SettingValue, _now: datetime) -> float:
    """For settings about the repository's own memories or about display: they cannot widen anything."""
    return 0.0


def _number(value: SettingValue) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _of_role(role: RoleName) -> Iterator[tuple[str, WidthFunction | None]]:
    for own in ("provider", "model", "base_url", "fallback_models", "command", "timeout"):
        yield f"roles.{role}.{own}", None
    yield f"roles.{role}.max_window_tokens", _lower
    yield f"roles.{role}.window_overlap_tokens", _lower


SETTING_WIDTHS: Mapping[str, WidthFunction | None] = {
    "sync.since": _later,
    "sync.accept_above": _higher_or_never,
    "review.quotes": _ordered("local", "ask", "shared"),
    "review.mode": _ordered("ask", "auto"),
    "search.limit": _free,
    "extract.gate": _ordered("signal", "all"),
    "extract.guidance": None,
    "budget.per_day_usd": _lower_bound,
    "maintain.decay_days": _free,
    "maintain.floor": _free,
    "maintain.archive_below": _free,
    "maintain.grace_days": _free,
    "maintain.most_learnings": _free,
    "maintain.theme_days": _free,
    "maintain.idle_minutes": _higher_or_never,
    **{name: width for role in ROLES for name, width in _of_role(role)},
}
"""The width of each setting; None: a repository may not set it at all."""


def is_wider(name: str, theirs: SettingValue, mine: SettingValue, now: datetime) -> bool:
    """Returns whether a repository's value of a setting allows more than the person's, or may not be set by it at
    all."""
    width = SETTING_WIDTHS[name]
    return width is None or (theirs != mine and width(theirs, now) > width(mine, now))
