"""Reads run folders: what a sync or maintain run found, did and cost (`run_folder.py` writes them)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.memory import format_time
from lerim.models import RoleUsage, Usage
from lerim.review.review_paths import ReviewPaths
from lerim.review.run_folder import (
    MAX_FILE_BYTES,
    MaintainAction,
    MaintainActionsFile,
    MemoryAction,
    SummaryAction,
    list_run_folders,
    parse_run_start,
)

MAX_LOG_CHARACTERS = 200_000
_LOG_NAMES = ("session.log", "agent.log", "subagents.log")
T = TypeVar("T")


class RunView(msgspec.Struct, frozen=True):
    """One run: the name of its folder, what kind it was, when it started (ISO 8601 UTC), and what models were asked. Of
    a maintain run, only the log says that."""

    name: str
    kind: Literal["sync", "maintain"]
    started: str
    spent: list[RoleUsage]


class RunLog(msgspec.Struct, frozen=True):
    """The text of a log of a run; `cut` is how many characters of its end were left out."""

    name: str
    text: str
    cut: int = 0


class RunDetails(msgspec.Struct, frozen=True):
    """Everything a run recorded. `outcomes` counts what was extracted: `candidate`, `dropped` or `withdrawn`.
    `problems` are the files that cannot be read."""

    run: RunView
    path: str
    outcomes: dict[str, int]
    actions: list[MemoryAction]
    maintain_actions: list[MaintainAction]
    summaries: list[SummaryAction]
    logs: list[RunLog]
    problems: list[Problem]


class _ExtractRow(msgspec.Struct, frozen=True):
    """A row of `extract.json`, without the text of what was extracted."""

    outcome: str
    role: str = ""
    model: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0


def list_runs(paths: ReviewPaths, start: int, limit: int) -> tuple[list[RunView], int]:
    """Returns the runs from index `start` on, the newest first, and how many there are. What a run cost is unknown, and
    left empty, if its folder cannot be read."""
    folders = list_run_folders(paths)[::-1]
    shown = folders[start : start + limit]
    return [_make_run(folder, _read_rows(folder, [])) for folder in shown], len(folders)


def load_run(paths: ReviewPaths, name: str) -> RunDetails:
    """Returns what the run with this name recorded. Raises NotFoundError."""
    folder = next((one for one in list_run_folders(paths) if one.name == name), None)
    if folder is None:
        raise NotFoundError(f"There is no run {name[:80]!r}.", where=str(paths.state), todo="List the runs again.")
    problems: list[Problem] = []
    rows = _read_rows(folder, problems)
    outcomes: dict[str, int] = {}
    for row in rows:
        if row.outcome not in ("asked", "step"):
            outcomes[row.outcome] = outcomes.get(row.outcome, 0) + 1
    return RunDetails(
        run=_make_run(folder, rows),
        path=str(folder),
        outcomes=outcomes,
        actions=_read_json(folder / "memory_actions.json", list[MemoryAction], [], problems),
        maintain_actions=_read_json(
            folder / "maintain_actions.json", MaintainActionsFile, MaintainActionsFile({}, []), problems
        ).actions,
        summaries=_read_json(folder / "summary.json", list[SummaryAction], [], problems),
        logs=[log for name in _LOG_NAMES if (log := _read_log(folder / name, problems)) is not None],
        problems=problems,
    )


def _make_run(folder: Path, rows: list[_ExtractRow]) -> RunView:
    kind = folder.name.partition("-")[0]
    started = parse_run_start(folder.name)
    assert started is not None  # list_run_folders leaves out other folders
    spent = [RoleUsage(row.role, row.model, _usage_of(row)) for row in rows if row.outcome == "asked"]
    return RunView(folder.name, "maintain" if kind == "maintain" else "sync", format_time(started), spent)


def _usage_of(row: _ExtractRow) -> Usage:
    tokens = (row.input_tokens, row.output_tokens, row.cached_tokens)
    return Usage(row.calls, *tokens, row.cost, row.unpriced, row.seconds)


def _read_rows(folder: Path, problems: list[Problem]) -> list[_ExtractRow]:
    return _read_json(folder / "extract.json", list[_ExtractRow], [], problems)


def _read_json(path: Path, kind: type[T], missing: T, problems: list[Problem]) -> T:
    """Returns the content of a file of a run; `missing` if there is none or, with a problem, if it cannot be read."""
    try:
        return msgspec.json.decode(files.read_text(path, MAX_FILE_BYTES), type=kind)
    except NotFoundError:
        return missing
    except (MemoryError_, BoundaryError) as error:
        problems.append(error.problem())
    except msgspec.MsgspecError:
        problems.append(Problem("run-unreadable", str(path), "It was not written by this version of Lerim."))
    return missing


def _read_log(path: Path, problems: list[Problem]) -> RunLog | None:
    try:
        text = files.read_text(path, MAX_FILE_BYTES)
    except NotFoundError:
        return None
    except (MemoryError_, BoundaryError) as error:
        problems.append(error.problem())
        return None
    return RunLog(path.name, text[:MAX_LOG_CHARACTERS], max(0, len(text) - MAX_LOG_CHARACTERS))
