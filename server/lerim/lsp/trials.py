"""Trying the chosen model: one tiny question, asked by a process with a job's environment."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from lerim.lsp import editor
from lerim.lsp.jobs import JobError, start, tell
from lerim.lsp.model_protocol import NoParams, TrialView
from lerim.lsp.questions import Questions
from lerim.models.editor import Ask, Unask
from lerim.process import kill, lerim
from lerim.worker import Failed, Line, Tried

if TYPE_CHECKING:
    from lerim.lsp.sidecar import Sidecar


async def tried(sidecar: Sidecar, _params: NoParams) -> TrialView:
    """Whether the chosen model answers. Cancelled, the process is killed.

    Raises JobError where it cannot be started.
    """
    sidecar.trust("Asking a model")
    jobs, environ = sidecar.jobs, editor.environ(sidecar)
    try:
        process = await start(lerim(["worker", "model"], jobs.executable, environ), jobs.home)
    except OSError as error:
        raise JobError(f"The test could not be started: {error.strerror}.", where=jobs.executable) from error
    jobs.trials.add(process)
    try:
        last = await _followed(sidecar, process)
    finally:
        jobs.trials.discard(process)
        if process.returncode is None:
            kill(process.pid, environ)
    if isinstance(last, Failed):
        return TrialView(ok=False, code=last.code, message=last.message.removesuffix(last.todo).strip())
    used = last.usage
    return TrialView(
        ok=True,
        model=last.model,
        message=f"{last.model} answered.",
        seconds=used.seconds,
        tokens=used.input_tokens + used.output_tokens,
        cost=used.cost if used.cost and not used.unpriced else None,
    )


async def _followed(sidecar: Sidecar, process: asyncio.subprocess.Process) -> Tried | Failed:
    """The last line of the process; its questions go to the editor, as those of a sync the person asked for."""
    assert process.stdout is not None
    decoder = msgspec.json.Decoder(Line)
    last: Tried | Failed | None = None
    questions = Questions(sidecar.jobs.asker, True, lambda answer: tell(process, answer))
    try:
        async for raw in process.stdout:
            line: Line = decoder.decode(raw)
            if isinstance(line, Tried | Failed):
                last = line
            elif isinstance(line, Ask | Unask):
                questions.take(line)
    except (ValueError, msgspec.MsgspecError) as error:  # nothing of ours prints such a line
        raise JobError("What the test said was not understood.", todo="See Lerim: Show Log.") from error
    finally:
        questions.end()
    code = await process.wait()
    return last or Failed("job", f"The test ended without an answer (exit code {code}).")
