"""What a person does to an accepted memory by hand. Each act is one action that `undo` takes back; of a memory's file
only the lines it changes are touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lerim.errors import LerimError, MemoryError_, NotFoundError, Problem, StaleError
from lerim.files import hash_text, path_to_text
from lerim.memory import (
    Feedback,
    HeaderValue,
    LearningKind,
    MemoryRecord,
    Primitive,
    Status,
    Store,
    StoredMemory,
    Uses,
    evidence_values,
    find_ender,
    lifecycle,
    links,
    memory_search,
    parse_record,
    parse_references,
    record,
    render_record,
    split_header,
    status_of,
    verifying,
)
from lerim.redaction import redact_secrets
from lerim.review import actions
from lerim.review.accept import note_kept, withdraw_archiving
from lerim.review.candidates import PERSON_CONFIDENCE, CandidateEdit, clean_edit, join_lines
from lerim.review.history import archived_label
from lerim.review.ledger import Action, ActionKind, FileChange, Ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

_UNCHANGED = "Nothing was changed."
_TRIES = 4
_KEEPING: tuple[ActionKind, ...] = ("change", "restore", "kind", "verify", "join")
"""What a person does only with a memory that shall stay."""


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """A memory's file while the review lock is held. `text` is the file's, `record` what it says."""

    place: ReviewPaths
    book: Ledger
    store: Store
    path: Path
    text: str
    record: MemoryRecord

    @property
    def archived(self) -> bool:
        return self.path.is_relative_to(self.store.memory_dir / "archived")

    @property
    def status(self) -> Status:
        return status_of(self.record, self.archived)

    def may(self, status: Status, primitive: Primitive | None = None) -> bool:
        """Whether it can come to be in this status, by the table of the lives of memories."""
        return lifecycle.is_transition_allowed(self.status, status, primitive or self.record.primitive)

    def rewritten(self, text: str) -> FileChange:
        """The change of its text."""
        return file_change(self.store, self.path, self.text, text)

    def moved(self, to: Path, text: str | None = None) -> list[FileChange]:
        """The change of its place: the new file first, so that no instant is without it."""
        if to == self.path:
            return [self.rewritten(self.text if text is None else text)]
        return [
            file_change(self.store, to, None, self.text if text is None else text),
            file_change(self.store, self.path, self.text, None),
        ]

    def updated(self, changes: dict[str, HeaderValue], body: str | None = None) -> str:
        """Its text with other values of these keys. Raises MemoryError_."""
        return record.update_record_text(self.text, changes, body, str(self.path))

    def do(self, kind: ActionKind, label: str, changes: Sequence[FileChange], path: Path | None = None) -> ReviewResult:
        """Perform it. Raises StaleError, MemoryError_."""
        return perform_act(self.place, self.book, kind, label, changes, self.record.id, path or self.path)


def perform_act(
    place: ReviewPaths,
    book: Ledger,
    kind: ActionKind,
    label: str,
    changes: Sequence[FileChange],
    memory: str,
    path: Path,
) -> ReviewResult:
    """Perform an act by hand and say so."""
    action = actions.perform_action(place, book, kind, label, "", ("accepted", "accepted"), changes, memory)
    if kind in _KEEPING:
        note_kept(place, memory)
    return ReviewResult(True, kind, label, action.id, str(path))


def file_change(store: Store, path: Path, before: str | None, after: str | None) -> FileChange:
    """A change of a memory's file."""
    return FileChange("memory", str(store.anchor), str(path), before, after)


@contextmanager
def hold_memory(place: ReviewPaths, memory_id: str) -> Iterator[HeldMemory]:
    """A memory by its id, and the review lock. Raises NotFoundError, MemoryError_, BusyError."""
    with actions.locked_ledger(place) as book:
        store = place.store()
        paths = store.paths_of(memory_id)
        names = {str(path) for path in paths}
        actions.require_finished(place, book, _concerns(names))
        if not paths:
            raise _unknown(place, memory_id)
        if len(paths) > 1:
            todo = f"Merge them with `lerim memory merge {memory_id}`, or move one away."
            raise MemoryError_("Two files have this id.", where=str(paths[0]), todo=todo)
        text = store.read_text(paths[0])
        yield HeldMemory(place, book, store, paths[0], text, parse_record(text, paths[0]))


def _concerns(names: set[str]) -> Callable[[Action], bool]:
    return lambda action: any(one.path in names for one in action.changes)


