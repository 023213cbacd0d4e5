"""Candidate files: memories waiting in `review/`, in the memory file format with additional keys for the review.

Only this package reads them, and only those that this installation wrote.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar, get_args

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem, error_reason
from lerim.extraction import Signal, current_signal
from lerim.memory import (
    MAX_FILE_BYTES,
    MemoryRecord,
    Primitive,
    Store,
    StoredMemory,
    Yaml,
    examine_record,
    load_header,
    new_id,
    split_header,
)
from lerim.review.candidates.memory_texts import (
    accepted_record,
    linked_text,
    redacted_diff,
    text_with_references,
    updated_text,
)
from lerim.review.candidates.proposal import KEEPS, Maker, Proposal, ProposedAction, Target
from lerim.review.review_paths import ReviewPaths
from lerim.sessions import Platform


def load_candidate(paths: ReviewPaths, candidate_id: str, store: Store) -> Proposal:
    """Loads a waiting candidate by its id. Raises NotFoundError, MemoryError_, BoundaryError."""
    path = paths.candidate_path(candidate_id)
    return parse_candidate(files.read_text(path, MAX_FILE_BYTES, paths.state_anchor), path, store)


def free_candidate_id(paths: ReviewPaths, store: Store, title: str, day: date, taken: Collection[str]) -> str:
    """Returns an unused id for a new candidate: no memory and no candidate file has it, and it is not in `taken`."""

    def is_taken(name: str) -> bool:
        known = name in taken or store.path_of(name) is not None
        return known or not files.is_absent(paths.candidate_path(name))

    return new_id(title, day, is_taken)


def load_candidates(
    paths: ReviewPaths, known_ids: Collection[str], store: Store, unfinished_ids: Collection[str] = ()
) -> tuple[list[Proposal], list[Problem]]:
    """Returns the candidates in the review folder, the oldest turn first; see `list_candidate_ids`."""
    ids, problems = list_candidate_ids(paths, known_ids, unfinished_ids)
    found, more = load_each_candidate(paths, ids, store)
    found.sort(key=lambda proposal: (proposal.time, proposal.id))
    return found, [*problems, *more]


def list_candidate_ids(
    paths: ReviewPaths, known_ids: Collection[str], unfinished_ids: Collection[str] = ()
) -> tuple[list[str], list[Problem]]:
    """Returns the ids of the candidates in the review folder, in the order of their days: an id begins with the day of
    its turn.

    A file whose id is not in `known_ids` becomes a problem. `unfinished_ids` are skipped, because an action on them
    is still in progress.
    """
    found: list[str] = []
    problems: list[Problem] = []
    try:
        files.resolve_inside(paths.state_anchor, paths.review)
        names = sorted(
            name
            for name in os.listdir(paths.review)  # noqa: PTH208 - making hundreds of paths would take longer
            if name.endswith(".md") and name[0] != "."
        )
    except FileNotFoundError:
        return found, problems
    except BoundaryError as error:
        return found, [error.problem()]
    except OSError as error:
        return found, [Problem("folder-unreadable", str(paths.review), f"Cannot be listed: {error_reason(error)}.")]
    for name in names:
        candidate_id = name.removesuffix(".md")
        if candidate_id in unfinished_ids:
            continue
        if candidate_id not in known_ids:
            message = (
                "This candidate is unknown here and is ignored. If this repository was moved, run `lerim sync`, "
                "or name its old folder with `lerim project alias`; if the file came with the repository, delete it."
            )
            problems.append(Problem("foreign-candidate", files.path_to_text(paths.review / name), message))
            continue
        found.append(candidate_id)
    return found, problems


def load_each_candidate(paths: ReviewPaths, ids: Iterable[str], store: Store) -> tuple[list[Proposal], list[Problem]]:
    """Returns these candidates, without those decided in the meantime, and a problem for each that cannot be read."""
    found: list[Proposal] = []
    problems: list[Problem] = []
    for candidate_id in ids:
        try:
            found.append(load_candidate(paths, candidate_id, store))
        except NotFoundError:
            continue  # decided in the meantime
        except (MemoryError_, BoundaryError) as error:
            problems.append(error.problem(str(paths.review / f"{candidate_id}.md"), code="candidate-unreadable"))
    return found, problems


def parse_candidate(text: str, path: Path, store: Store, saved_text: str | None = None) -> Proposal:
    """Parses the text of a candidate file and compares it with the current state of its targets. `saved_text` is the
    text that the file has, if `text` differs from it. Raises MemoryError_."""
    return _with_current_targets(parse_candidate_alone(text, path, saved_text), store)


def parse_candidate_alone(text: str, path: Path, saved_text: str | None = None) -> Proposal:
    """Parses the text of a candidate file without the current state of its targets. Raises MemoryError_."""
    parts = split_header(text)
    fields = load_header(text[parts.start : parts.end], str(path)) if parts else {}
    memory, _ = examine_record(text, path, _choice_field(fields, "primitive", get_args(Primitive), path))
    from_session = "session" in fields
    platform, _, source_rest = memory.source.partition(":")
    platform_field = {"platform": fields.get("platform", platform)}
    action = _choice_field(fields, "action", get_args(ProposedAction), path)
    maker = _choice_field({"maker": fields.get("maker", "rules")}, "maker", get_args(Maker), path)
    signal_field: dict[str, Yaml] = {"signal": current_signal(_text_field(fields, "signal"))}
    time = fields.get("time")
    return Proposal(
        id=memory.id,
        record=memory,
        action=action,
        targets=tuple(Target(*one.partition("@")[::2]) for one in _list_field(fields, "targets")),
        reason=_text_field(fields, "reason"),
        maker=maker,
        session=_text_field(fields, "session"),
        turn=source_rest.rpartition("#")[2] if from_session else "",
        platform=_choice_field(platform_field, "platform", get_args(Platform), path) if from_session else None,
        time=time if isinstance(time, datetime) and time.tzinfo and not from_session else memory.created,
        signal=_choice_field(signal_field, "signal", get_args(Signal), path) if from_session else None,
        flags=_list_field(fields, "flags"),
        replaces=_list_field(fields, "replaces"),
        model_asked=fields.get("asked") == "model" or fields.get("maker") == "lead",
        edited=fields.get("status") == "edited",
        path=path,
        text=text,
        saved_text=text if saved_text is None else saved_text,
        overwrites_body=maker == "file" and action == "update",  # the person edited the memory's line
    )


def _with_current_targets(proposal: Proposal, store: Store) -> Proposal:
    """Returns the proposal with the current state of its targets. A session's candidate that has lost targets gets
    the action that fits the remaining ones, "add" if there are none."""
    target_memories: list[StoredMemory] = []
    remaining_targets: list[Target] = []
    for target in proposal.targets:
        try:
            stored = store.load_by_id(target.id)
        except NotFoundError:
            continue
        except (MemoryError_, BoundaryError):
            remaining_targets.append(target)  # the list of memories reports it, and accepting fails with it
            continue
        if stored.status == ("archived" if proposal.action == "add" else "active"):
            target_memories.append(stored)
            remaining_targets.append(target)
    lost_targets = tuple(one.id for one in proposal.targets if one not in remaining_targets)
    now = replace(
        proposal, targets=tuple(remaining_targets), target_memories=tuple(target_memories), lost_targets=lost_targets
    )
    if lost_targets and proposal.is_claim:
        records = [one.record for one in target_memories]
        kept = proposal.action in KEEPS and bool(records) and records[0].id == proposal.target
        action = choose_action(proposal.record.primitive, *((records[0], records[1:]) if kept else (None, records)))
        now = replace(now, action=action)
    elif lost_targets:
        min_targets = {"merge": 2, "consolidate": 2, "close": 2}.get(proposal.action, 1)
        now = replace(
            now,
            is_obsolete=len(remaining_targets) < min_targets
            or (proposal.action == "merge" and remaining_targets[0] != proposal.targets[0]),
        )
    with suppress(MemoryError_, BoundaryError):
        return replace(now, diff=_rewrite_diff(now, store))
    return now


def choose_action(primitive: str, kept: MemoryRecord | None, ended: Sequence[MemoryRecord]) -> ProposedAction:
    """Returns the action of a candidate that rewrites the memory `kept` (None: no memory) and ends the memories
    `ended`."""
    if kept is not None:
        return "merge" if any(one.primitive == kept.primitive for one in ended) else "update"
    if not ended:
        return "add"
    return "resolve" if primitive != "question" and all(one.primitive == "question" for one in ended) else "supersede"


def _rewrite_diff(proposal: Proposal, store: Store) -> str:
    kept = {"update": 0, "merge": 0, "refer": 0, "close": 1}.get(proposal.action)
    if kept is None or len(proposal.target_memories) <= kept or len(proposal.target_memories) < len(proposal.targets):
        return ""
    stored = proposal.target_memories[kept]
    before = store.read_text(stored.path)
    others = [one.record for one in proposal.target_memories if one is not stored]
    if proposal.action == "refer":
        after = text_with_references(before, stored.path, proposal.record.references)
    elif proposal.action == "close":
        after = linked_text(before, stored.path, others)
    else:
        record = accepted_record(proposal.record)
        after = updated_text(record, before, stored.path, store, others, overwrite_body=proposal.overwrites_body)
    return redacted_diff(before, after, stored.path.name)


def _text_field(fields: dict[str, Yaml], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _list_field(fields: dict[str, Yaml], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


_T = TypeVar("_T")


def _choice_field(fields: dict[str, Yaml], key: str, allowed: tuple[_T, ...], path: Path) -> _T:
    for choice in allowed:
        if choice == fields.get(key):
            return choice
    todo = "Correct the file, or delete it."
    raise MemoryError_(
        f"The candidate's {key} is not one of {', '.join(map(str, allowed))}.", where=str(path), todo=todo
    )
