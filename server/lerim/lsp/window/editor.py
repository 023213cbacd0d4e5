"""What the extension tells of the editor's own models, and questions to them on behalf of jobs."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.config import EDITOR_VARIABLE, EditorModel, EditorState
from lerim.lsp.boundary import EditorRequestError, ask_editor
from lerim.lsp.protocol import ASK_MODEL, AskedView, AskModelParams, EditorModelsParams, ModelPart, to_wire
from lerim.models import EditorAnswer, EditorQuestion, EditorRefusal

if TYPE_CHECKING:
    from lerim.lsp.window.jobs import Jobs
    from lerim.lsp.window.state import Sidecar

log = logging.getLogger("lerim.models")


async def set_editor_models(sidecar: Sidecar, params: object) -> None:
    """The editor's models are these now."""
    try:
        models = msgspec.convert(params, EditorModelsParams).models
    except msgspec.ValidationError as error:
        log.warning("The editor's list of models was not understood: %s.", error)
        return
    sidecar.models = tuple(msgspec.convert(model, EditorModel, from_attributes=True) for model in models)


def make_job_environ(sidecar: Sidecar) -> dict[str, str]:
    """The environment of a job that begins now: the sidecar's, and what the editor told."""
    told = EditorState(sidecar.options.settings.models, sidecar.models)
    return {**sidecar.environ, EDITOR_VARIABLE: msgspec.json.encode(told).decode()}


def open_jobs(sidecar: Sidecar) -> Jobs:
    """The jobs of a window: they are told what the editor tells, and may ask its models."""
    from lerim.lsp.window.jobs import Jobs

    return Jobs(partial(make_job_environ, sidecar), sidecar.home.root, partial(ask_editor_model, sidecar))


async def receive_part(sidecar: Sidecar, params: object) -> None:
    """Words of an answer that is not whole yet; those of a question nobody waits for are dropped."""
    try:
        part = msgspec.convert(params, ModelPart)
    except msgspec.ValidationError as error:
        log.warning("A part of an answer was not understood: %s.", error)
        return
    hear = sidecar.hearing.get(part.token)
    if hear is not None:
        hear(part.text)


async def ask_editor_model(
    sidecar: Sidecar, line: EditorQuestion, explicit: bool, hear: Callable[[str], None]
) -> EditorAnswer | EditorRefusal:
    """The editor's answer to one question of a job; `hear` is told its words as they come, where the question wants
    that. Cancelled, the editor stops, too."""
    token = secrets.token_hex(8) if line.stream else ""
    params = AskModelParams(line.model, line.system, line.prompt, line.max_tokens, explicit, token)
    if token:
        sidecar.hearing[token] = hear
    try:
        asked = msgspec.convert(await ask_editor(sidecar.server, ASK_MODEL, to_wire(params)), AskedView)
    except (EditorRequestError, msgspec.ValidationError) as error:
        log.warning("The editor's model gave no answer: %s", error)
        return EditorRefusal(line.id, "failed")
    finally:
        sidecar.hearing.pop(token, None)
    return EditorRefusal(line.id, asked.why, asked.message) if asked.why else EditorAnswer(line.id, asked.text)
