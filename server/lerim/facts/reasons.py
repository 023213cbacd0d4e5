"""Reasons in sentences: telling a claim from its why, and the why as a sentence of its own."""

from __future__ import annotations

import re

from lerim.facts.wording import personal, sentence

_REASON = re.compile(
    r"[\s,;]{1,2}(?:-{1,2}|—|–|\()?\s?(?P<word>because|since(?! \d)|so that|as(?= (?:it|they|the|we|this|that)\s)|"
    r"otherwise|due to|to avoid)\s"
    r"|,\s(?P<bare>(?=(?:it|they|that|this) (?:is|are|was|were|gets?|will|breaks?|causes?|makes?|does|do|cannot|"
    r"leads?)\b))",
    re.IGNORECASE,
)


_OF_IT = {"need": "needs", "have": "has", "use": "uses", "want": "wants", "support": "supports", "target": "targets"}
_WE = re.compile(rf"\bwe (?P<verb>{'|'.join(_OF_IT)})\b", re.IGNORECASE)


def because(reason: str) -> str:
    """The reason as a sentence of its own; "" where it speaks of persons and only the quote can carry it."""
    reason = _WE.sub(lambda match: f"the project {_OF_IT[match['verb'].lower()]}", reason)
    if not reason or personal(reason) or len(reason) > 240:
        return ""
    if reason.startswith("otherwise "):
        return sentence(f"Otherwise {reason[10:]}")
    if reason.startswith(("so that ", "to avoid ")):
        return sentence(f"This is {reason}")
    return sentence(f"The reason: {reason}")


def split_reason(text: str) -> tuple[str, str]:
    """`X because Y` → (`X`, `Y`); no reason given → (text, "")."""
    match = _REASON.search(text)
    if match is None:
        return text, ""
    claim, reason = text[: match.start()].rstrip(" ,;-—–("), text[match.end() :].rstrip(") ")
    if match["word"] is None:
        pass
    elif match["word"].lower().startswith("otherwise"):
        reason = f"otherwise {reason}"
    elif match["word"].lower() in ("as", "so that", "to avoid"):
        reason = f"{match['word'].lower()} {reason}" if match["word"].lower() != "as" else reason
    return (claim, reason) if len(claim.split()) > 1 and len(reason.split()) > 1 else (text, "")
