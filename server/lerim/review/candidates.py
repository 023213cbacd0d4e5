"""Candidate files: memories waiting in `review/`, in the memory form with what the review needs to know besides.

Only code of `review/` reads them, and only those this installation wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar, get_args

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem, reason_of
from lerim.extraction import Candidate, Signal, current_signal, raise_confidence
from lerim.memory import (
    MAX_FILE_BYTES,
    Evidence,
    HeaderValue,
    MemoryRecord,
    Primitive,
    Store,
    StoredMemory,
    Yaml,
    examine_record,
    load_header,
    merge_evidence,
    record,
    render_record,
    split_header,
)
from lerim.redaction import redact_secrets
from lerim.review.compare import Near
from lerim.review.review_paths import ReviewPaths
from lerim.review.rewrite import (
    accepted_record,
    evidence_entries,
    naming_text,
    redacted_diff,
    referring_text,
    updated_text,
)
from lerim.sessions import Platform

PERSON_CONFIDENCE = 0.95
"""How sure a memory is whose words a person wrote."""

ProposedAction = Literal[
    "add", "same", "update", "supersede", "resolve", "merge", "archive", "consolidate", "refer", "close"
]
Maker = Literal["rules", "model", "lead", "maintain", "person"]
KEEPS: tuple[ProposedAction, ...] = ("update", "merge")
"""What rewrites its first target; all other targets end."""


@dataclass(frozen=True, slots=True)
class Target:
    """A memory that a proposal changes or ends, and the hash of its file's text when that was proposed."""

    id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate as it waits. `record` is the memory it would be; `targets` are those it would change or end, of an
    addition an archived one it brings back, if any: what each action does with them says `effects.py`.

    `diff` is the change of the memory that is rewritten, as a unified diff. `about` are the targets as they are now;
    `lost` are those that are gone or over by now, and count no more; `void`: nothing is left to be done. `edited`: a
    person changed its words; `whole`: these are all the text that a memory it changes will have. A suggestion of
    maintaining has a `reason` and rests on no session: `session`, `turn`, `platform` and `signal` are empty.
    `neighbours` are active memories near it, where the caller asked for them; `asked`: a model was asked about these.
    `text` is the file as it is shown or about to be, `saved` what the file held when it was read.
    """

    id: str
    record: MemoryRecord
    action: ProposedAction
    targets: tuple[Target, ...]
    reason: str
    maker: Maker
    session: str
    turn: str
    platform: Platform | None
    time: datetime
    signal: Signal | None
    flags: tuple[str, ...]
    replaces: tuple[str, ...]
    asked: bool
    edited: bool
    path: Path
    text: str
    saved: str
    diff: str = ""
    about: tuple[StoredMemory, ...] = ()
    neighbours: tuple[Near, ...] = ()
    lost: tuple[str, ...] = ()
    void: bool = False
    whole: bool = False

    @property
    def concerns(self) -> tuple[StoredMemory, ...]:
        """The active memories it changes or ends; an addition that brings one back concerns none."""
        return () if self.action == "add" else self.about

    @property
    def target(self) -> str:
        """The first memory it concerns; of an addition the archived one it brings back, else ""."""
        return self.targets[0].id if self.targets else ""

    @property
    def ends(self) -> tuple[str, ...]:
        """The memories that would be no longer active."""
        if self.action in ("refer", "add", "same"):
            return ()
        kept = 1 if self.action in KEEPS else 0
        return tuple(one.id for one in self.targets[kept : 1 if self.action == "close" else None])


@dataclass(frozen=True, slots=True)
class CandidateEdit:
    """What a person wrote in place of the words of a candidate or memory; None leaves what the file says."""

    title: str | None = None
    body: str | None = None
    tags: tuple[str, ...] | None = None


def new_record(candidate: Candidate, candidate_id: str) -> MemoryRecord:
    """The memory a candidate would be."""
    return MemoryRecord(
        id=candidate_id,
        primitive=candidate.primitive,
        title=join_lines(candidate.title),
        created=candidate.time,
        updated=candidate.time,
        source=candidate.source,
        confidence=round(candidate.confidence, 4),
        tags=candidate.tags,
        body=candidate.body.strip(),
        kind=candidate.kind,
        references=candidate.references,
        evidence=candidate.evidence,
    )


def candidate_text(
    candidate: Candidate,
    memory: MemoryRecord,
    action: ProposedAction,
    targets: Sequence[Target],
    reason: str = "",
    maker: Maker | None = None,
) -> str:
    """The candidate file for what `new_record` made of a session's candidate; `maker` person: a person had it made."""
    maker = maker or ("model" if candidate.signal == "model" else "rules")
    return render_record(
        memory,
        {
            "primitive": candidate.primitive,
            **action_fields(action, targets, reason, maker),
            "session": candidate.session,
            "platform": candidate.platform,
            "time": candidate.time,
            "signal": candidate.signal,
            **({"replaces": candidate.replaces} if candidate.replaces else {}),
            "flags": candidate.flags,
            "status": "pending",
        },
    )


