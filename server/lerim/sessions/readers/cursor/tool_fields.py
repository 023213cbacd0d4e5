"""The input and output fields of Cursor's tools, under all names that its versions have used."""

from __future__ import annotations

from typing import cast

import msgspec

from lerim.sessions.readers.engine import JSON_NULL, decode_leniently, parse_json_or_none


class CursorToolInput(msgspec.Struct, gc=False):
    """The input of a tool, as models write it (`target_file`)."""

    command: str | None = ""
    description: str | None = ""
    explanation: str | None = ""
    target_file: str | None = ""
    relative_workspace_path: str | None = ""
    file_path: str | None = ""
    path: str | None = ""
    target_directory: str | None = ""
    directory_path: str | None = ""
    target_notebook: str | None = ""
    effective_uri: str | None = ""
    pattern: str | None = ""
    glob_pattern: str | None = ""
    query: str | None = ""
    search_term: str | None = ""
    url: str | None = ""
    plan: str | None = ""
    overview: str | None = ""
    questions: msgspec.Raw = JSON_NULL
    old_string: str | None = ""
    new_string: str | None = ""
    contents: msgspec.Raw = JSON_NULL
    content: msgspec.Raw = JSON_NULL


_CamelCaseInput = cast(
    type[CursorToolInput],
    msgspec.defstruct(
        "_Camel",
        [(one.name, one.type, one.default) for one in msgspec.structs.fields(CursorToolInput)],
        rename="camel",
        gc=False,
    ),
)
"""The same fields as the editor writes them (`targetFile`)."""


class CursorToolOutput(msgspec.Struct, rename="camel", gc=False):
    """The output of a tool."""

    output: str | None = ""
    contents: str | None = ""
    stderr: str | None = ""
    error: msgspec.Raw = JSON_NULL
    exit_code: int | None = None
    exit_code_v2: int | None = None
    rejected: bool | None = False
    accepted: bool | None = False
    not_interrupted: bool | None = True
    agent_id: str | None = ""
    answers: msgspec.Raw = JSON_NULL
    before_content_id: str | None = ""
    after_content_id: str | None = ""
    diff: CursorDiff | None = None


class CursorDiff(msgspec.Struct, gc=False):
    """The changes of an edit, as recorded in 2025."""

    chunks: list[DiffChunk] | None = None


class DiffChunk(msgspec.Struct, gc=False):
    """Removed (`-`) and added (`+`) lines with the unchanged lines around them."""

    lines: str | None = msgspec.field(default="", name="diffString")


class CursorOption(msgspec.Struct, gc=False):
    """One option the person can choose."""

    id: str | None = ""
    label: str | None = ""
    description: str | None = ""


class CursorQuestion(msgspec.Struct, gc=False):
    """A question that the agent asks the person."""

    id: str | None = ""
    prompt: str | None = ""
    question: str | None = ""
    options: list[CursorOption] | None = None


def parse_tool_inputs(json_texts: tuple[bytes, ...]) -> list[CursorToolInput]:
    """Decodes each input in both spellings; if several set a field, the first one counts."""
    return [decode_leniently(data, shape) for data in json_texts for shape in (_CamelCaseInput, CursorToolInput)]


def parse_tool_output(data: bytes) -> CursorToolOutput:
    """Decodes the output of a tool; all fields are empty if it is plain text."""
    return decode_leniently(data, CursorToolOutput) if data[:1] == b"{" else CursorToolOutput()


def parse_cursor_questions(raw: msgspec.Raw) -> list[CursorQuestion]:
    """Returns the questions in a call's input."""
    value = parse_json_or_none(raw)
    items = value if isinstance(value, list) else []
    return [decode_leniently(msgspec.json.encode(item), CursorQuestion) for item in items if isinstance(item, dict)]
