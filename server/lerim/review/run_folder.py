"""The run folder of one sync or maintaining: what was found and what became of it, for people who want to look.

`.lerim/workspace/sync-YYYYMMDD-HHMMSS-<6hex>/` with `extract.json`, `summary.json`, `memory_actions.json` and
`session.log`; a maintaining's is `maintain-…`, with `maintain_actions.json`. A run that did nothing leaves no folder;
undoing never needs one.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISDIR
from typing import Literal, TypeAlias

import msgspec

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.extraction import Candidate, DroppedSignal, Withdrawal
from lerim.files import encode_writable_json, open_directory
from lerim.models import ModelStep, RoleUsage, Usage, describe_spent, describe_step
from lerim.redaction import redact_json, redact_secrets
from lerim.review.review_paths import ReviewPaths

KEPT_RUNS = 50
MOST_BYTES = 16_000_000
_NAME = re.compile(r"(?:sync|maintain)-\d{8}-\d{6}-[0-9a-f]{6}")
ExtractionResult: TypeAlias = Candidate | DroppedSignal | Withdrawal
OUTCOMES: Mapping[type, str] = {Candidate: "candidate", DroppedSignal: "dropped", Withdrawal: "withdrawn"}


class MemoryAction(msgspec.Struct, frozen=True):
    """What became of one candidate, as it was done on disk.

    `action`: proposed-add, proposed-update, accepted, blocked, known or withdrawn; `id` is the candidate, `memory` the
    memory concerned, `undo` the action that takes it back.
    """

    action: str
    id: str
    title: str
    memory: str = ""
    undo: str = ""
    reason: str = ""


class MaintainAction(msgspec.Struct, frozen=True):
    """What became of one thing a maintaining found, as it was done on disk.

    `action`: repaired, proposed-<what>, accepted-<what> or withdrawn-<what>, where <what> is merge, archive,
    consolidate, refer or close. `memories` are the ids concerned, `id` is the candidate, `undo` the action that takes
    it back.
    """

    action: str
    title: str
    reason: str
    memories: list[str] = []
    id: str = ""
    undo: str = ""


class MaintainActionsFile(msgspec.Struct, frozen=True):
    """`maintain_actions.json`. `counts`: how many of the actions were `proposed` and `accepted`, and what
    `MaintainReport.counts` tells besides."""

    counts: dict[str, int]
    actions: list[MaintainAction]


class SummaryAction(msgspec.Struct, frozen=True):
    """What became of the summary of one session, as it was done on disk.

    `action`: written, updated, or theirs where a person had edited the file and it was left alone. `maker` is "rules"
    or the label of the model that wrote it.
    """

    action: str
    session: str
    platform: str
    title: str
    path: str
    maker: str


@dataclass(slots=True)
class RunFolder:
    """Gathers what one sync or maintaining did; `write` makes the folder. `started` names it; `counts` are a
    maintaining's; `spent` is what asking models took, `steps` what did not go straight then; `agent` is what the lead
    decided, `subagents` what the explorer looked at for it, clean."""

    paths: ReviewPaths
    started: datetime
    extracted: list[ExtractionResult] = field(default_factory=list)
    actions: list[MemoryAction] = field(default_factory=list)
    summaries: list[SummaryAction] = field(default_factory=list)
    maintained: list[MaintainAction] = field(default_factory=list)
    counts: Mapping[str, int] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    agent: list[str] = field(default_factory=list)
    subagents: list[str] = field(default_factory=list)
    spent: Sequence[RoleUsage] = ()
    steps: Sequence[ModelStep] = ()
    kind: Literal["sync", "maintain"] = "sync"

    def note(self, line: str) -> None:
        """Add a line to `session.log`; no text of a transcript belongs here."""
        self.log.append(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(line.split())}")

    def write(self) -> Path | None:
        """Write the folder, keep the last fifty; None where nothing was extracted, done, summarized, maintained or
        decided. What only ranked too low makes no folder: most sessions have some of it.

        Raises MemoryError_, BoundaryError.
        """
        extracted = [
            one for one in self.extracted if not (isinstance(one, DroppedSignal) and one.reason == "below-the-cut")
        ]
        if not (extracted or self.actions or self.summaries or self.maintained or self.agent):
            return None
        workspace = self.paths.state / "workspace"
        self.paths.make_state()
        name = f"{self.kind}-{self.started.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        folder = workspace / name
        files.make_folder(folder, anchor=self.paths.state_anchor)
        if self.kind == "sync":  # what a maintaining asked stands in its log
            asked = [_asked(one) for one in self.spent]
            steps = [{"outcome": "step", **msgspec.structs.asdict(step)} for step in self.steps]
            self._write(folder / "extract.json", [*(_extracted(item) for item in self.extracted), *asked, *steps])
        self._write(folder / "summary.json", self.summaries)
        self._write(folder / "memory_actions.json", self.actions)
        if self.maintained:
            did = Counter(one.action.partition("-")[0] for one in self.maintained)
            told = {name: did[name] for name in ("proposed", "accepted") if did[name]}
            self._write(folder / "maintain_actions.json", MaintainActionsFile({**told, **self.counts}, self.maintained))
        for name, lines in (("agent.log", self.agent), ("subagents.log", self.subagents)):
            if lines:
                self._create(folder / name, redact_secrets("\n".join(lines)).text + "\n")
        log = [*self.log, *map(describe_spent, self.spent), *map(describe_step, self.steps)]
        if log:
            self._create(folder / "session.log", redact_secrets("\n".join(log)).text + "\n")
        _remove_oldest(workspace, self.paths.state_anchor)
        return folder

    def _write(self, path: Path, content: Sequence[object] | MaintainActionsFile) -> None:
        if content:
            self._create(path, _json(content))

    def _create(self, path: Path, text: str) -> None:
        files.create_file(path, text, anchor=self.paths.state_anchor)


def _json(content: object) -> str:
    return redact_json(msgspec.json.format(encode_writable_json(content)).decode()) + "\n"


def add_memory_actions(folder: Path, actions: Sequence[MemoryAction]) -> None:
    """Add to `memory_actions.json` of a run whose folder is written. Raises MemoryError_."""
    path = folder / "memory_actions.json"
    try:
        before = msgspec.json.decode(files.read_text(path, MOST_BYTES), type=list[MemoryAction])
    except NotFoundError:
        before = []
    except msgspec.MsgspecError as error:
        raise MemoryError_(f"It is not a list of actions: {error}.", where=str(path), todo="Delete it.") from error
    files.replace_file(path, _json([*before, *actions]))


def _extracted(item: ExtractionResult) -> dict[str, object]:
    told = asdict(item)
    told.pop("candidate", None)  # of what was dropped the review keeps it
    if isinstance(item, Candidate):  # what the ranking rests on stays in the person's home
        del told["score"], told["features"]
    return {"outcome": OUTCOMES[type(item)], **told}


def _asked(spent: RoleUsage) -> dict[str, object]:
    return {"outcome": "asked", "role": spent.role, "model": spent.model, **msgspec.structs.asdict(spent.usage)}


def list_run_folders(paths: ReviewPaths) -> list[Path]:
    """The run folders there are, oldest first."""
    workspace = paths.state / "workspace"
    try:
        return sorted(
            (path for path in workspace.iterdir() if _NAME.fullmatch(path.name) and not path.is_symlink()),
            key=lambda path: path.name.partition("-")[2],
        )
    except OSError:
        return []


class LastRun(msgspec.Struct, frozen=True):
    """What the newest run folder that asked a model says it took, and what did not go straight."""

    run: str = ""
    spent: list[RoleUsage] = []
    steps: list[ModelStep] = []


def find_last_model_run(paths: ReviewPaths) -> LastRun:
    """The newest run that asked a model and extracted something; an empty one where there is none. A folder that cannot
    be read, or that somebody else wrote, is passed over."""
    for folder in reversed(list_run_folders(paths)):
        try:
            items = msgspec.json.decode(
                files.read_text(folder / "extract.json", MOST_BYTES), type=list[dict[str, object]]
            )
            spent = [_spent(item) for item in items if item.get("outcome") == "asked"]
            steps = [msgspec.convert(item, ModelStep) for item in items if item.get("outcome") == "step"]
        except (MemoryError_, msgspec.MsgspecError):
            continue
        if spent or steps:
            return LastRun(str(folder), spent, steps)
    return LastRun()


def _spent(item: dict[str, object]) -> RoleUsage:
    named = msgspec.convert(item, _Named)
    return RoleUsage(named.role, named.model, msgspec.convert(item, Usage))


class _Named(msgspec.Struct):
    role: str
    model: str


def _remove_oldest(workspace: Path, anchor: Path) -> None:
    # what cannot go now goes after the next run
    with suppress(OSError, BoundaryError), open_directory(workspace, anchor) as held:
        found = [name for name in held.list_names() if _NAME.fullmatch(name) and S_ISDIR(held.stat(name).st_mode)]
        for name in sorted(found, key=lambda name: name.partition("-")[2])[:-KEPT_RUNS]:
            shutil.rmtree(held.os_path(name), ignore_errors=True, dir_fd=held.handle)


def try_write_run(run: RunFolder) -> tuple[Path | None, list[Problem]]:
    """`run.write()` for a sync whose candidates are safe already: a folder that cannot be written is a problem."""
    try:
        return run.write(), []
    except (MemoryError_, BoundaryError) as error:
        return None, [error.problem(code="run-folder")]
