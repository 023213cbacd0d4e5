"""`lerim status`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    AliasOption,
    JsonOption,
    RepoOption,
    get_from_server,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.memory import MemorySearch
from lerim.models import (
    ModelView,
    WaitReason,
    describe_spent,
    describe_waiting,
    format_dollars,
    summarize_steps,
)
from lerim.review import LastRun
from lerim.times import format_moment
from lerim.views import DRIFT_LABELS, ProjectContext, StatusOutput, load_status


@with_error_exit
def status_command(
    repo: RepoOption = CURRENT_FOLDER,
    alias: AliasOption = [],  # noqa: B006 - typer reads it and never writes it
    as_json: JsonOption = False,
) -> None:
    """Show the state of this repository: sessions, candidates and memories. Changes nothing."""
    context = open_command_context(repo, alias)
    view = get_from_server(context.home, ["status"], StatusOutput, project=context.project) or _load_status(context)
    if as_json:
        output.show_json(view)
        return
    memories = ", ".join(output.pluralize(count, primitive) for primitive, count in view.memories.items()) or "none"
    drift = ", ".join(f"{count} {DRIFT_LABELS.get(state, state)}" for state, count in view.drift.items())
    output.show_table(
        ("", ""),
        (
            ("repository", f"{view.project.name} ({view.project.root})"),
            ("memories", memories),
            *([("changed since", drift)] if drift else ()),
            ("waiting for review", str(view.candidates)),
            ("rejected, found again", str(view.blocked)),
            *_session_rows(view),
            *_model_rows(view.model, view.last_run),
            *([("server", f"{view.server.origin} (process {view.server.pid})")] if view.server else ()),
        ),
    )
    told = context.problems
    output.print_problems([*(one for one in view.problems if one not in told), *view.model.problems])


def _load_status(context: ProjectContext) -> StatusOutput:
    with MemorySearch(context.project, context.home) as search:
        view = load_status(context, datetime.now().astimezone(), search)
    return msgspec.structs.replace(view, problems=[*context.problems, *view.problems])


def _session_rows(view: StatusOutput) -> Iterator[tuple[str, str]]:
    if not view.sessions:
        yield "sessions", "none known that ran in this repository; `lerim sync` looks for them"
        return
    yield "sessions", f"{view.sessions}, {f'{view.waiting} not read to the end' if view.waiting else 'all read'}"
    if view.last_session:
        yield "newest session", format_moment(view.last_session)


def _model_rows(model: ModelView, last: LastRun) -> Iterator[tuple[str, str]]:
    """Yields the table rows about the model and about the `last` run that called one."""
    if model.provider == "none" and model.waits.why == "none":
        yield "model", "none; choose one with `lerim model use`"
        return
    yield (
        "model",
        model.model
        or (
            "none is used; the warnings say why"
            if model.problems
            else f"{model.provider}; the next sync finds out which"
        ),
    )
    if model.spent or model.waits.cost is not None:
        limit = f" of ${model.budget_usd:.2f}" if model.budget_usd else ", no limit"
        yield "spent today", f"{format_dollars(model.today_usd)}{limit}"
    for one in last.spent:
        yield "last called", describe_spent(one)
    for line in summarize_steps(last.steps):
        yield "", line
    if model.waits.sessions:
        yield "for the model", f"{describe_waiting(model.waits)}{_WAIT_SUFFIXES[model.waits.why]}"


_WAIT_SUFFIXES: dict[WaitReason, str] = {
    "": "",
    "consent": "; you have not approved it yet",
    "budget": "; today's budget is used up",
    "none": "",
    "gone": "; it cannot be used now",
}
