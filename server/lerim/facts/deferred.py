"""What the person puts off in so many words: work that is still to be done, and questions still to be decided."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Quote, Scene
from lerim.facts.sentences import Sentence, spoken
from lerim.facts.standing import last_question, standing
from lerim.facts.unanswered import left_open
from lerim.sessions.model import Turn

_FOLLOWING = (
    r"(?:a |the |another )?(?:follow[- ]?up|separate|later|next)(?: (?:pr|issue|ticket|commit|branch|release))?"
)
_NOT_NOW = (
    r"not (?:today|now|yet|right now|tonight|this (?:week|time|pr|release)|here|in this "
    r"(?:pr|release|change|session|branch|commit))"
)
_THEN = (
    rf"(?:later(?: on)?|another (?:time|day|pr)|some other time|tomorrow|next (?:time|week|month|sprint|release|pr)"
    rf"|in {_FOLLOWING}|for now|{_NOT_NOW})"
)
_LATER = re.compile(
    r"^(?:(?:let'?s|we(?:'ll| can| will| should)?|i(?:'ll| will)|please) )?(?:just )?"
    r"(?:leave|defer|postpone|park|do|handle|address|revisit|tackle|add|fix|keep) (?P<x>[^,;?]{4,70}?) "
    r"(?:(?:for|until|till|to) )?(?:later|another (?:pr|day|time|ticket|issue)|(?:a |the )?follow[- ]?ups?(?: prs?)?|"
    r"(?:the )?next (?:pr|release|version|iteration|phase)|in (?:a|another) (?:separate|follow[- ]?up|later) "
    r"(?:pr|issue|ticket|commit|branch))$",
    re.IGNORECASE,
)
_OUT = re.compile(
    r"^(?P<x>(?!(?:it|this|that|these|those|they)\b)[^,;?]{4,70}?) (?:is|are) (?:explicitly )?(?:out of scope|for "
    r"(?:later|a "
    r"follow[- ]?up)|not (?:part|in scope) of this)(?: for (?:now|this pr|this|v\d))?$",
    re.IGNORECASE,
)
_STILL_TO = re.compile(
    r"^(?:we|i)(?:'ve| have| will|'ll)? (?:still |also |eventually )?(?:have|need|want|ought|got) to "
    r"(?!(?:commit|push|merge|rebase|release|deploy|run|rerun|wait)\b)(?P<x>[^,;?]{6,90}?)"
    r"(?: (?:at some point|some ?time|eventually|one day|soon))?,? (?:(?:but|though|just|only|however) ){0,2}"
    rf"{_THEN}$",
    re.IGNORECASE,
)
_LET_NOT = re.compile(
    r"^let'?s not (?P<x>[^,;?]{6,90}?) (?:today|now|yet|right now|tonight|this (?:week|time)|for now|in this "
    r"(?:pr|release|change|session|branch|commit))$",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"^(?P<x>[^,;?]{4,70}?) can (?:still )?wait(?: (?:for now|a bit|until (?:later|tomorrow|next \w{3,8})))?$",
    re.IGNORECASE,
)
_SKIP = re.compile(
    r"^(?:(?:let'?s|please|we can|we should) )?(?:skip|postpone|defer|park|shelve) (?P<x>[^,;?]{4,70}?) "
    r"(?:for now|for the moment|for today|today)$",
    re.IGNORECASE,
)
_DECIDE_LATER = re.compile(
    rf"^(?:{_NOT_NOW}(?: though)?,? ?(?:but )?)?"
    r"(?:let'?s|we(?:'ll| will| can| should| could)?|i(?:'ll| will)?|to) (?:just )?"
    r"(?:decide|settle|discuss|answer|think|talk|revisit|leave|park|postpone|defer|come back|figure)"
    rf"(?: (?:on|about|over|to))?(?: (?:that|this|it))?(?: (?:out|open|undecided))? {_THEN}$",
    re.IGNORECASE,
)
_PUT_OFF = (_LATER, _OUT, _STILL_TO, _LET_NOT, _WAITS, _SKIP)


def deferred(scene: Scene) -> Iterator[Draft]:
    """Work and questions that the person puts off in this exchange, whatever comes after it."""
    if scene.now.said is None:
        return
    before: Sentence | None = None
    for said in spoken(scene.now.said.text):
        found = None if said.question else _question(scene, scene.now.said, before, said) or _work(scene, said)
        if found is not None:
            yield found
        before = said


def puts_off(prompt: Turn) -> bool:
    """Whether the person's words begin by putting off what the agent asked last: then it is still open."""
    first = next(iter(spoken(prompt.text)), None)
    return first is not None and _DECIDE_LATER.match(wording.clean(first.text)) is not None


def _work(scene: Scene, said: Sentence) -> Draft | None:
    prompt = scene.now.said
    claim = wording.clean(said.text)
    match = next((found for pattern in _PUT_OFF if (found := pattern.match(claim))), None)
    if prompt is None or match is None or (match.re is _LET_NOT and wording.task(match["x"])):
        return None
    if wording.personal(match["x"]) or wording.loose(match["x"]) or not artifacts(match["x"], scene.known):
        return None
    what = wording.capital(re.sub(r"^(?:the|a|an) ", "", match["x"], flags=re.IGNORECASE))
    body = f"The person put {_inside(match['x'])} off. It is still to be done or decided."
    quotes = (Quote(said.text, prompt.id, "user"),)
    return left_open(scene, prompt, f"{what}: put off, still to be done?", body, quotes, match["x"])


def _question(scene: Scene, prompt: Turn, before: Sentence | None, said: Sentence) -> Draft | None:
    """The question that the person puts off: their own of the sentence before, or the one the agent had closed with."""
    if not _DECIDE_LATER.match(wording.clean(said.text)):
        return None
    off = Quote(said.text, prompt.id, "user")
    if before is not None:
        title = standing(before.text, scene) if before.question else ""
        quotes = (Quote(before.text, prompt.id, "user"), off)
    else:
        last = scene.before.replies[-1] if scene.before.replies else None
        if last is None or last.sidechain:
            return None
        title, asked = last_question(last, scene)
        quotes = (Quote(asked, last.id, "assistant"), off)
    return left_open(scene, prompt, title, "The person put the decision off.", quotes, title) if title else None


def _inside(text: str) -> str:
    """As it stands within a sentence: `The docs` as `the docs`."""
    return text[:1].lower() + text[1:] if text.lower().startswith(("the ", "a ", "an ", "our ")) else text
