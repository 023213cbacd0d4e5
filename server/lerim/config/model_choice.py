"""The choice of the model that reads sessions, in the person's settings file."""

from __future__ import annotations

from lerim.config import edit, load
from lerim.config.schema import SettingValue
from lerim.paths import Home

EXTRACT_TABLE = "roles.extract"


def write_model_choice(home: Home, provider: str, model: str, base_url: str) -> None:
    """Writes to the person's own file which model reads sessions. Raises SettingsError."""
    model_values = {"model": model, "base_url": base_url}
    before = load.load_settings({}, home)[0]  # only the person's file
    values: dict[str, SettingValue] = {"provider": provider}
    has_faults = bool(before.faults["extract"])  # the file may contain an invalid value, which is not in `before`
    for name, value in model_values.items():
        if value or has_faults or before.values[f"{EXTRACT_TABLE}.{name}"]:
            values[name] = value
    if has_faults or (before.roles["extract"].fallback_models and before.roles["extract"].provider != provider):
        values["fallback_models"] = ()
    edit.change_settings(home, EXTRACT_TABLE, values)
