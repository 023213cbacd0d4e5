"""Finds what a reviewer must not miss (invisible characters, and text that tries to command an agent), and removes
markup that a Markdown renderer would act on."""

from __future__ import annotations

import re

from lerim.patterns import compile_later

HIDDEN_CHARACTERS = compile_later(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible, direction-changing and control characters, all but tabs and line ends."""
_JOINED_EMOJI = compile_later(
    "[\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff][\ufe0e\ufe0f]|"
    "(?<=[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"
)
_ORDERS = compile_later(
    r"\b(?:ignore|disregard|forget|override)\s(?:all\s|any\s|the\s|your\s|my\s){0,2}(?:previous|prior|above|earlier"
    r"|system)\s(?:instructions?|prompts?|rules?|messages?)|\byou are now\b|\bnew instructions?:|\bsystem prompt\b"
    r"|\bdo not (?:tell|inform|mention (?:this|it) to) the user|\bwithout (?:asking|telling) the user|</?(?:system"
    r"|assistant|user|instructions?|system-reminder)>|\bas an ai\b",
    re.IGNORECASE,
)
_EXFILTRATION = compile_later(
    r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]{0,200}(?:\|\s{0,3}(?:ba|z)?sh\b|-d\s|--data|-F\s|\$\(|`)|\b(?:send"
    r"|post|upload|forward|e-?mail|exfiltrate|leak)\b[^\n]{0,80}\b(?:secrets?|tokens?|passwords?|credentials?|\.env"
    r"|api keys?|private keys?|ssh keys?)\b|\bbase64\s(?:-d|--decode)\b[^\n]{0,80}\|\s{0,3}(?:ba|z)?sh\b|\b(?:~"
    r"|\$HOME)/\.(?:ssh|aws|netrc|npmrc)\b[^\n]{0,80}https?://",
    re.IGNORECASE,
)
_WORDS_OF_ORDERS = (
    *("ignore", "disregard", "forget", "override", "you are now", "new instruction", "system prompt", "do not "),
    *("without asking", "without telling", "system", "assistant", "user>", "instruction", "as an ai"),
)
"""Words of which each match of `_ORDERS` contains at least one. They are searched for first, because that takes a
tenth of the time."""
_WORDS_OF_EXFILTRATION = (
    *("curl", "wget", "iwr", "invoke-webrequest", "send", "post", "upload", "forward", "e-mail", "email", "exfiltrate"),
    *("leak", "base64", "/."),
)
_SENTENCE_END = compile_later(r"((?<=[.!?;])\s+|\n+)")
_ORDER_MARK = "[left out: an order to an agent]"
_MOST_CHARACTERS = 9_600
"""The most characters that are processed."""
_LINK = compile_later(r"!?\[([^\[\]\n]{0,200})\]\(\s{0,3}(?!https?://)[^()\n]{0,400}\)")
_TAG = compile_later(r"</?[a-zA-Z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->")
_CODE = compile_later(r"(`[^`\n]{1,200}`)")


def show_hidden(text: str) -> str:
    """Writes out every invisible character as `⟨U+200B⟩`; joined emoji stay as they are."""
    if not HIDDEN_CHARACTERS.search(text):
        return text
    emoji_positions = {at for match in _JOINED_EMOJI.finditer(text) for at in range(*match.span())}
    return HIDDEN_CHARACTERS.sub(
        lambda m: m.group() if m.start() in emoji_positions else f"⟨U+{ord(m.group()):04X}⟩", text
    )


def find_flags(*texts: str) -> tuple[str, ...]:
    """Returns the warnings a reviewer should see for these texts: "hidden-characters", "commands-an-agent",
    "sends-data-out"."""
    joined = "\n".join(texts)
    lowered = joined.lower() if joined.isascii() else ""  # when case is ignored, some other letters match ASCII
    may_order = not lowered or any(map(lowered.__contains__, _WORDS_OF_ORDERS))
    may_send = not lowered or any(map(lowered.__contains__, _WORDS_OF_EXFILTRATION))
    flags = (
        ("hidden-characters", show_hidden(joined) != joined),
        ("commands-an-agent", may_order and bool(_ORDERS.search(joined))),
        ("sends-data-out", may_send and bool(_EXFILTRATION.search(joined))),
    )
    return tuple(name for name, is_present in flags if is_present)


def remove_orders(text: str) -> str:
    """Replaces every sentence that gives orders to an agent with a note."""
    if not _ORDERS.search(text):
        return text
    parts = _SENTENCE_END.split(text)
    remaining = "".join(_ORDER_MARK if _ORDERS.search(part) else part for part in parts).strip()
    return _ORDERS.sub(_ORDER_MARK, remaining)  # an order that spans a line break


def strip_markup(text: str) -> str:
    """Returns the text on one line, without tags, and without links other than web links. Code between backticks is
    unchanged."""
    parts = _CODE.split(text[:_MOST_CHARACTERS])
    return " ".join(
        "".join(part if part.startswith("`") else _TAG.sub("", _LINK.sub(r"\1", part)) for part in parts).split()
    )
