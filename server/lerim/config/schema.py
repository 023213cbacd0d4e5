"""Every setting and the values it accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Literal, TypeAlias, get_args

from lerim.config.providers import PROVIDERS, ROLES, RoleName, find_address_fault
from lerim.times import TIME_EXAMPLES, parse_time

SettingValue: TypeAlias = str | bool | int | float | tuple[str, ...]
GateMode = Literal["all", "signal"]
"""Which windows of a session are sent to a model: all of them, or only those with a signal."""
ReviewMode = Literal["ask", "auto"]
"""Whether the person reviews each change of the memories, or changes are made at once unless something speaks against
it."""
SAME_AS_EXTRACT = ""
"""The provider of a role that has none of its own: it uses the model settings of `roles.extract`."""
SettingCheck = Callable[[object], SettingValue]
"""A function that returns the value of a setting, or raises ValueError with a message that says what is expected."""


def _check_switch(value: object) -> SettingValue:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _check_since(value: object) -> SettingValue:
    if not isinstance(value, str):
        raise ValueError(f"must be {TIME_EXAMPLES}, in quotes")
    if value:
        parse_time(value, datetime.now(UTC))
    return value


def _make_number_check(least: float, most: float, description: str) -> SettingCheck:
    def check(value: object) -> SettingValue:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"must be {description}")
        return float(value)

    return check


def _make_choice_check(*choices: str, expected: str = "") -> SettingCheck:
    *others, last = (f'"{choice}"' for choice in choices)
    expected = expected or f"{', '.join(others)} or {last}"

    def check(value: object) -> SettingValue:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"must be {expected}")
        return value

    return check


def _check_guidance(value: object) -> SettingValue:
    is_text = isinstance(value, str) and all(letter.isprintable() or letter.isspace() for letter in value)
    if not isinstance(value, str) or not is_text or len(value) > 2_000:
        raise ValueError("must be a string of at most 2000 characters, none of them hidden")
    return value.strip()


def _check_model(value: object) -> SettingValue:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable() or value != value.strip():
        raise ValueError(
            'must be the name of a model as its provider writes it, in quotes; "" is the provider\'s usual'
        )
    return value


def _check_fallbacks(value: object) -> SettingValue:
    if not isinstance(value, list | tuple) or len(value) > 8 or "" in value:
        raise ValueError("must be a list of at most 8 model names")
    return tuple(str(_check_model(name)) for name in value)


def _check_command(value: object) -> SettingValue:
    words = tuple(value) if isinstance(value, list | tuple) else ("",)
    if not all(isinstance(word, str) and "\0" not in word for word in words) or (words and not words[0].strip()):
        raise ValueError('must be a list of words, the program first, such as ["claude", "-p"]')
    return words


def _check_sources(value: object) -> SettingValue:
    paths = tuple(value) if isinstance(value, list | tuple) else ("",)
    if len(paths) > 16 or not all(isinstance(path, str) and _is_own_path(path) for path in paths):
        raise ValueError('must be a list of at most 16 absolute paths, or paths that begin with "~/"')
    return paths


def _is_own_path(path: str) -> bool:
    is_absolute = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    return path.isprintable() and (is_absolute or path.startswith(("~/", "~\\")))


def _check_address(value: object) -> SettingValue:
    if not isinstance(value, str):
        raise ValueError("must be an address, in quotes")
    if value and (fault := find_address_fault(value.rstrip("/"))):
        raise ValueError(fault)
    return value


def _make_integer_check(least: int, most: int) -> SettingCheck:
    def check(value: object) -> SettingValue:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return check


def _list_role_keys(role: RoleName) -> Iterator[tuple[str, SettingCheck]]:
    providers = (*(() if role == "extract" else (SAME_AS_EXTRACT,)), "none", "auto", *PROVIDERS)
    names = ", ".join(name or '""' for name in providers)
    yield f"roles.{role}.provider", _make_choice_check(*providers, expected=f"one of {names}, in quotes")
    yield f"roles.{role}.model", _check_model
    yield f"roles.{role}.base_url", _check_address
    yield f"roles.{role}.fallback_models", _check_fallbacks
    yield f"roles.{role}.command", _check_command
    yield f"roles.{role}.timeout", _make_number_check(0.1, 3600, "a number of seconds from 0.1 to 3600")
    yield f"roles.{role}.max_window_tokens", _make_integer_check(1_000, 2_000_000)
    yield f"roles.{role}.window_overlap_tokens", _make_integer_check(0, 200_000)


_check_share = _make_number_check(0, 1, "a number from 0 to 1")

SETTING_CHECKS: Mapping[str, SettingCheck] = {
    "sync.since": _check_since,
    "sync.accept_above": _check_share,
    "review.quotes": _make_choice_check("ask", "shared", "local"),
    "review.mode": _make_choice_check(*get_args(ReviewMode)),
    "agents.deny_once": _check_switch,
    "search.limit": _make_integer_check(1, 1000),
    "extract.gate": _make_choice_check(*get_args(GateMode)),
    "extract.guidance": _check_guidance,
    "budget.per_day_usd": _make_number_check(0, 10_000, "a number of US dollars from 0 to 10000; 0 means no limit"),
    "maintain.decay_days": _make_integer_check(1, 100_000),
    "maintain.floor": _check_share,
    "maintain.archive_below": _check_share,
    "maintain.grace_days": _make_integer_check(0, 100_000),
    "maintain.most_learnings": _make_integer_check(10, 100_000),
    "maintain.theme_days": _make_integer_check(1, 100_000),
    "maintain.idle_minutes": _make_integer_check(0, 100_000),
    "journal.sources": _check_sources,
    **{name: key for role in ROLES for name, key in _list_role_keys(role)},
}


@dataclass(frozen=True, slots=True)
class MaintenanceRules:
    """The settings `[maintain]`: days, shares of 1, and how many learnings a store keeps active."""

    decay_days: int = 180
    floor: float = 0.1
    archive_below: float = 0.2
    grace_days: int = 30
    most_learnings: int = 400
    theme_days: int = 45
