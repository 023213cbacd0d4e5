"""Plans the changes of `lerim export`. A plan depends only on the memories, the files read and the agents used here.

A file that a person has edited between our markers is planned separately, because writing it would lose the edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lerim.errors import Problem
from lerim.export.choosing import LeftOutMemory, RuleMemory, find_text_reason, fit_memories, leave_out
from lerim.export.managed_block import BLOCK_HEAD, DamagedMarkers, find_block, hash_lines, remove_block, set_block
from lerim.export.project_files import AGENTS, CODE, ProjectFiles
from lerim.export.rule_files import (
    find_rule_format,
    fit_rule_file,
    group_by_area,
    has_same_rules,
    make_rule_path,
    name_areas,
    parse_rule_file,
    render_rule_file,
)
from lerim.export.start_files import choose_rule_formats, choose_start_file, describe_unserved
from lerim.files import FileUpdate
from lerim.sessions import Platform

MARKER_LINES = ("<!-- lerim:begin v1 sha=000000000000 -->", "<!-- lerim:end -->")
BLOCK_REASON = "What agents should always know."
RULES_REASON = "What agents should know in this folder."
REMOVAL_REASON = "Everything that Lerim wrote is removed."
CODEX_LIMIT = 32 * 1024
"""Codex reads at most this many bytes of AGENTS.md and ignores the rest."""


@dataclass(frozen=True, slots=True)
class HandEditedFile:
    """A file that somebody edited since Lerim wrote it: the block in it, or the whole file if it is Lerim's own.
    `edit` restores it to Lerim's text. `lines` are the current lines; the first one has the line number
    `first_line`."""

    path: str
    edit: FileUpdate
    lines: tuple[str, ...]
    first_line: int


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """The changes that an export would make, and those that it would not.

    `edits` are in the order in which they are made. `hand_edited` files are written only once the edits in them have
    become candidates. `written` are the memories in files, `left_out` the memories in no file. `unserved` has a
    sentence for each agent used here that reads none of these files, which says how it could read them.
    """

    edits: tuple[FileUpdate, ...] = ()
    hand_edited: tuple[HandEditedFile, ...] = ()
    written: tuple[str, ...] = ()
    left_out: tuple[LeftOutMemory, ...] = ()
    unserved: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def without_new_files(self) -> ExportPlan:
        """Returns the plan with only those edits that change files that Lerim has already written."""
        before = [(edit, edit.before or "") for edit in self.edits]
        return replace(self, edits=tuple(edit for edit, text in before if find_block(text) or parse_rule_file(text)))


def plan_export(memories: Iterable[RuleMemory], found: ProjectFiles, used: frozenset[Platform]) -> ExportPlan:
    """Plans the files that contain these memories, all of which must be memories that agents may be given."""
    reasons = [(memory, find_text_reason(memory.record)) for memory in memories]
    good = [memory for memory, reason in reasons if reason is None]
    left_out = [leave_out(memory, reason) for memory, reason in reasons if reason is not None]
    formats = choose_rule_formats(found, used)
    groups = group_by_area(good) if formats else {"": good}
    start = choose_start_file(found, used)
    chosen, no_room = fit_memories(groups.pop("", []), (*MARKER_LINES, *BLOCK_HEAD))
    left_out += no_room
    written = [one.record.id for one in chosen]
    rule_texts: dict[str, str] = {}
    names = name_areas(groups)
    for area, members in groups.items():
        fitting = fit_rule_file(area, members)
        written += [one.record.id for one in fitting]
        left_out += [leave_out(one, "no-room") for one in members if one.record.id not in written]
        for format in formats:
            rule_texts[make_rule_path(format, names[area])] = render_rule_file(format, area, fitting)
    collected = _Collected(found)
    collected.add_blocks(start.path, [*BLOCK_HEAD, *(one.line for one in chosen)] if chosen else None)
    collected.add_rule_files(rule_texts)
    return ExportPlan(
        tuple(collected.edits),
        tuple(collected.hand_edited),
        tuple(written),
        tuple(left_out),
        tuple(describe_unserved(found, used, start)) if chosen else (),
        (*found.problems, *collected.problems, *_warn_of_size(found, collected.edits)),
    )


def plan_removal(found: ProjectFiles) -> ExportPlan:
    """Plans the removal of everything that Lerim has written; the files are then as they were before."""
    collected = _Collected(found)
    collected.add_blocks("", None)
    collected.add_rule_files({})
    return ExportPlan(
        tuple(collected.edits), tuple(collected.hand_edited), problems=(*found.problems, *collected.problems)
    )


class _Collected:
    """The edits of a plan while it is made."""

    def __init__(self, found: ProjectFiles) -> None:
        self._found = found
        self.edits: list[FileUpdate] = []
        self.hand_edited: list[HandEditedFile] = []
        self.problems: list[Problem] = []

    def add_blocks(self, start: str, lines: Sequence[str] | None) -> None:
        """Adds the edits that make these lines the block of the file `start` (None: no block), and take the block out
        of all other files."""
        names = [name for name in self._found.texts if find_rule_format(name) is None]
        for name in dict.fromkeys((*names, *([start] if start and lines is not None else []))):
            if not self._found.is_locked(name):
                self._add_block(name, lines if name == start else None)

    def _add_block(self, name: str, lines: Sequence[str] | None) -> None:
        text = self._found.texts.get(name)
        block = find_block(text) if text is not None else None
        if isinstance(block, DamagedMarkers):
            message = f"Lerim's markers are damaged, so nothing is written: in line {block.line}, {block.message}."
            self.problems.append(Problem(CODE, str(self._found.root / name), f"{message} Correct or delete them."))
            return
        if block is None and lines is None:
            return
        if block is not None and lines is not None and block.is_intact and sorted(block.lines) == sorted(lines):
            return  # at most their order would change
        after = set_block(text, lines) if lines is not None else remove_block(text or "")
        edit = self._make_edit(name, text, after, BLOCK_REASON if lines else REMOVAL_REASON)
        is_ours = block is None or block.is_intact or (lines is not None and sorted(block.lines) == sorted(lines))
        if is_ours:
            self.edits.append(edit)
        elif block is not None:
            self.hand_edited.append(HandEditedFile(name, edit, block.lines, block.first_line))

    def add_rule_files(self, wanted: dict[str, str]) -> None:
        """Adds the edits that write these rules files, by path, and that remove all other rules files of Lerim."""
        for name, text in self._found.texts.items():
            parsed = parse_rule_file(text) if find_rule_format(name) is not None else None
            if parsed is None or self._found.is_locked(name):
                continue
            after = wanted.get(name)
            if after is not None and has_same_rules(text, after):
                continue
            edit = self._make_edit(name, text, after, RULES_REASON if after else REMOVAL_REASON)
            if parsed.is_intact:
                self.edits.append(edit)
            else:
                self.hand_edited.append(HandEditedFile(name, edit, parsed.lines, parsed.first_line))
        for name, text in wanted.items():
            if name not in self._found.texts and not self._found.is_locked(name):
                self.edits.append(self._make_edit(name, None, text, RULES_REASON))
            elif name in self._found.texts and parse_rule_file(self._found.texts[name]) is None:
                message = "Lerim would write a file with this name, but did not write this one, so it was not changed."
                self.problems.append(Problem(CODE, str(self._found.root / name), f"{message} Rename it."))

    def _make_edit(self, name: str, before: str | None, after: str | None, reason: str) -> FileUpdate:
        return FileUpdate(self._found.root / name, before, after, reason, self._found.root)


def _warn_of_size(found: ProjectFiles, edits: Sequence[FileUpdate]) -> Iterator[Problem]:
    for edit in edits:
        if edit.path == found.root / AGENTS and edit.after is not None and len(edit.after.encode()) > CODEX_LIMIT:
            message = "Codex reads only the first 32 KiB of this file and will not see its end. Shorten it."
            yield Problem(CODE, str(edit.path), message)


def make_stamp(plan: ExportPlan) -> str:
    """Returns a stamp that identifies the edits of a plan. It changes if a file or a memory does."""
    parts = [
        f"{edit.path}\0{edit.before is None}\0{edit.before}\0{edit.after is None}\0{edit.after}"
        for edit in (*plan.edits, *(one.edit for one in plan.hand_edited))
    ]
    return hash_lines(parts)
