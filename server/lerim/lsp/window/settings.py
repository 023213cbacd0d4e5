"""The editor's settings as the sidecar sees them. An invalid value gives one message, and the default is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import msgspec

from lerim.lsp.protocol import camel_case

CodeLensMode = Literal["file", "symbols", "off"]


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """`enabled` is the master switch; `idle_seconds` 0 turns idle sync off; files over `max_file_kb` are not answered.

    `meaning_python` is a Python with `lerim[meaning]`, for searches by meaning; without it there are none.

    `job_settings` are the person's settings for models, the review and hooks, by the names in `config.SETTING_CHECKS`.
    They are passed to every job, which checks them. An invalid part of the model is None, so that no model is asked.
    """

    enabled: bool = True
    hover: bool = True
    code_lens: CodeLensMode = "file"
    idle_seconds: float = 30.0
    max_file_kb: int = 512
    meaning_python: str = ""
    job_settings: Mapping[str, str | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EditorOptions:
    """The `initializationOptions`: workspace trust and settings. A workspace is untrusted until the editor says so."""

    trusted: bool = False
    settings: EditorSettings = EditorSettings()


MAX_VALUES = {"idle_seconds": 86_400.0, "max_file_kb": 512.0}
SETTING_FIELDS = {camel_case(name): name for name in EditorSettings.__slots__ if name != "job_settings"}
MODEL_PREFIX = "model."
JOB_SETTINGS: Mapping[str, tuple[str, type[str] | type[float] | type[bool]]] = {
    "review": ("review.mode", str),
    "model.provider": ("roles.extract.provider", str),
    "model.name": ("roles.extract.model", str),
    "model.baseUrl": ("roles.extract.base_url", str),
    "extract.gate": ("extract.gate", str),
    "extract.guidance": ("extract.guidance", str),
    "budget.perDayUsd": ("budget.per_day_usd", float),
    "agents.denyOnce": ("agents.deny_once", bool),
}


def parse_options(raw: object, previous: EditorOptions | None = None) -> tuple[EditorOptions, tuple[str, ...]]:
    """Parses options from the wire. Returns them and one message per rejected value.

    If `trusted` is missing, it is taken from `previous`.
    """
    if raw is None:
        return previous or EditorOptions(), ()
    if not isinstance(raw, Mapping):
        return previous or EditorOptions(), ("Lerim's settings are not an object; the defaults are used.",)
    problems: list[str] = []
    trusted = raw.get("trusted", previous.trusted if previous else False)
    if not isinstance(trusted, bool):
        trusted = False
        problems.append("`trusted` must be true or false; the workspace is treated as not trusted.")
    raw_settings = raw.get("settings", {})
    if not isinstance(raw_settings, Mapping):
        raw_settings = {}
        problems.append("Lerim's settings are not an object; the defaults are used.")
    values: dict[str, object] = {}
    job_settings: dict[str, object] = {}
    for name, value in raw_settings.items():
        if name in JOB_SETTINGS:
            dotted, kind = JOB_SETTINGS[name]
            if _has_type(kind, value):
                job_settings[dotted] = value
            else:
                if name.startswith(MODEL_PREFIX):
                    job_settings[dotted] = None
                problems.append(f"`lerim.{name}` cannot be {str(value)[:60]!r}; it is ignored.")
            continue
        field_name = SETTING_FIELDS.get(name)
        if field_name is None:
            if str(name).startswith(MODEL_PREFIX):  # it may be a misspelled address, so no model is asked
                job_settings[f"roles.extract.{str(name).removeprefix(MODEL_PREFIX)[:60]}"] = None
            problems.append(f"Unknown setting `lerim.{str(name)[:60]}`; it is ignored.")
            continue
        checked = _check_value(field_name, value)
        if checked is None:
            default = getattr(EditorSettings(), field_name)
            problems.append(f"`lerim.{name}` cannot be {str(value)[:60]!r}; {default!r} is used instead.")
        else:
            values[field_name] = checked
    return EditorOptions(trusted, msgspec.convert({**values, "job_settings": job_settings}, EditorSettings)), tuple(
        problems
    )


def _has_type(kind: type[str] | type[float] | type[bool], value: object) -> bool:
    if kind is not float:
        return isinstance(value, kind)
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_value(name: str, value: object) -> object | None:
    default = getattr(EditorSettings(), name)
    if isinstance(default, bool):
        return value if isinstance(value, bool) else None
    if isinstance(default, str):
        if name == "meaning_python":
            return value if isinstance(value, str) and (value == "" or Path(value).is_absolute()) else None
        return value if value in get_args(CodeLensMode) else None
    if not isinstance(value, int | float) or not _has_type(float, value) or value < 0:
        return None
    bounded = min(value, MAX_VALUES[name])
    return int(bounded) if isinstance(default, int) else float(bounded)
