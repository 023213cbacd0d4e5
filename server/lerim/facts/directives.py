"""The grammar of what people insist on: one cleaned sentence in, one asserted rule out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from lerim.facts import artifacts, wording
from lerim.facts.reasons import split_reason

Weight = Literal["always", "contrast", "rule", "ours", "wish"]
"""How a rule was put: always/never; one thing over another; a stated standard; "we use X"; a plain do or don't."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A rule a person stated. `prefer`/`over` where one thing is set against another; `reason` where they gave one.

    `decides` tells a decision about the project from a preference on how to work.
    """

    claim: str
    weight: Weight
    reason: str = ""
    prefer: str = ""
    over: str = ""
    decides: bool = False
    plain: bool = False


_LEAD = (
    r"(?:(?:let'?s|lets|let us|we'?ll|we will|i'?ll|you|we|i|one|it)?\s?(?:should|must|need to|have to|want(?: you)? "
    r"to|would like(?: you)? to|"
    r"prefer(?: you)? to|'d like(?: you)? to)\s|(?:let'?s|lets|let us|we'?ll|we will|please|you can|we can|"
    r"we)\s(?=\w))?"
)
_DO = (
    r"(?P<verb>use|using|go with|prefer|stick (?:to|with)|switch to|pick|choose|call|name|return|store|log|write|"
    r"keep|put|import|raise|throw|"
    r"run|test with|build with|deploy (?:to|with)|target|format with|install with|pin|commit to|answer|respond|"
    r"document|base it on)"
)
_NOT = r"(?:,? (?:and )?not(?: with| to| in| as)?|,? (?:instead of|rather than|over|and never|never|in place of))"
_CONTRAST = re.compile(
    rf"^{_LEAD}(?:always |only )?{_DO} (?P<a>[^,;]{{1,60}}?){_NOT} (?P<b>[^,;.]{{1,50}})$", re.IGNORECASE
)
_INSTEAD = re.compile(rf"^instead of (?P<b>[^,;]{{1,50}}), {_LEAD}{_DO} (?P<a>[^,;]{{1,60}})$", re.IGNORECASE)
_NOT_USE = re.compile(
    rf"^{_LEAD}(?:do not|never|stop|avoid) (?:ever )?(?:use|using|run|running|call|calling|import|importing|install "
    rf"with) (?P<b>[^,;.]{{1,50}}?)"
    rf"(?:\s?[,;.:]\s?|\s-+\s|\s?[—–]\s?| and | but )(?:please |always |rather |just |we |only )?(?P<verb>use|run|"
    rf"call|go with|prefer|import) (?P<a>[^,;]{{1,60}})$",
    re.IGNORECASE,
)
_TWO_SIDED = re.compile(
    rf"^{_LEAD}(?:do not|never|stop|avoid) (?P<b>[a-z]{{3,14}} [^,;.]{{3,60}}?)\s?[,;.]\s(?:please |rather |just )?"
    r"(?P<verb>use|run|call|prefer|import) (?P<a>[^,;]{2,60})$",
    re.IGNORECASE,
)
_BEING = re.compile(
    r"^we(?:'re| are) (?:still )?on (?P<rest>[\w.+#-]{2,30} v?\d[\w.]{0,10}(?:, [^?]{4,60})?)$", re.IGNORECASE
)
_STATEMENT = re.compile(
    r"^(?P<rest>(?:the |an? )?(?!(?:issue|problem|bug|error|question|point|reason|thing|it|this|that|there|"
    r"what)\b)[^,;?]{2,50}? "
    r"(?:is|are|returns?|uses?|takes?|expects?|means?|comes?|lives?|goes|go) [^,;?]{2,60}, not [^,;?]{2,50})$",
    re.IGNORECASE,
)
_PAIR = re.compile(r"^(?P<a>[\w@./+`-]{2,40}),? (?:not|instead of|rather than) (?P<b>[\w@./+`-]{2,40})$", re.IGNORECASE)
_PREFER = re.compile(
    r"^(?:i(?:'d| would)? (?:strongly |much )?(?:prefer|rather (?:use|have|see)?)|we prefer|prefer|my preference is) "
    r"(?P<a>[^,;]{2,60}?) "
    r"(?:over|to|than|instead of|rather than) (?P<b>[^,;]{2,50})$",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"^(?:you (?:should |must |need to |have to )?|we (?:should |must |need to )?|i (?:want|need|would like) you to |"
    r"make sure (?:to |you |that you )?)?"
    r"(?P<when>always|never|do not ever|(?:do|must|should) not ever) (?P<rest>[a-z][^?]{4,200})$",
    re.IGNORECASE,
)
_STANDARD = re.compile(
    r"^(?:(?:code|coding|project|team|our|the|naming|commit|style|a|general) ){0,2}(?:standard|convention|rule|"
    r"policy|guideline|requirement|style)s?"
    r"(?: (?:here|is|are))?(?: that)?\s?[:,-]?\s(?P<rest>[^?]{8,220})$",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"^(?P<rest>(?:every|each|all|any|no) [^?]{3,100}? (?:must(?: not)?|should(?: not| always| never)?|needs? to|"
    r"needs?|has to|have to|may|cannot|"
    r"go(?:es)? (?:in|into|under|through)|live in|is allowed|are allowed) [^?]{3,120})$",
    re.IGNORECASE,
)
_OURS = re.compile(
    r"^(?:we|this (?:repo(?:sitory)?|project|codebase|team|package)|the (?:repo(?:sitory)?|project|codebase|"
    r"team))(?: (?:all|always|only|explicitly|deliberately))? "
    r"(?P<neg>(?:do|does) not |never )?(?P<adv>explicitly |deliberately |only |always )?"
    r"(?P<verb>uses?|runs?|ships?|supports?|targets?|deploys?|stores?|writes?|keeps?|logs?|mocks?|pins?|formats?|"
    r"publishe?s?|follows?|commits?|imports?|"
    r"squash(?:es)?|rebases?|tags?|vendors?|generates?|allows?|wraps?|version|throws?|returns?|accepts?|hardcodes?) "
    r"(?P<rest>(?!(?:out|into|getting|it|this|that)\b)[^?]{2,120})$",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"^we (?:explicitly |really |definitely )?do not want (?:to (?P<verb>[a-z]+) )?(?:any )?(?P<rest>[^?]{3,90})$",
    re.IGNORECASE,
)
_TRUTH = re.compile(
    r"^(?P<a>[^,;?]{2,60}?) (?:is|are|should be|must be|stays?|remains?) (?:the |our )?(?:single )?source of "
    r"truth(?: (?P<b>(?:for|of|on) [^,;?]{2,40}))?$",
    re.IGNORECASE,
)
_ENSURE = re.compile(
    r"^(?:ensure|make sure|be sure) (?:that )?(?P<a>[^?]{3,90}? (?:is|are|has|have|stays?|remains?|always|never|"
    r"fails?) "
    r"(?!(?:pass\w*|green|fine|ok|up to date|installed|running|correct|working|clean|done|there)$)[^?]{3,80})$",
    re.IGNORECASE,
)
_DONT = re.compile(
    r"^(?:you (?:should|must|need to) not|you should not|do not|stop|avoid|please do not|we (?:should|must) not) "
    r"(?P<rest>[a-z][^?]{4,160})$",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"^(?P<rest>(?:the )?[^,;?]{3,60}? (?:must|should|has to|have to|needs? to|is supposed to|are supposed to)(?: "
    r"not| always| never| only)? (?:be |stay |go |live |come |use |return |fail )[^?]{3,100})$",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def directive(text: str) -> Directive | None:
    """The rule a sentence states, or None where it states none in a form known to be safe."""
    claim, reason = split_reason(wording.clean(text))
    claim = wording.clean(claim)
    if _FROM_NOW.search(text) and (match := _STANDING.match(claim)):
        return Directive(wording.capital(match["rest"]), "always", reason)
    if not 6 <= len(claim) <= 260:
        return None
    for pattern, build in _GRAMMAR:
        match = pattern.match(claim)
        if match:
            found = build(match)
            if found is not None:
                return replace(found, reason=reason or found.reason)
    return None


def _contrast(match: re.Match[str]) -> Directive | None:
    verb = wording.imperative(wording.squeeze(match["verb"])) if "verb" in match.re.groupindex else "use"
    a, b = wording.clean(match["a"]), wording.clean(match["b"])
    if not a or not b or a.lower() == b.lower():
        return None
    verb = "use" if verb.lower().startswith(("using", "switch to", "go with", "pick", "choose")) else verb.lower()
    verb, _, tail = verb.partition(" ")
    claim = f"{verb.capitalize()} {tail + ' ' if tail else ''}{a}, not {b}"
    decides = bool(re.match(r"(?:let'?s|lets|let us|we)\b", match.group(), re.IGNORECASE))
    return Directive(claim, "contrast", prefer=a, over=b, decides=decides, plain=match.re is _NOT_USE)


def _two_sided(match: re.Match[str]) -> Directive | None:
    what, do = wording.clean(match["b"]), wording.clean(match["a"])
    return Directive(f"Do not {what}; {match['verb'].lower()} {do}", "contrast", over=what, prefer=do, plain=True)


def _being(match: re.Match[str]) -> Directive | None:
    return Directive(f"The project is on {match['rest']}", "ours", decides=True)


def _statement(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(match["rest"]), "wish", decides=True)


def _preferred(match: re.Match[str]) -> Directive | None:
    a, b = wording.clean(match["a"]), wording.clean(match["b"])
    return Directive(f"Prefer {a} over {b}", "contrast", prefer=a, over=b, plain=True) if a and b else None


def _always(match: re.Match[str]) -> Directive | None:
    when = "Always" if match["when"].lower() == "always" else "Never"
    return Directive(f"{when} {match['rest']}", "always")


def _standard(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(wording.clean(match["rest"])), "rule", decides=True)


def _ours(match: re.Match[str]) -> Directive | None:
    verb = re.sub(r"(?<=ish|ash)es$|(?<=[^s])s$", "", match["verb"].lower())
    if match["neg"]:
        return Directive(f"Do not {verb} {match['rest']}", "ours", decides=True)
    only = "only " if (match["adv"] or "").strip().lower() == "only" or " only " in match.group()[:40] else ""
    return Directive(f"{verb.capitalize()} {only}{match['rest']}", "ours", decides=True)


def _unwanted(match: re.Match[str]) -> Directive | None:
    return Directive(
        f"Do not {match['verb']} {match['rest']}" if match["verb"] else f"No {match['rest']}", "rule", decides=True
    )


def _truth(match: re.Match[str]) -> Directive | None:
    if not match["b"] and not artifacts.paths(match["a"]) and "`" not in match["a"]:
        return None  # of what?
    subject = wording.capital(match["a"])
    verb = "are" if re.search(r" are | should be .*s$", match.group()) and subject.endswith("s") else "is"
    return Directive(
        f"{subject} {verb} the source of truth{' ' + match['b'] if match['b'] else ''}", "rule", decides=True
    )


def _ensured(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(match["a"]), "ours", decides=True)


def _dont(match: re.Match[str]) -> Directive | None:
    word = match["rest"].split(" ", 1)
    rest = f"{_stem(word[0])} {word[1]}" if len(word) > 1 and word[0].endswith("ing") else match["rest"]
    return Directive(f"Do not {rest}", "wish")


def _must(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(match["rest"]), "wish", decides=True)


def _stem(word: str) -> str:
    """`using` → `use`, `adding` → `add`, `running` → `run`; enough for the verbs that follow stop and avoid."""
    root = word[:-3]
    if root in ("add", "err"):
        return root
    if len(root) > 2 and root[-1] == root[-2] and root[-1] not in "sl":
        return root[:-1]
    return (
        f"{root}e"
        if root.endswith(
            (
                "us",
                "rit",
                "ak",
                "mov",
                "creat",
                "remov",
                "chang",
                "generat",
                "nam",
                "stor",
                "cod",
                "cach",
                "hardcod",
                "updat",
                "typ",
                "writ",
            )
        )
        else root
    )


_FROM_NOW = re.compile(r"\b(?:from now on|going forward|in (?:the )?future|henceforth|by default)\b", re.IGNORECASE)
_STANDING = re.compile(
    r"^(?:please |you (?:should|must) |i want you to |we (?:should|must|will) |let'?s )?(?P<rest>(?!(?:i|we|you|it|"
    r"the|this|that|there|if|when)\b)[a-z][\w-]{1,14} [^?]{4,200})$",
    re.IGNORECASE,
)

_GRAMMAR: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Directive | None]], ...] = (
    (_NOT_USE, _contrast),
    (_TWO_SIDED, _two_sided),
    (_PREFER, _preferred),
    (_CONTRAST, _contrast),
    (_INSTEAD, _contrast),
    (_PAIR, _contrast),
    (_ALWAYS, _always),
    (_STANDARD, _standard),
    (_TRUTH, _truth),
    (_EVERY, _standard),
    (_UNWANTED, _unwanted),
    (_OURS, _ours),
    (_ENSURE, _ensured),
    (_DONT, _dont),
    (_MUST, _must),
    (_BEING, _being),
    (_STATEMENT, _statement),
)
