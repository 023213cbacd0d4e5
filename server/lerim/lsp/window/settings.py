"""The editor's settings as the sidecar sees them. An invalid value gives one message, and the default is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec

from lerim.lsp.protocol import camel_case

CodeLensMode = Literal["file", "symbols", "off"]
Finite = Annotated[float, msgspec.Meta(ge=-1e300, le=1e300)]
Positive = Annotated[float, msgspec.Meta(ge=0, le=1e300)]


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """`enabled` is the master switch; `idle_seconds` 0 turns idle sync off; files over `max_file_kb` are not answered.

    `meaning_python` is a Python with `lerim[meaning]`, for searches by meaning; without it there are none.

    `job_settings` are the person's settings for models, the review and hooks, by the names in `config.SETTING_CHECKS`.
    They are passed to every job, which checks them. An invalid part of the model is None, so that no model is asked.
    """

    enabled: bool = True
    hover: bool = True
    code_lens: CodeLensMode = "symbols"
    idle_seconds: Positive = 30.0
    max_file_kb: Positive = 512
    meaning_python: str = ""
    job_settings: Mapping[str, str | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EditorOptions:
    """The `initializationOptions`: workspace trust and settings. A workspace is untrusted until the editor says so."""

    trusted: bool = False
    settings: EditorSettings = EditorSettings()


MAX_VALUES = {"idle_seconds": 86_400.0, "max_file_kb": 512.0}
SETTING_TYPES = get_type_hints(EditorSettings, include_extras=True)
SETTING_FIELDS = {camel_case(name): name for name in SETTING_TYPES if name != "job_settings"}
MODEL_PREFIX = "model."
JOB_SETTINGS: Mapping[str, tuple[str, Any]] = {
    "review": ("review.mode", str),
    "model.provider": ("roles.extract.provider", str),
    "model.name": ("roles.extract.model", str),
    "model.baseUrl": ("roles.extract.base_url", str),
    "extract.gate": ("extract.gate", str),
    "extract.guidance": ("extract.guidance", str),
    "budget.perDayUsd": ("budget.per_day_usd", Finite),
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
            if _convert(value, kind) is not None:
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
        checked = _convert(value, SETTING_TYPES[field_name])
        if checked is None or (field_name == "meaning_python" and checked and not Path(str(checked)).is_absolute()):
            default = getattr(EditorSettings(), field_name)
            problems.append(f"`lerim.{name}` cannot be {str(value)[:60]!r}; {default!r} is used instead.")
        else:
            values[field_name] = min(checked, MAX_VALUES[field_name]) if isinstance(checked, float) else checked
    settings = msgspec.convert({**values, "job_settings": job_settings}, EditorSettings)
    return EditorOptions(trusted, settings), tuple(problems)


def _convert(value: object, kind: Any) -> object | None:
    """Returns a value that is of this type; None if it is not."""
    try:
        return msgspec.convert(value, kind)  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        return None
