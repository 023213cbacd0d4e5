"""Separates what a person typed to Gemini CLI from what the program itself puts into user messages."""

from __future__ import annotations

import re

from lerim.sessions.readers.engine import TypedText, text_outside_blocks, without_nul
from lerim.sessions.readers.gemini.message_text import extract_message_text
from lerim.sessions.readers.gemini.records import GeminiMessage

_TAGS = ("lerim-memories", "system-reminder", "session_context", "hook_context", "system_note")

_INJECTED = (
    *(f"<{tag}>" for tag in _TAGS),
    "<state_snapshot>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context as a JSON object.",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
)
_GO_ON = "Please continue."
_FILES = "--- Content from referenced files ---"
"""Follows the person's words if they name files: nothing after it is theirs, and a file may forge its end."""
_INIT = "You are an AI agent that brings the power of Gemini directly into the terminal."
"""The beginning of the prompt that older versions store in place of `/init`."""
_HINT = re.compile(r"User (?:steering update|hints):\n<user_input>\n(.{1,100000}?)\n</user_input>\n", re.DOTALL)
"""Words typed while the agent is working."""

_RAN = re.compile(
    r"I ran the following shell command:\n```sh\n(.{1,100000}?)\n```\n\nThis produced the following result:\n",
    re.DOTALL,
)


def parse_gemini_prompt(message: GeminiMessage) -> TypedText | None:
    """Returns what the person typed in a user message, or None if no person typed any of it. In a message with tool
    results, only words typed while the agent was working are the person's."""
    whole, results = extract_message_text(message.content)
    if hint := _HINT.match(whole):
        return TypedText("prompt", _storable(hint[1]))
    if results:
        return None
    shown, _ = extract_message_text(message.display_content)
    text = _storable(text_outside_blocks(shown, _TAGS))
    if not text:
        text = _storable(text_outside_blocks(whole.partition(_FILES)[0], _TAGS))
    if not text or text == _GO_ON or text.startswith(_INJECTED):
        return None
    if text.startswith(_INIT):
        return TypedText("prompt", "/init")
    ran = _RAN.match(text)
    return TypedText("shell", ran[1]) if ran else TypedText("prompt", text)


def parse_gemini_output(message: GeminiMessage) -> str:
    """Returns the output of the person's own command in a message; '' if there is none."""
    text, _ = extract_message_text(message.content)
    text = text.strip()
    ran = _RAN.match(text)
    return text[ran.end() :].removeprefix("```\n").strip().removesuffix("```").rstrip() if ran else ""


def _storable(text: str) -> str:
    return without_nul(text.strip())
