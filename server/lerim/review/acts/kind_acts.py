"""Changes a memory's kind, answers a question with a decision, and copies a memory to the person's own memories."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from lerim.errors import BoundaryError, MemoryError_
from lerim.memory import (
    LearningKind,
    MemoryRecord,
    Primitive,
    Store,
    evidence_values,
    find_ender,
    parse_record,
    record,
    render_record,
    verifying,
)
from lerim.review.accepting import file_change
from lerim.review.acts.held_memory import UNCHANGED_MESSAGE, HeldMemory, current_second, hold_memory
from lerim.review.candidates import PERSON_CONFIDENCE, clean_edit, join_lines
from lerim.review.decisions import MemoryEdit
from lerim.review.ledger import FileChange
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def change_kind(
    paths: ReviewPaths, memory_id: str, primitive: Primitive, kind: LearningKind | None = None
) -> ReviewResult:
    """Changes a memory's primitive (its file moves, its id stays) or the kind of a learning.

    If no kind is given, a learning keeps its kind, or gets the one it had before it became another primitive, or
    else "insight". Raises the same errors as `edit_memory`.
    """
    if primitive == "summary" or (kind is not None and primitive != "learning"):
        message = "A memory cannot become a summary." if primitive == "summary" else f"A {primitive} has no kind."
        raise MemoryError_(message, where=memory_id, todo="Name a decision, learning, question or theme.")
    with hold_memory(paths, memory_id) as memory:
        if memory.status != "active" and not memory.can_become("active", primitive):
            message = f"It is {memory.status}, which a {primitive} cannot be."
            raise MemoryError_(message, where=str(memory.path), todo="Restore it first.")
        if primitive == "learning":
            kind = kind or memory.record.kind or _find_earlier_kind(memory) or "insight"
        text = memory.updated_text({"kind": kind})
        to = memory.store.path_for(replace(memory.record, primitive=primitive), archived=memory.is_archived)
        if (text, to) == (memory.text, memory.path):
            return ReviewResult(True, "unchanged", UNCHANGED_MESSAGE, path=str(to))
        what = f"{primitive}/{kind}" if kind else primitive
        return memory.perform("kind", f"Now a {what}: {memory.record.title}", memory.move_changes(to, text), to)


def _find_earlier_kind(memory: HeldMemory) -> LearningKind | None:
    for step in memory.ledger.list_actions("done"):
        if (step.kind, step.memory) == ("kind", memory.record.id):
            texts = [(change.before, Path(change.path)) for change in step.changes if change.before is not None]
            for text, path in texts:
                with suppress(MemoryError_):
                    if kind := parse_record(text, path).kind:
                        return kind
    return None


def promote_question(
    paths: ReviewPaths, memory_id: str, title: str | None = None, body: str | None = None
) -> ReviewResult:
    """Answers a question with a new decision, which resolves the question; the question is archived.

    `title` defaults to that of the question. The question's body is not copied, since it says that the question is
    open. Raises the same errors as `edit_memory`, and MemoryError_ if the memory is not an open question.
    """
    with hold_memory(paths, memory_id) as memory:
        old = memory.record
        if not memory.can_become("resolved"):
            todo = "Use `lerim memory kind` to make it a decision, or `lerim memory restore` first."
            raise MemoryError_("This is not an open question.", where=str(memory.path), todo=todo)
        now = current_second()
        words = clean_edit(MemoryEdit(title or old.title, body or ""), memory.path)
        states = memory.ledger.states()
        decision = MemoryRecord(
            *("", "decision", words.title or "", now, now, "manual", PERSON_CONFIDENCE, old.tags, words.body or ""),
            references=old.references,
            resolves=(old.id,),
        )
        decision = replace(decision, id=memory.store.new_id(decision, lambda name: name in states))
        if decision.references:
            decision = verifying.verify_record(paths.project, paths.home, decision, now)
        path = memory.store.path_for(decision)
        question_text = memory.updated_text({"resolved_by": decision.id})
        changes = [
            file_change(memory.store, path, None, render_record(decision)),
            *memory.move_changes(memory.store.path_for(old, archived=True), question_text),
        ]
        return memory.perform("promote", f"Decided: {decision.title}", changes, path)


def globalize_memory(paths: ReviewPaths, memory_id: str, *, move: bool = False) -> ReviewResult:
    """Copies an active memory to the person's own memories, which apply in every repository.

    The project's file stays; with `move` it is removed, unless it replaced or resolved other memories of the
    project. References to files and links to other memories of this repository are not copied. Raises the same
    errors as `edit_memory`.
    """
    own = paths.personal()
    if paths.project.is_personal:
        raise MemoryError_("It is already a personal memory.", where=memory_id, todo="There is nothing to do.")
    with hold_memory(paths, memory_id) as memory, own.lock():
        old = memory.record
        if memory.status != "active":
            raise MemoryError_("This memory is inactive.", where=str(memory.path), todo="Restore it first.")
        by = find_ender(old.id, memory.store.load_all(archived=True)[0])
        if by is not None:
            message = f"It no longer holds: “{join_lines(by.record.title)}” ({by.record.id}) replaces it."
            raise MemoryError_(message, where=str(memory.path), todo="Copy that one instead.")
        if move and (old.supersedes or old.resolves):
            todo = "Copy it instead of moving it."
            message = "This memory replaced or resolved others of this repository, so it stays here."
            raise MemoryError_(message, where=str(memory.path), todo=todo)
        store = own.store()
        text = memory.updated_text(
            {
                **dict.fromkeys(("references", "verified", "supersedes", "resolves"), None),
                **dict.fromkeys(("superseded_by", "resolved_by", "related"), None),
                "evidence": evidence_values(memory.store.quotes.join_quotes(old)[0].evidence) or None,
            }
        )
        path = _find_copy(store, text)
        if path is not None and not move:
            return ReviewResult(True, "already", "It is already among your personal memories.", path=str(path))
        changes: list[FileChange] = []
        if path is None:
            copy = parse_record(text, memory.path)
            if store.path_of(copy.id):
                copy = replace(copy, id=store.new_id(copy))
                text = record.update_record_text(text, {"id": copy.id}, where=str(memory.path))
            path = store.path_for(copy)
            changes.append(FileChange("global", str(store.anchor), str(path), None, text))
        if move:
            changes.append(file_change(memory.store, memory.path, memory.text, None))
        done = "Moved" if move else "Copied"
        return memory.perform("globalize", f"{done} to your personal memories: {old.title}", changes, path)


def _find_copy(store: Store, text: str) -> Path | None:
    """Returns the file of a memory that is a copy of this text; only its id may differ."""
    for found in store.find_files(archived=True)[0]:
        with suppress(MemoryError_, BoundaryError):  # one that cannot be read is no copy
            changed = record.update_record_text(text, {"id": found.path.stem}, where=str(found.path))
            if store.read_text(found.path) == changed:
                return found.path
    return None
