"""Trying the chosen model: one tiny question, or one session, by a process with a job's environment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import msgspec

from lerim.errors import reason_of
from lerim.lsp import editor
from lerim.lsp.jobs import JobError, kill_and_wait, start, tell
from lerim.lsp.model_protocol import FoundView, SessionTrialView, TrialView
from lerim.lsp.protocol import NoParams, RootParams
from lerim.lsp.questions import Questions
from lerim.models.editor import Ask, Unask
from lerim.models.usage import Usage
from lerim.process import lerim
from lerim.worker import Failed, Line, Tried, TriedOn

Last = TypeVar("Last", Tried, TriedOn)

if TYPE_CHECKING:
    from lerim.lsp.sidecar import Sidecar


async def tried(sidecar: Sidecar, _params: NoParams) -> TrialView:
    """Whether the chosen model answers. Cancelled, the process is killed.

    Raises JobError where it cannot be started.
    """
    last = await _tried(sidecar, Tried, "model")
    if isinstance(last, Failed):
        return TrialView(ok=False, code=last.code, message=_message(last))
    used = last.usage
    return TrialView(
        ok=True,
        model=last.model,
        message=f"{last.model} answered.",
        seconds=used.seconds,
        tokens=used.input_tokens + used.output_tokens,
        cost=_cost(used),
    )


async def tried_on_session(sidecar: Sidecar, params: RootParams) -> SessionTrialView:
    """What the chosen model finds in one session, beside what the rules find. Cancelled, the process is killed.

    Raises JobError where it cannot be started.
    """
    repo = await sidecar.repo(params.root)
    last = await _tried(sidecar, TriedOn, "try", "--repo", str(repo.project.root))
    if isinstance(last, Failed):
        return SessionTrialView(ok=False, code=last.code, message=_message(last))
    trial, used = last.trial, last.trial.usage
    return SessionTrialView(
        ok=True,
        message="",
        model=trial.model,
        session=trial.session,
        rules=[FoundView(one.primitive, one.title, one.quote) for one in trial.rules],
        found=[FoundView(one.primitive, one.title, one.quote) for one in trial.found],
        seconds=used.seconds,
        tokens=used.input_tokens + used.output_tokens,
        cost=_cost(used),
        again=trial.again,
    )


def _message(last: Failed) -> str:
    return last.message.removesuffix(last.todo).strip()


def _cost(used: Usage) -> float | None:
    return used.cost if used.cost and not used.unpriced else None


async def _tried(sidecar: Sidecar, form: type[Last], *order: str) -> Last | Failed:
    """The last line of a job process that asks the chosen model. Raises JobError."""
    sidecar.trust("Asking a model")
    jobs, environ = sidecar.jobs, editor.environ(sidecar)
    try:
        process = await start(lerim(["worker", *order], jobs.executable, environ), jobs.home)
    except OSError as error:
        raise JobError(f"The test could not be started: {reason_of(error)}.", where=jobs.executable) from error
    jobs.trials.add(process)
    try:
        last = await _followed(sidecar, process)
    finally:
        jobs.trials.discard(process)
        if process.returncode is None:
            await kill_and_wait(process, environ)
    if not isinstance(last, form | Failed):
        raise JobError("What the test said was not understood.", todo="See Lerim: Show Log.")
    return last


async def _followed(sidecar: Sidecar, process: asyncio.subprocess.Process) -> Tried | TriedOn | Failed:
    """The last line of the process; its questions go to the editor, as those of a sync the person asked for."""
    assert process.stdout is not None
    decoder = msgspec.json.Decoder(Line)
    last: Tried | TriedOn | Failed | None = None
    questions = Questions(sidecar.jobs.asker, True, lambda answer: tell(process, answer))
    try:
        async for raw in process.stdout:
            line: Line = decoder.decode(raw)
            if isinstance(line, Tried | TriedOn | Failed):
                last = line
            elif isinstance(line, Ask | Unask):
                questions.take(line)
    except (ValueError, msgspec.MsgspecError) as error:  # nothing of ours prints such a line
        raise JobError("What the test said was not understood.", todo="See Lerim: Show Log.") from error
    finally:
        questions.end()
    code = await process.wait()
    return last or Failed("job", f"The test ended without an answer (exit code {code}).")