def suggestion_text(
    memory: MemoryRecord,
    action: ProposedAction,
    targets: Sequence[Target],
    reason: str,
    maker: Maker,
    time: datetime,
    flags: Sequence[str] = (),
) -> str:
    """The candidate file of a suggestion, which rests on no session."""
    extra = action_fields(action, targets, reason, maker)
    return render_record(
        memory, {"primitive": memory.primitive, **extra, "time": time, "flags": flags, "status": "pending"}
    )


def action_fields(
    action: ProposedAction, targets: Sequence[Target], reason: str, maker: Maker
) -> dict[str, HeaderValue]:
    """The keys of a candidate file that say what accepting it does; those that would be empty are left out."""
    return {
        "action": action,
        **({"targets": tuple(f"{one.id}@{one.hash}" for one in targets)} if targets else {}),
        **({"reason": reason} if reason else {}),
        "maker": maker,
    }


def apply_edit(proposal: Proposal, edit: CandidateEdit) -> str:
    """The candidate file with a person's words, secrets cut out. Raises MemoryError_ for an empty title."""
    words, old = clean_edit(edit, proposal.path), proposal.record
    title = old.title if words.title is None else words.title
    body = old.body if words.body is None else words.body
    tags = old.tags if words.tags is None else words.tags
    if (title, body, tags) == (old.title, old.body, old.tags):
        return proposal.text
    changes: dict[str, HeaderValue] = {
        "title": title,
        "confidence": PERSON_CONFIDENCE,
        "tags": tags,
        "status": "edited",
    }
    return record.update_record_text(proposal.text, changes, words.body, str(proposal.path))


def clean_edit(edit: CandidateEdit, path: Path) -> CandidateEdit:
    """What a person wrote, as a file holds it: secrets cut out. Raises MemoryError_ for an empty title."""
    title = None if edit.title is None else redact_secrets(join_lines(edit.title)).text
    if title == "":
        raise MemoryError_("A memory needs a title.", where=str(path), todo="Write one.")
    body = (
        None if edit.body is None else redact_secrets(files.path_to_text(edit.body).replace("\r\n", "\n").strip()).text
    )
    tags = (
        None
        if edit.tags is None
        else dict.fromkeys(redact_secrets(tag).text for tag in map(join_lines, edit.tags) if tag)
    )
    return CandidateEdit(title, body, None if tags is None else tuple(tags))


def add_repeat(waiting: Proposal, again: Candidate) -> str:
    """The candidate file after its claim was met again: with the new quotes, three at most, and surer for each.

    Another cut of what was quoted of the same turn is nothing new, and what is flagged adds nothing.
    Raises MemoryError_.
    """
    if again.flags or waiting.flags:
        return waiting.text
    have = waiting.record.evidence
    new = [item for item in again.evidence if not any(_same_words(item, one) for one in have)]
    both = merge_evidence(have, new)
    said = sum(item.who == "user" for item in both[len(have) :])
    changes: dict[str, HeaderValue] = {
        "confidence": raise_confidence(waiting.record.confidence, said),
        "updated": max(waiting.record.updated, again.time),
        "evidence": evidence_entries(both),
    }
    return record.update_record_text(waiting.text, changes, where=str(waiting.path))


