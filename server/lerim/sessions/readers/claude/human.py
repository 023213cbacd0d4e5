"""Separates what a person typed from what Claude Code, its hooks and Lerim itself put into user records."""

from __future__ import annotations

import re

from lerim.sessions.readers.claude.records import (
    Attachment,
    ClaudeBlock,
    ClaudeRecord,
    PromptOrigin,
    block_texts,
    list_blocks,
)
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    TypedText,
    find_text,
    parse_fields,
    tag_content,
    text_outside_blocks,
    without_nul,
)

_PROGRAM_TAG_LIST = (
    "bash-stdout bash-stderr local-command-stdout local-command-stderr local-command-caveat task-notification "
    "bash-notification agent-notification"
)
_PROGRAM_TAGS = tuple(_PROGRAM_TAG_LIST.split())
_PROGRAM_STARTS = tuple(f"<{tag}>" for tag in _PROGRAM_TAGS)
"""A text that begins with one of these was written entirely by a program."""

_CONTEXT_TAGS = (
    "system-reminder system_instruction system-instruction ide_opened_file ide_selection ide_diagnostics "
    "new-diagnostics user-prompt-submit-hook session-start-hook"
)
_CONTEXT = (MEMORIES_TAG, *_CONTEXT_TAGS.split(), *_PROGRAM_TAGS)
_AROUND_REQUESTS = (*_CONTEXT, "fork-boilerplate")
"""The tags of the blocks around the task in a request to a subagent."""
_INJECTED_STARTS = (
    *(f"<{tag}>" for tag in _CONTEXT),
    "Caveat:",
    "[Request interrupted",
    "This session is being continued",
    "Operation stopped by hook:",
    "Stop hook feedback:",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]",
    "Base directory for this skill:",
    "Detect my project's dev servers and save all their configurations to .claude/launch.json",  # a button
)

_MESSAGE_OF_PROGRAM = re.compile(
    r"(?:Another Claude|A peer) session sent a message(?: while you were working)?:\n"
    r"|The coordinator sent a message while you were working:\n"
    r"|Your background observer \([^()\n]{1,64}\) sent a report(?: while you were working)?:\n"
    r"|Activity was observed in the bound conversation(?: while you were working)?:\n"
    r"|<(?:teammate-message|cross-session-message|channel-message|github-webhook-activity|fork-boilerplate"
    r"|mcp-resource-update|mcp-polling-update|tick)[\s>]|<channel source=|<scheduled-task name="
)
"""The beginning of a message from another agent, a chat channel, a server or a schedule. Older versions record no
origin, so only its text distinguishes such a message from a prompt."""
_UNKNOWN_COMMAND = re.compile(
    r"Unknown (?:skill|slash command|command): \S{1,200}|Commands are in the form `/command \[args\]`"
)
"""Matches Claude Code's message about a slash command that it does not know, or about a slash alone; the message
contains nothing else."""
_BARE_COMMANDS = re.compile(r"(?:/[\w:-]{1,100}\n)*/[\w:-]{1,100}")
"""Matches slash commands without arguments that waited in the queue; Claude Code itself adds some of them."""
_TEAM_TAG = re.compile(r"<teammate-message(?:\s[^<>]{0,1000})?>")
_OWN_MEMORY = "user-memory-input"
"""The tag around what a person typed after `#`, to be remembered."""

_UNATTENDED = ("sdk", "mcp", "claude-code-github-action")
"""Prefixes of the entry points where a program sends the prompts: `claude -p`, the SDKs, Claude as a server, CI."""

_PERSON_SOURCES = ("", "typed", "queued", "suggestion_accepted")
"""The values of `promptSource` that mark a person's prompt; older versions leave the field out."""

_SDK_APPS = ("claude-desktop", "claude-vscode")
"""Entry points of apps in which a person types, but which send the prompt through the SDK."""
_APP_FOLDER = re.compile(r"[/\\](?:conductor[/\\]workspaces|\.conductor)[/\\]")
"""The working folders of Conductor, such an app without an entry point of its own."""

_COMMAND_STARTS = ("<command-name>", "<command-message>")

INTERRUPTED = "[Request interrupted"


def parse_claude_prompt(record: ClaudeRecord) -> TypedText | None:
    """Returns what a person typed in a user record without results of tools, or None if no person typed it."""
    if record.message is None or record.is_sidechain or record.is_meta or record.source_tool_use_id:
        return None
    if record.is_compact_summary or record.is_visible_in_transcript_only or record.prompt_source == "system":
        return None
    if not _is_person(record.origin):
        return None
    typed = _parse_content(record.message.content)
    if typed is not None and typed.kind == "prompt" and (plan := without_nul(record.plan_content).strip()):
        return typed if plan in typed.text else TypedText("prompt", f"{typed.text}\n\n{plan}")
    return typed


def parse_request(record: ClaudeRecord, *, is_subagent: bool) -> str:
    """Returns the task that another agent gives a teammate or a subagent in a record; '' if there is none."""
    if record.message is None or record.is_meta:
        return ""
    text = text_outside_blocks("\n".join(block_texts(record.message.content)), _AROUND_REQUESTS).strip()
    if text.startswith(_INJECTED_STARTS):
        return ""
    if team := _TEAM_TAG.match(text):
        asked = text[team.end() :].partition("</teammate-message>")[0].strip()
        return find_text(parse_fields(asked), "subject") if asked.startswith("{") else asked
    return text if is_subagent else ""


def is_unattended_record(record: ClaudeRecord) -> bool:
    """Checks whether a record says that a program sent its prompt, or names a sender that is not known to be a
    person."""
    entry, source = record.entrypoint or "", record.prompt_source or ""
    if entry == "sdk-ts" and source in ("", "sdk") and _APP_FOLDER.search(record.cwd or ""):
        return False
    is_from_app = source == "sdk" and entry in _SDK_APPS
    return (source not in _PERSON_SOURCES and not is_from_app) or entry.startswith(_UNATTENDED)


