"""What tools of Cursor are asked and what they bring back, under all the names that its versions gave the fields."""

from __future__ import annotations

from typing import cast

import msgspec

from lerim.sessions.broken_json import part
from lerim.sessions.shapes import NOTHING, read


class Asked(msgspec.Struct, gc=False):
    """What a tool is asked, as models write it (`target_file`)."""

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
    questions: msgspec.Raw = NOTHING
    old_string: str | None = ""
    new_string: str | None = ""
    contents: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING


_Camel = cast(
    type[Asked],
    msgspec.defstruct(
        "_Camel", [(one.name, one.type, one.default) for one in msgspec.structs.fields(Asked)], rename="camel", gc=False
    ),
)
"""The same as the editor writes it (`targetFile`)."""


class Came(msgspec.Struct, rename="camel", gc=False):
    """What a tool brought back."""

    output: str | None = ""
    contents: str | None = ""
    stderr: str | None = ""
    error: msgspec.Raw = NOTHING
    exit_code: int | None = None
    exit_code_v2: int | None = None
    rejected: bool | None = False
    accepted: bool | None = False
    not_interrupted: bool | None = True
    agent_id: str | None = ""
    answers: msgspec.Raw = NOTHING
    before_content_id: str | None = ""
    after_content_id: str | None = ""
    diff: Diff | None = None


class Diff(msgspec.Struct, gc=False):
    """What an edit of 2025 changed."""

    chunks: list[Chunk] | None = None


class Chunk(msgspec.Struct, gc=False):
    """Lines taken out (`-`), put in (`+`) and beside them."""

    lines: str | None = msgspec.field(default="", name="diffString")


class Option(msgspec.Struct, gc=False):
    """One answer a person may choose."""

    id: str | None = ""
    label: str | None = ""
    description: str | None = ""


class Question(msgspec.Struct, gc=False):
    """What the agent asks the person."""

    id: str | None = ""
    prompt: str | None = ""
    question: str | None = ""
    options: list[Option] | None = None


def asked(given: tuple[bytes, ...]) -> list[Asked]:
    """What was asked, in both spellings; where several tell it, the first one that does is meant."""
    return [read(data, shape) for data in given for shape in (_Camel, Asked)]


def came(data: bytes) -> Came:
    """What was brought back; nothing where that is a text."""
    return read(data, Came) if data[:1] == b"{" else Came()


def questions(raw: msgspec.Raw) -> list[Question]:
    """The questions of a call."""
    found = part(raw)
    items = found if isinstance(found, list) else []
    return [read(msgspec.json.encode(item), Question) for item in items if isinstance(item, dict)]
