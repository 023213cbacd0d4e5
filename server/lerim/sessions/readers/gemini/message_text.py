"""Extracts the text of Gemini CLI's messages."""

from __future__ import annotations

import msgspec

from lerim.sessions.readers.engine import parse_json_or_none


def extract_message_text(content: msgspec.Raw) -> tuple[str, bool]:
    """Returns the text of a content (a string, a part, or a list of both), and whether it contains results of tool
    calls."""
    value = parse_json_or_none(content)
    texts: list[str] = []
    has_results = False
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            has_results = has_results or "functionResponse" in part
            if isinstance(text := part.get("text"), str) and not part.get("thought"):
                texts.append(text)
            elif "inlineData" in part or "fileData" in part:
                texts.append("[file]")
    return "".join(texts), has_results
