"""Builds tool calls from a table of an agent's tools, and adds their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from lerim.redaction import redact_secrets
from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine.commands import PATCH_BEGIN, parse_patch
from lerim.sessions.readers.engine.fields import keep_ends, without_nul
from lerim.sessions.readers.engine.record_fields import find_text, list_objects, list_texts

_KINDS_WITH_USED_OUTPUT: frozenset[ToolKind] = frozenset({"ask", "plan"})
"""The kinds of calls whose output a brief reading keeps even if they succeeded."""

_MAX_ASKED = 8_000
"""The maximum length of a description in characters. It is twice what the catalog keeps, so that the catalog makes
the final cut, which never cuts a secret in two."""
_MAX_DEPTH = 4
_MAX_NAME = 100
"""How many characters of an argument's name are read to find out whether it names a secret."""


def kinds_by_name(names_by_kind: Mapping[ToolKind, str]) -> dict[str, ToolKind]:
    """Returns the kind of each tool. `names_by_kind` lists the names of each kind, separated by spaces."""
    return {name: kind for kind, names in names_by_kind.items() for name in names.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTable:
    """The tools of an agent: the kind of each tool by its name, and the names of the arguments that contain its
    command, paths and texts. If several names are given, the first argument that contains a non-empty text counts.

    A tool that edits a file has a `patch`, a list of `replacements` with an `old` and a `new` text each, or one such
    pair among its arguments; one that writes a file has its `content`.
    """

    kinds: Mapping[str, ToolKind]
    command: Sequence[str]
    path: Sequence[str]
    description: Sequence[str] = ("description",)
    question: Sequence[str] = ("question",)
    plan: Sequence[str] = ("plan",)
    content: Sequence[str] = ("content",)
    patch: Sequence[str] = ()
    replacements: str = "edits"
    old: Sequence[str] = ("old_string",)
    new: Sequence[str] = ("new_string",)

    def find_kind(self, name: str) -> ToolKind:
        return self.kinds.get(name, "other")

    def build_call(
        self,
        native_id: str | None,
        name: str | None,
        arguments: Mapping[str, object],
        *,
        kind: ToolKind | None = None,
        default_path: str = "",
        brief: bool = False,
    ) -> ToolCall:
        """Builds a call without a result. `kind` is given if it does not follow from the name alone, `default_path` is
        the file if no argument names it; `brief` leaves out text that is written to files."""
        name = without_nul(name)[:200]
        kind = kind or self.find_kind(name)
        path = find_text(arguments, *self.path) or default_path
        call = ToolCall(
            id=without_nul(native_id),
            name=name,
            kind=kind,
            command=find_text(arguments, *self.command),
            description=find_text(arguments, *self.description),
            paths=(path,) if path else (),
            answers=self._parse_questions(arguments) if kind == "ask" else (),
            plan=find_text(arguments, *self.plan) if kind == "plan" else "",
        )
        if kind not in ("edit", "write"):
            is_bare = not (call.command or call.description or call.paths or call.answers or call.plan)
            return replace(call, description=_describe_arguments(arguments)) if is_bare and kind != "plan" else call
        if PATCH_BEGIN in (text := find_text(arguments, *self.patch)):
            return add_patch(call, text, brief=brief)
        edits = self._list_edits(kind, path, arguments)
        paths = dict.fromkeys(one for one in (path, *(edit.path for edit in edits)) if one)
        return replace(call, paths=tuple(paths), edits=() if brief else edits)

    def _list_edits(self, kind: ToolKind, path: str, arguments: Mapping[str, object]) -> tuple[FileEdit, ...]:
        if kind == "write":
            return (FileEdit(path, "", find_text(arguments, *self.content)),)
        replacements: Sequence[Mapping[str, object]] = list_objects(arguments.get(self.replacements)) or [arguments]
        edits = (
            FileEdit(find_text(one, *self.path) or path, find_text(one, *self.old), find_text(one, *self.new))
            for one in replacements
        )
        return tuple(edit for edit in edits if edit.old or edit.new)

    def _parse_questions(self, arguments: Mapping[str, object]) -> tuple[QuestionAnswer, ...]:
        single = [arguments] if find_text(arguments, *self.question) else []
        questions: Sequence[Mapping[str, object]] = list_objects(arguments.get("questions")) or single
        return tuple(parse_question(one, *self.question) for one in questions)


def _describe_arguments(arguments: Mapping[str, object]) -> str:
    """Describes what was asked of a tool that is in no table, from its arguments. A single text is returned as it
    is, several texts with their names; without any, the first text nested in the arguments is returned. A long
    description is cut at its end. A text that is shown without its name is redacted if the name says that it is a
    secret."""
    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and value.strip()}
    if len(texts) > 1:
        asked = ", ".join(f"{name}: {text}" for name, text in texts.items())
    else:
        asked = _redact_by_name(*(next(iter(texts.items()), None) or _find_inner_text(arguments)))
    return without_nul(asked[:_MAX_ASKED]).strip()


