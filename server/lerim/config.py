"""Settings in layers, each over the one before: defaults, `~/.lerim/config.toml`, the repository's, `LERIM_CONFIG`, and
those of the editor that started the job.

Flags come on top, in the commands that have them. A repository's own file comes with a clone, so it may only set what
is harmless; anything else in it is refused by name. Nothing wrong in a file is silent: it becomes a problem, the rest
counts.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Literal

from lerim.errors import BoundaryError, Problem, SettingsError
from lerim.memory import files
from lerim.memory.lifecycle import Rules
from lerim.models import editor
from lerim.models.providers import ROLES, Role, RoleName
from lerim.paths import Home
from lerim.setting import AS_EXTRACT, KEYS, Gate, ReviewMode, Value

MAX_BYTES = 256_000
"""A settings file larger than this is not read."""
DEFAULT = "default"
"""The origin of what nothing set."""
EDITOR = "VS Code settings"
"""The origin of what the editor told the job. Its settings that matter cannot come from a workspace: it is trusted."""

OF_PROVIDER = ("model", "base_url", "fallback_models")
"""What of a role's settings makes sense for one provider alone."""

QuotesSetting = Literal["ask", "shared", "local"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of the person with this home, checked. `origins` says for each dotted name where it comes from: a
    file, the editor, `default`.

    `roles` are as they hold: one without a provider of its own has that of `extract`, with its model, address, command
    and fallbacks. `budget` is what a day's calls may cost in US dollars, 0 without a bound. `rules` are those of
    memories' lives; after `idle_minutes` an editor maintains them by itself, 0 never.
    """

    home: Home
    since: str
    accept_above: float
    quotes: QuotesSetting
    review: ReviewMode
    search_limit: int
    gate: Gate
    budget: float
    rules: Rules
    idle_minutes: int
    roles: Mapping[RoleName, Role]
    values: Mapping[str, Value]
    origins: Mapping[str, str]


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
    origins = dict.fromkeys(values, DEFAULT)
    problems: list[Problem] = []
    base = dict(values)
    for layer in _layers(environ, home, root):
        _lay(dict(_read(layer, problems)), layer.label, base, values, origins)
    told, more = editor.told(environ)
    problems += more
    if told is not None:
        _lay(dict(_sound(told.settings.items(), EDITOR, problems, trusted=True)), EDITOR, base, values, origins)
    problems += _unused(values, origins)
    return _settings(home, values, origins), problems


def _unused(values: Mapping[str, Value], origins: Mapping[str, str]) -> Iterator[Problem]:
    """What is set of a role's model where the role has no provider, so that it is asked as `extract` is."""
    for role in ROLES:
        if values[f"roles.{role}.provider"] == AS_EXTRACT:
            for own in (*OF_PROVIDER, "command"):
                name = f"roles.{role}.{own}"
                if values[name]:
                    message = f"{name!r} counts only with a provider: set roles.{role}.provider. It was left out."
                    yield Problem("settings", origins[name], message)


def _lay(
    layer: Mapping[str, Value],
    label: str,
    base: Mapping[str, Value],
    values: dict[str, Value],
    origins: dict[str, str],
) -> None:
    """Lays a layer over `values`. Where it names another provider, what a lower one said of its own goes: a model, an
    address and fallbacks belong to the provider they were written for, and a key must not be sent to its address."""
    for role in ROLES:
        name = f"roles.{role}.provider"
        if origins[name] != DEFAULT and layer.get(name, values[name]) != values[name]:
            for own in OF_PROVIDER:
                values[f"roles.{role}.{own}"], origins[f"roles.{role}.{own}"] = base[f"roles.{role}.{own}"], DEFAULT
    for name, value in layer.items():
        values[name], origins[name] = value, label


def _settings(home: Home, values: Mapping[str, Value], origins: Mapping[str, str]) -> Settings:
    quotes = values["review.quotes"]
    extract = _role(values, "extract")
    return Settings(
        home=home,
        since=str(values["sync.since"]),
        accept_above=_number(values["sync.accept_above"]),
        quotes="shared" if quotes == "shared" else "local" if quotes == "local" else "ask",
        review="auto" if values["review.mode"] == "auto" else "ask",
        search_limit=int(_number(values["search.limit"])),
        gate="all" if values["extract.gate"] == "all" else "signal",
        budget=_number(values["budget.per_day_usd"]),
        rules=_rules(values),
        idle_minutes=int(_number(values["maintain.idle_minutes"])),
        roles={name: _as(_role(values, name), extract) for name in ROLES},
        values=values,
        origins=origins,
    )


def _rules(values: Mapping[str, Value]) -> Rules:
    def of(name: str) -> float:
        return _number(values[f"maintain.{name}"])

    return Rules(
        decay_days=int(of("decay_days")),
        floor=of("floor"),
        archive_below=of("archive_below"),
        grace_days=int(of("grace_days")),
        most_learnings=int(of("most_learnings")),
        theme_days=int(of("theme_days")),
    )


def _role(values: Mapping[str, Value], name: RoleName) -> Role:
    def of(key: str) -> Value:
        return values[f"roles.{name}.{key}"]

    return Role(
        provider=str(of("provider")),
        model=str(of("model")),
        base_url=str(of("base_url")),
        fallback_models=_words(of("fallback_models")),
        command=_words(of("command")),
        timeout=_number(of("timeout")),
        max_window_tokens=int(_number(of("max_window_tokens"))),
        window_overlap_tokens=int(_number(of("window_overlap_tokens"))),
    )


def _as(role: Role, extract: Role) -> Role:
    if role.provider:
        return role
    return replace(
        role,
        provider=extract.provider,
        model=extract.model,
        base_url=extract.base_url,
        fallback_models=extract.fallback_models,
        command=extract.command,
    )


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _words(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


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
    yield from _sound(_flat(table), str(layer.path), problems, trusted=layer.trusted)


def _sound(
    given: Iterable[tuple[str, object]], where: str, problems: list[Problem], *, trusted: bool
) -> Iterator[tuple[str, Value]]:
    for name, value in given:
        try:
            yield name, _checked(name, value, trusted=trusted)
        except ValueError as error:
            problems.append(Problem("settings", where, f"{name!r} {error}. It was left out."))


def _checked(name: str, value: object, *, trusted: bool) -> Value:
    key = KEYS.get(name)
    if not trusted and (key is None or not key.harmless):
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
