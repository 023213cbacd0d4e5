"""The runs of a project: what each sync and maintenance found, did and cost."""

from __future__ import annotations

from typing import Annotated

import msgspec

from lerim.review import RunDetails, RunView, list_runs, load_run
from lerim.web.api.operations import Call, Operation


class RunsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs: `limit` of them from number `start` on, the newest being number 0."""

    start: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50


class RunListOutput(msgspec.Struct, frozen=True):
    """Some runs, and how many there are in all."""

    runs: list[RunView]
    total: int


def show_runs(call: Call, query: RunsQuery) -> RunListOutput:
    """Returns the runs, the newest first, and which models were asked in each."""
    return RunListOutput(*list_runs(call.review_paths(), query.start, query.limit))


def show_run(call: Call) -> RunDetails:
    """Returns what one run did, with its logs."""
    return load_run(call.review_paths(), call.path["run"])


operations = [
    Operation("GET", "/projects/{project}/runs", "List the runs", show_runs),
    Operation("GET", "/projects/{project}/runs/{run}", "Show a run", show_run),
]
