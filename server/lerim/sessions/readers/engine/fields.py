"""What fields of any agent's records come to: texts that can be kept, ends of long ones, titles, times, ids."""

from __future__ import annotations

from datetime import UTC, datetime

from lerim.redaction import redact_secrets

KEPT_CHARACTERS = 4000
"""Characters of a result kept at each end."""

CUT_MARK = "\n…\n"
"""Stands in `output` where the middle was left out."""

REDACTED = "REDACTED"
"""What a redactor wrote in place of an id."""

_TITLE = 120
_WORD = 200  # characters, the longest word that is looked for where a text is cut
_WORDS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.-")
"""What names and secrets are made of. Of other scripts no word is taken away: they are written without spaces."""


def without_nul(text: str | None) -> str:
    """Text that every later stage can store: no NUL."""
    if not text:
        return ""
    return text.replace("\0", "\ufffd") if "\0" in text else text


def keep_ends(text: str) -> tuple[str, int]:
    """The head and tail of a long text, and how many characters were left out between them."""
    if len(text) <= 2 * KEPT_CHARACTERS + len(CUT_MARK):
        return text, 0
    head, tail = trim_torn_words(text[:KEPT_CHARACTERS], text[-KEPT_CHARACTERS:])
    return head + CUT_MARK + tail, len(text) - len(head) - len(tail)


def trim_torn_words(head: str, tail: str) -> tuple[str, str]:
    """What is left of a text between whose head and tail something was cut out, without the words that the cuts went
    through: half of a name says nothing, and half of a secret is not known for one."""
    end, begin = len(head), 0
    while end > 0 and len(head) - end < _WORD and head[end - 1] in _WORDS:
        end -= 1
    while begin < min(len(tail), _WORD) and tail[begin] in _WORDS:
        begin += 1
    return head[:end], tail[begin:]


def make_title(text: str | None) -> str:
    """The beginning of a text, on one line, without secrets."""
    words = " ".join(redact_secrets(without_nul(text)).text.split())
    return words if len(words) <= _TITLE else words[: _TITLE - 1].rstrip() + "…"


def parse_timestamp(text: str | None) -> datetime | None:
    """An ISO timestamp as an aware time; None where there is none that can be read."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is UTC:
            return time
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def usable_id(native: str | None) -> str:
    """A native id, or '' when it is missing or was replaced by a redactor and so stands for many."""
    return native if native and native != REDACTED else ""
