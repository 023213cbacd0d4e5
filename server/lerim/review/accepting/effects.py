"""Computes the file changes of accepting a proposal. Nothing is written here.

- add: a new file. With a target, that archived memory is restored and rewritten as by update.
- same: the target gains the evidence, in the private folder; its file stays unchanged.
- supersede, resolve, consolidate: a new file that links to its targets; each target links back and moves to
  `archived/`.
- update, merge: the first target is rewritten and keeps its id, `created` and what a person wrote. The other targets
  end as above.
- close: the second target, a memory, resolves the first, a question.
- archive: each target's file is moved unchanged.
- refer: only the target's references change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lerim import files
from lerim.errors import MemoryError_, NotFoundError
from lerim.memory import (
    MemoryRecord,
    Status,
    Store,
    StoredMemory,
    is_transition_allowed,
    parse_record,
    record,
    render_record,
    status_of,
    strip_quotes,
    without_quotes,
)
from lerim.review.candidates import (
    Proposal,
    ended_ids,
    ended_text,
    is_answered,
    linked_text,
    text_with_references,
    updated_text,
)
from lerim.review.ledger import FileChange

Verify = Callable[[MemoryRecord, Sequence[MemoryRecord]], MemoryRecord]
"""Takes a record and the memories it replaces, and returns the record with the verified state of its references:
their current state, or the one inherited from those memories."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The file changes of accepting a proposal, in order, with the resulting memory's own file last. `path` is where
    that memory is afterwards."""

    memory_id: str
    changes: tuple[FileChange, ...]
    path: Path


def compute_effects(store: Store, proposal: Proposal, verify: Verify = lambda memory, _: memory) -> Effects:
    """Computes the file changes of accepting a proposal from its `target_memories`.

    Raises NotFoundError if a target cannot be read, MemoryError_ if a file cannot be changed line by line.
    """
    target_memories = _require_targets(proposal)
    match proposal.action:
        case "archive":
            texts = [(stored, store.read_text(stored.path)) for stored in target_memories]
            moves = [change for one, text in texts for change in _move_changes(store, one, text, text, "archived")]
            first = target_memories[0].record
            return Effects(first.id, tuple(moves), store.path_for(first, archived=True))
        case "refer":
            kept = target_memories[0]
            before = store.read_text(kept.path)
            after = text_with_references(before, kept.path, proposal.record.references)
            verify(parse_record(after, kept.path), [kept.record])
            return Effects(kept.record.id, (file_change(store, kept.path, before, after),), kept.path)
        case "close":
            question, kept = target_memories
            before = store.read_text(kept.path)
            changes = _end_changes(store, [question], kept.record)
            changes.append(file_change(store, kept.path, before, linked_text(before, kept.path, [question.record])))
            return Effects(kept.record.id, tuple(changes), kept.path)
        case "same":
            kept = target_memories[0]
            evidence = store.quotes.text_with_evidence(kept.record, proposal.record.evidence)
            return Effects(kept.record.id, tuple(_private_change(store, kept.record.id, evidence)), kept.path)
        case "update" | "merge":
            kept, *ended = target_memories
            overwrites = proposal.overwrites_body
            return rewrite_effects(store, proposal.record, kept, ended, verify, overwrite_body=overwrites)
        case "add" if target_memories:
            return _restore_effects(store, proposal, target_memories[0], verify)
        case _:
            return _addition_effects(store, proposal, target_memories, verify)


def _require_targets(proposal: Proposal) -> tuple[StoredMemory, ...]:
    if len(proposal.target_memories) == len(proposal.targets):
        return proposal.target_memories
    known = {stored.record.id for stored in proposal.target_memories}
    where = ", ".join(one.id for one in proposal.targets if one.id not in known)
    raise NotFoundError("A memory this is about cannot be read.", where=where, todo="Check its file.")


def rewrite_effects(
    store: Store,
    new: MemoryRecord,
    kept: StoredMemory,
    ended: Sequence[StoredMemory],
    verify: Verify,
    *,
    overwrite_body: bool = False,
) -> Effects:
    """Computes the file changes of rewriting a memory, which keeps its id, with the words of `new` (`updated_text`),
    and of ending others by it.

    Raises NotFoundError if a memory cannot be read, MemoryError_ if a file cannot be changed line by line.
    """
    before = store.read_text(kept.path)
    others = [one.record for one in ended]
    after = updated_text(new, before, kept.path, store, others, overwrite_body=overwrite_body)
    updated = parse_record(after, kept.path)
    verified = verify(updated, [kept.record, *others])
    if verified.references != updated.references:
        after = text_with_references(after, kept.path, verified.references)
    if verified.verified:
        after = record.update_record_text(after, {"verified": verified.verified}, where=str(kept.path))
    changes = [*_end_changes(store, ended, kept.record), *quotes_changes(store, kept.record.id, new)]
    return Effects(kept.record.id, (*changes, file_change(store, kept.path, before, after)), kept.path)


def _restore_effects(store: Store, proposal: Proposal, kept: StoredMemory, verify: Verify) -> Effects:
    path = store.path_for(kept.record)
    if not files.is_absent(path):
        todo = "Move one of the two files away, or give it another id."
        raise MemoryError_("Another active memory has this id.", where=str(path), todo=todo)
    overwrites = proposal.overwrites_body
    rewritten = rewrite_effects(store, proposal.record, kept, (), verify, overwrite_body=overwrites)
    *private, written = rewritten.changes
    moved = (file_change(store, path, None, written.after), file_change(store, kept.path, written.before, None))
    return Effects(kept.record.id, (*private, *moved), path)


def _addition_effects(store: Store, proposal: Proposal, ended: Sequence[StoredMemory], verify: Verify) -> Effects:
    memory = proposal.record
    if not proposal.session or store.path_of(memory.id) is not None:
        memory = replace(memory, id=store.new_id(memory))
    sources = [one.record for one in ended]
    supersedes, resolves = ended_ids(memory, sources)
    memory = verify(replace(memory, supersedes=supersedes, resolves=resolves), sources)
    changes = [*_end_changes(store, ended, memory), *quotes_changes(store, memory.id, memory)]
    path = store.path_for(memory)
    return Effects(memory.id, (*changes, file_change(store, path, None, record_file_text(store, memory))), path)


def record_file_text(store: Store, memory: MemoryRecord) -> str:
    """Returns the text of a new memory's file, without any quotes if the person keeps them on this machine."""
    if store.quotes.read_choice() == "local":
        memory = replace(memory, evidence=strip_quotes(memory.evidence), body=without_quotes(memory.body))
    return render_record(memory)


