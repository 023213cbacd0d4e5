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

from lerim.errors import BoundaryError, Problem, SettingsError
from lerim.memory import files
from lerim.models.choose import address_fault
from lerim.models.providers import PROVIDERS, Role
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
    extract: Role
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


def _provider(value: object) -> Value:
    names = ("none", *PROVIDERS)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"must be one of {', '.join(names)}, in quotes")
    return value


def _model(value: object) -> Value:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable() or value != value.strip():
        raise ValueError(
            'must be the name of a model as its provider writes it, in quotes; "" is the provider\'s usual'
        )
    return value


def _address(value: object) -> Value:
    if not isinstance(value, str):
        raise ValueError("must be an address, in quotes")
    if value and (fault := address_fault(value.rstrip("/"))):
        raise ValueError(fault)
    return value


def _seconds(value: object) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= 3600:
        raise ValueError("must be a number of seconds from 0.1 to 3600")
    return float(value)


def _tokens(least: int, most: int) -> Callable[[object], Value]:
    def check(value: object) -> Value:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return check


KEYS: Mapping[str, Key] = {
    "sync.since": Key(_since, harmless=True),
    "sync.accept_above": Key(_share, harmless=False),
    "review.quotes": Key(_quotes, harmless=False),
    "search.limit": Key(_limit, harmless=True),
    "roles.extract.provider": Key(_provider, harmless=False),
    "roles.extract.model": Key(_model, harmless=False),
    "roles.extract.base_url": Key(_address, harmless=False),
    "roles.extract.timeout": Key(_seconds, harmless=False),
    "roles.extract.max_window_tokens": Key(_tokens(1_000, 2_000_000), harmless=True),
    "roles.extract.window_overlap_tokens": Key(_tokens(0, 200_000), harmless=True),
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
        extract=Role(
            provider=str(values["roles.extract.provider"]),
            model=str(values["roles.extract.model"]),
            base_url=str(values["roles.extract.base_url"]),
            timeout=float(values["roles.extract.timeout"]),
            max_window_tokens=int(values["roles.extract.max_window_tokens"]),
            window_overlap_tokens=int(values["roles.extract.window_overlap_tokens"]),
        ),
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
        if not layer.trusted:
            files.inside(layer.path.parent.parent, layer.path)
        if layer.path.stat().st_size > MAX_BYTES or not layer.path.is_file():
            raise OSError(f"it is no file of at most {MAX_BYTES // 1000} kB")
        table = tomllib.loads(layer.path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError, BoundaryError) as error:
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
    """Dotted names and values of nested tables, three levels deep at most: deeper is a value of its own."""
    for name, value in table.items():
        if isinstance(value, dict) and prefix.count(".") < 2:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
