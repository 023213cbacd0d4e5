"""Candidate files: memories waiting in `review/`, in the memory form with what the review needs to know besides.

Only code of `review/` reads them, and only those this installation wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar, get_args

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem, reason_of
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
    split_header,
)
from lerim.review.candidates.memory_texts import (
    accepted_record,
    naming_text,
    redacted_diff,
    referring_text,
    updated_text,
)
from lerim.review.candidates.proposal import KEEPS, Maker, Proposal, ProposedAction, Target
from lerim.review.review_paths import ReviewPaths
from lerim.sessions import Platform


def load_candidate(paths: ReviewPaths, candidate_id: str, store: Store) -> Proposal:
    """A waiting candidate by its id. Raises NotFoundError, MemoryError_, BoundaryError."""
    path = paths.candidate_path(candidate_id)
    return parse_candidate(files.read_text(path, MAX_FILE_BYTES, paths.state_anchor), path, store)


def load_candidates(
    paths: ReviewPaths, ours: Collection[str], store: Store, unfinished: Collection[str] = ()
) -> tuple[list[Proposal], list[Problem]]:
    """The candidates in the review folder, oldest turn first. Files we did not make are problems and stay unread.

    `unfinished`: those that are being decided, of which nothing can be said yet.
    """
    found: list[Proposal] = []
    problems: list[Problem] = []
    try:
        files.resolve_inside(paths.state_anchor, paths.review)
        names = sorted(
            path.name for path in paths.review.iterdir() if path.name.endswith(".md") and path.name[0] != "."
        )
    except FileNotFoundError:
        return found, problems
    except BoundaryError as error:
        return found, [error.problem()]
    except OSError as error:
        return found, [Problem("folder-unreadable", str(paths.review), f"Cannot be listed: {reason_of(error)}.")]
    for name in names:
        path = paths.review / name
        if path.stem in unfinished:
            continue
        if path.stem not in ours:
            message = (
                "This candidate is unknown here and is ignored. If this repository was moved, run `lerim sync`, "
                "or name its old folder with `lerim project alias`; if the file came with the repository, delete it."
            )
            problems.append(Problem("foreign-candidate", files.path_to_text(path), message))
            continue
        try:
            found.append(load_candidate(paths, path.stem, store))
        except NotFoundError:
            continue  # decided meanwhile
        except (MemoryError_, BoundaryError) as error:
            problems.append(error.problem(str(path), code="candidate-unreadable"))
    found.sort(key=lambda proposal: (proposal.time, proposal.id))
    return found, problems


def parse_candidate(text: str, path: Path, store: Store, saved_text: str | None = None) -> Proposal:
    """A candidate file's text as a proposal, its difference to the target computed now. `saved` is what the file holds,
    where that is another text. Raises MemoryError_."""
    parts = split_header(text)
    fields = load_header(text[parts.start : parts.end], str(path)) if parts else {}
    memory, _ = examine_record(text, path, _one_of(fields, "primitive", get_args(Primitive), path))
    said = "session" in fields
    platform, _, rest = memory.source.partition(":")
    known_platform = {"platform": fields.get("platform", platform)}
    time = fields.get("time")
    proposal = Proposal(
        id=memory.id,
        record=memory,
        action=_one_of(fields, "action", get_args(ProposedAction), path),
        targets=tuple(Target(*one.partition("@")[::2]) for one in _texts(fields, "targets")),
        reason=_text(fields, "reason"),
        maker=_one_of({"maker": fields.get("maker", "rules")}, "maker", get_args(Maker), path),
        session=_text(fields, "session"),
        turn=rest.rpartition("#")[2] if said else "",
        platform=_one_of(known_platform, "platform", get_args(Platform), path) if said else None,
        time=time if isinstance(time, datetime) and time.tzinfo and not said else memory.created,
        signal=_one_of({"signal": current_signal(_text(fields, "signal"))}, "signal", get_args(Signal), path)
        if said
        else None,
        flags=_texts(fields, "flags"),
        replaces=_texts(fields, "replaces"),
        model_asked=fields.get("asked") == "model" or fields.get("maker") == "lead",
        edited=fields.get("status") == "edited",
        path=path,
        text=text,
        saved_text=text if saved_text is None else saved_text,
    )
    return _against(proposal, store)


def _against(proposal: Proposal, store: Store) -> Proposal:
    """A proposal as it stands against its memories now: what a session said of memories that are over is new."""
    target_memories: list[StoredMemory] = []
    remaining_targets: list[Target] = []
    for target in proposal.targets:
        try:
            stored = store.load_by_id(target.id)
        except NotFoundError:
            continue
        except (MemoryError_, BoundaryError):
            remaining_targets.append(target)  # it is reported with the memories; accepting says so again
            continue
        if stored.status == ("archived" if proposal.action == "add" else "active"):
            target_memories.append(stored)
            remaining_targets.append(target)
    lost_targets = tuple(one.id for one in proposal.targets if one not in remaining_targets)
    now = replace(
        proposal, targets=tuple(remaining_targets), target_memories=tuple(target_memories), lost_targets=lost_targets
    )
    if lost_targets and proposal.session:
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
        return replace(now, diff=_rewritten(now, store))
    return now


def choose_action(primitive: str, kept: MemoryRecord | None, ended: Sequence[MemoryRecord]) -> ProposedAction:
    """What a candidate does that changes one memory, or none, and ends these."""
    if kept is not None:
        return "merge" if any(one.primitive == kept.primitive for one in ended) else "update"
    if not ended:
        return "add"
    return "resolve" if primitive != "question" and all(one.primitive == "question" for one in ended) else "supersede"


def _rewritten(proposal: Proposal, store: Store) -> str:
    """The change of the memory that a proposal rewrites, as it would be; "" where it rewrites none."""
    kept = {"update": 0, "merge": 0, "refer": 0, "close": 1}.get(proposal.action)
    if kept is None or len(proposal.target_memories) <= kept or len(proposal.target_memories) < len(proposal.targets):
        return ""
    stored = proposal.target_memories[kept]
    before = store.read_text(stored.path)
    others = [one.record for one in proposal.target_memories if one is not stored]
    if proposal.action == "refer":
        after = referring_text(before, stored.path, proposal.record.references)
    elif proposal.action == "close":
        after = naming_text(before, stored.path, others)
    else:
        record = accepted_record(proposal.record)
        after = updated_text(record, before, stored.path, store, others, overwrite_body=proposal.overwrites_body)
    return redacted_diff(before, after, stored.path.name)


def _text(fields: dict[str, Yaml], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _texts(fields: dict[str, Yaml], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


_T = TypeVar("_T")


def _one_of(fields: dict[str, Yaml], key: str, allowed: tuple[_T, ...], path: Path) -> _T:
    for choice in allowed:
        if choice == fields.get(key):
            return choice
    todo = "Reject the candidate, or delete its file."
    raise MemoryError_(
        f"The candidate's {key} is not one of {', '.join(map(str, allowed))}.", where=str(path), todo=todo
    )
