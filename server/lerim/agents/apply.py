"""Carries out a plan in such a way that it can be undone, and that a kill at any moment leaves no unrecorded change.

For each file: its current text is copied to `backups/`, the record of what was installed is written, and then the
file is changed, but only if it still has the text that the plan was made for. The text from before our first change
is kept through all later ones.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import msgspec

from lerim import hook
from lerim.agents.launcher import install_launcher
from lerim.agents.model import AgentName
from lerim.agents.plan import AgentPlan, PlannedEdit, read_config
from lerim.agents.records import (
    MAX_AFTER,
    InstalledFile,
    has_backup,
    hold_records,
    load_records,
    save_records,
    write_backup,
)
from lerim.errors import LerimError, Problem
from lerim.files import FileUpdate, hash_text, make_edits
from lerim.paths import Home


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """The result of carrying out a plan: the edits made, the previous records of those files, and the files that
    could not be changed."""

    made: tuple[FileUpdate, ...]
    records_before: Mapping[str, InstalledFile | None]
    problems: tuple[Problem, ...]


def apply_plan(plan: AgentPlan, home: Home, *, root: PurePath | None = None) -> AppliedPlan:
    """Makes the edits of a plan, each independently: an edit that cannot be made is reported and does not stop the
    others.

    An installation first writes the programs that the agents start, and starts a background process that makes the
    hooks' index of the repository at `root`. Raises BusyError, SettingsError and MemoryError_ if the installation
    could not be started.
    """
    if plan.action == "install":
        _install_programs(plan, home, root)
    made: list[FileUpdate] = []
    records_before: dict[str, InstalledFile | None] = {}
    problems: list[Problem] = []
    with hold_records(home):
        records = load_records(home)
        now = time.time()
        folder_name = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
        for planned in (*plan.edits, *plan.unchanged):
            path = str(planned.edit.path)
            previous = records.get(path)
            try:
                if plan.action == "install":
                    is_made = _install(planned, home, records, folder_name, now)
                else:
                    is_made = _remove(planned, home, records, folder_name)
            except LerimError as error:
                problems.append(error.problem(path))
                continue
            if is_made:
                made.append(planned.edit)
                records_before[path] = previous
    return AppliedPlan(tuple(made), records_before, tuple(problems))


def undo_plan(applied: AppliedPlan, home: Home) -> None:
    """Undoes what was done, the last edit first, and its records.

    Raises StaleError if one of the files was changed since; then nothing is undone.
    """
    with hold_records(home):
        records = load_records(home)
        make_edits([edit.inverse() for edit in reversed(applied.made)])
        for edit in applied.made:
            path = str(edit.path)
            current = records.pop(path, None)
            previous = applied.records_before.get(path)
            if previous is not None:
                records[path] = previous
            elif current is not None:
                _remove_folders(current.folders, records)
        save_records(home, records)


def _install_programs(plan: AgentPlan, home: Home, root: PurePath | None) -> None:
    channels = {channel for planned in (*plan.edits, *plan.unchanged) for channel in planned.channels}
    if "mcp" in channels:
        install_launcher(home)
    if "hooks" in channels:
        hook.install_hook_program(home)
        if root is not None:
            hook.start_refresh(Path(root), home)


def _install(planned: PlannedEdit, home: Home, records: dict[str, InstalledFile], folder_name: str, now: float) -> bool:
    """Records and makes one edit; returns False if the file already has the text."""
    edit, path = planned.edit, str(planned.edit.path)
    previous = records.get(path)
    current = read_config(edit.path, edit.anchor)
    is_done = current == edit.after
    if not is_done:
        record = _make_record(planned, previous, home, folder_name, now)
    elif previous is not None:
        record = _with_agents(previous, planned.agents)
    else:
        # The entry was there before us, so only the entry is removed: the earlier text would bring it back.
        record = InstalledFile(planned.level, planned.agents, _hash(current), (_hash(current),), at=now)
    if record != previous:
        records[path] = record
        save_records(home, records)
    if is_done:
        return False
    try:
        return bool(make_edits([edit]))
    except LerimError:
        records.pop(path)
        if previous is not None:
            records[path] = previous
        save_records(home, records)
        raise


def _make_record(
    planned: PlannedEdit, previous: InstalledFile | None, home: Home, folder_name: str, now: float
) -> InstalledFile:
    """Backs up the current text and returns the record of an edit that is about to be made."""
    edit = planned.edit
    backup = write_backup(home, folder_name, edit.path.name, edit.before) if edit.before is not None else ""
    before, after = _hash(edit.before), _hash(edit.after)
    if previous is not None and has_backup(previous):
        is_as_written = before in (*previous.after, previous.before)
        # Once the person has changed the file, having one of our texts no longer means that it can be restored.
        written = (*(one for one in previous.after if one != after), after)[-MAX_AFTER:] if is_as_written else ()
        return _with_agents(msgspec.structs.replace(previous, after=written), planned.agents)
    folders = tuple(map(str, _list_missing_folders(edit)))
    agents = previous.agents if previous is not None else ()
    record = InstalledFile(planned.level, agents, before, (after,), backup, folders, now)
    return _with_agents(record, planned.agents)


def _remove(planned: PlannedEdit, home: Home, records: dict[str, InstalledFile], folder_name: str) -> bool:
    """Makes one removal and deletes the record of the file; an entry that other agents use stays, and so does its
    record. Returns False if the file already has the text."""
    edit, path = planned.edit, str(planned.edit.path)
    previous = records.get(path)
    is_done = read_config(edit.path, edit.anchor) == edit.after
    if not is_done and edit.before is not None:
        write_backup(home, folder_name, edit.path.name, edit.before)
        make_edits([edit])
    if previous is None:
        return not is_done
    others = tuple(agent for agent in previous.agents if agent not in planned.agents)
    if others:  # the entry that they use is still in the file
        records[path] = msgspec.structs.replace(previous, agents=others)
    else:
        del records[path]
        _remove_folders(previous.folders, records)
    save_records(home, records)
    return not is_done


def _with_agents(record: InstalledFile, agents: Sequence[AgentName]) -> InstalledFile:
    return msgspec.structs.replace(record, agents=tuple(dict.fromkeys((*record.agents, *agents))))


def _hash(text: str | None) -> str:
    return hash_text(text) if text is not None else ""


def _list_missing_folders(edit: FileUpdate) -> Sequence[Path]:
    """Returns the folders that will be made for a file, the outermost first."""
    path = edit.path if edit.anchor is not None else edit.path.resolve()
    missing = list(itertools.takewhile(lambda folder: not folder.exists(), path.parents))
    return missing[::-1]


def _remove_folders(folders: Sequence[str], records: dict[str, InstalledFile]) -> None:
    """Removes the folders that were made for a file. A folder with other files of ours is removed with the last of
    them; a folder with other content stays."""
    for folder in sorted(folders, key=len, reverse=True):
        heir = next((path for path in records if Path(path).is_relative_to(folder)), None)
        if heir is not None:
            records[heir] = msgspec.structs.replace(records[heir], folders=(folder, *records[heir].folders))
            continue
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
