"""The layers of settings: which files there are, who each file belongs to, and which of its values are valid.

Who a file belongs to depends on where it was found, not only on its path: a file inside a repository, or one that is
also the repository's settings file, never counts as the person's.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lerim import files
from lerim.config import editor
from lerim.config.narrowing import SETTING_WIDTHS
from lerim.config.providers import ROLES, RoleName
from lerim.config.schema import SETTING_CHECKS, SettingValue
from lerim.errors import BoundaryError, Problem, SettingsError
from lerim.files import open_buffered
from lerim.paths import Home
from lerim.project import find_innermost_layout, is_home_worktree, is_same_place

MOST_BYTES = 256_000
"""Larger settings files are not read."""
EDITOR_LAYER = "VS Code settings"
"""The origin of settings passed by the editor. It is trusted, because a workspace cannot set the ones that matter."""
ROLE_KEYS = ("provider", "model", "base_url", "fallback_models", "command")
"""The settings of a role that decide to whom it sends text."""
LIMIT_SETTINGS = ("sync.since", "extract.gate", "budget.per_day_usd")
"""The settings that limit what is sent, by age, worth and price: if one of them cannot be read, nothing is sent."""


@dataclass(slots=True)
class SettingsLayer:
    """One source of settings. `is_of_person`: it may set everything. `chosen`: the person chose it, so each of its
    errors is a fault (`faults`) of the roles that the setting may have been meant for."""

    label: str
    is_of_person: bool
    chosen: bool = True
    values: dict[str, SettingValue] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    faults: dict[RoleName, list[Problem]] = field(default_factory=dict)

    def add_problem(self, message: str, roles: Iterable[RoleName] = ()) -> None:
        """Adds a problem that may affect these roles."""
        roles = tuple(roles) if self.chosen else ()
        role_hint = "" if len(roles) > 1 else f" for roles.{roles[0]}" if roles else ""
        effect = f" No model is used{role_hint} until it is corrected." if roles else ""
        problem = Problem("settings", self.label, f"{message}{effect}")
        self.problems.append(problem)
        for role in roles:
            self.faults.setdefault(role, []).append(problem)


def read_layers(environ: Mapping[str, str], home: Home, root: Path | None) -> Iterator[SettingsLayer]:
    """Yields every layer above the defaults, lowest first. Raises SettingsError if `LERIM_CONFIG` cannot name a
    file."""
    repository = None
    if root is not None and not is_same_place(root / ".lerim", home.root):
        repository = root / ".lerim" / "config.toml"
    if repository is not None and home.config.exists() and is_same_place(home.config, repository):
        shared = SettingsLayer(str(home.config), is_of_person=True)
        shared.add_problem("This file belongs to a repository, so it may set only what a repository may set.", ROLES)
        yield shared
    else:
        yield _read_file_layer(SettingsLayer(str(home.config), is_of_person=True), home.config)
    if repository is not None:
        yield _read_file_layer(SettingsLayer(str(repository), is_of_person=False, chosen=False), repository)
    if config_path := environ.get("LERIM_CONFIG"):
        yield _read_named_layer(Path(config_path), home)
    state, problems = editor.read_editor_state(environ)
    if state is not None or problems:
        layer = SettingsLayer(problems[0].path if problems else EDITOR_LAYER, is_of_person=True)
        for problem in problems:
            layer.add_problem(problem.message, ROLES)
        _take_values(layer, state.settings.items() if state else ())
        yield layer


def _read_named_layer(path: Path, home: Home) -> SettingsLayer:
    todo = "Correct or unset LERIM_CONFIG."
    if not path.is_absolute():
        raise SettingsError("LERIM_CONFIG is not an absolute path.", where=str(path), todo=todo)
    if not path.is_file():
        raise SettingsError("The file named by LERIM_CONFIG does not exist.", where=str(path), todo=todo)
    around = find_innermost_layout(path)
    layer = _read_file_layer(
        SettingsLayer(str(path), is_of_person=around is None or is_home_worktree(home, around.root)), path
    )
    if not layer.is_of_person:
        layer.add_problem("LERIM_CONFIG names a file in a repository, so it may set only what a repository may set.")
    return layer


def _read_file_layer(layer: SettingsLayer, path: Path) -> SettingsLayer:
    """Returns the layer with the settings of its file. A repository's own file is not read through links."""
    try:
        if not layer.chosen:
            files.resolve_inside(path.parent.parent, path)
        with open_buffered(path) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise OSError(f"it is larger than {MOST_BYTES // 1000} kB")
        # A number with thousands of digits raises a ValueError that is not a TOMLDecodeError.
        table = tomllib.loads(data.decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            layer.add_problem("This file is a link to a file that does not exist. Correct the link.", ROLES)
        return layer
    except (ValueError, OSError, RecursionError, BoundaryError) as error:
        layer.add_problem(f"This file cannot be read, so its settings are ignored: {error}. Correct it.", ROLES)
        return layer
    _take_values(layer, flatten_table(table))
    return layer


def _take_values(layer: SettingsLayer, given: Iterable[tuple[str, object]]) -> None:
    for name, value in given:
        try:
            layer.values[name] = _check_value(name, value, of_person=layer.is_of_person)
        except ValueError as error:
            end = "" if str(error).endswith("?") else "."
            layer.add_problem(f"{name!r} {error}{end} It is ignored.", affected_roles(name))


def affected_roles(name: str) -> tuple[RoleName, ...]:
    """Returns the roles that an unusable setting may have been meant for.

    That is the role it names, or all roles if the name of the role or its table is misspelled or the setting limits
    what is sent.
    """
    if difflib.get_close_matches(name, LIMIT_SETTINGS, cutoff=0.75):
        return ROLES
    first, *rest = name.split(".")
    if name in SETTING_CHECKS and first != "roles":
        return ()
    if not difflib.get_close_matches(first, ["roles"], cutoff=0.75):
        last = rest[-1] if rest else first
        return ROLES if difflib.get_close_matches(last, ROLE_KEYS, cutoff=0.75) else ()
    named_roles = [role for role in ROLES if rest and rest[0] == role]
    return tuple(named_roles) or ROLES


def _check_value(name: str, value: object, *, of_person: bool) -> SettingValue:
    check = SETTING_CHECKS.get(name)
    if not of_person and name not in SETTING_WIDTHS:
        allowed = ", ".join(sorted(SETTING_WIDTHS))
        raise ValueError(
            f"may not be set by a repository (only {allowed} may); put it in your own ~/.lerim/config.toml"
        )
    if check is None:
        near = difflib.get_close_matches(name, SETTING_CHECKS, n=1)
        raise ValueError(
            "is not a setting"
            + (f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(SETTING_CHECKS)}")
        )
    return check(value)


def flatten_table(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yields dotted names and values of nested tables, at most three levels deep; a deeper table is yielded as a
    value."""
    for name, value in table.items():
        if isinstance(value, dict) and prefix.count(".") < 2:
            yield from flatten_table(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
