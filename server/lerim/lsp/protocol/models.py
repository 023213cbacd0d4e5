"""The part of the protocol about language models (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.lsp.protocol.core import Params
from lerim.models import RefusalReason


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


class AllowParams(Params, frozen=True):
    """The label of a model that is paid for, as `ModelView` has it."""

    label: str


class OptionView(msgspec.Struct, frozen=True):
    """One thing that can be chosen: `provider`, `model` and `base_url` are what the settings then say.

    `model` of `none`, `auto` and `command` is "". `variables` may hold the key, `key` and `no-key` say whether one
    does; `billed`: paid by the token. `name` and `detail` are for people: of a model of the editor its vendor, of a
    local server its name or address, of an installed agent what its answers are paid with; the name of `auto` is what
    it leads to now.
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
    """What there is to ask, in the order it is shown. `model` is the label of the one that is asked now, "" for none;
    `problems` keep it from being asked."""

    model: str
    provider: str
    billed: bool
    budget_usd: float
    options: list[OptionView]
    problems: list[Problem]


class TrialView(msgspec.Struct, frozen=True):
    """What came of one tiny question. Not `ok`: `code` is the error's, `message` says why. `cost` null: not known, or
    not paid by the token."""

    ok: bool
    message: str
    code: str = ""
    model: str = ""
    seconds: float = 0.0
    tokens: int = 0
    cost: float | None = None


class FoundView(msgspec.Struct, frozen=True):
    """One proposal of a trial."""

    primitive: str
    title: str
    quote: str


class SessionTrialView(msgspec.Struct, frozen=True):
    """What the rules and the chosen model find in one session. Not `ok`: `code` is the error's, `message` says why;
    "not-found" where no session waits for a model. `again` sessions wait besides."""

    ok: bool
    message: str
    code: str = ""
    model: str = ""
    session: str = ""
    rules: list[FoundView] = []
    found: list[FoundView] = []
    seconds: float = 0.0
    tokens: int = 0
    cost: float | None = None
    again: int = 0


class AskModelParams(Params, frozen=True):
    """A question to one of the editor's models. `explicit`: the person asked for the sync, so that the editor may ask
    whether Lerim is allowed to use it. `token`: names the question in the parts of its answer, which are told as they
    come; "" where these are not wanted."""

    model: str
    system: str
    prompt: str
    max_tokens: int | None
    explicit: bool
    token: str


class ModelPart(Params, frozen=True):
    """The next words of an answer that is not whole yet."""

    token: str
    text: str


class AskedView(Params, frozen=True):
    """The answer, or why there is none: then `why` is not empty and `message` is the editor's own."""

    text: str = ""
    why: RefusalReason | Literal[""] = ""
    message: str = ""
