"""Judges the outcome of the previous exchange by the person's next words and by exit codes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from lerim.extraction.signals.git_steps import git_verb
from lerim.patterns import compile_later
from lerim.sessions import ToolCall, Turn

Verdict = Literal["accepted", "refuted", "open"]

_REFUTED = compile_later(
    r"^\W{0,3}(?:(?:ok|hmm+|well|oh|ah|uh|sorry|wait)[,.\s]{1,3}){0,2}(?:no+\b(?! (?:problem|worries|need|rush|idea))"
    r"|nope|nah|wrong|revert|undo|roll ?back|scrap|never ?mind|stop\b|that(?:'s| is| was)? (?:wrong|not|broke)"
    r"|this (?:is|was) (?:wrong|not)|(?:it|that|this|still) (?:does not|doesn'?t|did not|didn'?t|is not|isn'?t|broke"
    r"|fails?|failed)|still (?:broken|failing|wrong|not|the same)|(?:it'?s |you )broke|doesn'?t work|not working"
    r"|didn'?t work|forget (?:it|that|about))"
)  # this and the next two match text in lower case
_REVERT = compile_later(
    r"(?:(?<!\bto )\b|\b(?:want|like|need|have|had|decided|going|try|sure|forget|remember|better|you) to )"
    r"(?:revert (?:that|this|it|everything|the|your|all)|undo (?:that|this|it|everything|the|your)"
    r"|roll (?:that|this|it) back|go back to|change (?:it|that) back"
    r"|put (?:it|that) back|scrap (?:that|this|it))|\b(?:changed my mind|forget what i said|on second thou?ght"
    r"|(?:that|this|it) (?:did not|didn'?t|does not|doesn'?t) (?:help|work|fix)|was a bad idea)"
)
"""Matches a wish to take something back, but not "a script to revert that"."""
_ACCEPTED = compile_later(
    r"^\W{0,3}(?:(?:ok(?:ay)?|great|and|cool|good|nice|awesome|alright|now)[,.!\s]{1,3}){0,2}(?:perfect|great|awesome"
    r"|excellent|nice|good(?: job| work)?\b|looks? (?:good|great|right)|lgtm|love it|ship it|thanks|thank you|thx"
    r"|yes\b|yep|yeah|yup|correct|exactly|agreed?|approved?|sounds good|works|it works|that works|(?:it seems to"
    r"|that did) work|ok(?:ay)?\W{0,3}$|(?:please |pls |let'?s |pelase )?(?:commit|push|merge|ship|release|open a pr"
    r"|create a pr|make a pr))"
)
_TOOK = compile_later(
    r"^\s{0,4}(?:\[[^\]\n]{1,200} [0-9a-f]{7,40}\] |\+? ?[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40} |\* \[new )", re.MULTILINE
)
"""Matches what git prints after a commit or push."""


def judge_next_words(after: Turn | None) -> Verdict:
    """Returns how the person's next words judge the exchange before them; `open` if they do not, or there are none."""
    if after is None:
        return "open"
    if after.kind == "command":
        return "accepted" if re.match(r"^/?(?:commit|push|merge|ship)", after.text) else "open"
    return _judge_text(_beginning(after.text))


def is_refusal(text: str) -> bool:
    """Returns whether a prompt refutes what the agent said or did before it."""
    return _judge_text(_beginning(text)) == "refuted"


def _beginning(text: str) -> str:
    return text[:600].replace("’", "'").lower()


@lru_cache(maxsize=8)  # several signals ask about the same words
def _judge_text(text: str) -> Verdict:
    if _REFUTED.match(text) or _REVERT.search(text):
        return "refuted"
    return "accepted" if _ACCEPTED.match(text) else "open"


def is_retraction(turn: Turn) -> bool:
    """Returns whether the person explicitly takes back what was wanted or done before."""
    return bool(_REVERT.search(_beginning(turn.text)))


def is_commit_made(call: ToolCall) -> bool:
    """Returns whether a tool call made a commit or push. If its exit code is unknown, git's output decides."""
    if call.status != "ok" or not git_verb(call.command):
        return False
    return call.exit_code == 0 or (call.exit_code is None and bool(_TOOK.search(call.output)))


_LATER = compile_later(
    r"\W{0,4}(?:(?:ok(?:ay)?|hmm|good question|not sure)[,.\s]{1,3})*(?:let'?s |we(?:'ll| will| can| should)? |i(?:'ll"
    r"| will)? )?(?:decide|discuss|see|look at|come back to|leave|park|defer|postpone|skip|think about) ?(?:on |about "
    r"|to )?(?:that|this|it|them)?\W{0,2}\b(?:later|another (?:time|day)|tomorrow|next (?:time|week)|for now|open"
    r"|then)\b|\W{0,4}(?:not (?:now|yet)|later\b|tbd\b|i don'?t know yet|no idea yet)",
    re.IGNORECASE,
)


def postpones_question(prompt: Turn) -> bool:
    """Returns whether the person's words begin by putting off the agent's last question, which then stays open."""
    return _LATER.match(prompt.text[:200].replace("’", "'")) is not None
