"""A question as it was asked, made one that stands by itself: of the project, not of us, and with something named."""

from __future__ import annotations

import re

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Scene
from lerim.sessions.model import Turn

_LEAD = re.compile(
    r"^(?:[a-z]{1,12} ){0,3}(?:question|point)s?(?: for you| remains?| left)?\s?[:—–-]\s{1,2}", re.IGNORECASE
)
_SHOULD_WE = re.compile(r"\b(?P<verb>should|shall|must|can|do) (?:we|i)\b(?! (?:also|now|next)\b)", re.IGNORECASE)
_WE_DO = re.compile(r"^(?:should|shall|must|can|do) (?:we|i) ", re.IGNORECASE)
_WHICH_WE = re.compile(r"^(?P<which>[^?]{0,60}?) (?:should|shall|must|can|do) (?:we|i) (?P<rest>[a-z])", re.IGNORECASE)
_SEEKS = re.compile(
    r"^(?:should|must) (?!i\b)|^do we (?:keep|want|need|support|allow)\b"
    r"|^(?:which|where|how|what|when)\b[^?]{0,60}? (?:should|must) (?!i\b)",
    re.IGNORECASE,
)
_NEXT_STEP = re.compile(
    r"\b(?:next|also|again|proceed|continue|go ahead|go on|commit|committed|push|pushed|merge|merged|look|check|try|"
    r"start|anything|further)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s{1,4}|\n")
_COURTESY = re.compile(
    r"^(?:please )?(?:let me know|tell me|happy to|your call|up to you|i(?:'ll| will) wait|waiting for)\b[^?]{0,120}$",
    re.IGNORECASE,
)


def standing(question: str, scene: Scene) -> str:
    """The question as a title; "" where it speaks of persons or of what it does not name."""
    text = _LEAD.sub("", wording.squeeze(question).strip(" *_>-"))
    text = wording.capital(_SHOULD_WE.sub(_of_the_project, text))
    fault = not text.endswith("?") or wording.title_fault(text.rstrip("?")) or wording.momentary(text)
    return "" if fault or not artifacts(text, scene.known) else text


def whether(link: str, what: str) -> str:
    """What is undecided, after its “whether”, “which” or colon, without us: “do we keep x” is “whether to keep x”."""
    if link in (":", "-"):
        what = _WE_DO.sub("whether to ", what)
    what = _WHICH_WE.sub(r"\g<which> to \g<rest>", what)
    return re.sub(r"^we (?:should|shall|must) ", "to ", what)


def last_question(turn: Turn, scene: Scene) -> tuple[str, str]:
    """The question to decide that the agent closes with, as a title and as it stands there; empty where its last words
    ask nothing, or only for its own next step."""
    parts = [part for part in (part.strip(" *_>-") for part in _SENTENCE.split(turn.text.rstrip()[-3_000:])) if part]
    while parts and _COURTESY.match(parts[-1]):
        parts.pop()
    asked = _LEAD.sub("", parts[-1]) if parts else ""
    if not asked.endswith("?") or not _SEEKS.match(asked) or _NEXT_STEP.search(asked):
        return "", ""
    if (ours := _WE_DO.match(asked)) and wording.task(asked[ours.end() :]):
        return "", ""
    title = standing(asked, scene)
    return (title, parts[-1]) if title else ("", "")


def _of_the_project(found: re.Match[str]) -> str:
    verb = found["verb"]
    return f"{'Does' if verb == 'Do' else 'does' if verb == 'do' else verb} the project"
