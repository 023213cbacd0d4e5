"""What the editor tells a job when it starts it: its settings and the models it offers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lerim.errors import Problem

EDITOR_VARIABLE = "LERIM_EDITOR"
"""The environment variable in which a job is told what the editor knows."""


class EditorModel(msgspec.Struct, frozen=True):
    """A model the editor offers, as `vscode.lm` describes it. `allowed` None: the person was not asked yet."""

    id: str
    vendor: str = ""
    family: str = ""
    version: str = ""
    name: str = ""
    max_input_tokens: int = 0
    allowed: bool | None = None


class EditorState(msgspec.Struct, frozen=True):
    """What the editor tells a job: its settings by their dotted names, unchecked, and the models it offers."""

    settings: Mapping[str, object] = {}
    models: tuple[EditorModel, ...] = ()


def read_editor_state(environ: Mapping[str, str]) -> tuple[EditorState | None, list[Problem]]:
    """What the editor that started this job told it; None without an editor, with a problem where it makes no sense."""
    text = environ.get(EDITOR_VARIABLE, "")
    if not text:
        return None, []
    try:
        return msgspec.json.decode(text, type=EditorState), []
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        # What is told may be anything, so that only the place where it broke is repeated.
        message = (
            f"The editor's settings cannot be read ({type(error).__name__}), so they are ignored. Reload the window."
        )
        return None, [Problem("settings", EDITOR_VARIABLE, message)]
