"""Cursor's records as typed values: composers, bubbles and the lists that refer to them. Only the fields that are
needed are decoded, because the rest contains keys, opaque state and whole files.
"""

from __future__ import annotations

import json
from datetime import datetime

import msgspec

from lerim.sessions.readers.engine import (
    JSON_NULL,
    decode_leniently,
    milliseconds_to_time,
    parse_json_or_none,
    parse_timestamp,
    split_json_array,
)

Number = int | float | None


class Uri(msgspec.Struct, gc=False):
    """A location as the editor stores it; `external` is the complete URI."""

    external: str | None = ""
    fs_path: str | None = msgspec.field(default="", name="fsPath")
    path: str | None = ""
    scheme: str | None = ""


class CursorWindow(msgspec.Struct, gc=False):
    """The window a composer belongs to: `uri` for a single folder, `configPath` for a file that lists several."""

    id: str | None = ""
    uri: Uri | str | None = None
    config: Uri | str | None = msgspec.field(default=None, name="configPath")


class Subagent(msgspec.Struct, gc=False):
    """The link from a composer to the composer it works for."""

    parent: str | None = msgspec.field(default="", name="parentComposerId")


class AgentEnvironment(msgspec.Struct, gc=False):
    """Where an agent runs."""

    uri: Uri | str | None = None


class AgentLocation(msgspec.Struct, gc=False):
    """Where an agent runs, as recorded in the heads of Cursor 3.12."""

    environment: AgentEnvironment | None = None


class ComposerHead(msgspec.Struct, rename="camel", gc=False):
    """The entry for one composer in a list of composers; also the outline decoded from a composer's own row."""

    composer_id: str | None = ""
    created_at: Number = None
    last_updated_at: Number = None
    workspace_identifier: CursorWindow | None = None
    agent_location: AgentLocation | None = None
    subagent_info: Subagent | None = None
    full_conversation_headers_only: msgspec.Raw = JSON_NULL
    conversation: msgspec.Raw = JSON_NULL


class ComposerHeads(msgspec.Struct, rename="camel", gc=False):
    """A list of composers, complete (2024) or as heads, and which of them are open."""

    all_composers: msgspec.Raw = JSON_NULL
    selected_composer_ids: msgspec.Raw = JSON_NULL
    selected_composer_id: str | None = ""


class ChatTabs(msgspec.Struct, gc=False):
    """The chats of 2023 and 2024."""

    tabs: msgspec.Raw = JSON_NULL


class ModelName(msgspec.Struct, gc=False):
    """The selected model."""

    name: str | None = msgspec.field(default="", name="modelName")


class Composer(ComposerHead, rename="camel", gc=False):
    """One chat. Its bubbles are inline in `conversation`, or `fullConversationHeadersOnly` lists their ids in order."""

    name: str | None = ""
    model_config: ModelName | None = None
    created_on_branch: str | None = ""
    usage_data: msgspec.Raw = JSON_NULL
    capabilities: msgspec.Raw = JSON_NULL


class ChatTab(msgspec.Struct, gc=False):
    """A chat of 2023 or 2024."""

    id: str | None = msgspec.field(default="", name="tabId")
    title: str | None = msgspec.field(default="", name="chatTitle")
    sent: Number = msgspec.field(default=None, name="lastSendTime")
    bubbles: msgspec.Raw = JSON_NULL


class AnswerTiming(msgspec.Struct, gc=False):
    """When an answer began and when its prompt was sent, in milliseconds since 1970. In 2025, `start` counts from the
    start of the editor instead."""

    start: Number = msgspec.field(default=None, name="clientStartTime")
    sent: Number = msgspec.field(default=None, name="clientRpcSendTime")


class BubbleTokens(msgspec.Struct, gc=False):
    """The token counts of a bubble; both are 0 if Cursor does not reveal them."""

    input: Number = msgspec.field(default=None, name="inputTokens")
    output: Number = msgspec.field(default=None, name="outputTokens")


class Thinking(msgspec.Struct, gc=False):
    """Reasoning, if it is readable."""

    text: str | None = ""


class CodeBlock(msgspec.Struct, gc=False):
    """A file that an answer refers to."""

    uri: Uri | str | None = None


