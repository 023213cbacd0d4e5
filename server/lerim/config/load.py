"""Loads settings in layers: defaults, `~/.lerim/config.toml`, the repository's, `LERIM_CONFIG`, the editor's.

Each layer overrides the one before; the flags of commands come on top. A repository's own file comes with a clone, so
it may only narrow what the person allows (`lerim.config.narrowing`). Every error in a file becomes a problem, and the
rest of the file applies. However, a role with any invalid setting uses no model: the setting left out may have been the
address to send text to.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from lerim.config.layers import EDITOR_LAYER, ROLE_KEYS, SettingsLayer, flatten_table, read_layers
from lerim.config.narrowing import is_wider
from lerim.config.providers import ROLES, Role, RoleName
from lerim.config.schema import SAME_AS_EXTRACT, SETTING_CHECKS, GateMode, MaintenanceRules, ReviewMode, SettingValue
from lerim.errors import Problem
from lerim.paths import Home

__all__ = ["DEFAULT_ORIGIN", "EDITOR_LAYER", "Settings", "load_settings"]

DEFAULT_ORIGIN = "default"
"""The origin of settings that no layer sets."""

PROVIDER_KEYS = ("model", "base_url", "fallback_models")
"""The settings of a role that only make sense for one provider."""

QuotesSetting = Literal["ask", "shared", "local"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting in effect, checked.

    `origins` says by dotted name where a setting comes from: a file, the editor, `default`. `roles` are resolved: a
    role without a provider uses the provider of `extract`, with its model, address, command and fallbacks.
    `guidance` is what the model should pay attention to, `daily_budget_usd` what a day's calls may cost (0: no
    limit). `maintenance_rules` control decay and archiving of memories; an editor runs maintenance after
    `idle_minutes` (0: never). `journal_sources` are folders of notes and feed files. `deny_once` lets hooks refuse
    an agent's first edit of a file. `faults` are the errors in each role's settings, or in those of `extract` if it
    uses those; a role with faults uses no model.
    """

    home: Home
    sync_since: str
    accept_above: float
    quote_sharing: QuotesSetting
    review_mode: ReviewMode
    deny_once: bool
    search_limit: int
    window_gate: GateMode
    guidance: str
    daily_budget_usd: float
    maintenance_rules: MaintenanceRules
    idle_minutes: int
    journal_sources: tuple[str, ...]
    roles: Mapping[RoleName, Role]
    values: Mapping[str, SettingValue]
    origins: Mapping[str, str]
    faults: Mapping[RoleName, list[Problem]]


def load_settings(environ: Mapping[str, str], home: Home, root: Path | None = None) -> tuple[Settings, list[Problem]]:
    """Loads the settings in effect in the worktree `root` (None: outside any) and the problems of their files.

    Raises SettingsError if `LERIM_CONFIG` names a file that cannot be read.
    """
    defaults = _load_defaults()
    values = dict(defaults)
    origins = dict.fromkeys(values, DEFAULT_ORIGIN)
    problems: list[Problem] = []
    faults: dict[RoleName, list[Problem]] = {role: [] for role in ROLES}
    for layer in read_layers(environ, home, root):
        if not layer.is_of_person:
            _remove_wider_values(layer, values)
        _apply_layer(layer.values, layer.label, defaults, values, origins)
        problems += layer.problems
        for role, found in layer.faults.items():
            faults[role] += found
    for role, problem in _find_ineffective_settings(values, origins):
        problems.append(problem)
        faults[role].append(problem)
    return _make_settings(home, values, origins, faults), problems


@functools.cache
def _load_defaults() -> Mapping[str, SettingValue]:
    """Returns the default of each setting. The result is cached, because a sync loads its settings many times, and
    parsing the defaults takes most of that time."""
    default = resources.files("lerim.config").joinpath("default.toml").read_text(encoding="utf-8")
    return {name: SETTING_CHECKS[name](value) for name, value in flatten_table(tomllib.loads(default))}


