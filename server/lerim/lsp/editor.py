"""What the extension tells of the editor's own models, and questions to them on behalf of jobs."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.editor_settings import VARIABLE, Editor, EditorModel
from lerim.lsp.boundary import EditorError, ask_editor
from lerim.lsp.model_protocol import AskedView, AskModelParams, EditorModelsParams, ModelPart
from lerim.lsp.protocol import ASK_MODEL, wire
from lerim.models.editor import Answer, Ask, Refused

if TYPE_CHECKING:
    from lerim.lsp.jobs import Jobs
    from lerim.lsp.sidecar import Sidecar

log = logging.getLogger("lerim.models")


async def offered(sidecar: Sidecar, params: object) -> None:
    """The editor's models are these now."""
    try:
        models = msgspec.convert(params, EditorModelsParams).models
    except msgspec.ValidationError as error:
        log.warning("What the editor tells of its models was not understood: %s.", error)
        return
    sidecar.models = tuple(msgspec.convert(model, EditorModel, from_attributes=True) for model in models)


def environ(sidecar: Sidecar) -> dict[str, str]:
    """The environment of a job that begins now: the sidecar's, and what the editor told."""
    told = Editor(sidecar.options.settings.models, sidecar.models)
    return {**sidecar.environ, VARIABLE: msgspec.json.encode(told).decode()}


def open_jobs(sidecar: Sidecar) -> Jobs:
    """The jobs of a window: they are told what the editor tells, and may ask its models."""
    from lerim.lsp.jobs import Jobs

    return Jobs(partial(environ, sidecar), sidecar.home.root, partial(ask, sidecar))


async def heard(sidecar: Sidecar, params: object) -> None:
    """Words of an answer that is not whole yet; those of a question nobody waits for are dropped."""
    try:
        part = msgspec.convert(params, ModelPart)
    except msgspec.ValidationError as error:
        log.warning("A part of an answer was not understood: %s.", error)
        return
    hear = sidecar.hearing.get(part.token)
    if hear is not None:
        hear(part.text)


async def ask(sidecar: Sidecar, line: Ask, explicit: bool, hear: Callable[[str], None]) -> Answer | Refused:
    """The editor's answer to one question of a job; `hear` is told its words as they come, where the question wants
    that. Cancelled, the editor stops, too."""
    token = secrets.token_hex(8) if line.stream else ""
    params = AskModelParams(line.model, line.system, line.prompt, line.max_tokens, explicit, token)
    if token:
        sidecar.hearing[token] = hear
    try:
        asked = msgspec.convert(await ask_editor(sidecar.server, ASK_MODEL, wire(params)), AskedView)
    except (EditorError, msgspec.ValidationError) as error:
        log.warning("The editor's model gave no answer: %s", error)
        return Refused(line.id, "failed")
    finally:
        sidecar.hearing.pop(token, None)
    return Refused(line.id, asked.why, asked.message) if asked.why else Answer(line.id, asked.text)
