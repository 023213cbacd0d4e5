"""Splits into sentences what a person typed, without pasted code, logs, diffs, reviews or quotes and without text that
they hand over (a review, a rule to delete, a text to translate)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lerim.extraction.facts import wording
from lerim.extraction.facts.sentences import ABBREVIATED
from lerim.patterns import compile_later

MAX_READ_CHARS = 4_000  # characters read: the head and the tail of longer texts
MAX_TYPED_CHARS = 6_000  # a longer message is considered pasted or a template as a whole
MAX_SENTENCE_CHARS = 400  # a longer sentence is not a statement worth keeping

_FENCE = compile_later(r"^\s{0,8}(?:```|~~~|\"{3})")
_LOG = compile_later(
    r"^\s*(?:[$❯>│┌└├╭╰✔✓✗×⏺⎿]|=>|[+-]{3}\s|@@|\d{4}-\d\d-\d\d[T ]|\[\w{1,20}\]\s|at \S{1,80}:\d|File \"|Traceback|"
    r"(?:error|warning|info|debug|fatal|npm err!?)\b\s{0,2}[:\[(!]|\d{1,6}[:|]\s|[A-Za-z0-9_./-]{1,120}:\d{1,6}:\d)",
    re.IGNORECASE,
)
_DIFF = compile_later(r"^[+-](?:\s{2,}|\t|[-+]|[^\s\w]*\w+[({=;])")
_CODE = compile_later(
    r"[{};]\s*$|^\s*(?:const|let|var|def|func|fn|import|class|return|if|for|while|public|private"
    r"|export)\b.{0,200}[(){};:=]|^\s*</?[A-Za-z][^>]{0,80}>|=>|:=|&&\s*$"
)
HEADING_LINES = compile_later(r"^#{1,6}\s\S", re.MULTILINE)
BULLET_LINES = compile_later(r"^\s{0,12}(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
_MARK = compile_later(r"^\s*(?:[-*•]|\d{1,2}[.)]|#{1,6})\s{1,4}")
_ORDERED = compile_later(
    r"^\s*(?:please |can you |could you |let'?s |now )?(?:implement|build|create|add|make|write|develop|design"
    r"|generate|scaffold)\b[^\n]{0,160}:\s*\n",
    re.IGNORECASE,
)
"""Introduces a list of work to do; its points say what to build, not how the project is."""
_BREAK = compile_later(r"(?<=[.!?])[\"')*]{0,2}\s{1,4}(?=[\"'(*`A-Za-z0-9À-￿])|(?<=[。！？])")
_TAGS = compile_later(r"<(private|system-reminder|local-command-stdout|task-notification|quote)>[^\x00]{0,4000}?</\1>")
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


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """One sentence, verbatim; `question` if it asks something."""

    text: str
    question: bool


def clip_text(text: str, most: int = MAX_READ_CHARS) -> str:
    """Returns the text, or the head and tail of one longer than `most`, to bound the work per turn."""
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"


@lru_cache(maxsize=8)  # several signals read the same message
def split_spoken(text: str) -> tuple[SpokenSentence, ...]:
    """Returns the sentences a person said themselves, in order; none for a pasted message."""
    if (
        len(text) > MAX_TYPED_CHARS
        or len(HEADING_LINES.findall(text[:MAX_TYPED_CHARS])) > 1
        or len(BULLET_LINES.findall(text[:MAX_TYPED_CHARS])) > 10
    ):
        return ()  # nobody types this: it is a template, a document or a handover
    text = clip_text(_TAGS.sub("\n", text[: 4 * MAX_READ_CHARS]) if "<" in text else text)
    if is_third_party(text):
        return ()
    text = text[: find_own_words_end(text)]
    lines = _select_own_lines(BULLET_LINES.sub("> ", text) if _ORDERED.match(text) else text)
    out: list[SpokenSentence] = []
    for line in lines:
        for part in _split_sentences(_MARK.sub("", line)):
            piece = part.strip()
            if 1 < len(piece) <= MAX_SENTENCE_CHARS:
                asks = piece.rstrip("\"')* ").endswith(("?", "？")) or bool(_QUESTION.match(piece))
                out.append(SpokenSentence(piece, asks))
    return tuple(out)


def _select_own_lines(text: str) -> list[str]:
    """Returns the lines of prose, without fenced blocks, quotes, log lines, diffs and code. A long listing keeps only
    its first line of prose."""
    own_lines: list[str] = []
    fenced = False
    pasted = total = 0
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if not line.strip():
            continue
        total += 1
        if fenced or line.startswith(("    ", "\t")) or _LOG.match(line) or _DIFF.match(line) or _CODE.search(line):
            pasted += 1
            continue
        own_lines.append(line.strip())
    if total > 12 and (pasted * 3 > total or len(own_lines) > 30):  # a listing with a few words around it
        return own_lines[:1]
    return _join_wrapped_lines(own_lines)


def _join_wrapped_lines(lines: list[str]) -> list[str]:
    out: list[str] = []
    for line in lines:
        wraps = out and len(out[-1]) > 60 and line[:1].islower() and not out[-1].endswith((".", "!", "?", ":", ";"))
        if wraps:
            out[-1] = f"{out[-1]}\n{line}"
        else:
            out.append(line)
    return out


def _split_sentences(line: str) -> list[str]:
    out: list[str] = []
    for piece in _BREAK.split(line):
        if out and ABBREVIATED.search(out[-1]):
            out[-1] = f"{out[-1]} {piece}"
        else:
            out.append(piece)
    return out


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