def _remove_wider_values(layer: SettingsLayer, values: Mapping[str, SettingValue]) -> None:
    """Removes from a repository's layer the values that allow more than the person does, with a problem for each."""
    now = datetime.now(UTC)
    for name, repository_value in list(layer.values.items()):
        person_value = values[name]
        if is_wider(name, repository_value, person_value, now):
            del layer.values[name]
            layer.add_problem(
                f"{name!r} can only be restricted by a repository: {repository_value!r} allows more "
                f"than {person_value!r}, which stays in effect."
            )


def _find_ineffective_settings(
    values: Mapping[str, SettingValue], origins: Mapping[str, str]
) -> Iterator[tuple[RoleName, Problem]]:
    """Yields a problem, with its role, for each model setting that has no effect because its role has no provider:
    such a role uses the model of `extract`."""
    for role in ROLES:
        if values[f"roles.{role}.provider"] == SAME_AS_EXTRACT:
            for key in (*PROVIDER_KEYS, "command"):
                name = f"roles.{role}.{key}"
                if values[name]:
                    message = f"{name!r} has no effect without a provider: set roles.{role}.provider. It is ignored."
                    effect = f"No model is used for roles.{role} until it is corrected."
                    yield role, Problem("settings", origins[name], f"{message} {effect}")


def _apply_layer(
    layer: Mapping[str, SettingValue],
    label: str,
    defaults: Mapping[str, SettingValue],
    values: dict[str, SettingValue],
    origins: dict[str, str],
) -> None:
    """Overrides `values` with those of a layer. If it changes the provider of a role, the model, address and
    fallbacks of lower layers are reset: they belong to the provider they were written for, and a key must not be
    sent to its address."""
    for role in ROLES:
        name = f"roles.{role}.provider"
        if origins[name] != DEFAULT_ORIGIN and layer.get(name, values[name]) != values[name]:
            for key in PROVIDER_KEYS:
                values[f"roles.{role}.{key}"], origins[f"roles.{role}.{key}"] = (
                    defaults[f"roles.{role}.{key}"],
                    DEFAULT_ORIGIN,
                )
    for name, value in layer.items():
        values[name], origins[name] = value, label


def _make_settings(
    home: Home, values: Mapping[str, Any], origins: Mapping[str, str], faults: Mapping[RoleName, list[Problem]]
) -> Settings:
    """Returns the settings with these values, whose types `SETTING_CHECKS` has checked."""
    extract = _make_role(values, "extract")
    rules = {field.name: values[f"maintain.{field.name}"] for field in fields(MaintenanceRules)}
    return Settings(
        home=home,
        sync_since=values["sync.since"],
        accept_above=values["sync.accept_above"],
        quote_sharing=values["review.quotes"],
        review_mode=values["review.mode"],
        deny_once=values["agents.deny_once"],
        search_limit=values["search.limit"],
        window_gate=values["extract.gate"],
        guidance=values["extract.guidance"],
        daily_budget_usd=values["budget.per_day_usd"],
        maintenance_rules=MaintenanceRules(**rules),
        idle_minutes=values["maintain.idle_minutes"],
        journal_sources=values["journal.sources"],
        roles={name: _inherit_model(_make_role(values, name), extract) for name in ROLES},
        values=values,
        origins=origins,
        faults={
            role: found if values[f"roles.{role}.provider"] else list(dict.fromkeys((*found, *faults["extract"])))
            for role, found in faults.items()
        },
    )


def _make_role(values: Mapping[str, Any], name: RoleName) -> Role:
    return Role(**{field.name: values[f"roles.{name}.{field.name}"] for field in fields(Role)})


def _inherit_model(role: Role, extract: Role) -> Role:
    """Returns the role, with the model of `extract` if it has no provider of its own."""
    if role.provider:
        return role
    return replace(role, **{key: getattr(extract, key) for key in ROLE_KEYS})
