"""The choice of the model that reads sessions, in the person's settings file."""

from __future__ import annotations

from lerim.config import edit, load
from lerim.config.schema import SettingValue
from lerim.paths import Home

EXTRACT_TABLE = "roles.extract"


def write_choice(mine: Home, provider: str, model: str, base_url: str) -> None:
    """Writes to the person's own file which model reads sessions. Raises SettingsError."""
    given = {"model": model, "base_url": base_url}
    before = load.load_settings({}, mine)[0]  # only the person's file
    values: dict[str, SettingValue] = {"provider": provider}
    broken = bool(before.faults["extract"])  # the file may contain an invalid value, which is not in `before`
    for name, value in given.items():
        if value or broken or before.values[f"{EXTRACT_TABLE}.{name}"]:
            values[name] = value
    if broken or (before.roles["extract"].fallback_models and before.roles["extract"].provider != provider):
        values["fallback_models"] = ()
    edit.change(mine, EXTRACT_TABLE, values)
