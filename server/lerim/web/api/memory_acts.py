"""What a person does with accepted memories."""

from __future__ import annotations

import msgspec

from lerim.errors import UsageError
from lerim.memory import Feedback, LearningKind, parse_references
from lerim.review import Body, MemoryEdit, Tag, Title, TypedReference, acts, queue
from lerim.views import (
    AddedMemoryOutput,
    MergedFileOutput,
    ResultView,
    load_added_memory,
    merge_memory,
    refresh_agent_files,
)
from lerim.web.api.memories import PrimitiveName
from lerim.web.api.operations import Call, Operation
from lerim.web.api.review import act


class NewMemoryBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory that you write. Only a learning has a kind; the default is `insight`."""

    title: Title
    body: Body = ""
    primitive: PrimitiveName = "decision"
    kind: LearningKind | None = None
    tags: list[Tag] = []
    references: list[TypedReference] = []


class MemoryEditBody(MemoryEdit, frozen=True, forbid_unknown_fields=True):
    """New words, tags or references; what is null stays as it is."""


class ArchiveBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The reason is shown in the history."""

    reason: Title = ""


class PromoteBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was decided; the default title is the question's."""

    title: Title | None = None
    body: Body | None = None


class GlobalizeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether to remove the memory from the project."""

    move: bool = False


class KindBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The new primitive, and the kind of a learning."""

    primitive: PrimitiveName
    kind: LearningKind | None = None


class MergeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether only to show the difference: a preview writes nothing."""

    preview: bool


class FeedbackBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How you rate a memory."""

    feedback: Feedback


def add_memory(call: Call, body: NewMemoryBody) -> AddedMemoryOutput:
    """Writes a memory by hand, and returns it."""
    paths = call.review_paths()
    if body.kind is not None and body.primitive != "learning":
        raise UsageError(f"A {body.primitive} has no kind.", where="kind", todo="Leave it out, or add a learning.")
    if body.references and paths.project.is_personal:
        raise UsageError("Personal memories belong to no repository.", where="references", todo="Leave them out.")
    kind = body.kind or ("insight" if body.primitive == "learning" else None)
    references = parse_references(body.references)
    result = queue.add_memory(
        paths, body.primitive, body.title, body.body, kind=kind, tags=body.tags, references=references
    )
    if not call.is_command:
        refresh_agent_files(paths.project, paths.home)
    return load_added_memory(paths, result)


def edit_memory(call: Call, body: MemoryEditBody) -> ResultView:
    """Changes a memory's words, tags or references."""
    return act(call, lambda paths, name: acts.edit_memory(paths, name, body))


def archive_memory(call: Call, body: ArchiveBody) -> ResultView:
    """Archives a memory. It is no longer shown, and can be restored."""
    return act(call, lambda paths, name: acts.archive_memory(paths, name, body.reason))


def restore_memory(call: Call) -> ResultView:
    """Restores a memory that was archived, superseded or resolved."""
    return act(call, acts.restore_memory)


def promote_question(call: Call, body: PromoteBody) -> ResultView:
    """Answers an open question with a decision."""
    return act(call, lambda paths, name: acts.promote_question(paths, name, body.title, body.body))


def globalize_memory(call: Call, body: GlobalizeBody) -> ResultView:
    """Copies a memory to your personal memories, or moves it there."""
    return act(call, lambda paths, name: acts.globalize_memory(paths, name, move=body.move))


def change_kind(call: Call, body: KindBody) -> ResultView:
    """Changes a memory's primitive, or the kind of a learning."""
    if body.kind is not None and body.primitive != "learning":
        raise UsageError(f"A {body.primitive} has no kind.", where="kind", todo="Leave it out.")
    return act(call, lambda paths, name: acts.change_kind(paths, name, body.primitive, body.kind))


def delete_theme(call: Call) -> ResultView:
    """Deletes a theme. Other memories are archived instead."""
    return act(call, acts.delete_theme)


def verify_memory(call: Call) -> ResultView:
    """Confirms that a memory holds for the code as it is now."""
    return act(call, acts.verify_memory)


def rate_memory(call: Call, body: FeedbackBody) -> ResultView:
    """Rates a memory, so that it ranks higher or lower."""
    return act(call, lambda paths, name: acts.give_feedback(paths, name, body.feedback))


def merge_file(call: Call, body: MergeBody) -> MergedFileOutput:
    """Merges both sides of a git conflict in a memory, or two files with the same id."""
    return merge_memory(*call.target(), preview=body.preview)


_MEMORY = "/projects/{project}/memories/{memory}"
operations = [
    Operation("POST", "/projects/{project}/memories", "Add a memory", add_memory),
    Operation("POST", f"{_MEMORY}/edit", "Edit a memory", edit_memory),
    Operation("POST", f"{_MEMORY}/archive", "Archive a memory", archive_memory),
    Operation("POST", f"{_MEMORY}/restore", "Restore a memory", restore_memory),
    Operation("POST", f"{_MEMORY}/promote", "Answer a question", promote_question),
    Operation("POST", f"{_MEMORY}/globalize", "Copy a memory to your personal memories", globalize_memory),
    Operation("POST", f"{_MEMORY}/kind", "Change the kind of a memory", change_kind),
    Operation("POST", f"{_MEMORY}/delete", "Delete a theme", delete_theme),
    Operation("POST", f"{_MEMORY}/verify", "Confirm a memory", verify_memory),
    Operation("POST", f"{_MEMORY}/feedback", "Rate a memory", rate_memory),
    Operation("POST", f"{_MEMORY}/merge", "Merge a memory", merge_file),
]
