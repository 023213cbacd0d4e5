"""Asks an installed agent's program one question: sets up its working folder and translates its failures."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from lerim.errors import ModelGoneError, error_reason
from lerim.models.agents.answers import ANSWER_PARSERS, FailureError
from lerim.models.agents.command import COMMAND_FAILED, ProgramOutput, run_program
from lerim.models.agents.programs import AGENTS, AgentProgram, build_invocation
from lerim.models.answer import ModelAnswer
from lerim.models.dspy_import import lm15
from lerim.models.model import Model
from lerim.models.services import faults
from lerim.paths import Home
from lerim.project import make_private_folder, replace_private_file
from lerim.redaction import clean_text
from lerim.sessions import ASKS_MARK

MOST_MESSAGE_CHARACTERS = 300
_LOGIN = re.compile(
    r"log ?in\b|logged in|not authenticated|authenticat|unauthori[sz]ed|api[ _]key|auth method|credential",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"usage limit|quota|out of (?:credits|usage)|premium request", re.IGNORECASE)
_NO_MODEL = re.compile(r"model[^.{}]{0,100}(?:does not exist|not found|not supported|not available)", re.IGNORECASE)


def ask_agent(
    model: Model, prompt: str, cancelled: Callable[[], bool], environ: Mapping[str, str], home: Home
) -> ModelAnswer:
    """Asks an agent and returns its answer.

    The agent's program receives the prompt on standard input and runs in an empty folder that belongs to Lerim.
    Raises the same errors of `dspy.lm15` as Engine does; ModelGoneError if the agent cannot be asked without tools.
    """
    agent = AGENTS[model.provider]
    invocation = build_invocation(model.provider, model.name, environ)
    program = model.command[0]
    kept_variables = {name: value for name, value in environ.items() if name not in invocation.removed}
    program_output = run_program(
        (program, *invocation.arguments),
        f"{ASKS_MARK}\n{prompt}",
        seconds=model.timeout,
        cancelled=cancelled,
        environ={**kept_variables, **invocation.variables, **_extend_path(kept_variables, program)},
        folder=working_folder(home, model.provider),
    )
    try:
        answer = ANSWER_PARSERS[model.provider](program_output.text)
    except FailureError as failure:
        raise _make_error(agent, failure, program_output) from failure
    if not answer.text.strip():
        raise _make_error(
            agent, FailureError(f"it printed no answer and ended with code {program_output.code}"), program_output
        )
    return answer


def working_folder(home: Home, provider: str) -> Path:
    """Returns the folder in which an agent is started. The folder is empty except for the file that takes the agent's
    tools away.

    Sessions that an agent leaves there belong to no project (`project.FolderOwners`). Raises ModelGoneError if the
    folder contains anything else or cannot be created.
    """
    folder = home.root / "agents" / provider
    policy = AGENTS[provider].policy
    try:
        make_private_folder(home, folder)
        if policy is not None:
            path = folder / policy[0]
            make_private_folder(home, path.parent)
            if not path.is_file() or path.read_bytes() != policy[1].encode():
                replace_private_file(path, policy[1].encode())
        policy_name = PurePath(policy[0]).parts[0] if policy else ""
        unexpected_name = next((name for name in os.listdir(folder) if name != policy_name), "")  # noqa: PTH208 - names are enough
    except OSError as error:
        message = f"The folder in which agents are run cannot be used: {error_reason(error)}."
        raise ModelGoneError(message, where=str(folder), todo="Check the folder's permissions.") from error
    if unexpected_name:
        message = f"The folder in which agents are run is not empty: it contains {unexpected_name!r}."
        raise ModelGoneError(message, where=str(folder), todo="Delete what is in it; Lerim needs none of it.")
    return folder


def _extend_path(environ: Mapping[str, str], program: str, platform: str = sys.platform) -> dict[str, str]:
    """Returns PATH with the program's own folder at the end: programs installed by npm need `node`, which is in the
    same folder."""
    name = next((name for name in environ if name.upper() == "PATH"), "PATH") if platform == "win32" else "PATH"
    parts = [part for part in (environ.get(name, ""), str(PurePath(program).parent)) if part]
    return {name: (";" if platform == "win32" else ":").join(parts)}


def _make_error(agent: AgentProgram, failure: FailureError, program_output: ProgramOutput) -> lm15.LM15Error:
    output_text = f"{failure.message}{program_output.error_text}"
    shown_message = " ".join(clean_text(output_text).split())[:MOST_MESSAGE_CHARACTERS]
    status = failure.status
    if faults.TOO_LONG.search(output_text):
        return faults.TooLongError(
            f"the window is too large for this model: {shown_message}", service_message=output_text, status=400
        )
    if status == 429 or _QUOTA.search(output_text):
        return lm15.BillingError(f"{agent.name} cannot answer now: {shown_message}")
    if status in (401, 403) or _LOGIN.search(output_text):
        return lm15.AuthError(
            f"{agent.name} is not logged in: {shown_message}. Start `{agent.program}` in a terminal once"
        )
    if status == 404 or _NO_MODEL.search(output_text):
        return lm15.UnsupportedModelError(f"{agent.name} has no such model: {shown_message}", code="gone")
    return lm15.ServerError(f"{agent.name} failed: {shown_message}", code=COMMAND_FAILED)
