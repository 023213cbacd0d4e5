"""The editor's settings as the sidecar sees them: every default here, a wrong value is one message and the default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import msgspec

CodeLensMode = Literal["file", "symbols", "off"]


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """`enabled` is the master switch; `idle_seconds` 0 turns idle sync off; files over `max_file_kb` get no answers.

    `models` is what the person set about models and the review, by the names of `config.KEYS`: every job is handed it,
    and checks it. A part of the model that makes no sense is None, so that a job asks no model.
    """

    enabled: bool = True
    hover: bool = True
    code_lens: CodeLensMode = "file"
    idle_seconds: float = 30.0
    max_file_kb: int = 512
    models: Mapping[str, str | float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EditorOptions:
    """`initializationOptions`: what the person trusts and set. Nothing is trusted until the editor says so."""

    trusted: bool = False
    settings: EditorSettings = EditorSettings()


LIMITS = {"idle_seconds": 86_400.0, "max_file_kb": 512.0}
NAMES = {
    "enabled": "enabled",
    "hover": "hover",
    "codeLens": "code_lens",
    "idleSeconds": "idle_seconds",
    "maxFileKb": "max_file_kb",
}
MODEL = "model."
JOBS: Mapping[str, tuple[str, type[str] | type[float]]] = {
    "review": ("review.mode", str),
    "model.provider": ("roles.extract.provider", str),
    "model.name": ("roles.extract.model", str),
    "model.baseUrl": ("roles.extract.base_url", str),
    "extract.gate": ("extract.gate", str),
    "extract.guidance": ("extract.guidance", str),
    "budget.perDayUsd": ("budget.per_day_usd", float),
}


def parse_options(raw: object, before: EditorOptions | None = None) -> tuple[EditorOptions, tuple[str, ...]]:
    """Options from the wire, and one message for each value that was not used. `trusted` left out stays as `before`."""
    if raw is None:
        return before or EditorOptions(), ()
    if not isinstance(raw, Mapping):
        return before or EditorOptions(), ("Lerim's settings are not an object; the defaults are used.",)
    problems: list[str] = []
    trusted = raw.get("trusted", before.trusted if before else False)
    if not isinstance(trusted, bool):
        trusted = False
        problems.append("`trusted` must be true or false; the workspace is treated as not trusted.")
    given = raw.get("settings", {})
    if not isinstance(given, Mapping):
        given = {}
        problems.append("Lerim's settings are not an object; the defaults are used.")
    values: dict[str, object] = {}
    models: dict[str, object] = {}
    for name, value in given.items():
        if name in JOBS:
            dotted, kind = JOBS[name]
            if _is(kind, value):
                models[dotted] = value
            else:
                if name.startswith(MODEL):
                    models[dotted] = None
                problems.append(f"`lerim.{name}` cannot be {str(value)[:60]!r}; it is ignored.")
            continue
        known = NAMES.get(name)
        if known is None:
            if str(name).startswith(MODEL):  # it may have been meant for where the model is asked
                models[f"roles.extract.{str(name).removeprefix(MODEL)[:60]}"] = None
            problems.append(f"Unknown setting `lerim.{str(name)[:60]}`; it is ignored.")
            continue
        checked = _checked(known, value)
        if checked is None:
            default = getattr(EditorSettings(), known)
            problems.append(f"`lerim.{name}` cannot be {str(value)[:60]!r}; {default!r} is used instead.")
        else:
            values[known] = checked
    return EditorOptions(trusted, msgspec.convert({**values, "models": models}, EditorSettings)), tuple(problems)


def _is(kind: type[str] | type[float], value: object) -> bool:
    if kind is str:
        return isinstance(value, str)
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _checked(name: str, value: object) -> object | None:
    default = getattr(EditorSettings(), name)
    if isinstance(default, bool):
        return value if isinstance(value, bool) else None
    if isinstance(default, str):
        return value if value in get_args(CodeLensMode) else None
    if not isinstance(value, int | float) or not _is(float, value) or value < 0:
        return None
    bounded = min(value, LIMITS[name])
    return int(bounded) if isinstance(default, int) else float(bounded)
