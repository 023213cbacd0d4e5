"""The editor's own language models: the list the extension sends, and questions to them on behalf of jobs."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.config import EDITOR_VARIABLE, EditorModel, EditorState
from lerim.lsp.boundary import EditorRequestError, ask_editor
from lerim.lsp.protocol import ASK_MODEL, AskModelParams, EditorModelsParams, ModelAnswerView, ModelPartParams, to_wire
from lerim.models import EditorAnswer, EditorQuestion, EditorRefusal

if TYPE_CHECKING:
    from lerim.jobs import JobProcesses
    from lerim.lsp.window.state import Sidecar

log = logging.getLogger("lerim.models")


async def set_editor_models(sidecar: Sidecar, params: object) -> None:
    """Stores the list of models the editor offers."""
    try:
        models = msgspec.convert(params, EditorModelsParams).models
    except msgspec.ValidationError as error:
        log.warning("The editor's list of models was not understood: %s.", error)
        return
    sidecar.editor_models = tuple(msgspec.convert(model, EditorModel, from_attributes=True) for model in models)


def make_job_environ(sidecar: Sidecar) -> dict[str, str]:
    """Returns the environment for a new job: the sidecar's own, plus the editor's settings and models."""
    editor_state = EditorState(sidecar.options.settings.job_settings, sidecar.editor_models)
    return {**sidecar.environ, EDITOR_VARIABLE: msgspec.json.encode(editor_state).decode()}


def make_jobs(sidecar: Sidecar) -> JobProcesses:
    """Makes the job runner of a window. Its jobs get the editor's settings and may ask the editor's models."""
    from lerim.jobs import JobProcesses

    return JobProcesses(partial(make_job_environ, sidecar), sidecar.home.root, partial(ask_editor_model, sidecar))


async def receive_part(sidecar: Sidecar, params: object) -> None:
    """Passes on part of an unfinished answer. A part for a question nobody waits for is dropped."""
    try:
        part = msgspec.convert(params, ModelPartParams)
    except msgspec.ValidationError as error:
        log.warning("A part of an answer was not understood: %s.", error)
        return
    on_text = sidecar.part_listeners.get(part.token)
    if on_text is not None:
        on_text(part.text)


async def ask_editor_model(
    sidecar: Sidecar, line: EditorQuestion, explicit: bool, on_text: Callable[[str], None]
) -> EditorAnswer | EditorRefusal:
    """Asks the editor's model one question of a job. `on_text` gets the answer piece by piece if the question streams.

    If this task is cancelled, the editor stops answering as well.
    """
    token = secrets.token_hex(8) if line.stream else ""
    params = AskModelParams(line.model, line.system, line.prompt, line.max_tokens, explicit, token)
    if token:
        sidecar.part_listeners[token] = on_text
    try:
        answer = msgspec.convert(await ask_editor(sidecar.server, ASK_MODEL, to_wire(params)), ModelAnswerView)
    except (EditorRequestError, msgspec.ValidationError) as error:
        log.warning("The editor's model gave no answer: %s", error)
        return EditorRefusal(line.id, "failed")
    finally:
        sidecar.part_listeners.pop(token, None)
    return EditorRefusal(line.id, answer.why, answer.message) if answer.why else EditorAnswer(line.id, answer.text)