def _redact_by_name(name: str, text: str) -> str:
    """Returns the beginning of a text, redacted as if its name stood before it: the name may show that the text is a
    secret."""
    label = f"{name[-_MAX_NAME:]}: "
    begun = text[:_MAX_ASKED]
    labelled = redact_secrets(label + begun).text
    return labelled.removeprefix(label) if labelled != label + begun else begun


def _find_inner_text(arguments: Mapping[str, object]) -> tuple[str, str]:
    """Returns the names that lead to the first text nested in lists and objects, joined by dots, and that text.
    Searches level by level; returns two empty texts if there is no text within `_MAX_DEPTH` levels."""
    level = list(arguments.items())
    for _ in range(_MAX_DEPTH):
        level = [inner for name, value in level for inner in _list_parts(name, value)]
        found = next(((name, one) for name, one in level if isinstance(one, str) and one.strip()), None)
        if found:
            return found
    return "", ""


def _list_parts(name: str, value: object) -> Sequence[tuple[str, object]]:
    if isinstance(value, dict):
        return [(f"{name[-_MAX_NAME:]}.{key}", inner) for key, inner in value.items()]
    return [(name, inner) for inner in value] if isinstance(value, list) else ()


def add_patch(call: ToolCall, text: str, *, brief: bool = False) -> ToolCall:
    """Returns the call with the files that a patch changes; `brief` leaves out the replacements. A patch that only
    creates files makes it a call that writes them."""
    patch = parse_patch(text, brief=brief)
    kind: ToolKind = "write" if patch.only_adds_files else "edit"
    return replace(call, kind=kind, paths=patch.paths or call.paths, edits=patch.edits)


def parse_question(question: Mapping[str, object], *names: str) -> QuestionAnswer:
    """Returns a question without an answer yet. Its text is in the first of the named fields, its `options` (or
    `choices`) are objects or plain texts."""
    listed = question.get("options") or question.get("choices")
    options = list_objects(listed)
    labels = tuple(find_text(option, "label") for option in options)
    descriptions = tuple(find_text(option, "description") for option in options)
    return QuestionAnswer(
        find_text(question, *names), labels or list_texts(listed), "", descriptions if any(descriptions) else ()
    )


def close_call(call: ToolCall, status: ToolStatus, text: str, code: int | None = None, *, brief: bool) -> ToolCall:
    """Returns the call with its result. A command with a non-zero exit code counts as failed; `brief` leaves out the
    output of a call that succeeded."""
    if code is not None and abs(code) >= 1 << 32:
        code = None
    if status == "ok" and code:
        status = "error"
    is_unused = brief and status == "ok" and call.kind not in _KINDS_WITH_USED_OUTPUT
    output, omitted = ("", 0) if is_unused else keep_ends(text)
    return replace(call, status=status, output=output, output_cut=omitted, exit_code=code)
