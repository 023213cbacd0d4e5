"""Separates what a person typed from what Codex puts into messages of the user."""

from __future__ import annotations

import html
import re

from lerim.sessions.readers.codex.records import CodexPayload
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    TypedText,
    content_texts,
    cut_blocks,
    cut_command_template,
    parse_json_or_none,
    tag_content,
    text_outside_blocks,
    without_nul,
)

_CONTEXT_TAGS = (
    "environment_context environment_context_delta environment environment-change extension_context "
    "codex_internal_context goal_context in-app-browser-context browser_snapshot user_instructions turn_aborted "
    "hook_prompt skill skills_instructions apps_instructions codex_apps_open_page_instructions plugins_instructions "
    "recommended_plugins multi_agent_mode collaboration_mode realtime_conversation model_switch personality_spec "
    "app-context task-notification subagent_notification agent_message_board_notification heartbeat system-reminder "
    "system_instruction system-instruction"
)
_CONTEXT = (MEMORIES_TAG, "permissions instructions", *_CONTEXT_TAGS.split())
_OPENING = re.compile(rf"\s*<({'|'.join(map(re.escape, _CONTEXT))}|external_[\w.-]{{1,100}})(?: [^<>\n]{{1,500}})?>")
_INJECTED_STARTS = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_action>",
    "The following is the Codex agent history",
    "Another language model started to solve this problem",
    "You are `/root`",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged",
)
_INIT_START = "Generate a file named AGENTS.md that serves as a contributor guide for this repository."
"""What Codex sends for its command `/init`."""
_EDITOR_START = "# Context from my IDE setup:"
"""The beginning of the context that editor extensions put before a person's words; an agent's tasks never begin like
this."""
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)
_WRAPPED = re.compile(r"\A#.*^## My request:[ \t]*\n?", re.MULTILINE | re.DOTALL)
"""Matches the context about files and pages that recent versions of an application put before the person's words."""
_HEADINGS = ("## My request for Codex:", "## My request:")
_PICTURE = re.compile(r"</?image(?: [^<>\n]{1,4000})?>\Z")
_VOICE_START = "<realtime_delegation>"
_REPLY_START = "<send_user_message_question_reply>"
_SHELL_START = "<user_shell_command>"
_CWD = re.compile(r"<cwd>([^<\n]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")


_PERSON_SOURCES = ("", "cli", "vscode", "unknown")
_UNATTENDED = ("codex_exec", "codex_sdk", "codex_mcp", "codex_action")


def is_unattended_thread(source: str, thread: str, originator: str) -> bool:
    """Checks whether a program sends the prompts of a thread: `codex exec`, the SDK, Codex as a server, CI, or a source
    that is not known to be a person."""
    program = originator.lower().replace("-", "_").startswith(_UNATTENDED)
    return program or source not in _PERSON_SOURCES or thread not in ("", "user")


def is_typed_in_editor(text: str) -> bool:
    """Checks whether an editor's extension sent this message, so that a person typed it even in a subagent's thread."""
    return text.lstrip().startswith(_EDITOR_START)


def parse_codex_prompt(text: str) -> TypedText | None:
    """Returns the prompt or shell command that a person typed, without the context that Codex puts around it; None if
    nothing in the message was typed."""
    text = _strip_context(without_nul(text_outside_blocks(text)).strip())
    if text.startswith(_SHELL_START):
        command = tag_content(text, "command")
        return TypedText("shell", command) if command else None
    if text.startswith(_VOICE_START):
        text = "" if "<source>transcript_tail_flush<" in text else html.unescape(tag_content(text, "input"))
    if text.startswith(_REPLY_START):
        text = _join_replies(tag_content(text, _REPLY_START[1:-1], last=True))
    if not text or text.startswith(_INJECTED_STARTS):
        return None
    if text.startswith(_INIT_START):
        return TypedText("command", "/init")
    request = max(_REQUEST.finditer(text), key=re.Match.end, default=None) or _WRAPPED.match(text)
    if request:
        text = text[request.end() :].strip()
    return TypedText("prompt", cut_command_template(text)) if text else None


def _join_replies(text: str) -> str:
    """Returns the person's answers to questions that the agent asked without waiting for them."""
    value = parse_json_or_none(text)
    replies = value if isinstance(value, list) else [value]
    answers = [one.get("answer") for one in replies if isinstance(one, dict)]
    return "\n".join(answer for answer in answers if isinstance(answer, str)) or text


def _strip_context(text: str) -> str:
    position = 0
    while tag := _OPENING.match(text, position):
        end = text.rfind(f"</{tag[1]}>", position)  # its contents may include a forged closing tag
        if end < 0:
            return ""
        position = end + len(tag[1]) + 3
    return text[position:].lstrip()


def parse_prompt_event(event: CodexPayload, text: str) -> TypedText | None:
    """Returns what a person typed in a `user_message` event with this text, or None if no person typed it."""
    if event.kind not in ("plain", "", None):
        return None
    has_images = any(bytes(one)[:2] not in (b"[]", b"nu") for one in (event.images, event.local_images))
    if has_images and (not text.strip() or text.rstrip().endswith(_HEADINGS)):
        return TypedText("prompt", "[image]")
    return parse_codex_prompt(text)


def parse_prompt_item(item: CodexPayload) -> tuple[TypedText | None, str]:
    """Returns the text that a person typed in a user's message item (None if nothing), and the item's whole text."""
    contents = content_texts(item.content)
    prompts: list[str] = []
    for text in contents:
        typed = (
            None
            if text.lstrip().startswith("# AGENTS.md") or _PICTURE.match(text.strip())
            else parse_codex_prompt(text)
        )
        if typed is not None and typed.kind == "shell":
            return typed, text
        if typed is not None:
            prompts.append(typed.text)
    texts = [text for text in prompts if text != "[image]"] or prompts[:1]
    return TypedText("prompt", "\n".join(texts)) if texts else None, "\n".join(contents)


def parse_shell_output(text: str) -> str:
    """Returns the result of the person's own command: its exit code and output, in the format of Codex."""
    return without_nul(cut_blocks(tag_content(text, "result", last=True)))


def parse_context_cwd(text: str) -> str:
    """Returns the working folder that an injected message names, or ''."""
    if "<cwd>" not in text and "Current working directory: " not in text[:2000]:
        return ""
    found = _CWD.search(text[:20_000])
    return (found[1] or found[2] or "").strip() if found else ""
