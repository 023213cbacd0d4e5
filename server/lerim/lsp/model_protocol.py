"""What of the wire is about language models; its mirror is extension/modelprotocol.ts (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

from lerim.lsp.protocol import Params
from lerim.models.editor import Why


class EditorModelView(Params, frozen=True):
    """A model the editor offers. `id` is `vendor/id`; `allowed` is null where the person was not asked yet."""

    id: str
    vendor: str = ""
    family: str = ""
    version: str = ""
    name: str = ""
    max_input_tokens: int = 0
    allowed: bool | None = None


class EditorModelsParams(Params, frozen=True):
    """Every model the editor offers now."""

    models: list[EditorModelView]


class AskModelParams(Params, frozen=True):
    """A question to one of the editor's models. `explicit`: the person asked for the sync, so that the editor may ask
    whether Lerim is allowed to use it."""

    model: str
    system: str
    prompt: str
    max_tokens: int | None
    explicit: bool


class AskedView(Params, frozen=True):
    """The answer, or why there is none: then `why` is not empty and `message` is the editor's own."""

    text: str = ""
    why: Why | Literal[""] = ""
    message: str = ""
