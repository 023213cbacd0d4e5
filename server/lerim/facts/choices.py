"""Choices stated with their reason: by the person, or by the agent where the person then accepted them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lerim.facts import wording
from lerim.facts.artifacts import artifacts, paths
from lerim.facts.directives import directive
from lerim.facts.draft import Basis, Draft, Found, Quote, Scene
from lerim.facts.outcome import verdict
from lerim.facts.reasons import because, explains, split_reason
from lerim.facts.sentences import Sentence, clip, spoken
from lerim.facts.tools import AD_HOC
from lerim.facts.where import concerned, references, where
from lerim.memory.record import Speaker
from lerim.sessions.model import Turn

LAST = 4  # replies of an exchange looked at for the agent's own choices
_OWN = re.compile(
    r"^(?:so |then |also |here |therefore |for [^,]{2,40}, |in [^,]{2,40}, )?(?:i(?:'ll|'ve| have| will|'m| am)?|"
    r"we(?:'ll|'ve)?|it(?: now)?|the (?:fix|code|implementation|change|solution)) "
    r"(?:now |deliberately |intentionally |therefore |decided to |opted to |going to )?"
    r"(?P<verb>chose|choose|used?|uses|using|picked|pick|kept|keep|keeps|went with|go(?:ing)? with|opted for|"
    r"preferred|prefer|selected|switched to|stored?|stores|put)"
    r" (?P<a>[^,;:]{2,70}?),? (?:over|instead of|rather than|and not|not) (?P<b>[^,;:]{1,50}?)(?P<why>(?:,? "
    r"(?:because|since|so that|so|as)|\s?[—–-]{1,2}|:|;)\s.{8,240})$",
    re.IGNORECASE,
)
_IMPERATIVES = {
    "kept": "Keep",
    "keep": "Keep",
    "keeps": "Keep",
    "store": "Store",
    "stores": "Store",
    "stored": "Store",
    "put": "Put",
}
_PERSON = re.compile(
    r"^(?:let'?s|lets|we(?:'ll| will| should| want(?: to)?| need(?: to)?| have to)?|i want (?:us |you )?to|i'?d "
    r"(?:like|prefer) (?:us |you )?to|please) "
    r"(?P<verb>use|keep|go with|store|put|stick (?:to|with)|switch to|name|call|avoid|drop|pin|target|support|have|"
    r"split|base|return) (?P<x>[^,;?]{3,70})$",
    re.IGNORECASE,
)

_GOOD = re.compile(
    r"^(?P<x>[\w@./+`-]{2,40}(?: [\w.+-]{1,20})?) is (?:(?:a|the) )?(?:very )?(?:good|right|best|better|great|solid) "
    r"(?:selection|choice|option|fit|pick|call|tool|way to go)(?:(?: here| for us)?[,:;—–-]{1,2} "
    r"(?P<why>[^?]{8,200}))?$",
    re.IGNORECASE,
)
"""A choice praised in a message that also approves it."""
_APPROVES = re.compile(
    r"\b(?:approved?|go (?:ahead|with|for)|agreed|let'?s (?:use|go|do|take)|yes|use it|do it)\b", re.IGNORECASE
)
_PLAIN = re.compile(
    r"^(?P<verb>use|keep|store|prefer|avoid|pin|stick (?:to|with)) (?P<x>(?!(?:the |this |that |my )"
    r"(?:new|old|other|same|latest|current|existing|first|second|last|next)\b)[^,;?]{3,70})$",
    re.IGNORECASE,
)


def choices(scene: Scene) -> Iterator[Found]:
    """Choices of this exchange that carry their reason."""
    prompt = scene.now.said
    if prompt is not None:
        heard = spoken(prompt.text)
        for said, after in zip(heard, [*(item.text for item in heard[1:]), ""], strict=False):
            found = _persons(scene, prompt, said, after)
            if found is not None:
                yield found
    if verdict(scene.after) == "accepted":
        for turn in [turn for turn in scene.now.replies if turn.text and not turn.sidechain][-LAST:]:
            for text in _prose(turn):
                found = _agents(scene, turn, text)
                if found is not None:
                    yield found


def _prose(turn: Turn) -> list[str]:
    """The agent's sentences, without its code blocks and tables."""
    text = re.sub(r"```[^`]{0,4000}(?:```|$)", "\n", clip(turn.text))
    out: list[str] = []
    for line in text.split("\n"):
        if not line.lstrip().startswith(("|", ">", "#")):
            out += [piece for piece in re.split(r"(?<=[.!])\s(?=[A-Z`])", line.strip(" -*•")) if 20 < len(piece) <= 400]
    return out