def _same_words(one: Evidence, other: Evidence) -> bool:
    if (one.turn, one.who) != (other.turn, other.who):
        return False
    return one.quote in other.quote or other.quote in one.quote


def join_lines(text: str) -> str:
    """The text with every run of white space as one space, and as a file can hold it."""
    return " ".join(files.path_to_text(text).split())


def load_candidate(place: ReviewPaths, candidate_id: str, store: Store) -> Proposal:
    """A waiting candidate by its id. Raises NotFoundError, MemoryError_, BoundaryError."""
    path = place.candidate_path(candidate_id)
    return parse_candidate(files.read_text(path, MAX_FILE_BYTES, place.state_anchor), path, store)


def load_candidates(
    place: ReviewPaths, ours: Collection[str], store: Store, unfinished: Collection[str] = ()
) -> tuple[list[Proposal], list[Problem]]:
    """The candidates in the review folder, oldest turn first. Files we did not make are problems and stay unread.

    `unfinished`: those that are being decided, of which nothing can be said yet.
    """
    found: list[Proposal] = []
    problems: list[Problem] = []
    try:
        files.resolve_inside(place.state_anchor, place.review)
        names = sorted(
            path.name for path in place.review.iterdir() if path.name.endswith(".md") and path.name[0] != "."
        )
    except FileNotFoundError:
        return found, problems
    except BoundaryError as error:
        return found, [error.problem()]
    except OSError as error:
        return found, [Problem("folder-unreadable", str(place.review), f"Cannot be listed: {reason_of(error)}.")]
    for name in names:
        path = place.review / name
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
            found.append(load_candidate(place, path.stem, store))
        except NotFoundError:
            continue  # decided meanwhile
        except (MemoryError_, BoundaryError) as error:
            problems.append(error.problem(str(path), code="candidate-unreadable"))
    found.sort(key=lambda proposal: (proposal.time, proposal.id))
    return found, problems


def parse_candidate(text: str, path: Path, store: Store, saved: str | None = None) -> Proposal:
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
        asked=fields.get("asked") == "model" or fields.get("maker") == "lead",
        edited=fields.get("status") == "edited",
        path=path,
        text=text,
        saved=text if saved is None else saved,
    )
    return _against(proposal, store)


def _against(proposal: Proposal, store: Store) -> Proposal:
    """A proposal as it stands against its memories now: what a session said of memories that are over is new."""
    about: list[StoredMemory] = []
    left: list[Target] = []
    for target in proposal.targets:
        try:
            stored = store.load_by_id(target.id)
        except NotFoundError:
            continue
        except (MemoryError_, BoundaryError):
            left.append(target)  # it is reported with the memories; accepting says so again
            continue
        if stored.status == ("archived" if proposal.action == "add" else "active"):
            about.append(stored)
            left.append(target)
    lost = tuple(one.id for one in proposal.targets if one not in left)
    now = replace(proposal, targets=tuple(left), about=tuple(about), lost=lost)
    if lost and proposal.session:
        records = [one.record for one in about]
        kept = proposal.action in KEEPS and bool(records) and records[0].id == proposal.target
        action = choose_action(proposal.record.primitive, *((records[0], records[1:]) if kept else (None, records)))
        now = replace(now, action=action)
    elif lost:
        least = {"merge": 2, "consolidate": 2, "close": 2}.get(proposal.action, 1)
        now = replace(now, void=len(left) < least or (proposal.action == "merge" and left[0] != proposal.targets[0]))
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
    if kept is None or len(proposal.about) <= kept or len(proposal.about) < len(proposal.targets):
        return ""
    stored = proposal.about[kept]
    before = store.read_text(stored.path)
    others = [one.record for one in proposal.about if one is not stored]
    if proposal.action == "refer":
        after = referring_text(before, stored.path, proposal.record.references)
    elif proposal.action == "close":
        after = naming_text(before, stored.path, others)
    else:
        record = accepted_record(proposal.record)
        after = updated_text(record, before, stored.path, store, others, whole=proposal.whole)
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