def _end_changes(store: Store, ended: Sequence[StoredMemory], heir: MemoryRecord) -> list[FileChange]:
    changes: list[FileChange] = []
    for stored in ended:
        before = store.read_text(stored.path)
        after = ended_text(before, stored.path, stored.record, heir.id, heir)
        status: Status = "resolved" if is_answered(stored.record, heir) else "superseded"
        changes += _move_changes(store, stored, before, after, status)
    return changes


def _move_changes(store: Store, stored: StoredMemory, before: str, after: str, status: Status) -> list[FileChange]:
    """Returns the changes that move a file to `archived/`. The new file is written first, so that the memory always
    exists. `before` is the text that `after` was computed from: if the file is saved in between, removing it fails."""
    if not is_transition_allowed(status_of(stored.record, archived=False), status, stored.record.primitive):
        todo = "Restore it, or reject this."
        raise MemoryError_(f"It is archived already and cannot be {status}.", where=str(stored.path), todo=todo)
    path = store.path_for(stored.record, archived=True)
    if not files.is_absent(path):
        todo = "Move one of the two files away, or give it another id."
        raise MemoryError_("An archived memory has this id already.", where=str(path), todo=todo)
    return [file_change(store, path, None, after), file_change(store, stored.path, before, None)]


def file_change(store: Store, path: Path, before: str | None, after: str | None) -> FileChange:
    """Returns the change of a memory's file from the text `before` to the text `after`; None stands for no file."""
    return FileChange("memory", str(store.anchor), str(path), before, after)


def quotes_changes(store: Store, memory_id: str, memory: MemoryRecord) -> list[FileChange]:
    """Returns the change that stores the quotes in the private folder, if the person keeps quotes on this machine."""
    if store.quotes.read_choice() != "local":
        return []
    return _private_change(store, memory_id, store.quotes.text_with_quotes(memory_id, memory.evidence))


def _private_change(store: Store, memory_id: str, after: str | None) -> list[FileChange]:
    if after is None:
        return []
    path = store.quotes.path_for(memory_id)
    before = None if files.is_absent(path) else files.read_text(path, record.MAX_FILE_BYTES)
    return [FileChange("private", str(store.quotes.private), str(path), before, after)]
