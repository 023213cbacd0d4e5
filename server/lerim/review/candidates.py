"""Candidate files: memories waiting in `review/`, in the memory form with what the review needs to know besides.

Only code of `review/` reads them, and only those this installation wrote.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar, get_args

from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.extraction.candidate import Candidate
from lerim.extraction.confidence import surer
from lerim.extraction.redact import redact
from lerim.facts.draft import Signal
from lerim.memory import files, record
from lerim.memory.header import Yaml, load, split
from lerim.memory.kept import joined
from lerim.memory.lines import Value
from lerim.memory.quotes import Quotes, merge, without_words
from lerim.memory.record import MAX_FILE, Evidence, MemoryRecord, Primitive, examine, parse, render
from lerim.memory.store import Store
from lerim.review.place import Place
from lerim.sessions.model import Platform

PERSON_CONFIDENCE = 0.95
"""How sure a memory is whose words a person wrote."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate as it waits. `record` is the memory it would be; `target` the memory it would change ('' for add).

    `diff` is the target's change as a unified diff ('' for add). `lost`: the memory it was proposed to change, which is
    gone or over, so that it is now an addition. `edited`: a person changed its words.
    """

    id: str
    record: MemoryRecord
    action: Literal["add", "update"]
    target: str
    target_hash: str
    session: str
    turn: str
    platform: Platform
    time: datetime
    signal: Signal
    flags: tuple[str, ...]
    edited: bool
    path: Path
    text: str
    diff: str = ""
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """What a person wrote in place of a candidate's words."""

    title: str
    body: str
    tags: tuple[str, ...]


