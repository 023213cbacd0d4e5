"""Tries the chosen model with one tiny question or one session, in a process with a job's environment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import msgspec

from lerim.errors import error_reason
from lerim.jobs import FailureLine, JobLine, ModelTestLine, SessionTrialLine
from lerim.lsp.protocol import ModelTestView, NoParams, ProposalView, RootParams, SessionTrialView
from lerim.lsp.window import JobError, JobQuestions, editor_models, kill_and_wait, send_line, start_process
from lerim.models import EditorCancellation, EditorQuestion, Usage
from lerim.process import build_lerim_launch

ResultLine = TypeVar("ResultLine", ModelTestLine, SessionTrialLine)

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar


async def try_model(sidecar: Sidecar, _params: NoParams) -> ModelTestView:
    """Tests whether the chosen model answers. Cancelling kills the process.

    Raises JobError if the process cannot be started.
    """
    result = await _run_trial(sidecar, ModelTestLine, "model")
    if isinstance(result, FailureLine):
        return ModelTestView(ok=False, code=result.code, message=_failure_message(result))
    usage = result.usage
    return ModelTestView(
        ok=True,
        model=result.model,
        message=f"{result.model} answered.",
        seconds=usage.seconds,
        tokens=usage.input_tokens + usage.output_tokens,
        cost=_known_cost(usage),
    )


async def try_model_on_session(sidecar: Sidecar, params: RootParams) -> SessionTrialView:
    """Compares what the chosen model and the rules find in one session. Cancelling kills the process.

    Raises JobError if the process cannot be started.
    """
    repo = await sidecar.find_repo(params.root)
    result = await _run_trial(sidecar, SessionTrialLine, "try", "--repo", str(repo.project.root))
    if isinstance(result, FailureLine):
        return SessionTrialView(ok=False, code=result.code, message=_failure_message(result))
    trial, usage = result.trial, result.trial.usage
    return SessionTrialView(
        ok=True,
        message="",
        model=trial.model,
        session=trial.session,
        rules=[ProposalView(one.primitive, one.title, one.quote) for one in trial.rules],
        found=[ProposalView(one.primitive, one.title, one.quote) for one in trial.found],
        seconds=usage.seconds,
        tokens=usage.input_tokens + usage.output_tokens,
        cost=_known_cost(usage),
        again=trial.other_waiting,
    )


def _failure_message(result: FailureLine) -> str:
    return result.message.removesuffix(result.todo).strip()


def _known_cost(usage: Usage) -> float | None:
    return usage.cost if usage.cost and not usage.unpriced else None


async def _run_trial(sidecar: Sidecar, result_type: type[ResultLine], *arguments: str) -> ResultLine | FailureLine:
    """Runs a process that asks the chosen model, and returns its result or failure. Raises JobError."""
    sidecar.require_trust("Asking a model")
    jobs, environ = sidecar.jobs, editor_models.make_job_environ(sidecar)
    try:
        process = await start_process(build_lerim_launch(["worker", *arguments], jobs.executable, environ), jobs.home)
    except OSError as error:
        raise JobError(f"The test could not be started: {error_reason(error)}.", where=jobs.executable) from error
    jobs.one_off_processes.add(process)
    try:
        result = await _read_result(sidecar, process)
    finally:
        jobs.one_off_processes.discard(process)
        if process.returncode is None:
            await kill_and_wait(process, environ)
    if not isinstance(result, result_type | FailureLine):
        raise JobError("The output of the test was not understood.", todo="See Lerim: Show Log.")
    return result


async def _read_result(
    sidecar: Sidecar, process: asyncio.subprocess.Process
) -> ModelTestLine | SessionTrialLine | FailureLine:
    """Reads the result of the process. Its questions go to the editor, like those of a sync the person started."""
    assert process.stdout is not None
    decoder = msgspec.json.Decoder(JobLine)
    result: ModelTestLine | SessionTrialLine | FailureLine | None = None
    questions = JobQuestions(sidecar.jobs.ask_editor, True, lambda answer: send_line(process, answer))
    try:
        async for raw in process.stdout:
            line: JobLine = decoder.decode(raw)
            if isinstance(line, ModelTestLine | SessionTrialLine | FailureLine):
                result = line
            elif isinstance(line, EditorQuestion | EditorCancellation):
                questions.handle_line(line)
    except (ValueError, msgspec.MsgspecError) as error:  # nothing of ours prints such a line
        raise JobError("The output of the test was not understood.", todo="See Lerim: Show Log.") from error
    finally:
        questions.cancel_all()
    code = await process.wait()
    return result or FailureLine("job", f"The test ended without an answer (exit code {code}).")
