"""Decides whether turns are worth sending to a model, by cheap signs of what the rules look for and of more than that.

It errs on the side of asking: a sign is a word or a form, not a sentence that was understood. Only text without any
sign is left out: greetings, plain orders, looking around, work that went well and was reported without a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lerim.extraction.facts import clip_text
from lerim.extraction.signals import is_commit_command
from lerim.extraction.transcript import ShownPiece, ShownTurn

MAX_READ_CHARS = 20_000  # characters read of one piece: its head and its tail
LONG_COMMAND_CHARS = 200  # a command this long is read, as it may contain the text of a commit or an issue

_PERSON_SIGN = re.compile(
    r"\b(?:always|never|must|should|shall|do not|don['’]?t|does not|doesn['’]?t|did not|didn['’]?t|can ?not|can['’]?t|"
    r"won['’]?t|isn['’]?t|aren['’]?t|not|no|nope|wrong|stop|wait|actually|instead|rather|prefer\w*|only|"
    r"because|since|so that|otherwise|reason|why|decid\w+|decision|choose|chose|option|agree\w*|approve\w*|reject\w*|"
    r"revert|undo|again|still|remember|note|rule|convention|standard|policy|make sure|ensure|keep|avoid|need\w*|"
    r"want\w*|better|correct|use|uses|using|we|our|from now|going forward|by default|"
    r"learn\w*|lesson|fail\w*|broken?|error|bug|issue|problem|"
    r"later|follow[- ]?up|undecided|unclear|unsure|wonder\w*|doubt|tbd|todo)\b|\?",
    re.IGNORECASE,
)
_AGENT_SIGN = re.compile(
    r"\b(?:because|root cause|cause[sd]?|culprit|reason|issue|problem|bug|mismatch|turns? out|turned out|"
    r"discovered|noticed|realized|learned|found that|actually|instead of|rather than|decid\w+|decision|chose|"
    r"trade-?offs?|work-?around|gotcha|caveat|pitfall|limitation|important(?:ly)?|warning|never|always|must|only|"
    r"fail\w*|broke\w*|does not|doesn['’]t|did not|didn['’]t|do not|don['’]t|cannot|can['’]t|wrong|missing|stale|"
    r"you(?:['’]re| are) (?:\w+ )?right|good (?:catch|point)|understood|agreed|should(?:n['’]t)?|needs?|requires?|"
    r"expects?|so that|otherwise|fix(?:ed|es)?|means|conflict\w*|key (?:insight|finding)|finding|fact|"
    r"recommend\w*|learning|lesson|convention|rule|policy|deprecat\w+|prevent\w*|requirements?|removed|replaced|"
    r"renamed|switched|moved|excluded|included|enabled|disabled|gated|silent\w*|verified|confirmed|proves?|"
    r"deferred|postponed|follow[- ]?up|todo|undecided)\b",
    re.IGNORECASE,
)
_CALL_OUTCOME = re.compile(r"\(([^()]{1,40})\)$")
_PLAIN_OUTCOMES = frozenset(("ok", "pending", "unknown"))
"""Tool call outcomes that say nothing by themselves."""


def is_worth_asking(turns: Iterable[ShownTurn]) -> bool:
    """Returns whether anything in these turns may be worth remembering."""
    return any(_has_signal(turn.role, piece) for turn in turns for piece in turn.pieces)


def _has_signal(role: str, piece: ShownPiece) -> bool:
    if piece.who == "user":
        return role != "user" or bool(_PERSON_SIGN.search(clip_text(piece.text, MAX_READ_CHARS)))
    if piece.who != "assistant":
        return False  # tool output alone teaches nothing
    call = _CALL_OUTCOME.search(piece.head)
    if piece.head.startswith("plan,") or (call is not None and call[1] not in _PLAIN_OUTCOMES):
        return True
    if call is not None and (is_commit_command(piece.text) or len(piece.text) < LONG_COMMAND_CHARS):
        return is_commit_command(piece.text)
    return bool(_AGENT_SIGN.search(clip_text(piece.text, MAX_READ_CHARS)))