def new_record(candidate: Candidate, candidate_id: str) -> MemoryRecord:
    """The memory a candidate would be."""
    return MemoryRecord(
        id=candidate_id,
        primitive=candidate.primitive,
        title=one_line(candidate.title),
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


def file_text(candidate: Candidate, memory: MemoryRecord, target: str, target_hash: str) -> str:
    """The candidate file for what `new_record` made."""
    return render(
        memory,
        {
            "primitive": candidate.primitive,
            "action": "update" if target else "add",
            **({"target": target, "target_hash": target_hash} if target else {}),
            "session": candidate.session,
            "platform": candidate.platform,
            "time": candidate.time,
            "signal": candidate.signal,
            "flags": candidate.flags,
            "status": "pending",
        },
    )


def edited_text(proposal: Proposal, edit: Edit) -> str:
    """The candidate file with a person's words, secrets cut out. Raises MemoryError_ for an empty title."""
    title = redact(one_line(edit.title)).text
    if not title:
        raise MemoryError_("A memory needs a title.", where=str(proposal.path), todo="Write one.")
    body = redact(edit.body.replace("\r\n", "\n").strip()).text
    tags = tuple(dict.fromkeys(redact(tag).text for tag in map(one_line, edit.tags) if tag))
    if (title, body, tags) == (proposal.record.title, proposal.record.body, proposal.record.tags):
        return proposal.text
    changes: dict[str, Value] = {
        "title": title,
        "confidence": PERSON_CONFIDENCE,
        "tags": tags,
        "status": "edited",
    }
    return record.update(proposal.text, changes, body, str(proposal.path))


def repeated_text(waiting: Proposal, again: Candidate) -> str:
    """The candidate file after its claim was met again: with the new quotes, three at most, and surer for each.

    Another cut of what was quoted of the same turn is nothing new, and what is flagged adds nothing.
    Raises MemoryError_.
    """
    if again.flags or waiting.flags:
        return waiting.text
    have = waiting.record.evidence
    new = [item for item in again.evidence if not any(_same_words(item, one) for one in have)]
    both = merge(have, new)
    said = sum(item.who == "user" for item in both[len(have) :])
    changes: dict[str, Value] = {
        "confidence": surer(waiting.record.confidence, said),
        "evidence": _entries(both),
    }
    return record.update(waiting.text, changes, where=str(waiting.path))


def _same_words(one: Evidence, other: Evidence) -> bool:
    if (one.turn, one.who) != (other.turn, other.who):
        return False
    return one.quote in other.quote or other.quote in one.quote


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def read(place: Place, candidate_id: str, store: Store) -> Proposal:
    """A waiting candidate by its id. Raises NotFoundError, MemoryError_, BoundaryError."""
    path = place.candidate_path(candidate_id)
    return of_text(files.read_text(path, MAX_FILE), path, store)


def waiting(
    place: Place, ours: Collection[str], store: Store, unfinished: Collection[str] = ()
) -> tuple[list[Proposal], list[Problem]]:
    """The candidates in the review folder, oldest turn first. Files we did not make are problems and stay unread.

    `unfinished`: those that are being decided, of which nothing can be said yet.
    """
    found: list[Proposal] = []
    problems: list[Problem] = []
    try:
        files.inside(place.state_anchor, place.review)
        names = sorted(
            path.name for path in place.review.iterdir() if path.name.endswith(".md") and path.name[0] != "."
        )
    except FileNotFoundError:
        return found, problems
    except BoundaryError as error:
        return found, [Problem(error.code, error.where, f"{error.message} {error.todo}")]
    except OSError as error:
        return found, [Problem("folder-unreadable", str(place.review), f"Cannot be listed: {error.strerror}.")]
    for name in names:
        path = place.review / name
        if path.stem in unfinished:
            continue
        if path.stem not in ours:
            message = "This candidate was not made by this installation and was ignored. Delete the file."
            problems.append(Problem("foreign-candidate", files.spelled(path), message))
            continue
        try:
            found.append(read(place, path.stem, store))
        except NotFoundError:
            continue  # decided meanwhile
        except (MemoryError_, BoundaryError) as error:
            problems.append(Problem("candidate-unreadable", str(path), f"{error.message} {error.todo}"))
    found.sort(key=lambda proposal: (proposal.time, proposal.id))
    return found, problems


def of_text(text: str, path: Path, store: Store) -> Proposal:
    """A candidate file's text as a proposal, its difference to the target computed now. Raises MemoryError_."""
    parts = split(text)
    fields = load(text[parts.start : parts.end], str(path)) if parts else {}
    memory, _ = examine(text, path, _one_of(fields, "primitive", get_args(Primitive), path))
    platform, _, rest = memory.source.partition(":")
    flags = fields.get("flags")
    proposal = Proposal(
        id=memory.id,
        record=memory,
        action=_one_of(fields, "action", ("add", "update"), path),
        target=_text(fields, "target"),
        target_hash=_text(fields, "target_hash"),
        session=_text(fields, "session"),
        turn=rest.rpartition("#")[2],
        platform=_one_of({"platform": fields.get("platform", platform)}, "platform", get_args(Platform), path),
        time=memory.created,
        signal=_one_of(fields, "signal", get_args(Signal), path),
        flags=tuple(str(flag) for flag in flags) if isinstance(flags, list) else (),
        edited=fields.get("status") == "edited",
        path=path,
        text=text,
    )
    return _against(proposal, store) if proposal.action == "update" else replace(proposal, target="", target_hash="")


def updated_text(proposal: Proposal, before: str, path: Path, quotes: Quotes) -> str:
    """The target's text after the update: the candidate's words, and what both know of tags, places and evidence.

    Sentences of the target that the candidate does not say again stay. Raises MemoryError_.
    """
    old = parse(before, path)
    new = proposal.record
    changes: dict[str, Value] = {
        "title": new.title,
        "updated": max(new.updated, old.updated),
        "source": new.source,
        "confidence": max(new.confidence, old.confidence),
        "tags": tuple(dict.fromkeys((*old.tags, *new.tags))),
        "kind": new.kind or old.kind,
        "references": tuple(dict.fromkeys((*old.references, *new.references))),
        "evidence": _entries(_both(new.evidence, old, quotes)),
    }
    body = joined(old.body, new.title, new.body)
    return record.update(before, {key: value for key, value in changes.items() if value}, body, str(path))


def _both(new: tuple[Evidence, ...], old: MemoryRecord, quotes: Quotes) -> tuple[Evidence, ...]:
    """The evidence of both as the file shows it; what is the same is seen by its words, wherever they lie."""
    known = quotes.join(old)[0].evidence[: len(old.evidence)]
    written = dict(zip(known, old.evidence, strict=True))
    if quotes.choice() == "local":
        written = {**dict(zip(new, without_words(new), strict=True)), **written}
    else:
        written |= dict(zip(new, new, strict=True))
    return tuple(written[item] for item in merge(new, known))


def difference(before: str, after: str, name: str) -> str:
    """The change of a file as a unified diff, to be looked at: without secrets."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return redact("\n".join(lines)).text


def _against(update: Proposal, store: Store) -> Proposal:
    """An update as it stands against its memory now."""
    try:
        path = store.live_path(update.target)
        if path is None:
            return replace(update, action="add", target="", target_hash="", lost=update.target)
        before = store.text(path)
        return replace(update, diff=difference(before, updated_text(update, before, path, store.quotes), path.name))
    except (MemoryError_, BoundaryError):
        return update  # the unreadable target is reported with the memories; accepting says so again


def _entries(evidence: tuple[Evidence, ...]) -> tuple[dict[str, str], ...]:
    return tuple({"quote": item.quote, "turn": item.turn, "who": item.who} for item in evidence)


def _text(fields: dict[str, Yaml], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


_T = TypeVar("_T")


def _one_of(fields: dict[str, Yaml], key: str, allowed: tuple[_T, ...], path: Path) -> _T:
    for choice in allowed:
        if choice == fields.get(key):
            return choice
    todo = "Reject the candidate, or delete its file."
    raise MemoryError_(
        f"The candidate's {key} is not one of {', '.join(map(str, allowed))}.", where=str(path), todo=todo
    )
