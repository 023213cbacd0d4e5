"""What may stand before a claim in its sentence: a list mark, a greeting, "please", "can you". A title is made without
it, and a body is compared with its title without it."""

from __future__ import annotations

import re

from lerim.patterns import compile_later

_MARK = compile_later(
    "(?:[-*•>#]{1,6}|\\d{1,3}[.)]|(?![☒⛔✕-✘❌❎👎🚫🛑])[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)\\s"
)
"""What stands before an item of a list: a bullet, a number, a check mark or another symbol, but no cross, without which
the item would say the opposite."""
_REQUEST = compile_later(r"(?:can|could|would|will) you\s(?:please\s|kindly\s)?(?!mind\b)", re.IGNORECASE)
_POLITE = compile_later(
    r"(?:please|pls|plz|kindly)(?:\s?[,:]\s?|\s)"
    r"|(?:ok(?:ay)?|alright|all right)(?:\s?[,.!:;]\s?|\s)(?:so|then|now)(?:\s?,\s?|\s)(?!that\b|far\b)"
    r"|(?:ok(?:ay)?|alright|all right|thanks|thank you|thx|hi|hello|hey|great|perfect|nice|cool)\s?[,.!:;]{1,3}\s"
    r"|you['’]?re (?:absolutely |completely |totally |quite )?right\s?[-,.!:;—–]{1,3}\s"
    r"|(?:no|nope|nah|yes|yeah|yep|so|well|oh|hm+|wait)(?:\s?,|\s?[-—–]{1,2})\s"
    r"|(?:but|and)\s",
    re.IGNORECASE,
)


def skip_politeness(text: str) -> tuple[str, bool]:
    """Returns the rest of the text, and whether "can you" was cut, after which a question mark is no longer a
    question."""
    is_request = False
    for _ in range(4):
        polite = _MARK.match(text) or _POLITE.match(text)
        request = None if polite else _REQUEST.match(text)
        prefix = polite or request
        if prefix is None or prefix.end() == len(text):
            break
        is_request = is_request or request is not None
        text = text[prefix.end() :]
    return text, is_request
