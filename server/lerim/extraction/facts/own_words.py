"""Finds what a person says themselves in a message, without what they pasted (code, logs, quotes) and without text that
they hand over (a review, a rule to delete, a text to translate)."""

from __future__ import annotations

import re
from functools import lru_cache

from lerim.extraction.facts import wording
from lerim.extraction.facts.sentences import split_sentences
from lerim.patterns import compile_later
from lerim.sessions import extract_own_words

MAX_READ_CHARS = 4_000  # characters read: the head and the tail of longer texts

HEADING_LINES = compile_later(r"^#{1,6}\s\S", re.MULTILINE)
BULLET_LINES = compile_later(r"^\s{0,12}(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
_MARK = compile_later(r"^\s*(?:[-*•]|\d{1,2}[.)]|#{1,6})\s{1,4}")
_BREAK = compile_later(r"(?<=[.!?])[\"')*]{0,2}\s{1,4}(?=[\"'(*`A-Za-z0-9À-￿])|(?<=[。！？])")
_QUESTION = compile_later(
    r"^(?:can|could|should|would|will|is|are|was|were|do(?! not)|does|did|has|have|had|may|might|shall|what|why|how"
    r"|where|who|which|when (?:is|are|was|were|will|do|does|did|should|can|could|would|has|have)|isn't|aren't"
    r"|don't (?:you|we|they)|doesn't|didn't|can't|couldn't|shouldn't|wouldn't|won't|am i|any (?:idea|reason))\b",
    re.IGNORECASE,
)
_THIRD = compile_later(
    r"\b(?:review(?:er)? (?:feedback|comments?|notes?|findings?)|(?:pr|mr|ci) (?:feedback|review|comments?)"
    r"|code review|feedback from|(?:he|she|they|someone|colleague|customer|user|reviewer|boss|manager|lead|teammate"
    r"|client|chatgpt|copilot|gemini|codex|docs?|readme|issue|article|blog|ticket) (?:said|says|wrote|writes|reads)"
    r"|from the (?:issue|ticket|docs?|readme|slack|thread|ci run|logs?|output)|summari[sz]e (?:this|the following)"
    r"|(?:around|at) lines? \d|copied from|pasted?|quot(?:e|ing)|transcript|conversation|translate|proofread"
    r"|error (?:message|log|output)s?:|output:|log:|here(?:'s| is) (?:the|an?|my) (?:error|log|output|text|email"
    r"|message|diff|stack))"
)
_SPEAKER = compile_later(
    r"^\s{0,8}(?:user|agent|assistant|human|system|claude|codex|cursor|copilot|gemini|opencode)\s{0,3}:",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = compile_later(r"[^\W\d_][\w']*")
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
_SIGNS = compile_later(r"[\u2300-\u2bff\U0001f000-\U0001faff\ufe0f]")
_LINK = compile_later(r"\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)")


def clip_text(text: str, most: int = MAX_READ_CHARS) -> str:
    """Returns the text, or only its head and tail if it is longer than `most`, to limit the work per turn."""
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"


@lru_cache(maxsize=8)  # several signals read the same message
def select_own_words(text: str) -> str:
    """Returns the words that a person says themselves in a message, without text that they pasted or hand over."""
    own = extract_own_words(text)
    return "" if is_third_party(own) else own[: find_own_words_end(own)]


def split_spoken(text: str) -> list[str]:
    """Returns the sentences a person said themselves in a message, verbatim and in order."""
    own = select_own_words(text)
    return [own[one.start : one.end] for one in split_sentences(own)]


def is_question(sentence: str) -> bool:
    """Returns whether a sentence asks something."""
    return sentence.rstrip("\"')* ").endswith(("?", "？")) or bool(_QUESTION.match(sentence))


def is_third_party(text: str) -> bool:
    """Returns whether a message mostly hands over somebody else's words (a review, a log, a conversation)."""
    return bool(_THIRD.search(text[:400].lower())) or len(_SPEAKER.findall(text[:MAX_READ_CHARS])) > 1


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


def strip_emphasis(text: str) -> str:
    """Returns the text on one line, without emphasis, symbols and link targets."""
    shown = _LINK.sub(r"\1", text)
    shown = shown.replace("**", "").replace("’", "'")
    return wording.squeeze_spaces(_SIGNS.sub("", shown)).strip(" -*")
