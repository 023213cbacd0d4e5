"""Decodes one line of a Claude Code transcript into typed records. Accepts any bytes."""

from __future__ import annotations

import msgspec

from lerim.sessions.readers.engine import JSON_NULL, decode_line, is_one_object


class ClaudeUsage(msgspec.Struct, gc=False):
    """Token counts as the API reported them so far, in the order of `Tokens`; every record of a message has them."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class ClaudeBlock(msgspec.Struct, gc=False):
    """One content block of any type."""

    type: str = ""
    text: str | None = ""
    thinking: str | None = ""
    id: str | None = ""
    name: str | None = ""
    input: msgspec.Raw = JSON_NULL
    tool_use_id: str | None = ""
    content: msgspec.Raw = JSON_NULL
    is_error: bool | None = False


class ClaudeMessage(msgspec.Struct, gc=False):
    """A message; `content` is text or blocks."""

    id: str | None = ""
    model: str | None = ""
    content: str | list[ClaudeBlock] | None = ""
    usage: ClaudeUsage | None = None


class PromptOrigin(msgspec.Struct, gc=False):
    """The source of a prompt: `human`, or a machine."""

    kind: str | None = ""


class Attachment(msgspec.Struct, gc=False):
    """Context attached by the agent; only `queued_command` can contain a person's words."""

    type: str = ""
    prompt: str | list[ClaudeBlock] | None = ""
    command_mode: str | None = msgspec.field(default="", name="commandMode")
    origin: PromptOrigin | str | None = None
    is_meta: bool | None = msgspec.field(default=False, name="isMeta")


class ClaudeRecord(msgspec.Struct, rename="camel", gc=False):
    """Every field that is used, of every record type; all others are skipped unread."""

    type: str = ""
    uuid: str | None = ""
    session_id: str | None = ""
    timestamp: str | None = ""
    cwd: str | None = ""
    git_branch: str | None = ""
    version: str | None = ""
    request_id: str | None = ""
    is_sidechain: bool | None = False
    is_meta: bool | None = False
    is_compact_summary: bool | None = False
    is_visible_in_transcript_only: bool | None = False
    is_api_error_message: bool | None = False
    message: ClaudeMessage | None = None
    tool_use_result: msgspec.Raw = JSON_NULL
    attachment: Attachment | None = None
    origin: PromptOrigin | str | None = None
    prompt_source: str | None = ""
    parent_uuid: str | None = ""
    entrypoint: str | None = ""
    source_tool_use_id: str | None = msgspec.field(default="", name="sourceToolUseID")
    plan_content: str | None = ""
    tool_denial_kind: str | None = ""
    user_feedback: str | None = ""
    operation: str | None = ""
    content: str | list[ClaudeBlock] | None = ""
    summary: str | None = ""
    leaf_uuid: str | None = ""
    custom_title: str | None = ""
    ai_title: str | None = ""


_PROGRESS_TYPE = b',"type":"progress",'
_TYPE_SEARCH_BYTES = 2048


def decode_claude_line(line: bytes) -> tuple[list[ClaudeRecord], str]:
    """Decodes the records of a line; an empty line, or one that only reports progress, has none. Also returns what
    is wrong with the line."""
    if line.find(_PROGRESS_TYPE, 0, _TYPE_SEARCH_BYTES) >= 0 and _is_progress(line):
        return [], ""
    return decode_line(line, ClaudeRecord)


def _is_progress(line: bytes) -> bool:
    """Checks whether the outermost object is a progress record: only its own brace is open before the type."""
    before = line[: line.index(_PROGRESS_TYPE)]
    return before.count(b"{") == 1 and b"[" not in before and is_one_object(line)


def list_blocks(content: str | list[ClaudeBlock] | None) -> list[ClaudeBlock]:
    """Returns the blocks of a message's content; a plain text counts as one block."""
    return [ClaudeBlock("text", content)] if isinstance(content, str) else content or []


def block_texts(content: str | list[ClaudeBlock] | None) -> list[str]:
    """Returns the texts in a message's content, one for each text block."""
    return [block.text for block in list_blocks(content) if block.type == "text" and block.text]
