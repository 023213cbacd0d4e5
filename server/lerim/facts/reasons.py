"""Reasons in sentences: telling a claim from its why, and the why as a sentence of its own."""

from __future__ import annotations

import re

from lerim.facts.wording import hedged, personal, sentence, squeeze, task

_REASON = re.compile(
    r"[\s,;]{1,2}(?:-{1,2}|—|–|\()?\s?(?P<word>because|since(?! \d)|so that|as(?= (?:it|they|the|we|this|that)\s)|"
    r"otherwise|due to|to avoid)\s"
    r"|,\s(?P<bare>(?=(?:it|they|that|this) (?:is|are|was|were|gets?|will|breaks?|causes?|makes?|does|do|cannot|"
    r"leads?|must|should|needs?|ha(?:s|ve) to)\b|we (?:need|have|use|want|support|target|log|run|ship|store|keep|"
    r"deploy|publish|build|pin)\b))",
    re.IGNORECASE,
)


_OF_IT = {"have": "has", "publish": "publishes"} | {
    verb: f"{verb}s"
    for verb in (
        "need",
        "use",
        "want",
        "support",
        "target",
        "log",
        "run",
        "ship",
        "store",
        "keep",
        "deploy",
        "build",
        "pin",
    )
}
_WE = re.compile(rf"\bwe (?P<verb>{'|'.join(_OF_IT)})\b", re.IGNORECASE)


_EXPLAINS = re.compile(
    r"\b(?:because|since|otherwise|failed|fails?|breaks?|broke|loses?|lost|causes?|caused|cannot|can't|slow|leaks?|"
    r"crash\w*|"
    r"wrong|rejects?|limits?|flaky|duplicat\w+|insecure|deprecated|drifts?|where [^.]{2,60} comes? from|blocks?|"
    r"cuts? off|"
    r"overwrit\w+|times? out|corrupts?|silently|reason|unsupported|expires?|depends? on|relies on)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:so|then|and then|now|next|also|please|but|however|let'?s|can|could|if|i|you|we|yes|no|ok(?:ay)?|thanks)\b|"
    r"^(?:this|that|it) (?:is|was) (?:wrong|not)\b",
    re.IGNORECASE,
)


def explains(text: str) -> bool:
    """Whether a sentence that follows a rule says why: what fails, breaks or is lost without it."""
    plain = squeeze(text)
    if not 15 <= len(plain) <= 200 or plain.endswith("?") or _ASKS.match(plain) or task(plain.lower()):
        return False
    return bool(_EXPLAINS.search(plain)) and not personal(plain) and not hedged(plain)


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
