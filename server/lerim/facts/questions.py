"""From a question and its answer to one asserting title."""

from __future__ import annotations

import re
from collections.abc import Callable

from lerim.facts import nouns, wording

_USE = re.compile(
    r"^(?:which|what) (?P<x>[^?]{2,60}?) (?:should|shall|do|would|will|must) (?:we|i|you|it|the \w+)(?: (?:like|want|"
    r"prefer))?(?: (?:me|us))?(?: to)? (?:use|choose|pick|adopt|go with|apply|target)(?P<y> (?:for|in|with|as|on|to) "
    r"[^?]{2,60})?\?$",
    re.IGNORECASE,
)
_WHICH_FOR = re.compile(r"^(?:which|what) (?P<x>[^?]{2,60}?) (?P<y>(?:for|in|as) [^?]{2,60})\?$", re.IGNORECASE)
_NAME = re.compile(r"^what should (?P<x>[^?]{2,60}?) be (?:called|named)\?$", re.IGNORECASE)
WHERE = re.compile(
    r"^where (?:should|shall|do|does|will|must) (?:we |i |you )?(?:(?P<verb>put|store|keep|place|save|add|define|"
    r"write|log) )?(?P<x>[^?]{2,70}?)(?: (?:go|live|be (?:stored|placed|put|kept|defined|saved|located)|sit|come "
    r"from))?\?$",
    re.IGNORECASE,
)
_HOW_WE = re.compile(
    r"^how (?:should|shall|do|would|must) (?:we|i|you)(?: (?:like|want|prefer))?(?: (?:me|us))?(?: to)? "
    r"(?P<x>[a-z][^?]{4,70})\?$",
    re.IGNORECASE,
)
_DOES = (
    "allocate|handle|store|process|report|validate|parse|resolve|detect|format|sort|treat|load|generate|compute|"
    "expose|"
    "identify|manage|track|represent|display|show|render|cache|authenticate|authorize|name|number|order|group|log|"
    "retry|"
    "connect|sync|map|assign|merge|respond to|react to|interact with|integrate with|find|choose|pick|read|write|send|"
    "receive|deal with|count|round|match|index|search|filter|count|limit|signal|return|pass|run|deploy|communicate"
)
_HOW_S = re.compile(
    rf"^how (?:should|shall|must|will) (?P<s>(?:the )?[^?]{{2,40}}?) (?P<v>{_DOES}) (?P<o>[^?]{{3,50}})\?$",
    re.IGNORECASE,
)
_HOW_IS = re.compile(
    r"^how (?:should|shall|must|will) (?P<s>(?:the )?[^?]{2,50}?) (?P<v>behave|work|look|run|start|end|fail)"
    r"(?P<o> (?:when|if|on|for|in|after|before) [^?]{2,40})?\?$",
    re.IGNORECASE,
)
_HOW_BE = re.compile(
    r"^how (?:should|shall|must) (?P<s>[^?]{2,50}?) be (?P<v>[a-z]{3,16})(?P<o>[^?]{0,40})\?$", re.IGNORECASE
)
_WHAT_S = re.compile(
    r"^(?:what|which [^?]{2,30}) (?:should|shall|must|will) (?P<s>(?:the )?[^?]{2,50}?) (?P<v>return|do|be|use|show|"
    r"contain|accept|default to|support|happen)(?P<o> [^?]{2,50})?\?$",
    re.IGNORECASE,
)
_SHOULD = re.compile(
    r"^(?:should|shall|must) (?P<s>(?:the )?[^?]{2,50}?) (?P<v>[a-z]{2,14}) (?P<o>[^?]{2,70})\?$", re.IGNORECASE
)
_DO_WE = re.compile(
    r"^(?:(?:should|shall|must) (?:we|i)|(?:do|would) you (?:like|want|prefer)(?: me| us)? to) "
    r"(?P<x>[a-z][^?]{4,70})\?$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:which|what)(?: (?:implementation|technical|overall|general|specific|kind of|type of))?(?: (?:approach|"
    r"option|strategy|solution|way|fix|one|direction|path|method|behavior|behaviour))?(?: (?:should|do|would|shall|"
    r"will) (?:we|i|you|it)\b[^?]{0,60})?\?$",
    re.IGNORECASE,
)
_AS_ITS = re.compile(
    r"^(?:which|what) (?P<x>[a-z][^?]{2,30}?) (?:should|must|shall|will) (?P<s>(?!(?:we|i|you|it)\b)[^?]{2,50}?) "
    r"(?P<v>use|have|return|take|get|follow|support|target|require)\?$",
    re.IGNORECASE,
)
_BY_NAMES = "allocate name number order sort group identify match count round choose pick find index assign map"
_BY = frozenset(_BY_NAMES.split())
_YES = re.compile(r"^(?:yes|yep|yeah|sure)\b[,.:\s—–-]{0,4}", re.IGNORECASE)
_NO = re.compile(r"^(?:no|nope)\b[,.:\s—–-]{0,4}", re.IGNORECASE)
IMPERATIVE = re.compile(
    r"^(?:use|keep|add|remove|store|put|make|return|throw|raise|skip|ignore|allow|deny|reject|drop|merge|split|move|"
    r"rename|replace|create|delete|"
    r"support|require|show|hide|log|cache|fail|retry|default|disable|enable|inline|extract|reuse|rewrite|write|read|"
    r"load|run|build|switch|stick|go|"
    r"follow|include|exclude|auto-\w+|always|never|only|do not|one|two|single|separate)\b",
    re.IGNORECASE,
)  # fmt: skip
_ADDRESS = re.compile(
    r"\b(?:should|shall|do|would|must|will) (?:we|i|you)\b(?: (?:like|want|prefer))?(?: (?:me|us))?", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:this|that|it|these|those|them|you|your|me|i|we)\b", re.IGNORECASE)


