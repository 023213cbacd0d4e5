"""Detects text that a person hands over in a message: a review, a rule to delete, a text to translate. It is not their
own statement."""

from __future__ import annotations

import re

_MAX_READ_CHARS = 4_000
_THIRD = re.compile(
    r"\b(?:review(?:er)? (?:feedback|comments?|notes?|findings?)|(?:pr|mr|ci) (?:feedback|review|comments?)"
    r"|code review|feedback from"
    r"|(?:he|she|they|someone|colleague|customer|user|reviewer|boss|manager|lead|teammate|client|chatgpt|copilot"
    r"|gemini|codex|docs?|readme|issue|article|blog|ticket) (?:said|says|wrote|writes|reads)"
    r"|from the (?:issue|ticket|docs?|readme|slack|thread|ci run|logs?|output)|summari[sz]e (?:this|the following)"
    r"|(?:around|at) lines? \d|copied from|pasted?|quot(?:e|ing)|transcript|conversation|translate|proofread"
    r"|error (?:message|log|output)s?:|output:|log:|here(?:'s| is) (?:the|an?|my) (?:error|log|output|text|email"
    r"|message|diff|stack))"
)
_SPEAKER = re.compile(
    r"^\s{0,8}(?:user|agent|assistant|human|system|claude|codex|cursor|copilot|gemini|opencode)\s{0,3}:",
    re.IGNORECASE | re.MULTILINE,
)
_MARK = re.compile(r"^\s{0,12}(?:[-*•]|\d{1,2}[.)]|#{1,6})\s{1,4}")
_BREAK = re.compile(r"(?<=[.!?])[\"')*]{0,2}\s{1,4}(?=[\"'(*`A-Za-z0-9À-￿])|(?<=[。！？])")
_WORD = re.compile(r"[^\W\d_][\w']*")
_OURS = """
    a acceptance add all also always an and approach are as at background be boundaries claude code codebase
    coding commit constraints context convention conventions criteria current decided decision decisions
    definition deliverables design details do done everyone everywhere expectations expected few follow
    following for forward from future general goal goals going guardrails guideline guidelines have hello here
    here's hey hi i implementation important in is it keep like mind my need non note notes now of ok okay on
    our out please point points policy prefer preference preferences principle principles project reminder
    remember repo repository requirement requirements rule rules safety scope so some specific standard
    standards stick style tasks team testing that the there these thing things this three to two us use
    validation verification want we we've with work workflow you your
"""
_HEADING = frozenset(_OURS.split())
"""Words that a person uses in headings for their own points: `Rules for this repo:`, `Acceptance criteria:`."""


def is_third_party(text: str) -> bool:
    """Returns whether a message mostly hands over somebody else's words (a review, a log, a conversation)."""
    return bool(_THIRD.search(text[:400].lower())) or len(_SPEAKER.findall(text[:_MAX_READ_CHARS])) > 1


def find_own_words_end(text: str) -> int:
    """Returns the offset where the person's own words end: after the first line that hands over what follows
    (`Delete this rule:`, `Translate this:`), because nobody knows where that text ends. A line made only of heading
    words hands nothing over."""
    at, before = 0, ""
    for line in text.split("\n"):
        end = at + len(line) + 1
        whole = f"{before} {line.strip()}" if before and line.strip()[:1].islower() else line.strip()
        lead = _BREAK.split(_MARK.sub("", whole))[-1].strip(" *_")
        if lead.endswith((":", "：", "—", "–")):
            words = _WORD.findall(lead.lower().replace("’", "'"))
            if not _HEADING.issuperset(words):
                return min(end, len(text))
        before, at = line.strip() or before, end
    return len(text)