def _unknown(place: ReviewPaths, memory_id: str) -> NotFoundError:
    todo = "See `lerim memory list`."
    own = place.personal()
    if not place.project.is_personal and own.store().path_of(memory_id):
        todo = "It is one of your own, which belong to no repository: add --global."
    return NotFoundError(f"There is no memory {memory_id[:80]!r}.", where=str(place.project.memory_dir), todo=todo)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def edit_memory(
    place: ReviewPaths, memory_id: str, edit: CandidateEdit, references: Sequence[str] | None = None
) -> ReviewResult:
    """Change a memory's words, tags or references, secrets cut out. With other words it is as sure as a person is, of
    now, and as verified as by `verify_memory`. Raises NotFoundError, MemoryError_, StaleError, BusyError."""
    with hold_memory(place, memory_id) as memory:
        text = _edited(memory, edit, None if references is None else parse_references(references))
        if text == memory.text:
            return ReviewResult(True, "unchanged", _UNCHANGED, path=str(memory.path))
        return memory.do("change", f"Edited: {parse_record(text, memory.path).title}", [memory.rewritten(text)])


def _edited(memory: HeldMemory, edit: CandidateEdit, references: tuple[str, ...] | None) -> str:
    """The text with what was said otherwise. What was sent back as it was shown, without its secrets, stays."""
    old = memory.record
    words = clean_edit(edit, memory.path)
    changes: dict[str, HeaderValue] = {}
    if words.title not in (None, redact_secrets(join_lines(old.title)).text):
        changes["title"] = words.title
    new_body = words.body if words.body != redact_secrets(old.body.replace("\r\n", "\n").strip()).text else None
    if changes or new_body is not None:
        changes |= {"confidence": max(old.confidence, PERSON_CONFIDENCE), "updated": max(old.updated, _now())}
    if words.tags not in (None, tuple(redact_secrets(join_lines(tag)).text for tag in old.tags)):
        changes["tags"] = words.tags
    named = old if references is None else replace(old, references=references)
    if named.references != old.references:
        changes["references"] = named.references or None
    said = "updated" in changes and named.references  # in the words of now, as an update that was accepted
    if said or "references" in changes:
        place = memory.place
        before = None if said else old
        changes["verified"] = (
            verifying.verify_record(place.project, place.home, named, _now(), before=before).verified or None
        )
    parts = split_header(memory.text)
    newline = parts.newline if parts else "\n"
    return memory.updated(changes, None if new_body is None else new_body.replace("\n", newline))


def archive_memory(place: ReviewPaths, memory_id: str, reason: str = "") -> ReviewResult:
    """Put a memory away: its file moves to `archived/` as it is. Raises as `edit_memory`."""

    def put_away(memory: HeldMemory) -> ReviewResult:
        if not memory.may("archived"):
            return ReviewResult(True, "already", f"It is {memory.status} already.", path=str(memory.path))
        to = memory.store.path_for(memory.record, archived=True)
        return memory.do("archive", archived_label(memory.record.title, join_lines(reason)), memory.moved(to), to)

    return _as_it_is_now(place, memory_id, put_away)


def _as_it_is_now(place: ReviewPaths, memory_id: str, act: Callable[[HeldMemory], ReviewResult]) -> ReviewResult:
    """Does what goes for a memory whatever its text says: if a person saves it meanwhile, it starts over."""
    for _ in range(_TRIES):
        with suppress(StaleError), hold_memory(place, memory_id) as memory:
            return act(memory)
    with hold_memory(place, memory_id) as memory:
        return act(memory)


def restore_memory(place: ReviewPaths, memory_id: str) -> ReviewResult:
    """Bring back a memory that was archived, superseded or resolved: what ended it does not any more, on either side.

    Raises as `edit_memory`.
    """

    def bring_back(memory: HeldMemory) -> ReviewResult:
        old = memory.record
        enders = links.find_enders(links.find_linked_memories(memory.store), memory_id)
        if not memory.may("active") and not enders:
            return ReviewResult(True, "already", "It is active.", path=str(memory.path))
        to = memory.store.path_for(old)
        changes = [_rid(memory.store, ender, memory_id) for ender in enders if ender.record.id != memory_id]
        ended: dict[str, HeaderValue] = {
            "superseded_by": None,
            "resolved_by": None,
            **links.changes_without_link(old, memory_id),
        }
        changes += memory.moved(to, memory.updated(ended))
        return memory.do("restore", f"Restored: {old.title}", changes, to)

    return _as_it_is_now(place, memory_id, bring_back)


def _rid(store: Store, ender: StoredMemory, memory_id: str) -> FileChange:
    """The change by which a memory does not end another any more."""
    text = store.read_text(ender.path)
    gone = links.changes_without_link(ender.record, memory_id)
    return file_change(store, ender.path, text, record.update_record_text(text, gone, where=str(ender.path)))


