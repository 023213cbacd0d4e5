"""The models the person agreed to and the limits models reported, in `~/.lerim/models.json`.

    {"allowed": ["openrouter:openai/gpt-5-nano@openrouter.ai"], "limits": {"openai:gpt-4o@api.openai.com": 128000}}

A billed model is asked only if its label is in `allowed`; this includes its fallbacks in the same settings. `limits`
are the most tokens each model accepts, as the model reported. Other keys are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import filelock
import msgspec

from lerim.errors import Problem, SettingsError, error_reason
from lerim.files import open_buffered
from lerim.models.model import Model
from lerim.paths import Home
from lerim.project import make_private_folder, replace_private_file

MOST_BYTES = 1_000_000
BUSY_SECONDS = 10.0
_TODO = "Correct the file or delete it; you are then asked again for each model."


@dataclass(frozen=True, slots=True)
class KnownModels:
    """The content of `models.json`: the labels of models that the person agreed to, and token limits by label."""

    allowed: frozenset[str] = frozenset()
    limits: Mapping[str, int] = field(default_factory=dict)

    def allows(self, model: Model) -> bool:
        """Returns whether a model may be asked: a billed model needs the person's consent."""
        return not model.billed or model.label in self.allowed


def load_known_models(home: Home) -> tuple[KnownModels, list[Problem]]:
    """Loads `models.json`. A file that cannot be read is a problem and counts as no agreement."""
    try:
        return _parse_content(_read_file(home)), []
    except SettingsError as error:
        return KnownModels(), [error.problem()]


def allow_model(home: Home, label: str) -> None:
    """Saves the person's agreement to a model, by label. Raises SettingsError if that fails."""

    def add_label(content: dict[str, object]) -> None:
        content["allowed"] = sorted({*_parse_content(content).allowed, label})

    try:
        _update_file(home, add_label)
    except OSError as error:
        raise SettingsError(
            f"Your approval could not be saved: {error_reason(error)}.",
            where=str(home.models),
            todo="Check the folder's permissions and the free disk space.",
        ) from error


def keep_limit(home: Home, label: str, tokens: int) -> None:
    """Saves the maximum number of tokens that a model accepts in one call. Raises OSError if that fails."""

    def add_limit(content: dict[str, object]) -> None:
        content["limits"] = {**_parse_content(content).limits, label: tokens}

    _update_file(home, add_limit)


def _update_file(home: Home, change: Callable[[dict[str, object]], None]) -> None:
    """Changes the file under a lock, so that concurrent changes are not lost; an unreadable file is set aside.

    Raises OSError, including filelock.Timeout.
    """
    make_private_folder(home, home.models.parent)
    with filelock.FileLock(home.models.with_suffix(".lock"), timeout=BUSY_SECONDS, mode=0o600):
        try:
            content = _read_file(home)
        except SettingsError:
            home.models.replace(home.models.with_name(home.models.name + ".damaged-copy"))
            content = {}
        change(content)
        replace_private_file(home.models, msgspec.json.format(msgspec.json.encode(content)) + b"\n")


def _read_file(home: Home) -> dict[str, object]:
    """Returns the JSON object in the file, {} if there is no file. Raises SettingsError if it cannot be read."""
    try:
        with open_buffered(home.models) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES // 1_000_000} MB")
        return msgspec.json.decode(data, type=dict[str, object])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        message = f"The saved state of models cannot be read: {error_reason(error)}."
        raise SettingsError(message, where=str(home.models), todo=_TODO) from error


def _parse_content(content: Mapping[str, object]) -> KnownModels:
    allowed, limits = content.get("allowed"), content.get("limits")
    return KnownModels(
        frozenset(name for name in allowed if isinstance(name, str)) if isinstance(allowed, list) else frozenset(),
        {name: most for name, most in limits.items() if _is_limit(most)} if isinstance(limits, dict) else {},
    )


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
