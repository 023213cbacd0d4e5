"""Trying the chosen model: one tiny question, or one session, by a process with a job's environment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import msgspec

from lerim.errors import reason_of
from lerim.jobs import FailureLine, JobLine, ModelTestLine, SessionTrialLine
from lerim.lsp.protocol import FoundView, NoParams, RootParams, SessionTrialView, TrialView
from lerim.lsp.window import JobError, JobQuestions, editor, kill_and_wait, send_line, start_process
from lerim.models import EditorCancellation, EditorQuestion, Usage
from lerim.process import build_lerim_launch

Last = TypeVar("Last", ModelTestLine, SessionTrialLine)

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar


async def try_model(sidecar: Sidecar, _params: NoParams) -> TrialView:
    """Whether the chosen model answers. Cancelled, the process is killed.

    Raises JobError where it cannot be started.
    """
    last = await _tried(sidecar, ModelTestLine, "model")
    if isinstance(last, FailureLine):
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


async def try_model_on_session(sidecar: Sidecar, params: RootParams) -> SessionTrialView:
    """What the chosen model finds in one session, beside what the rules find. Cancelled, the process is killed.

    Raises JobError where it cannot be started.
    """
    repo = await sidecar.repo(params.root)
    last = await _tried(sidecar, SessionTrialLine, "try", "--repo", str(repo.project.root))
    if isinstance(last, FailureLine):
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


def _message(last: FailureLine) -> str:
    return last.message.removesuffix(last.todo).strip()


def _cost(used: Usage) -> float | None:
    return used.cost if used.cost and not used.unpriced else None


async def _tried(sidecar: Sidecar, form: type[Last], *order: str) -> Last | FailureLine:
    """The last line of a job process that asks the chosen model. Raises JobError."""
    sidecar.trust("Asking a model")
    jobs, environ = sidecar.jobs, editor.make_job_environ(sidecar)
    try:
        process = await start_process(build_lerim_launch(["worker", *order], jobs.executable, environ), jobs.home)
    except OSError as error:
        raise JobError(f"The test could not be started: {reason_of(error)}.", where=jobs.executable) from error
    jobs.trials.add(process)
    try:
        last = await _followed(sidecar, process)
    finally:
        jobs.trials.discard(process)
        if process.returncode is None:
            await kill_and_wait(process, environ)
    if not isinstance(last, form | FailureLine):
        raise JobError("The output of the test was not understood.", todo="See Lerim: Show Log.")
    return last


async def _followed(
    sidecar: Sidecar, process: asyncio.subprocess.Process
) -> ModelTestLine | SessionTrialLine | FailureLine:
    """The last line of the process; its questions go to the editor, as those of a sync the person asked for."""
    assert process.stdout is not None
    decoder = msgspec.json.Decoder(JobLine)
    last: ModelTestLine | SessionTrialLine | FailureLine | None = None
    questions = JobQuestions(sidecar.jobs.asker, True, lambda answer: send_line(process, answer))
    try:
        async for raw in process.stdout:
            line: JobLine = decoder.decode(raw)
            if isinstance(line, ModelTestLine | SessionTrialLine | FailureLine):
                last = line
            elif isinstance(line, EditorQuestion | EditorCancellation):
                questions.take(line)
    except (ValueError, msgspec.MsgspecError) as error:  # nothing of ours prints such a line
        raise JobError("The output of the test was not understood.", todo="See Lerim: Show Log.") from error
    finally:
        questions.end()
    code = await process.wait()
    return last or FailureLine("job", f"The test ended without an answer (exit code {code}).")
