"""Puts text of a model or a session on one line, without markup that a markdown renderer would act on."""

from __future__ import annotations

import re

_MOST_CHARACTERS = 9_600
"""The most characters that are processed."""
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\(\s{0,3}(?!https?://)[^()\n]{0,400}\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->")
_CODE = re.compile(r"(`[^`\n]{1,200}`)")


def strip_markup(text: str) -> str:
    """Returns the text on one line, without tags and without links except to the web. Code between backticks is
    unchanged."""
    parts = _CODE.split(text[:_MOST_CHARACTERS])
    return " ".join(
        "".join(part if part.startswith("`") else _TAG.sub("", _LINK.sub(r"\1", part)) for part in parts).split()
    )
