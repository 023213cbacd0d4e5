"""Reads run folders: what a sync or maintain run found, did and cost (`run_folder.py` writes them)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.models import ModelStep, RoleUsage
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
from lerim.times import format_utc

MAX_LOG_CHARACTERS = 200_000
_LOG_NAMES = ("session.log", "agent.log", "subagents.log")
T = TypeVar("T")


class RunView(msgspec.Struct, frozen=True):
    """One run: the name of its folder, its kind, when it started (ISO 8601 UTC), and the usage of models by role.
    For a maintain run, only the log has that usage."""

    name: str
    kind: Literal["sync", "maintain"]
    started: str
    spent: list[RoleUsage]


class RunLog(msgspec.Struct, frozen=True):
    """The text of one log of a run. `cut` is the number of characters that were left out at its end."""

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


class LastRun(msgspec.Struct, frozen=True):
    """The usage and the model steps of one run that asked a model. `run` is the path of its folder."""

    run: str = ""
    spent: list[RoleUsage] = []
    steps: list[ModelStep] = []


class _Extracted(NamedTuple):
    """The content of `extract.json`, without the text of what was extracted."""

    outcomes: Mapping[str, int] = {}
    spent: Sequence[RoleUsage] = ()
    steps: Sequence[ModelStep] = ()


def list_runs(paths: ReviewPaths, start: int, limit: int) -> tuple[list[RunView], int]:
    """Returns the runs from index `start` on, the newest first, and the total number of runs. If the folder of a run
    cannot be read, its usage is unknown and left empty."""
    folders = list_run_folders(paths)[::-1]
    shown = folders[start : start + limit]
    return [_make_run(folder, _read_extracted(folder, []).spent) for folder in shown], len(folders)


def load_run(paths: ReviewPaths, name: str) -> RunDetails:
    """Returns what the run with this name recorded. Raises NotFoundError."""
    folder = next((one for one in list_run_folders(paths) if one.name == name), None)
    if folder is None:
        raise NotFoundError(f"There is no run {name[:80]!r}.", where=str(paths.state), todo="List the runs again.")
    problems: list[Problem] = []
    extracted = _read_extracted(folder, problems)

    def read_json(name: str, kind: type[T], missing: T) -> T:
        return _read_file(folder / name, partial(msgspec.json.decode, type=kind), missing, problems)

    logs = [_read_file(folder / name, partial(_cut_log, name), None, problems) for name in _LOG_NAMES]
    return RunDetails(
        run=_make_run(folder, extracted.spent),
        path=str(folder),
        outcomes=dict(extracted.outcomes),
        actions=read_json("memory_actions.json", list[MemoryAction], []),
        maintain_actions=read_json("maintain_actions.json", MaintainActionsFile, MaintainActionsFile({}, [])).actions,
        summaries=read_json("summary.json", list[SummaryAction], []),
        logs=[log for log in logs if log is not None],
        problems=problems,
    )


def find_last_model_run(paths: ReviewPaths) -> LastRun:
    """Returns the newest run that asked a model and extracted something; an empty `LastRun` if there is none.
    Folders whose `extract.json` is missing, unreadable or in another format are skipped."""
    for folder in reversed(list_run_folders(paths)):
        extracted = _read_extracted(folder, [])
        if extracted.spent or extracted.steps:
            return LastRun(str(folder), list(extracted.spent), list(extracted.steps))
    return LastRun()


def _make_run(folder: Path, spent: Sequence[RoleUsage]) -> RunView:
    started = parse_run_start(folder.name)
    assert started is not None  # list_run_folders leaves out other folders
    kind: Literal["sync", "maintain"] = "maintain" if folder.name.startswith("maintain-") else "sync"
    return RunView(folder.name, kind, format_utc(started), list(spent))


def _read_extracted(folder: Path, problems: list[Problem]) -> _Extracted:
    return _read_file(folder / "extract.json", _decode_extracted, _Extracted(), problems)


def _decode_extracted(text: str) -> _Extracted:
    rows = msgspec.json.decode(text, type=list[dict[str, object]])
    outcomes = Counter(str(row.get("outcome")) for row in rows)
    return _Extracted(
        {name: count for name, count in outcomes.items() if name not in ("asked", "step")},
        [msgspec.convert({**row, "usage": row}, RoleUsage) for row in rows if row.get("outcome") == "asked"],
        [msgspec.convert(row, ModelStep) for row in rows if row.get("outcome") == "step"],
    )


def _cut_log(name: str, text: str) -> RunLog:
    return RunLog(name, text[:MAX_LOG_CHARACTERS], max(0, len(text) - MAX_LOG_CHARACTERS))


def _read_file(path: Path, decode: Callable[[str], T], missing: T, problems: list[Problem]) -> T:
    """Returns the content of a file of a run. Returns `missing` if the file does not exist, or if it is unreadable,
    which also adds a problem."""
    try:
        return decode(files.read_text(path, MAX_FILE_BYTES))
    except NotFoundError:
        return missing
    except (MemoryError_, BoundaryError) as error:
        problems.append(error.problem())
    except msgspec.MsgspecError:
        problems.append(Problem("run-unreadable", str(path), "It was not written by this version of Lerim."))
    return missing
