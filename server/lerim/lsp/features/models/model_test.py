"""Tries the chosen model with one tiny question or one session, in a process with a job's environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lerim.jobs import FailureLine, ModelTestLine, SessionTrialLine
from lerim.lsp.protocol import ModelTestView, NoParams, ProposalView, RootParams, SessionTrialView
from lerim.lsp.window import JobError
from lerim.models import Usage

ResultLine = TypeVar("ResultLine", ModelTestLine, SessionTrialLine)

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar


async def try_model(sidecar: Sidecar, _params: NoParams) -> ModelTestView:
    """Tests whether the chosen model answers. Cancelling ends the process.

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
    """Compares what the chosen model and the rules find in one session. Cancelling ends the process.

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
    result = await sidecar.jobs.run_once(arguments, "test")
    if not isinstance(result, result_type | FailureLine):
        raise JobError("The output of the test was not understood.", todo="See Lerim: Show Log.")
    return result
