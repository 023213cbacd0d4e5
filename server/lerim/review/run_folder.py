"""Run folders: a record of what one sync or maintain run found and did, for people who want to look.

A sync run writes `.lerim/workspace/sync-YYYYMMDD-HHMMSS-<6hex>/` with `extract.json`, `summary.json`,
`memory_actions.json` and `session.log`. A maintain run writes `maintain-…` with `maintain_actions.json`. A run that did
nothing leaves no folder, and undo does not need it.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR
from typing import Literal, TypeAlias

import msgspec

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.extraction import Candidate, DroppedSignal, Withdrawal
from lerim.files import encode_writable_json, open_directory
from lerim.models import ModelStep, RoleUsage, describe_spent, describe_step
from lerim.redaction import redact_json, redact_secrets
from lerim.review.review_paths import ReviewPaths

MAX_KEPT_RUNS = 50
MAX_FILE_BYTES = 16_000_000
_FOLDER_NAME = re.compile(r"(?:sync|maintain)-(\d{8}-\d{6})-[0-9a-f]{6}")
ExtractionResult: TypeAlias = Candidate | DroppedSignal | Withdrawal
_OUTCOME_NAMES: Mapping[type, str] = {Candidate: "candidate", DroppedSignal: "dropped", Withdrawal: "withdrawn"}
_NOT_WRITTEN = ("candidate", "score", "features")
"""Fields of a dropped signal that are not written: the review ledger keeps the candidate, and the values used for
ranking stay in the person's home."""


class MemoryAction(msgspec.Struct, frozen=True):
    """What was done with one candidate.

    `action`: proposed-add, proposed-update, accepted, blocked, known or withdrawn. `id` is the candidate's id, `memory`
    the id of the memory concerned, and `undo` the id of the action to undo.
    """

    action: str
    id: str
    title: str
    memory: str = ""
    undo: str = ""
    reason: str = ""


class MaintainAction(msgspec.Struct, frozen=True):
    """What a maintain run did about one thing it found.

    `action`: repaired, proposed-<what>, accepted-<what> or withdrawn-<what>, where <what> is merge, archive,
    consolidate, refer or close. `memories` are the ids of the memories concerned, `id` is the candidate's id, and
    `undo` the id of the action to undo.
    """

    action: str
    title: str
    reason: str
    memories: list[str] = []
    id: str = ""
    undo: str = ""


class MaintainActionsFile(msgspec.Struct, frozen=True):
    """The content of `maintain_actions.json`. `counts` is `MaintainReport.counts` plus the number of actions that were
    `proposed` and `accepted`."""

    counts: dict[str, int]
    actions: list[MaintainAction]


class SummaryAction(msgspec.Struct, frozen=True):
    """What was done with the summary of one session.

    `action`: written, updated, or theirs (left unchanged because a person had edited the file). `maker` is "rules" or
    the label of the model that wrote the summary.
    """

    action: str
    session: str
    platform: str
    title: str
    path: str
    maker: str


