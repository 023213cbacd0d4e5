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


def _width_of_start(value: SettingValue, now: datetime) -> float:
    return -parse_time(value, now).timestamp() if isinstance(value, str) and value else math.inf


def _width_of_number(value: SettingValue, _now: datetime) -> float:
    return _to_number(value)


def _width_of_limit(value: SettingValue, _now: datetime) -> float:
    """0 means no limit."""
    return _to_number(value) or math.inf


def _width_of_threshold(value: SettingValue, _now: datetime) -> float:
    """0 means never."""
    return -_to_number(value) if value else -math.inf


def _make_choice_width(*narrowest_first: str) -> WidthFunction:
    return lambda value, _now: narrowest_first.index(str(value))


def _no_width(_value: SettingValue, _now: datetime) -> float:
    """For settings about the repository's own memories or about display: they cannot widen anything."""
    return 0.0


def _to_number(value: SettingValue) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _list_role_widths(role: RoleName) -> Iterator[tuple[str, WidthFunction | None]]:
    for key in ("provider", "model", "base_url", "fallback_models", "command", "timeout"):
        yield f"roles.{role}.{key}", None
    yield f"roles.{role}.max_window_tokens", _width_of_number
    yield f"roles.{role}.window_overlap_tokens", _width_of_number


SETTING_WIDTHS: Mapping[str, WidthFunction | None] = {
    "sync.since": _width_of_start,
    "sync.accept_above": _width_of_threshold,
    "review.quotes": _make_choice_width("local", "ask", "shared"),
    "review.mode": _make_choice_width("ask", "auto"),
    "agents.deny_once": _width_of_number,
    "search.limit": _no_width,
    "extract.gate": _make_choice_width("signal", "all"),
    "extract.guidance": None,
    "budget.per_day_usd": _width_of_limit,
    "maintain.decay_days": _no_width,
    "maintain.floor": _no_width,
    "maintain.archive_below": _no_width,
    "maintain.grace_days": _no_width,
    "maintain.most_learnings": _no_width,
    "maintain.theme_days": _no_width,
    "maintain.idle_minutes": _width_of_threshold,
    "journal.sources": None,
    **{name: width for role in ROLES for name, width in _list_role_widths(role)},
}
"""The width of each setting; None: a repository may not set it at all."""


def is_wider(name: str, repository_value: SettingValue, person_value: SettingValue, now: datetime) -> bool:
    """Returns whether a repository's value of a setting allows more than the person's, or may not be set by it at
    all."""
    width = SETTING_WIDTHS[name]
    return width is None or (
        repository_value != person_value and width(repository_value, now) > width(person_value, now)
    )
