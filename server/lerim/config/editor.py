"""What the editor passes to a job when it starts it: its settings and the models it offers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lerim.errors import Problem

EDITOR_VARIABLE = "LERIM_EDITOR"
"""The environment variable with the editor's state."""


class EditorModel(msgspec.Struct, frozen=True):
    """A model the editor offers, as described by `vscode.lm`. `allowed` is None if the person was not asked yet."""

    id: str
    vendor: str = ""
    family: str = ""
    version: str = ""
    name: str = ""
    max_input_tokens: int = 0
    allowed: bool | None = None


class EditorState(msgspec.Struct, frozen=True):
    """What the editor passes to a job: its settings by dotted name, unchecked, and the models it offers."""

    settings: Mapping[str, object] = {}
    models: tuple[EditorModel, ...] = ()


def read_editor_state(environ: Mapping[str, str]) -> tuple[EditorState | None, list[Problem]]:
    """Returns the state passed by the editor that started this job; None if no editor did, or, with a problem, if
    the state is invalid."""
    text = environ.get(EDITOR_VARIABLE, "")
    if not text:
        return None, []
    try:
        return msgspec.json.decode(text, type=EditorState), []
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        # The value may contain anything, so the message only names the kind of error.
        message = (
            f"The editor's settings cannot be read ({type(error).__name__}), so they are ignored. Reload the window."
        )
        return None, [Problem("settings", EDITOR_VARIABLE, message)]
