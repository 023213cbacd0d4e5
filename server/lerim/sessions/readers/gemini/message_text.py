"""Extracts the text of Gemini CLI's messages."""

from __future__ import annotations

import msgspec

from lerim.sessions.readers.engine import parse_json_or_none


def extract_message_text(content: msgspec.Raw) -> tuple[str, bool]:
    """Returns the text of a content (a string, a part, or a list of both), and whether it contains results of tool
    calls."""
    found = parse_json_or_none(content)
    texts: list[str] = []
    results = False
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, str):
            texts.append(one)
        elif isinstance(one, dict):
            results = results or "functionResponse" in one
            if isinstance(text := one.get("text"), str) and not one.get("thought"):
                texts.append(text)
            elif "inlineData" in one or "fileData" in one:
                texts.append("[file]")
    return "".join(texts), results
