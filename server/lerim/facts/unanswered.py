"""What the agent put to the person last, and nobody answered: in its question tool, as options, or in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Found, Quote, Scene
from lerim.facts.sentences import spoken
from lerim.facts.standing import last_question
from lerim.facts.where import concerned, where
from lerim.sessions.model import Turn

LEAST = 12
"""Characters of an option that say something."""
_LAID = re.compile(
    r"^\s{0,6}(?:[-*]\s)?(?:\*\*|#{1,5}\s)?(?:option|approach|alternative|solution)\s(?P<key>[1-9]|"
    r"[A-E])\b(?P<text>[^\n]{3,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_WHICH = re.compile(r"\b(?:or|which|prefer|option|approach|rather)\b", re.IGNORECASE)
_DO = re.compile(
    r"\b(?P<do>(?:refactor|move|extract|split|merge|rename|replace|remove|drop|support|switch|migrate|share|unify|"
    r"combine|"
    r"simplify|cache|store|keep|handle|validate|generate|allow|deduplicate|reuse|deprecate|encrypt|expose) "
    r"(?:the |a |an |our |all |both |every )?(?!(?:it|this|that|these|those|them|so|my|"
    r"your)\b)[\w`\"'/.-][^,.;?\n]{6,110})",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\bshould (?:we|i)\b", re.IGNORECASE)


def unanswered(scene: Scene) -> Iterator[Found]:
    """The question put to the person last, at a session's end."""
    prompt = scene.now.prompt
    if scene.after is None:
        found = _tool(scene)
        if found is None and prompt is not None and not prompt.sidechain:
            found = _choice(scene, prompt) or _asked(scene)
        if found is not None:
            yield found


def _asked(scene: Scene) -> Draft | None:
    """The question to decide with which the agent ended."""
    last = scene.now.replies[-1] if scene.now.replies else None
    if last is None or last.sidechain or last.tool_calls:
        return None
    title, asked = last_question(last, scene)
    body = "The session ended before anybody answered."
    return left_open(scene, last, title, body, (Quote(asked, last.id, "assistant"),), title) if title else None


def _tool(scene: Scene) -> Draft | None:
    """A question of the agent's question tool that was never answered."""
    for turn in reversed(scene.now.replies):
        for call in turn.tool_calls:
            for asked in call.answers if call.kind == "ask" and call.status != "ok" and not turn.sidechain else ():
                text = _ASKED.sub("should the project", wording.squeeze(asked.question))
                options = [wording.shorten(wording.squeeze(option), 60) for option in asked.options][:4]
                named = artifacts(f"{text} {' '.join(options)}", scene.known)
                if asked.answer or len(options) < 2 or not _plain(text) or not named:
                    continue
                body = f"{text} The agent offered {wording.listing([f'“{option}”' for option in options], 'and')}."
                quote = Quote(asked.question.strip(), turn.id, "assistant")
                return left_open(scene, turn, text, f"{body} Nobody answered.", (quote,), f"{text} {' '.join(options)}")
    return None


def _choice(scene: Scene, prompt: Turn) -> Draft | None:
    """Options laid out in plain text, with the question which of them, as the last word of the session."""
    last = next((turn for turn in reversed(scene.now.replies) if turn.text), None)
    if last is None or last.sidechain or last is not scene.now.replies[-1]:
        return None
    tail = last.text.rstrip(" *_\n")[-3_000:]
    asked = re.split(r"(?<=[.!?])\s|\n", tail)[-1].strip(" *_")
    laid: dict[str, str] = {}
    for option in _LAID.finditer(tail):
        laid.setdefault(option["key"].lower(), option["text"])
    sentences = [item.text for item in spoken(prompt.text)]
    about = next((found for text in sentences if (found := _DO.search(text))), None)
    if not asked.endswith("?") or not _WHICH.search(asked) or len(laid) < 2 or about is None:
        return None
    what = re.split(r"\s(?:so|because|since|if|or|and then|instead|too)\b", wording.squeeze(about["do"]))[0].strip()
    options = [
        wording.shorten(
            wording.squeeze(re.sub(r"[*:`#]|\(recommended\)", "", text, flags=re.IGNORECASE)).strip(" -—–"), 70
        )
        for text in laid.values()
    ]
    title = _titled(what, wording.squeeze(about["do"]).strip(), options)
    if not title:
        return None
    offered = wording.listing([f"“{option}”" for option in options[:4]])
    body = f"The agent offered {offered}. The session ended before anybody answered."
    quotes = (Quote(about["do"], prompt.id, "user"), Quote(asked, last.id, "assistant"))
    return left_open(scene, last, title, body, quotes, f"{about['do']} {' '.join(options)}")


def _titled(what: str, whole: str, options: list[str]) -> str:
    """What was asked, with the options as far as they fit in, else with what it is for; "" where it makes no title."""
    plain = f"{what}, or not?"
    if not _plain(plain):
        return ""
    offered = _offered(options[:4], wording.TITLE - len(what) - 3)
    asks = (*([f"{what}: {offered}?"] if offered else []), f"{whole}, or not?", plain)
    return wording.capital(next(filter(_plain, asks)))


def _offered(options: list[str], room: int) -> str:
    """The options in quotes, the long ones cut, in so many characters; "" where too little of one would be left."""
    left = room - len(wording.listing(["“”"] * len(options), "or"))
    short: dict[str, str] = {}
    for number, option in enumerate(sorted(options, key=len)):
        short[option] = wording.shorten(option, left // (len(options) - number))
        if len(short[option]) < min(len(option), LEAST):
            return ""
        left -= len(short[option])
    return wording.listing([f"“{short[option]}”" for option in options], "or")


def _plain(title: str) -> bool:
    return title.endswith("?") and not wording.title_fault(title.rstrip("?"))


def left_open(scene: Scene, turn: Turn, title: str, body: str, quotes: tuple[Quote, ...], about: str) -> Draft:
    """A question that `turn` leaves open; `about` holds the words that say which files it concerns."""
    refs = concerned(scene, about)
    return Draft(
        signal="question",
        basis="open",
        primitive="question",
        kind=None,
        title=title,
        body=" ".join(part for part in (body, where(refs)) if part),
        turn=turn,
        quotes=quotes,
        artifacts=artifacts(about, scene.known),
        references=refs,
    )
