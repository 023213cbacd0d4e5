"""Which model reads sessions, as the person's settings file says it."""

from __future__ import annotations

from lerim.config import edit, load
from lerim.config.schema import SettingValue
from lerim.paths import Home

EXTRACT = "roles.extract"


def write_choice(mine: Home, provider: str, model: str, base_url: str) -> None:
    """Writes which model reads sessions into the person's own file. Raises SettingsError."""
    given = {"model": model, "base_url": base_url}
    before = load.load_settings({}, mine)[0]  # the file alone
    values: dict[str, SettingValue] = {"provider": provider}
    broken = bool(before.faults["extract"])  # its file may hold a value that is left out
    for name, value in given.items():
        if value or broken or before.values[f"{EXTRACT}.{name}"]:
            values[name] = value
    if broken or (before.roles["extract"].fallback_models and before.roles["extract"].provider != provider):
        values["fallback_models"] = ()
    edit.change(mine, EXTRACT, values)