def change_kind(
    place: ReviewPaths, memory_id: str, primitive: Primitive, kind: LearningKind | None = None
) -> ReviewResult:
    """Make a memory another primitive (its file moves, its id stays) or a learning of another kind (where none
    is given the one it has, or had before it was made another primitive, else "insight"). Raises as `edit_memory`."""
    if primitive == "summary" or (kind is not None and primitive != "learning"):
        message = "A memory cannot become a summary." if primitive == "summary" else f"A {primitive} has no kind."
        raise MemoryError_(message, where=memory_id, todo="Name a decision, learning, question or theme.")
    with hold_memory(place, memory_id) as memory:
        if memory.status != "active" and not memory.may("active", primitive):
            message = f"It is {memory.status}, which a {primitive} cannot be."
            raise MemoryError_(message, where=str(memory.path), todo="Restore it first.")
        if primitive == "learning":
            kind = kind or memory.record.kind or _kind_before(memory) or "insight"
        text = memory.updated({"kind": kind})
        to = memory.store.path_for(replace(memory.record, primitive=primitive), archived=memory.archived)
        if (text, to) == (memory.text, memory.path):
            return ReviewResult(True, "unchanged", _UNCHANGED, path=str(to))
        what = f"{primitive}/{kind}" if kind else primitive
        return memory.do("kind", f"Now a {what}: {memory.record.title}", memory.moved(to, text), to)


def _kind_before(memory: HeldMemory) -> LearningKind | None:
    """The kind a memory had as a learning, before it was made something else."""
    for step in memory.book.steps("done"):
        if (step.kind, step.memory) == ("kind", memory.record.id):
            texts = [(change.before, Path(change.path)) for change in step.changes if change.before is not None]
            for text, path in texts:
                with suppress(MemoryError_):
                    if kind := parse_record(text, path).kind:
                        return kind
    return None


def delete_theme(place: ReviewPaths, memory_id: str) -> ReviewResult:
    """Delete a theme's file; everything else is archived, not deleted. Raises as `edit_memory`."""
    with hold_memory(place, memory_id) as memory:
        if memory.record.primitive != "theme":
            todo = f"Archive it: `lerim memory archive {memory_id}`."
            raise MemoryError_("Only themes are deleted.", where=str(memory.path), todo=todo)
        gone = file_change(memory.store, memory.path, memory.text, None)
        return memory.do("delete", f"Deleted: {memory.record.title}", [gone])


def promote_question(
    place: ReviewPaths, memory_id: str, title: str | None = None, body: str | None = None
) -> ReviewResult:
    """Answer a question with a decision of this title, or its own, and this text alone: what a question says is that it
    is open. The decision resolves it, and it is archived. Raises as `edit_memory`, and where it is no open question."""
    with hold_memory(place, memory_id) as memory:
        old = memory.record
        if not memory.may("resolved"):
            todo = "Use `lerim memory kind` to make it a decision, or `lerim memory restore` first."
            raise MemoryError_("This is not an open question.", where=str(memory.path), todo=todo)
        now = _now()
        words = [
            redact_secrets(join_lines(title or old.title)).text,
            redact_secrets(path_to_text(body or "").strip()).text,
        ]
        states = memory.book.states()
        decision = MemoryRecord(
            *("", "decision", words[0], now, now, "manual", PERSON_CONFIDENCE, old.tags, words[1]),
            references=old.references,
            resolves=(old.id,),
        )
        decision = replace(decision, id=memory.store.new_id(decision, lambda name: name in states))
        if decision.references:
            decision = verifying.verify_record(place.project, place.home, decision, now)
        path = memory.store.path_for(decision)
        over = memory.updated({"resolved_by": decision.id})
        changes = [
            file_change(memory.store, path, None, render_record(decision)),
            *memory.moved(memory.store.path_for(old, archived=True), over),
        ]
        return memory.do("promote", f"Decided: {decision.title}", changes, path)


