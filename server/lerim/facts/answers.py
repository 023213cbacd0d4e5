"""What the person answered when the agent asked: through its question tool, or an option picked in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from lerim.facts import nouns, questions, wording
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Found, Quote, Scene, Unclear
from lerim.facts.outcome import kept
from lerim.facts.plans import VERB
from lerim.facts.questions import title_of
from lerim.facts.where import changed, named, references, where
from lerim.sessions.model import Answer, Turn

_MOMENT = re.compile(
    r"\b(?:proceed|next|now|commit|push|merge|deploy|release|continue|start(?:ing)? with|first|go ahead|pull request|"
    r"pr\b|priority|which (?:issue|task|"
    r"file|part|bug|one)|work on|ready|further|else|look (?:right|good)|satisf\w+|(?:would you like|do you want|"
    r"shall i|should i) (?:me )?(?:to )?"
    r"(?:run|fix|try|see|review|explain|show|check|create|write|implement|update|continue)|branch|how (?:far|much|"
    r"many)|test (?:it|this)|feedback)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\s{0,2}\((?:recommended|default|suggested)\)\s{0,2}", re.IGNORECASE)
_WEAK = re.compile(
    r"^(?:yes|no|ok|okay|sure|other|none|skip|cancel|stop|later|both|all|neither|n/?a|i don'?t know|not sure|you "
    r"(?:decide|choose)|up to you|"
    r"whatever|either|looks good|approve|continue|proceed|done|help|let'?s (?:discuss|talk)|tell me more|explain)\b",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"^\s{0,6}(?:[-*]\s)?(?:\*\*|#{1,5}\s)?(?:option\s|approach\s)?(?P<key>[1-9]|[A-E])(?:[.):]|"
    r"\s[-—–])\**:?\s{1,4}(?:\*\*)?(?P<text>\S.{3,200}?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_PICK = re.compile(
    r"^[^\w\n]{0,2}(?:(?:yes|ok|okay|yeah|sure|let'?s|i(?:'d| would)? (?:like|prefer|choose|pick|say)|do|go(?: with| "
    r"for)?|use|take|pick|with|implement|the)[,.\s]{1,3}){0,4}"
    r"(?:(?:option|approach|number|variant|choice|#)?\s{0,2}(?P<key>[1-9]|[A-E])|(?P<nth>first|second|third|fourth|"
    r"fifth|1st|2nd|"
    r"3rd|4th)(?: (?:one|option|approach|variant|choice))?)(?=$|[\s.,!)])[^\w]{0,3}(?P<rest>.{0,120})$",
    re.IGNORECASE | re.DOTALL,
)
_AGREES = re.compile(
    r"^(?:$|(?:please|pls|plz|thanks|thx|thank you|sounds?|looks?|seems|is (?:good|fine|better|best|great|nicer|"
    r"cleaner)|it is|"
    r"then|for sure|for me|i think|because|since|but|and|with|as|it'?s|that'?s|go|do it|makes sense)\b)",
    re.IGNORECASE,
)
_CALLED = re.compile(r"^\W{0,10}(?:option|approach)\s", re.IGNORECASE)
"""Options that are called so: other numbered lists beside them are none."""
_KEYS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"} | {
    f"{n}{e}": str(n) for n, e in ((1, "st"), (2, "nd"), (3, "rd"), (4, "th"))
}
_ASKED = re.compile(r"^[#>*\s]{0,8}(?P<q>[A-Z][^?\n]{8,140}\?)[*_\s]{0,4}$", re.MULTILINE)
_CHOICE = re.compile(r"\b(?:which|option|approach|prefer|alternativ|either|recommend)", re.IGNORECASE)


_LAID = re.compile(
    r"^\s{0,6}[-*]\s{1,3}(?:\*\*)?(?:recommended|alternative(?:ly)?|option \w|or)(?:\*\*)?:(?:\*\*)?\s{1,3}"
    r"(?P<text>\S.{8,240})$",
    re.IGNORECASE | re.MULTILINE,
)
_IMPERATIVE = re.compile(rf"(?:{VERB.pattern})|^(?:enforce|force|override|ignore|set)\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z][a-z.-]{2,30}")
_SMALL = frozenset(("the", "and", "for", "with", "via", "that", "this", "use", "not", "please", "let"))


def answers(scene: Scene) -> Iterator[Found]:
    """Decisions the person took by answering."""
    for turn in scene.now.replies:
        if turn.sidechain:
            continue
        for call in turn.tool_calls:
            if call.kind == "ask" and call.status == "ok":
                for answer in call.answers:
                    found = _answered(scene, turn, answer)
                    if found is not None:
                        yield found
    picked = _picked(scene) or _repeated(scene)
    if picked is not None:
        yield picked


def _answered(scene: Scene, turn: Turn, answer: Answer) -> Found | None:
    question, said = wording.squeeze(answer.question), wording.squeeze(answer.answer)
    chosen = _LABEL.sub(" ", said).strip(" .")
    if not chosen or len(chosen) > 160 or chosen.endswith("?") or _MOMENT.search(question):
        return None
    if re.match(
        r"^(?:other|skip|cancel|neither|n/?a|i don'?t know|not sure|you decide|up to you|whatever)\b",
        chosen,
        re.IGNORECASE,
    ):
        return None
    title = wording.fit(title_of(question, chosen))
    if not title:
        return (
            None
            if _WEAK.match(chosen)
            else Unclear("answer", f"{question} {chosen}", turn, "no title can be made of it")
        )
    fault = wording.title_fault(title)
    if fault:
        return Unclear("answer", title, turn, fault)
    others = [_LABEL.sub(" ", wording.squeeze(option)).strip(" .") for option in answer.options]
    rejected = [option for option in others if option and option.lower() not in chosen.lower() and len(option) <= 60]
    refs = references(scene, f"{question} {chosen}")
    return Draft(
        signal="answer",
        basis="answered",
        primitive="decision",
        kind=None,
        title=title,
        body=_body(title, "The person chose it when the agent asked.", rejected[:4], refs),
        turn=turn,
        quotes=(Quote(answer.answer.strip(), turn.id, "user"), Quote(answer.question.strip(), turn.id, "assistant")),
        artifacts=artifacts(f"{question} {chosen}", scene.known),
        references=refs,
        prefer=chosen.lower(),
        over=rejected[0].lower() if len(rejected) == 1 else "",
    )


def _picked(scene: Scene) -> Found | None:
    """`option 2`, typed after the agent had laid out its options and asked which."""
    prompt, before = scene.now.said, scene.before.replies
    if prompt is None or not before or len(prompt.text) > 200:
        return None
    match = _PICK.match(prompt.text.strip())
    asked = next((turn for turn in reversed(before) if turn.text), None)
    if match is None or asked is None or not kept(scene.now) or not _AGREES.match(match["rest"]):
        return None
    tail = asked.text[-2_500:]
    last = tail.rstrip().rsplit("\n", 1)[-1]
    if not _CHOICE.search(tail) or ("?" not in tail[-400:] and "ecommend" not in last) or _MOMENT.search(last):
        return None
    called = [item for item in _OPTION.finditer(asked.text[-6_000:]) if _CALLED.match(item.group())]
    several = len({item["key"] for item in called}) > 1
    laid = {item["key"].lower(): item for item in (called if several else _OPTION.finditer(tail))}
    key = _KEYS.get((match["nth"] or "").lower(), match["key"] or "").lower()
    if match["nth"] and "a" in laid and "1" not in laid:
        key = "abcde"[int(key) - 1]
    chosen = laid.pop(key, None)
    if chosen is None or not laid:
        return None
    options = {name: item["text"] for name, item in laid.items()}
    title = _asserted(_option(chosen["text"]), tail)
    fault = wording.title_fault(title)
    names = artifacts(title, scene.known)
    if fault or not names:
        return Unclear("answer", title, prompt, fault or "names nothing of the session")
    refs = named(scene, title) or changed(scene, scene.now)
    rejected = [item for item in (_option(other) for other in options.values()) if item and len(item) <= 90][:3]
    return Draft(
        signal="answer",
        basis="picked",
        primitive="decision",
        kind=None,
        title=wording.capital(title),
        body=_body(title, "The person picked this from the options the agent laid out.", rejected, refs),
        turn=prompt,
        quotes=(Quote(prompt.text.strip(), prompt.id, "user"), Quote(chosen.group().strip(), asked.id, "assistant")),
        artifacts=names,
        references=refs,
    )


def _repeated(scene: Scene) -> Found | None:
    """The option whose words the person typed after the agent had laid out alternatives and asked which."""
    prompt, before = scene.now.said, scene.before.replies
    asked = next((turn for turn in reversed(before) if turn.text), None)
    if prompt is None or asked is None or not kept(scene.now):
        return None
    said, tail = wording.clean(prompt.text), asked.text[-2_500:]
    laid = list(_LAID.finditer(tail))
    if not 12 <= len(said) <= 90 or said.endswith("?") or not 2 <= len(laid) <= 4 or not _CHOICE.search(tail):
        return None
    words = _stems(said)
    shared = sorted(((_shared(words, _stems(match["text"])), match) for match in laid), key=lambda pair: -pair[0])
    (most, chosen), (next_most, other) = shared[:2]
    if most < 3 or most * 4 < len(words) * 3 or next_most + 2 > most:
        return None
    title = wording.capital(_option(chosen["text"]))
    if not _IMPERATIVE.match(title):
        return None
    fault = wording.title_fault(title)
    names = artifacts(title, scene.known)
    if fault or not names:
        return Unclear("answer", title, prompt, fault or "names nothing of the session")
    refs = changed(scene, scene.now) or named(scene, title)
    return Draft(
        signal="answer",
        basis="picked",
        primitive="decision",
        kind=None,
        title=title,
        body=_body(
            title, "The person picked this from the options the agent laid out.", [_option(other["text"])], refs
        ),
        turn=prompt,
        quotes=(Quote(prompt.text.strip(), prompt.id, "user"), Quote(chosen["text"].strip(), asked.id, "assistant")),
        artifacts=names,
        references=refs,
    )


def _stems(text: str) -> set[str]:
    """The words that carry meaning, whatever their endings."""
    return {re.sub(r"(?:ing|ed|es|s)$", "", word) for word in _WORD.findall(text.lower()) if word not in _SMALL}


def _shared(said: set[str], option: set[str]) -> int:
    """How many of the words that were typed the option has; a word with a slip of a letter is that word."""
    return sum(bool(get_close_matches(word, option, 1, 0.9 if len(word) < 6 else 0.85)) for word in said)


def _body(title: str, how: str, rejected: list[str], refs: tuple[str, ...]) -> str:
    against = f"Rejected: {wording.listing([f'“{item}”' for item in rejected])}." if rejected else ""
    return " ".join(part for part in (wording.sentence(title), how, against, where(refs)) if part)


def _asserted(option: str, tail: str) -> str:
    """The option as an instruction: its own verb, or the question it answers, or `Use` before a plain noun."""
    done = wording.imperative(option)
    if done != option or questions.IMPERATIVE.match(option) or VERB.match(option):
        return done
    for question in reversed([match["q"] for match in _ASKED.finditer(tail)]):
        if questions.WHERE.match(question) and (title := title_of(question, f"in {nouns.article(option, known=True)}")):
            return title
    return f"Use {nouns.article(option)}"


def _option(text: str) -> str:
    """The option without emphasis, remarks in brackets and explanations after a dash."""
    bold = re.match(r"(?P<b>[^*]{4,120})\*\*", text)
    plain = re.sub(r"\*\*|__", "", bold["b"] if bold else text)
    plain = re.split(r"\s?[\u2190-\u2bff\U0001f000-\U0001faff]", plain, maxsplit=1)[0]
    plain = re.split(r"\s[-—–]{1,2}\s|:\s|\s\((?![^)]{0,3}\))", plain, maxsplit=1)[0]
    return wording.clean(_LABEL.sub(" ", plain))
