"""Text of a model or a session on one line, without markup that a reader of markdown would act on."""

from __future__ import annotations

import re

MOST_CHARACTERS = 9_600
"""Characters that are looked at."""
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\(\s{0,3}(?!https?://)[^()\n]{0,400}\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->")
_CODE = re.compile(r"(`[^`\n]{1,200}`)")


def strip_markup(text: str) -> str:
    """One line without markup: no tags, and no links but to the web. Code between backticks stays as it is."""
    parts = _CODE.split(text[:MOST_CHARACTERS])
    return " ".join(
        "".join(part if part.startswith("`") else _TAG.sub("", _LINK.sub(r"\1", part)) for part in parts).split()
    )