class CursorTool(msgspec.Struct, rename="camel", gc=False):
    """A tool call with its result; `params` and `result` are JSON inside strings."""

    name: str | None = ""
    tool_call_id: str | None = ""
    status: str | None = ""
    raw_args: msgspec.Raw = JSON_NULL
    params: msgspec.Raw = JSON_NULL
    result: msgspec.Raw = JSON_NULL
    error: msgspec.Raw = JSON_NULL
    user_decision: msgspec.Raw = JSON_NULL


class Bubble(msgspec.Struct, rename="camel", gc=False):
    """One piece of a chat: a prompt, or a text, reasoning or a tool call of the model. In 2023, the text of a prompt is
    in `init_text`, a rich text, and that of an answer in `raw_text`."""

    type: int | str | None = 0
    bubble_id: str | None = None
    id: str | None = None
    text: str | None = ""
    rich_text: msgspec.Raw = JSON_NULL
    raw_text: str | None = ""
    init_text: msgspec.Raw = JSON_NULL
    images: msgspec.Raw = JSON_NULL
    selected_images: msgspec.Raw = JSON_NULL
    created_at: str | int | float | None = None
    timing_info: AnswerTiming | None = None
    model_info: ModelName | None = None
    model_type: str | None = ""
    token_count: BubbleTokens | None = None
    thinking: Thinking | str | None = None
    tool_former_data: CursorTool | None = None
    workspace_uris: msgspec.Raw = JSON_NULL
    code_blocks: msgspec.Raw = JSON_NULL
    is_simulated_msg: bool | None = False


class BubbleGrouping(msgspec.Struct, rename="camel", gc=False):
    """How the editor displays a bubble."""

    is_simulated_msg: bool | None = False


class BubbleHeader(msgspec.Struct, gc=False):
    """An entry in the list of a chat's bubbles."""

    id: str | None = msgspec.field(default=None, name="bubbleId")
    grouping: BubbleGrouping | None = None


def parse_heads(raw: msgspec.Raw) -> list[ComposerHead]:
    """Decodes a list of composer heads."""
    return [decode_leniently(one, ComposerHead) for one in split_json_array(raw)]


def parse_bubble_order(raw: msgspec.Raw) -> dict[str, bool]:
    """Returns the bubble ids of `fullConversationHeadersOnly` in order, and whether Cursor wrote each message on the
    person's behalf."""
    heads = [decode_leniently(one, BubbleHeader) for one in split_json_array(raw)]
    return {
        head.id: head.grouping is not None and bool(head.grouping.is_simulated_msg)
        for head in heads
        if head.id is not None
    }


def unwrap_json(raw: msgspec.Raw) -> bytes:
    """Returns JSON as bytes, unwrapped if it is inside a JSON string; the text of a string that is not JSON is returned
    as is."""
    if bytes(raw)[:1] != b'"':
        return bytes(raw)
    found = parse_json_or_none(raw)
    return found.encode("utf-8", "replace") if isinstance(found, str) else b"null"


_ON_A_LINE_OF_ITS_OWN = ("linebreak", "paragraph", "heading", "listitem", "quote", "code")
"""Types of the nodes of a rich text that begin a line."""


def extract_rich_text(raw: msgspec.Raw) -> str:
    """Returns the plain text of a rich text (Lexical JSON, often inside a string)."""
    try:
        root = json.loads(unwrap_json(raw).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ""
    pieces: list[str] = []
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += reversed(node)
        elif isinstance(node, dict):
            if isinstance(text := node.get("text"), str):
                pieces.append(text)
            elif node.get("type") in _ON_A_LINE_OF_ITS_OWN and pieces:
                pieces.append("\n")
            nodes += [node[key] for key in ("children", "root") if isinstance(node.get(key), (list, dict))]
    return "".join(pieces).strip().encode("utf-8", "surrogatepass").decode("utf-8", "replace")


_EARLIEST_MS = 1_000_000_000_000
_LATEST_MS = 10_000_000_000_000


def parse_cursor_time(value: str | Number) -> datetime | None:
    """Parses a time as Cursor writes it (ISO text, or milliseconds since 1970); returns None for anything else."""
    if isinstance(value, str):
        return parse_timestamp(value)
    return milliseconds_to_time(value) if value is not None and _EARLIEST_MS < value < _LATEST_MS else None