def globalize_memory(place: ReviewPaths, memory_id: str) -> ReviewResult:
    """Put a copy of an active memory among the person's own, found from every repository; the project's file stays.

    What names files or other memories of this repository is left out of the copy. Raises as `edit_memory`.
    """
    own = place.personal()
    if place.project.is_personal:
        raise MemoryError_("It is already one of your own memories.", where=memory_id, todo="There is nothing to do.")
    with hold_memory(place, memory_id) as memory, own.lock():
        old = memory.record
        if memory.status != "active":
            raise MemoryError_("It is over.", where=str(memory.path), todo="Restore it first.")
        by = find_ender(old.id, memory.store.load_all(archived=True)[0])
        if by is not None:
            message = f"It no longer holds: “{join_lines(by.record.title)}” ({by.record.id}) replaces it."
            raise MemoryError_(message, where=str(memory.path), todo="Copy that one instead.")
        store = own.store()
        text = memory.updated(
            {
                **dict.fromkeys(("references", "verified", "supersedes", "resolves"), None),
                **dict.fromkeys(("superseded_by", "resolved_by", "related"), None),
                "evidence": evidence_values(memory.store.quotes.join_quotes(old)[0].evidence) or None,
            }
        )
        for there in store.paths_of(old.id):
            if store.read_text(there) == text:
                return ReviewResult(True, "already", "It is already among your own memories.", path=str(there))
        copy = parse_record(text, memory.path)
        if store.path_of(copy.id):
            copy = replace(copy, id=store.new_id(copy))
            text = record.update_record_text(text, {"id": copy.id}, where=str(memory.path))
        path = store.path_for(copy)
        made = FileChange("global", str(store.anchor), str(path), None, text)
        return memory.do("globalize", f"Copied to your own memories: {old.title}", [made], path)


def verify_memory(place: ReviewPaths, memory_id: str) -> ReviewResult:
    """Say that a memory is still true: what it refers to is from now on compared with how it is now. Raises as
    `edit_memory`, and where that cannot be kept."""
    with hold_memory(place, memory_id) as memory:
        verified = verifying.verify_record(
            place.project, place.home, replace(memory.record, verified=""), _now()
        ).verified
        if not verified:
            todo = "Free some space or make the folder writable, then try again."
            raise MemoryError_("The state of its references could not be saved.", where=str(place.private), todo=todo)
        text = memory.updated({"verified": verified})
        label = f"Verified: {memory.record.title}"
        if text == memory.text:
            note_kept(place, memory_id)
            return ReviewResult(True, "verify", label, path=str(memory.path))
        return memory.do("verify", label, [memory.rewritten(text)])


def give_feedback(place: ReviewPaths, memory_id: str, said: Feedback) -> ReviewResult:
    """What the person thinks of a memory: it moves the confidence by the rule of `lifecycle.fed_back`, and is kept.

    Called useful, it is not proposed to be archived any more. Raises as `edit_memory`.
    """
    with hold_memory(place, memory_id) as memory:
        old = memory.record
        now = lifecycle.confidence_after_feedback(old.confidence, said)
        uses, at = Uses(place.private), datetime.now(UTC)
        uses.record_feedback(memory_id, said, at)
        if said == "useful":
            uses.record_use([memory_id], "useful", at)
            withdraw_archiving(place, memory.book, memory_id, "it was rated useful since")
        text = memory.updated({"confidence": now})
        if text == memory.text:
            return ReviewResult(True, "unchanged", f"Saved; its confidence stays {now:.2f}.", path=str(memory.path))
        label = f"{said.capitalize()}: {old.title} (confidence {old.confidence:.2f}, now {now:.2f})"
        if said != "useful" and memory.book.is_ours(hash_text(memory.text)):
            memory.book.wrote(text)  # no word of it is a person's, and this one does not want it kept
        return memory.do("feedback", label, [memory.rewritten(text)])


@dataclass(frozen=True, slots=True)
class RepairResult:
    """How many memories had links that did not agree; `action` takes the repair back."""

    count: int = 0
    action: str | None = None
    problems: tuple[Problem, ...] = ()


def repair_links(place: ReviewPaths) -> RepairResult:
    """Make the links of all memories agree, as one action (`links/repairs.py`). A file that cannot be changed is a
    problem. Where the index says that all agree no file is read but those that changed since it was brought up.

    Raises MemoryError_ where the ledger cannot be used, BusyError.
    """
    known = memory_search.load_links(place.project, place.home)
    if known is not None and not links.find_memories_to_repair(known):
        return RepairResult()
    if known is None and not links.plan_link_repairs(links.find_linked_memories(place.store())):
        return RepairResult()
    with actions.locked_ledger(place) as book:
        store = place.store()
        changes: list[FileChange] = []
        problems: list[Problem] = []
        for one in links.plan_link_repairs(links.find_linked_memories(store)):
            try:
                memory = HeldMemory(
                    place, book, store, one.stored.path, store.read_text(one.stored.path), one.stored.record
                )
                to = store.path_for(memory.record, archived=True) if one.should_archive else memory.path
                changes += memory.moved(to, memory.updated(dict(one.changes)))
            except LerimError as error:
                problems.append(error.problem(code="memory-links"))
        count = len({change.path for change in changes if change.before is not None})
        if not changes:
            return RepairResult(0, None, tuple(problems))
        label = f"Links between memories corrected: {count}"
        action = actions.perform_action(place, book, "repair", label, "", ("accepted", "accepted"), changes)
        return RepairResult(count, action.id, tuple(problems))