def title_of(question: str, answer: str) -> str:
    """`Which database should we use for the cache?` + `SQLite` → `Use SQLite for the cache`; "" where no title "
    "comes out."""
    question = wording.squeeze(question)
    question = re.split(r"(?<=[.!])\s", question)[-1]
    question = re.sub(r"^(?:for|in|regarding|about) [^,?]{2,40}, ", "", question, flags=re.IGNORECASE)
    question = re.sub(r"\s\((?:[^)]{0,80})\)(?=\?$)", "", question)
    if not question.endswith("?"):
        return ""
    plain = wording.clean(answer)
    if _YES.match(answer) or _NO.match(answer):
        return _plain_yes(question, answer)
    if len(plain) < 2:
        return ""
    return _by_question(question, _lower(plain))


def _plain_yes(question: str, answer: str) -> str:
    """The title of a yes or a no; what was added to it ("yes, but …") stays in."""
    yes = _YES.match(answer)
    no = _NO.match(answer)
    said = yes or no
    rest = wording.squeeze(answer[said.end() :]).rstrip(" .!") if said else ""
    more = f", {rest[:1].lower()}{rest[1:]}" if rest else ""
    if match := _DO_WE.match(question):
        if wording.task(match["x"]) or _PRONOUN.search(match["x"]) or " or " in match["x"]:
            return ""
        return f"{wording.capital(match['x']) if yes else 'Do not ' + match['x']}{more}"
    if match := _SHOULD.match(question):
        if _PRONOUN.search(question) or " or " in match["o"]:
            return ""
        subject = match["s"]
        verb = _third(match["v"], subject) if yes else f"{_does(subject)} not {match['v']}"
        return f"{wording.capital(subject)} {verb} {match['o']}{more}"
    return ""


def _by_question(question: str, answer: str) -> str:
    asked = _ADDRESS.sub("", question)
    imperative = bool(IMPERATIVE.match(answer))
    if _PRONOUN.search(asked) or _VAGUE.match(question):
        return wording.capital(answer) if imperative and len(answer.split()) > 2 else ""
    for pattern, build in _FORMS:
        if imperative and len(answer.split()) > 3 and pattern not in (_USE, _AS_ITS, _NAME, WHERE):
            return wording.capital(answer)
        match = pattern.match(question)
        if match:
            return build(match, answer)
    return ""