@dataclass(slots=True)
class RunFolder:
    """Collects what one sync or maintain run did. `write` creates the folder, which is named after the time when the
    run `started`.

    `counts` are those of a maintain run. `spent` is the usage of models, by role; `steps` are irregular events while
    they were asked. `lead_log` has the decisions of the lead, and `explorer_log` what the explorer looked up for
    them, both without control characters.
    """

    paths: ReviewPaths
    started: datetime
    extracted: list[ExtractionResult] = field(default_factory=list)
    actions: list[MemoryAction] = field(default_factory=list)
    summaries: list[SummaryAction] = field(default_factory=list)
    maintain_actions: list[MaintainAction] = field(default_factory=list)
    counts: Mapping[str, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    lead_log: list[str] = field(default_factory=list)
    explorer_log: list[str] = field(default_factory=list)
    spent: Sequence[RoleUsage] = ()
    steps: Sequence[ModelStep] = ()
    kind: Literal["sync", "maintain"] = "sync"

    def note(self, line: str) -> None:
        """Adds a line to `session.log`. It must not contain text of a transcript."""
        self.log.append(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(line.split())}")

    def write(self) -> Path | None:
        """Writes the folder and deletes all but the latest `MAX_KEPT_RUNS`. Returns its path, or None if there is
        nothing to record. Claims that merely ranked too low do not count, since most sessions have some.

        Raises MemoryError_, BoundaryError.
        """
        extracted = [
            one for one in self.extracted if not (isinstance(one, DroppedSignal) and one.reason == "below-the-cut")
        ]
        if not (extracted or self.actions or self.summaries or self.maintain_actions or self.lead_log):
            return None
        workspace = self.paths.state / "workspace"
        self.paths.make_state_folder()
        name = f"{self.kind}-{self.started.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        folder = workspace / name
        files.make_folder(folder, anchor=self.paths.state_anchor)
        if self.kind == "sync":  # a maintain run has its usage in the log only
            usage_rows = [_usage_row(one) for one in self.spent]
            steps = [{"outcome": "step", **msgspec.structs.asdict(step)} for step in self.steps]
            self._write(
                folder / "extract.json", [*(_extracted_row(item) for item in self.extracted), *usage_rows, *steps]
            )
        self._write(folder / "summary.json", self.summaries)
        self._write(folder / "memory_actions.json", self.actions)
        if self.maintain_actions:
            action_counts = Counter(one.action.partition("-")[0] for one in self.maintain_actions)
            counted = {name: action_counts[name] for name in ("proposed", "accepted") if action_counts[name]}
            self._write(
                folder / "maintain_actions.json", MaintainActionsFile({**counted, **self.counts}, self.maintain_actions)
            )
        for name, lines in (("agent.log", self.lead_log), ("subagents.log", self.explorer_log)):
            if lines:
                self._create(folder / name, redact_secrets("\n".join(lines)).text + "\n")
        log = [*self.log, *map(describe_spent, self.spent), *map(describe_step, self.steps)]
        if log:
            self._create(folder / "session.log", redact_secrets("\n".join(log)).text + "\n")
        _remove_oldest(workspace, self.paths.state_anchor)
        return folder

    def _write(self, path: Path, content: Sequence[object] | MaintainActionsFile) -> None:
        if content:
            self._create(path, _redacted_json(content))

    def _create(self, path: Path, text: str) -> None:
        files.create_file(path, text, anchor=self.paths.state_anchor)


def _redacted_json(content: object) -> str:
    return redact_json(msgspec.json.format(encode_writable_json(content)).decode()) + "\n"


def add_memory_actions(folder: Path, actions: Sequence[MemoryAction]) -> None:
    """Adds actions to `memory_actions.json` in an existing run folder. Raises MemoryError_."""
    path = folder / "memory_actions.json"
    try:
        before = msgspec.json.decode(files.read_text(path, MAX_FILE_BYTES), type=list[MemoryAction])
    except NotFoundError:
        before = []
    except msgspec.MsgspecError as error:
        raise MemoryError_(f"It is not a list of actions: {error}.", where=str(path), todo="Delete it.") from error
    files.replace_file(path, _redacted_json([*before, *actions]))


def _extracted_row(item: ExtractionResult) -> dict[str, object]:
    names = (one.name for one in fields(item) if one.name not in _NOT_WRITTEN)
    return {"outcome": _OUTCOME_NAMES[type(item)], **{name: getattr(item, name) for name in names}}


def _usage_row(spent: RoleUsage) -> dict[str, object]:
    return {"outcome": "asked", "role": spent.role, "model": spent.model, **msgspec.structs.asdict(spent.usage)}


def list_run_folders(paths: ReviewPaths) -> list[Path]:
    """Returns the existing run folders, the oldest first. A folder whose name is not the time of a run is left out:
    it may have been committed to the repository by anybody."""
    workspace = paths.state / "workspace"
    now = datetime.now(UTC)
    try:
        found = [
            (start, path)
            for path in workspace.iterdir()
            if (start := parse_run_start(path.name)) is not None and start <= now and not path.is_symlink()
        ]
    except OSError:
        return []
    return [path for _, path in sorted(found)]


def parse_run_start(name: str) -> datetime | None:
    """Returns when the run with this folder name started, or None if the name is not that of a run folder."""
    found = _FOLDER_NAME.fullmatch(name)
    try:
        return None if found is None else datetime.strptime(found[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _remove_oldest(workspace: Path, anchor: Path) -> None:
    # A folder that cannot be deleted now is deleted after the next run.
    with suppress(OSError, BoundaryError), open_directory(workspace, anchor) as directory:
        found = [
            (status.st_mtime_ns, name.partition("-")[2], name)  # names alone could come from the repository
            for name in directory.list_names()
            if _FOLDER_NAME.fullmatch(name) and S_ISDIR((status := directory.stat(name)).st_mode)
        ]
        for *_, name in sorted(found)[:-MAX_KEPT_RUNS]:
            shutil.rmtree(directory.os_path(name), ignore_errors=True, dir_fd=directory.handle)


def try_write_run(run: RunFolder) -> tuple[Path | None, list[Problem]]:
    """Calls `run.write()`, but returns a problem instead of raising if the folder cannot be written. The candidates
    are already saved elsewhere."""
    try:
        return run.write(), []
    except (MemoryError_, BoundaryError) as error:
        return None, [error.problem(code="run-folder")]
