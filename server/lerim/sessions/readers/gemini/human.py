"""Separates what a person typed to Gemini CLI from what the program itself puts into user messages."""

from __future__ import annotations

import re

from lerim.sessions.readers.engine import TypedText, text_outside_blocks, without_nul
from lerim.sessions.readers.gemini.records import GeminiMessage, extract_message_text

_TAGS = ("lerim-memories", "system-reminder", "session_context", "hook_context", "system_note")

_INJECTED_STARTS = (
    *(f"<{tag}>" for tag in _TAGS),
    "<state_snapshot>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context as a JSON object.",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
)
_CONTINUE_PROMPT = "Please continue."
_FILES_HEADING = "--- Content from referenced files ---"
"""The heading that follows the person's words if they name files. Nothing after it is theirs, and a file may contain
a forged end."""
_INIT_START = "You are an AI agent that brings the power of Gemini directly into the terminal."
"""The beginning of the prompt that older versions store in place of `/init`."""
_TASK = re.compile(r"Your task is to [^\n]{1,400}:\n<(objective|question)>\n(.{1,100000}?)\n</\1>\s*\Z", re.DOTALL)
"""Matches the task that the program gives one of its own subagents. If a person writes in this form, more text
follows."""
_HINT = re.compile(r"User (?:steering update|hints):\n<user_input>\n(.{1,100000}?)\n</user_input>\n", re.DOTALL)
"""Matches words that a person typed while the agent was working."""

_OWN_COMMAND = re.compile(
    r"I ran the following shell command:\n```sh\n(.{1,100000}?)\n```\n\nThis produced the following result:\n",
    re.DOTALL,
)


def parse_gemini_prompt(message: GeminiMessage) -> TypedText | None:
    """Returns what the person typed in a user message, or None if no person typed any of it. In a message with tool
    results, only words typed while the agent was working are the person's."""
    full_text, has_results = extract_message_text(message.content)
    if hint := _HINT.match(full_text):
        return TypedText("prompt", _clean_text(hint[1]))
    if has_results:
        return None
    shown, _ = extract_message_text(message.display_content)
    text = _clean_text(text_outside_blocks(shown, _TAGS))
    if not text:
        text = _clean_text(text_outside_blocks(full_text.partition(_FILES_HEADING)[0], _TAGS))
    if not text or text == _CONTINUE_PROMPT or text.startswith(_INJECTED_STARTS):
        return None
    if text.startswith(_INIT_START):
        return TypedText("prompt", "/init")
    command = _OWN_COMMAND.match(text)
    return TypedText("shell", command[1]) if command else TypedText("prompt", text)


def parse_subagent_task(message: GeminiMessage) -> str:
    """Returns the task that the program gives one of its own subagents in a message; '' if there is none."""
    task = _TASK.match(extract_message_text(message.content)[0])
    return _clean_text(task[2]) if task else ""


def parse_gemini_output(message: GeminiMessage) -> str:
    """Returns the output of the person's own command in a message; '' if there is none."""
    text, _ = extract_message_text(message.content)
    text = text.strip()
    command = _OWN_COMMAND.match(text)
    return text[command.end() :].removeprefix("```\n").strip().removesuffix("```").rstrip() if command else ""


def _clean_text(text: str) -> str:
    return without_nul(text.strip())
