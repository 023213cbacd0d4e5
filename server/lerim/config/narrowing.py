"""Checks a repository's own settings: they may narrow what the person allows, never widen it.

A setting that a repository may set has a width: how much it lets Lerim read, send, spend, show to others or do
without asking. A repository's value applies only if it is not wider than the person's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime

from lerim.config.providers import ROLES
from lerim.config.schema import SettingValue
from lerim.times import parse_time

WidthFunction = Callable[[SettingValue, datetime], float]
"""A function that returns how wide a value is at a given time; larger is wider."""


def _width_of_start(value: SettingValue, now: datetime) -> float:
    return -parse_time(value, now).timestamp() if isinstance(value, str) and value else math.inf


def _width_of_number(value: SettingValue, _now: datetime) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _width_of_limit(value: SettingValue, now: datetime) -> float:
    """Returns the width of a limit; 0 means no limit."""
    return _width_of_number(value, now) or math.inf


def _width_of_threshold(value: SettingValue, now: datetime) -> float:
    """Returns the width of a threshold; 0 means never."""
    return -_width_of_number(value, now) if value else -math.inf


def _make_choice_width(*narrowest_first: str) -> WidthFunction:
    return lambda value, _now: narrowest_first.index(str(value))


def _no_width(_value: SettingValue, _now: datetime) -> float:
    """Returns the same width for every value. Used for settings about the repository's own memories or about
    display, which cannot widen anything."""
    return 0.0


SETTING_WIDTHS: Mapping[str, WidthFunction] = {
    "sync.since": _width_of_start,
    "sync.accept_above": _width_of_threshold,
    "review.quotes": _make_choice_width("local", "ask", "shared"),
    "review.mode": _make_choice_width("ask", "auto"),
    "agents.deny_once": _width_of_number,
    "search.limit": _no_width,
    "extract.gate": _make_choice_width("signal", "all"),
    "budget.per_day_usd": _width_of_limit,
    "maintain.decay_days": _no_width,
    "maintain.floor": _no_width,
    "maintain.archive_below": _no_width,
    "maintain.grace_days": _no_width,
    "maintain.most_learnings": _no_width,
    "maintain.theme_days": _no_width,
    "maintain.idle_minutes": _width_of_threshold,
    **{f"roles.{role}.max_window_tokens": _width_of_number for role in ROLES},
    **{f"roles.{role}.window_overlap_tokens": _width_of_number for role in ROLES},
}
"""The width of each setting that a repository may set. It may set no other."""


def is_wider(name: str, repository_value: SettingValue, person_value: SettingValue, now: datetime) -> bool:
    """Returns whether a repository's value of a setting in `SETTING_WIDTHS` allows more than the person's."""
    width = SETTING_WIDTHS[name]
    return repository_value != person_value and width(repository_value, now) > width(person_value, now)
