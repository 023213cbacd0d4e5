"""The part of the protocol about language models (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.lsp.protocol.core import Params
from lerim.models import RefusalReason


class EditorModelView(Params, frozen=True):
    """A model the editor offers. `id` is `vendor/id`; `allowed` is null if the person was not asked yet."""

    id: str
    vendor: str = ""
    family: str = ""
    version: str = ""
    name: str = ""
    max_input_tokens: int = 0
    allowed: bool | None = None


class EditorModelsParams(Params, frozen=True):
    """All models the editor offers now."""

    models: list[EditorModelView]


class AllowParams(Params, frozen=True):
    """The label of a paid model, as in `ModelView`."""

    label: str


class OptionView(msgspec.Struct, frozen=True):
    """One possible choice. Choosing it sets the settings `provider`, `model` and `base_url`.

    `model` is "" for `none`, `auto` and `command`. `variables` are environment variables that may hold the key; the
    kinds `key` and `no-key` say whether one does. `billed`: paid by the token. `name` and `detail` are for display: the
    vendor of an editor's model, the name or address of a local server, or how an installed agent's answers are paid.
    The name of `auto` is the model it resolves to now.
    """

    kind: Literal["none", "auto", "agent", "editor", "server", "key", "no-key", "address", "command"]
    provider: str
    model: str = ""
    base_url: str = ""
    name: str = ""
    detail: str = ""
    variables: list[str] = []
    billed: bool = False
    chosen: bool = False


class ChoicesView(msgspec.Struct, frozen=True):
    """All choices in display order. `model` is the label of the model in use, "" for none; `problems` prevent its
    use."""

    model: str
    provider: str
    billed: bool
    budget_usd: float
    options: list[OptionView]
    problems: list[Problem]


class ModelTestView(msgspec.Struct, frozen=True):
    """The result of one tiny question. If not `ok`, `code` and `message` describe the error. `cost` is null if it is
    unknown or the model is not paid by the token."""

    ok: bool
    message: str
    code: str = ""
    model: str = ""
    seconds: float = 0.0
    tokens: int = 0
    cost: float | None = None


class AskModelParams(Params, frozen=True):
    """A question to one of the editor's models. `explicit`: the person started the sync, so the editor may ask for
    permission to use the model. `token` identifies the question in the streamed parts of its answer; "" for no
    streaming."""

    model: str
    system: str
    prompt: str
    max_tokens: int | None
    explicit: bool
    token: str


class ModelPartParams(Params, frozen=True):
    """The next part of an unfinished answer."""

    token: str
    text: str


class ModelAnswerView(Params, frozen=True):
    """The answer, or the reason why there is none: then `why` is not empty and `message` is the editor's."""

    text: str = ""
    why: RefusalReason | Literal[""] = ""
    message: str = ""