def _is_person(origin: PromptOrigin | str | None) -> bool:
    """Checks whether the origin of a prompt is a person; True if the record names no origin."""
    return origin is None or (origin if isinstance(origin, str) else origin.kind) == "human"


def command_key(record: ClaudeRecord) -> str:
    """Returns the key of a slash command's record, by which the record with the command's text is recognised; '' for
    any other record."""
    texts = block_texts(record.message.content) if record.message is not None else []
    return _second_key(record.uuid, record) if any(text.lstrip().startswith(_COMMAND_STARTS) for text in texts) else ""


def is_command_expansion(record: ClaudeRecord, command: str) -> bool:
    """Checks whether a record contains the text of a slash command, from a skill or a prompt file: the command's record
    is its parent and was written in the same second."""
    return bool(command) and command == _second_key(record.parent_uuid, record)


def _second_key(native_id: str | None, record: ClaudeRecord) -> str:
    return f"{native_id} {(record.timestamp or '')[:19]}" if native_id and record.timestamp else ""


def parse_queued_attachment(attachment: Attachment) -> TypedText | None:
    """Returns what a person typed while the agent was busy, or None for any other attachment."""
    if attachment.type != "queued_command" or attachment.is_meta:
        return None
    if not _is_person(attachment.origin):
        return None
    mode = attachment.command_mode or "prompt"
    if mode not in ("prompt", "bash"):
        return None
    typed = _parse_content(attachment.prompt)
    if typed is None or typed.kind != "prompt":
        return typed
    return TypedText("shell", typed.text) if mode == "bash" else parse_slash_command(typed)


def parse_text_beside_result(content: str | list[ClaudeBlock] | None) -> TypedText | None:
    """Returns what a person typed beside a tool's result, or None if there is nothing."""
    return _parse_content([block for block in list_blocks(content) if block.type == "text"])


_OUTPUT_STARTS = ("<bash-input>", "<bash-stdout>", "<bash-stderr>")


def parse_command_output(record: ClaudeRecord) -> str | None:
    """Returns the output of a person's own `!command`, or None if this record does not contain any."""
    if record.message is None or record.is_sidechain:
        return None
    outputs: list[str] = []
    for text in block_texts(record.message.content):
        if not text.lstrip().startswith(_OUTPUT_STARTS):
            continue
        outputs += [tag_content(text, tag, last=True) for tag in ("bash-stdout", "bash-stderr") if f"<{tag}>" in text]
    return "\n".join(part for part in outputs if part) if outputs else None


def parse_queue_content(content: str | list[ClaudeBlock] | None) -> TypedText | None:
    """Returns what a person typed, from the `content` of a queue operation, or None for task notices in either of their
    forms."""
    typed = None if isinstance(content, str) and content.startswith('{"task_id"') else _parse_content(content)
    return parse_slash_command(typed) if typed is not None and typed.kind == "prompt" else typed


def parse_slash_command(typed: TypedText) -> TypedText | None:
    """Converts a queued prompt that is a slash command to a command with its arguments; returns None if there are no
    arguments. Returns any other prompt unchanged."""
    head, _, rest = typed.text.partition(" ")
    name = head[1:]
    if not head.startswith("/") or not name or not name.replace("-", "").replace("_", "").replace(":", "").isalnum():
        return typed
    return TypedText("command", typed.text) if rest.strip() else None


def _parse_content(content: str | list[ClaudeBlock] | None) -> TypedText | None:
    prompts: list[str] = []
    for text in block_texts(content):
        if text.lstrip().startswith(_COMMAND_STARTS):
            return _parse_text(text)  # the rest of the record is the command's own text
        typed = _parse_text(text)
        if typed is None:
            continue
        if typed.kind != "prompt":
            return typed
        prompts.append(typed.text)
    if prompts:
        return TypedText("prompt", "\n".join(prompts))
    attached = [block.type for block in list_blocks(content) if block.type in ("image", "document")]
    return TypedText("prompt", f"[{attached[0]}]") if attached else None


def _parse_text(text: str) -> TypedText | None:
    if text.lstrip().startswith(_PROGRAM_STARTS):
        return None
    text = without_nul(text_outside_blocks(text, _CONTEXT)).strip()
    if not text or text.startswith(_INJECTED_STARTS) or _MESSAGE_OF_PROGRAM.match(text):
        return None
    if _UNKNOWN_COMMAND.fullmatch(text) or _BARE_COMMANDS.fullmatch(text):
        return None
    if text.startswith(f"<{_OWN_MEMORY}>"):
        text = tag_content(text, _OWN_MEMORY)
        return TypedText("prompt", text) if text else None
    if text.startswith("<bash-input>"):
        command = tag_content(text, "bash-input")
        return TypedText("shell", command) if command else None
    if text.startswith(_COMMAND_STARTS):
        arguments = tag_content(text, "command-args")
        name = tag_content(text, "command-name")
        if arguments:
            return TypedText("command", f"{name or '/' + tag_content(text, 'command-message')} {arguments}")
        # the record of a built-in command, such as /clear, begins with its name; a skill that the agent calls has no /
        is_called = text.startswith("<command-message>") and name.startswith("/")
        return TypedText("command", name) if is_called else None
    return TypedText("prompt", text)


def is_interruption(record: ClaudeRecord) -> bool:
    """Checks whether a user record says that the person stopped the agent."""
    message = record.message
    return message is not None and any(text.startswith(INTERRUPTED) for text in block_texts(message.content))
