"""What is still to be decided, in so many words: the person says so, doubts something at a session's end, or the agent
closes with what it left undone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Quote, Scene
from lerim.facts.sentences import spoken
from lerim.facts.standing import whether
from lerim.facts.unanswered import left_open
from lerim.sessions.model import Turn

_NOT_YET = (
    r"(?:still )?(?:not (?:yet )?(?:decided|settled|agreed|clear)|undecided|unclear|to be decided|tbd|open|"
    r"an open question)"
)
_UNDECIDED = re.compile(
    r"^(?:(?:we|i)(?:'ve| have)? (?:still |also )?(?:need|have|must|should|got) to (?:still )?(?:decide|figure out|"
    r"agree|settle|find out|clarify)|(?:we|i)(?:'ve| have)? (?:still )?not (?:yet )?(?:decided|settled|agreed|figured "
    rf"out)|(?:we|i) (?:do not|cannot) (?:know|say)(?= yet)|(?:(?:it|that|we)(?: is| are|'s|'re) )?{_NOT_YET}|"
    r"open question|tbd)"
    r"(?: yet| later)?\s{0,2}(?P<link>:|-|whether|if|which|what|how|where|when|on) (?P<x>[^?]{8,140})\??$",
    re.IGNORECASE,
)
_IS_OPEN = re.compile(
    rf"^(?P<link>whether|which|how|where) (?P<x>[^,;?]{{8,120}}?) (?:is|are|remains?) {_NOT_YET}(?: yet)?$",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"^(?:i(?:'m| am) (?:still |really )?(?:not (?:so |quite |really )?(?:sure|certain|convinced)|unsure)|(?:still )?"
    r"not sure|unsure|i (?:still )?(?:wonder|doubt|do not know)|i(?:'m| am) wondering) (?P<link>whether|if|that) "
    r"(?P<x>[^?]{8,140})\??$",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"^(?:i(?:'ve| have)? |this )?(?:left|leaves|deferred|postponed|skipped|did not (?:touch|change|implement|handle|"
    r"cover|migrate)) (?P<x>[^,;?]{6,110}?) (?:for (?:now|later|(?:a |the )?follow[- ]?up\b[^,;?]{0,30})|to (?:a|the) "
    r"follow[- ]?up\b[^,;?]{0,30}|as (?:a )?(?:todo|follow[- ]?up)|until later)$",
    re.IGNORECASE,
)
_TODO = re.compile(
    r"^(?:follow[- ]?ups?|still to do|left to do|remaining|not done(?: yet)?|todo|out of scope)\s{0,2}:\s"
    r"(?P<x>[^?]{8,110})$",
    re.IGNORECASE,
)
_WHY = re.compile(r"(?:,| so| because| since| but| as)\s.{0,140}$", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s{1,4}|\n")
_MARK = re.compile(r"^[\s>*_#-]{0,8}(?:\d{1,2}[.)]\s)?")


def doubts(scene: Scene) -> Iterator[Draft]:
    """What is said to be undecided, wherever it is said; what is doubted or left undone, as a session's last words."""
    if scene.now.said is not None:
        prompt = scene.now.said
        for said in spoken(prompt.text):
            claim = wording.clean(said.text)
            undecided = _UNDECIDED.match(claim) or _IS_OPEN.match(claim)
            doubted = _DOUBT.match(claim) if scene.after is None else None
            if undecided:
                yield from _asked(
                    scene, prompt, prompt, said.text, undecided, "The person said that it is not decided yet."
                )
            elif doubted and not _edited(scene):
                # What answers next may settle it: it rests on the session's end, and goes when the session goes on.
                last = scene.now.replies[-1] if scene.now.replies else prompt
                yield from _asked(
                    scene, prompt, last, said.text, doubted, "The person doubted it, and the session ended there."
                )
    if scene.after is None:
        yield from _undone(scene)


def _asked(scene: Scene, prompt: Turn, turn: Turn, said: str, match: re.Match[str], how: str) -> Iterator[Draft]:
    link = match["link"].lower()
    what = wording.squeeze(_WHY.sub("", match["x"])).strip(" .,:;'\"")
    bare = link in (":", "-", "on")
    asked = whether(link, what if bare else f"{'whether' if link == 'if' else link} {what}")
    title = f"{'In doubt' if turn is not prompt else 'Undecided'}: {asked}?"
    if not what or wording.title_fault(title.rstrip("?")) or not artifacts(match["x"], scene.known):
        return
    yield left_open(
        scene,
        turn,
        title,
        f"It is open{':' if bare else ''} {asked}. {how}",
        (Quote(said, prompt.id, "user"),),
        match["x"],
    )


def _undone(scene: Scene) -> Iterator[Draft]:
    """What the agent's last words say it left."""
    last = scene.now.replies[-1] if scene.now.replies else None
    if last is None or last.sidechain or not last.text:
        return
    for part in _SENTENCE.split(last.text[-3_000:]):
        said = _MARK.sub("", part).strip()
        claim = wording.clean(said)
        match = _LEFT.match(claim) or _TODO.match(claim)
        if match is None or len(said) > 300:
            continue
        what = wording.capital(re.sub(r"^(?:the|a|an) ", "", match["x"].strip(" .:;*_")))
        title = f"{what}: left undone, still to be done?"
        if wording.title_fault(title.rstrip("?")) or not artifacts(match["x"], scene.known):
            continue
        body = f"The agent left {match['x'].strip(' .')} undone when the session ended."
        yield left_open(scene, last, title, body, (Quote(said, last.id, "assistant"),), match["x"])


def _edited(scene: Scene) -> bool:
    """Whether the agent changed files in answer: the doubt was acted on."""
    calls = (call for turn in scene.now.replies for call in turn.tool_calls)
    return any(call.kind in ("edit", "write") and call.status == "ok" for call in calls)
