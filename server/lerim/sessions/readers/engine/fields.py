"""Normalises fields of any agent's records: texts without NUL, shortened outputs, titles, times, ids."""

from __future__ import annotations

from datetime import UTC, datetime

from lerim.patterns import compile_later
from lerim.redaction import redact_secrets
from lerim.sessions.readers.engine.pasted_text import extract_own_words
from lerim.words import has_substance, shorten_line

KEPT_CHARACTERS = 4000
"""How many characters of a result are kept at each end."""

CUT_MARK = "\n…\n"
"""Marks the place in `output` where the middle was left out."""

REDACTED = "REDACTED"
"""Placeholder that a redactor wrote in place of an id."""

_TITLE_LIMIT = 120
_HEADING = compile_later(r"\s{0,20}(?:[^\n]{1,60}:[^\S\n]{0,20}\n\s{0,20})?#{1,6}[^\S\n]{1,20}([^\n]{0,500})")
"""Matches the heading at the beginning of a prompt, also after one line that introduces it: `Implement the following
plan:`."""
_LINK = compile_later(r"!?(?<![\w\])])\[([^\[\]\n]{1,200})\]\([^()\s]{1,1000}\)")
"""Matches a link, such as Codex's `[$review](/home/ana/.codex/skills/review/SKILL.md)`, of which a title shows only
the text. `handlers[name](event)` is code and does not match."""
_BARE = compile_later(r"(?:/\S+|(?:\[[Ii]mage[^\[\]\n]{0,20}\]\s?)+)\Z")
"""A title that is only a slash command or a picture."""
_TELLING_TITLE = 12
"""From this many bytes on, a later message gives the title of a session whose first one says nothing. Bytes, because
four Chinese characters say as much as a dozen letters."""
_WORD_LIMIT = 200  # characters, the longest torn word that is removed where a text is cut
_WORD_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.-")
"""The characters of names and secrets. Words in other scripts are never removed, since some are written without
spaces."""


def without_nul(text: str | None) -> str:
    """Replaces NUL characters, so that every later stage can store the text."""
    return text.replace("\0", "\ufffd") if text else ""


def keep_ends(text: str) -> tuple[str, int]:
    """Returns the head and tail of a long text, and how many characters were left out between them."""
    if len(text) <= 2 * KEPT_CHARACTERS + len(CUT_MARK):
        return text, 0
    head, tail = trim_torn_words(text[:KEPT_CHARACTERS], text[-KEPT_CHARACTERS:])
    return head + CUT_MARK + tail, len(text) - len(head) - len(tail)


def trim_torn_words(head: str, tail: str) -> tuple[str, str]:
    """Removes the words that a cut between `head` and `tail` went through: half of a name means nothing, and half of a
    secret is not recognised as one."""
    end, begin = len(head), 0
    while end > 0 and len(head) - end < _WORD_LIMIT and head[end - 1] in _WORD_CHARACTERS:
        end -= 1
    while begin < min(len(tail), _WORD_LIMIT) and tail[begin] in _WORD_CHARACTERS:
        begin += 1
    return head[:end], tail[begin:]


def make_session_title(text: str | None) -> str:
    """Returns the beginning of a text, or the heading that it begins with, on one line, with secrets redacted."""
    shown = redact_secrets(without_nul(text)).text
    heading = _HEADING.match(shown)
    words = " ".join((heading[1].strip(" #") if heading else shown).split()) or " ".join(shown.split())
    return shorten_line(_LINK.sub(r"\1", words), _TITLE_LIMIT)


def choose_session_title(title: str, text: str | None) -> str:
    """Returns the title of a session that has `title` so far and in which `text` was asked next: that of the first
    message, unless it only greets, calls a command or shows a picture and this one says more."""
    if title and _says_something(title):
        return title
    if not title:
        return make_session_title(text)
    later = make_session_title(extract_own_words(text or ""))
    return later if (len(later.encode()) >= _TELLING_TITLE and _says_something(later)) else title


def _says_something(title: str) -> bool:
    return has_substance(title) and not _BARE.match(title)


def parse_timestamp(text: str | None) -> datetime | None:
    """Parses an ISO timestamp into an aware datetime in UTC. Returns None if there is none or it cannot be parsed."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is UTC:
            return time
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def usable_id(native_id: str | None) -> str:
    """Returns a native id, or '' if it is missing or was replaced by a redactor, because many records then share it."""
    return native_id if native_id and native_id != REDACTED else ""
