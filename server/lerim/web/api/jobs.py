"""Syncs, maintenance and questions: what takes time, with its progress as events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from starlette.concurrency import run_in_threadpool

from lerim.assistant import Answer, AnswerLine, Question, Sentence, SentenceEvent
from lerim.config import SETTING_CHECKS
from lerim.errors import UsageError
from lerim.jobs import SyncOptions, find_sync_elsewhere, with_settings
from lerim.memory import QuoteChoice
from lerim.views import ProjectContext
from lerim.web.api.memories import ShortText, parse_query_time
from lerim.web.api.operations import Call, Operation
from lerim.web.running_jobs import WorkEvent, WorkKind


class SyncBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `lerim sync`; the settings apply where an option is left out. `since` and `until` are times such
    as `14d` or `2026-07-01`. A candidate of at least the confidence `accept_above` is accepted without review."""

    since: ShortText = ""
    until: ShortText = ""
    accept_above: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    quotes: QuoteChoice | None = None
    model: Literal["auto", "none"] = "auto"
    guidance: str = ""


class MaintainBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`dry_run`: say what would be proposed, and write nothing."""

    dry_run: bool = False


class StartedOutput(msgspec.Struct, frozen=True):
    """Whether this request started the work. If not, it was running already; its events can be followed."""

    started: bool


class CancelledOutput(msgspec.Struct, frozen=True):
    """Whether there was work of this server to cancel."""

    cancelled: bool


class QuestionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, as of `lerim ask`. `everything` includes memories that ended or whose code has changed."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
    use_model: bool = True
    everything: bool = False


async def start_sync(call: Call, body: SyncBody) -> StartedOutput:
    """Starts a sync of a project with these options, unless one is running in any process."""
    context = await run_in_threadpool(call.context)
    options = await run_in_threadpool(_make_sync_options, context, body)
    if await run_in_threadpool(find_sync_elsewhere, call.home, context.project.key):
        return StartedOutput(False)
    return StartedOutput(call.served.work.start("sync", context.project, explicit=True, options=options))


def _make_sync_options(context: ProjectContext, body: SyncBody) -> SyncOptions:
    """Returns the options that a request gives. Raises UsageError."""
    try:
        guidance = str(SETTING_CHECKS["extract.guidance"](body.guidance))
    except ValueError as error:
        raise UsageError(f"{error}.", where="guidance") from error
    given = SyncOptions(
        since=parse_query_time(body.since, "since"),
        until=parse_query_time(body.until, "until"),
        accept_above=body.accept_above,
        quotes=body.quotes,
        model=body.model,
        guidance=guidance,
    )
    return with_settings(given, context.settings, context.review_paths.store().quotes, datetime.now(UTC))


def follow_sync(call: Call) -> AsyncGenerator[WorkEvent]:
    """Yields the progress of the sync that runs, in any process, and the report of the server's latest one."""
    return call.served.work.follow("sync", call.context().project)


async def cancel_sync(call: Call) -> CancelledOutput:
    """Cancels the sync of this server. The next one continues where it stopped."""
    return await _cancel(call, "sync")


async def start_maintenance(call: Call, body: MaintainBody) -> StartedOutput:
    """Starts maintaining a project's memories, unless the server does so already."""
    context = await run_in_threadpool(call.context)
    started = call.served.work.start("maintain", context.project, explicit=True, dry_run=body.dry_run)
    return StartedOutput(started)


def follow_maintenance(call: Call) -> AsyncGenerator[WorkEvent]:
    """Yields the progress of the maintenance that is running, and the report of the latest one."""
    return call.served.work.follow("maintain", call.context().project)


async def cancel_maintenance(call: Call) -> CancelledOutput:
    """Cancels the maintenance of this server."""
    return await _cancel(call, "maintain")


async def _cancel(call: Call, kind: WorkKind) -> CancelledOutput:
    context = await run_in_threadpool(call.context)
    return CancelledOutput(call.served.work.cancel(kind, context.project))


def ask(call: Call, body: QuestionBody) -> AsyncGenerator[SentenceEvent | AnswerLine]:
    """Yields each sentence of an answer when it is complete, and then the whole answer with its sources."""
    project = call.context().project
    if not body.text.strip():
        raise UsageError("The question is empty.", where="text", todo="Write one.")
    question = Question(body.text, "auto" if body.use_model else "none", body.everything)
    return _answer(call, project.root, question)


async def _answer(call: Call, root: Path, question: Question) -> AsyncGenerator[SentenceEvent | AnswerLine]:
    sentences: asyncio.Queue[Sentence | None] = asyncio.Queue()
    task: asyncio.Task[Answer] = asyncio.create_task(
        call.served.work.processes.ask(root, question, sentences.put_nowait)
    )
    task.add_done_callback(lambda _task: sentences.put_nowait(None))
    try:
        while (sentence := await sentences.get()) is not None:
            yield SentenceEvent(sentence)
        yield AnswerLine(await task)
    finally:
        if not task.done():  # nobody waits for the answer any more
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


_PROJECT = "/projects/{project}"
operations = [
    Operation("POST", f"{_PROJECT}/sync", "Start a sync", start_sync),
    Operation("GET", f"{_PROJECT}/sync/events", "Follow a sync", follow_sync),
    Operation("POST", f"{_PROJECT}/sync/cancel", "Cancel a sync", cancel_sync),
    Operation("POST", f"{_PROJECT}/maintain", "Start maintenance", start_maintenance),
    Operation("GET", f"{_PROJECT}/maintain/events", "Follow maintenance", follow_maintenance),
    Operation("POST", f"{_PROJECT}/maintain/cancel", "Cancel maintenance", cancel_maintenance),
    Operation("POST", f"{_PROJECT}/ask", "Ask a question", ask),
]