def _persons(scene: Scene, turn: Turn, said: Sentence, after: str) -> Draft | None:
    if said.question or wording.hedged(said.text) or wording.momentary(said.text) or directive(said.text) is not None:
        return None
    claim, reason = split_reason(wording.clean(said.text))
    later = "" if reason or not explains(after) or wording.loose(after) or directive(after) is not None else after
    reason = reason or wording.clean(later)
    if (good := _GOOD.match(wording.clean(said.text))) and good["why"] and _APPROVES.search(turn.text):
        title = f"Use {good['x']}"
        named = artifacts(title, scene.known)
        return _draft(scene, turn, said.text, title, good["why"], "stated", "user", ("", "")) if named else None
    match = _PERSON.match(claim)
    if match is None and because(reason) and not wording.momentary(reason):
        match = _PLAIN.match(claim)
    if (
        not reason
        or match is None
        or match["x"].split()[0].lower() in AD_HOC
        or wording.title_fault(f"x {reason}"[:70]).startswith("cut")
    ):
        return None
    verb = match["verb"].lower()
    title = f"{'Use' if verb in ('go with', 'switch to') else wording.capital(verb)} {match['x']}"
    alone = verb in ("avoid", "keep", "use") and bool(paths(match["x"])) and " " not in match["x"]
    if alone or not artifacts(title, scene.known):
        return None
    draft = _draft(scene, turn, said.text, title, reason, "stated", "user", ("", ""))
    if draft is None or not later:
        return draft
    body = draft.body.replace(because(reason), wording.sentence(reason))
    return replace(draft, body=body, quotes=(*draft.quotes, Quote(later, turn.id, "user")))


def _agents(scene: Scene, turn: Turn, text: str) -> Draft | None:
    match = _OWN.match(wording.squeeze(text.replace("**", "")).rstrip("."))
    if match is None or wording.hedged(match["a"]):
        return None
    a, b = wording.clean(match["a"]), wording.clean(match["b"])
    if not a or not b or not (artifacts(a, scene.known) or artifacts(b, scene.known)):
        return None
    verb = match["verb"].lower()
    title = f"{_IMPERATIVES.get(verb, 'Use')} {a}, not {b}"
    reason = re.sub(r"^(?:,? (?:because|since|so that|so|as)|\s?[—–-]{1,2}|:|;)\s", "", match["why"])
    return _draft(scene, turn, text, title, reason, "accepted", "assistant", (a, b))


def _draft(
    scene: Scene, turn: Turn, quote: str, title: str, reason: str, basis: Basis, who: Speaker, sides: tuple[str, str]
) -> Draft | None:
    if wording.title_fault(title):
        return None
    refs = (references if who == "assistant" else concerned)(scene, f"{title} {reason}")
    accepted = "The agent chose so, and the person agreed." if who == "assistant" else ""
    body = (wording.sentence(title), because(reason), accepted, where(refs))
    quotes = [Quote(quote, turn.id, who)]
    return Draft(
        signal="choice",
        basis=basis,
        primitive="decision",
        kind=None,
        title=title,
        body=" ".join(part for part in body if part),
        turn=turn,
        quotes=tuple(quotes),
        artifacts=artifacts(f"{title} {reason}", scene.known),
        references=refs,
        prefer=sides[0],
        over=sides[1],
    )