def _as_its(match: re.Match[str], answer: str) -> str:
    subject = match["s"]
    return f"{wording.capital(subject)} {_third(match['v'], subject)} {answer} as {_its(subject)} {match['x']}"


def _use(match: re.Match[str], answer: str) -> str:
    answer = re.sub(r"^use ", "", answer, flags=re.IGNORECASE)
    return f"Use {answer}{match['y'] or ' as the ' + _singular(match['x'])}"


def _named(match: re.Match[str], answer: str) -> str:
    return f"Name {match['x']} {answer if ' ' in answer else wording.code(answer)}"


def _where(match: re.Match[str], answer: str) -> str:
    placed = re.match(r"(?:in|on|at|under|next to|inside|as|to|into|with|beside|within|outside) ", answer)
    return f"{(match['verb'] or 'put').capitalize()} {match['x']} {answer if placed else f'in {answer}'}"


def _how_we(match: re.Match[str], answer: str) -> str:
    return f"{wording.capital(match['x'])}: {answer}"


def _how_be(match: re.Match[str], answer: str) -> str:
    return f"{wording.capital(match['s'])} {_third('be', match['s'])} {match['v']}{match['o']}: {answer}"


def _how_s(match: re.Match[str], answer: str) -> str:
    if nouns.countable(answer) and nouns.component(match["s"]):
        by = "by" if match["v"].lower() in _BY else "with"
        return f"{wording.capital(match['v'].lower())} {match['o']} in {match['s']} {by} {nouns.article(answer)}"
    return f"{wording.capital(match['s'])} {_third(match['v'], match['s'])} {match['o']}: {answer}"


def _how_is(match: re.Match[str], answer: str) -> str:
    return f"{wording.capital(match['s'])} {_third(match['v'], match['s'])}{match['o'] or ''}: {answer}"


def _what_s(match: re.Match[str], answer: str) -> str:
    if match["v"].lower() in ("do", "happen"):
        return ""
    return f"{wording.capital(match['s'])} {_third(match['v'], match['s'])} {answer}{match['o'] or ''}"


def _which_for(match: re.Match[str], answer: str) -> str:
    return f"Use {answer} {match['y']}"


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], str]], ...] = (
    (_AS_ITS, _as_its),
    (_USE, _use),
    (_NAME, _named),
    (WHERE, _where),
    (_HOW_WE, _how_we),
    (_HOW_BE, _how_be),
    (_HOW_IS, _how_is),
    (_HOW_S, _how_s),
    (_WHAT_S, _what_s),
    (_WHICH_FOR, _which_for),
)


def _lower(answer: str) -> str:
    """An ordinary first word in lower case; names keep their form."""
    word = answer.partition(" ")[0]
    ordinary = word[1:].islower() and word.replace("-", "").isalpha() and " " in answer
    return answer[:1].lower() + answer[1:] if ordinary else answer


def _singular(noun: str) -> str:
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def _does(subject: str) -> str:
    last = subject.rpartition(" ")[2].lower()
    plural = last.isalpha() and last.endswith("s") and not last.endswith(("ss", "us", "is"))
    return "do" if plural else "does"


def _its(subject: str) -> str:
    return "their" if _does(subject) == "do" else "its"


def _third(verb: str, subject: str) -> str:
    """`allocate` → `allocates` after a singular subject."""
    low = verb.lower()
    if _does(subject) == "do":
        return "are" if low == "be" else low
    if low in ("be", "have"):
        return {"be": "is", "have": "has"}[low]
    head, _, tail = low.partition(" ")
    if head.endswith(("s", "sh", "ch", "x", "o")):
        head += "es"
    elif head.endswith("y") and head[-2:-1] not in "aeiou":
        head = f"{head[:-1]}ies"
    else:
        head += "s"
    return f"{head} {tail}".strip()
