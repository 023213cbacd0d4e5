"""Settings in layers, each over the one before: defaults, `~/.lerim/config.toml`, the repository's, `LERIM_CONFIG`.

Flags come on top, in the commands that have them. A repository's own file comes with a clone, so it may only set what
is harmless; anything else in it is refused by name. Nothing wrong in a file is silent: it becomes a problem, the rest
counts.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Literal, TypeAlias

from lerim.errors import Problem, SettingsError
from lerim.moments import EXAMPLES, moment
from lerim.paths import Home

Value: TypeAlias = str | int | float
MAX_BYTES = 256_000
"""A settings file larger than this is not read."""

QuotesSetting = Literal["ask", "shared", "local"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, checked. `origins` says for each dotted name which file it comes from."""

    since: str
    accept_above: float
    quotes: QuotesSetting
    search_limit: int
    values: Mapping[str, Value]
    origins: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Key:
    """What one setting may hold. `check` returns the value or raises ValueError saying what is expected."""

    check: Callable[[object], Value]
    harmless: bool
    """Whether a repository's own file may set it."""


def _since(value: object) -> Value:
    if not isinstance(value, str):
        raise ValueError(f"must be {EXAMPLES}, in quotes")
    if value:
        moment(value, datetime.now(UTC))
    return value


def _share(value: object) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def _quotes(value: object) -> Value:
    if not isinstance(value, str) or value not in ("ask", "shared", "local"):
        raise ValueError('must be "ask", "shared" or "local"')
    return value


def _limit(value: object) -> Value:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        raise ValueError("must be a whole number from 1 to 1000")
    return value


KEYS: Mapping[str, Key] = {
    "sync.since": Key(_since, harmless=True),
    "sync.accept_above": Key(_share, harmless=False),
    "review.quotes": Key(_quotes, harmless=False),
    "search.limit": Key(_limit, harmless=True),
}


@dataclass(frozen=True, slots=True)
class _Layer:
    label: str
    path: Path
    trusted: bool


def load(environ: Mapping[str, str], home: Home, root: Path | None = None) -> tuple[Settings, list[Problem]]:
    """The settings in force in the worktree `root` (None: outside any), and what is wrong with their files.

    Raises SettingsError if `LERIM_CONFIG` names a file that cannot be read.
    """
    default = resources.files("lerim").joinpath("default.toml").read_text(encoding="utf-8")
    values = {name: KEYS[name].check(value) for name, value in _flat(tomllib.loads(default))}
    origins = dict.fromkeys(values, "default")
    problems: list[Problem] = []
    for layer in _layers(environ, home, root):
        for name, value in _read(layer, problems):
            values[name], origins[name] = value, layer.label
    return _settings(values, origins), problems


def _settings(values: Mapping[str, Value], origins: Mapping[str, str]) -> Settings:
    quotes = values["review.quotes"]
    return Settings(
        since=str(values["sync.since"]),
        accept_above=float(values["sync.accept_above"]),
        quotes="shared" if quotes == "shared" else "local" if quotes == "local" else "ask",
        search_limit=int(values["search.limit"]),
        values=values,
        origins=origins,
    )


def _layers(environ: Mapping[str, str], home: Home, root: Path | None) -> Iterator[_Layer]:
    yield _Layer(str(home.config), home.config, trusted=True)
    if root is not None:
        path = root / ".lerim" / "config.toml"
        yield _Layer(str(path), path, trusted=False)
    if named := environ.get("LERIM_CONFIG"):
        path = Path(named)
        if not path.is_file():
            raise SettingsError(
                "The file LERIM_CONFIG names is not there.", where=named, todo="Correct or unset LERIM_CONFIG."
            )
        yield _Layer(str(path), path, trusted=True)


def _read(layer: _Layer, problems: list[Problem]) -> Iterator[tuple[str, Value]]:
    """The good settings of one file; what is wrong with the others is added to `problems`."""
    try:
        if layer.path.stat().st_size > MAX_BYTES or not layer.path.is_file():
            raise OSError(f"it is no file of at most {MAX_BYTES // 1000} kB")
        table = tomllib.loads(layer.path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        message = f"This file cannot be read, so none of its settings count: {error}. Correct it."
        problems.append(Problem("settings", str(layer.path), message))
        return
    for name, value in _flat(table):
        try:
            yield name, _checked(name, value, layer)
        except ValueError as error:
            problems.append(Problem("settings", str(layer.path), f"{name!r} {error}. It was left out."))


def _checked(name: str, value: object, layer: _Layer) -> Value:
    key = KEYS.get(name)
    if not layer.trusted and (key is None or not key.harmless):
        allowed = ", ".join(sorted(name for name, key in KEYS.items() if key.harmless))
        raise ValueError(
            f"may not be set by a repository (only {allowed} may); put it in your own ~/.lerim/config.toml"
        )
    if key is None:
        near = difflib.get_close_matches(name, KEYS, n=1)
        raise ValueError(
            "is no setting" + (f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(KEYS)}")
        )
    return key.check(value)


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names and values of nested tables, two levels deep at most: deeper is a value of its own."""
    for name, value in table.items():
        if isinstance(value, dict) and not prefix:
            yield from _flat(value, f"{name}.")
        else:
            yield prefix + name, value
