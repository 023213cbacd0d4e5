"""The grammar of what people insist on: one cleaned sentence in, one asserted rule out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from lerim.facts import artifacts, forms, wording
from lerim.facts.reasons import split_reason
from lerim.facts.tools import AD_HOC

Weight = Literal["always", "contrast", "rule", "ours", "wish"]
"""How a rule was put: always/never; one thing over another; a stated standard; "we use X"; a plain do or don't."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A rule a person stated. `prefer`/`over` where one thing is set against another; `reason` where they gave one.

    `decides` tells a decision about the project from a preference on how to work; `fact` says that it tells how things
    are, not how they shall be; `recorded` that the person has it written down as a rule; `noted` that they had said it
    before they asked for that; `instructs` that it changes what instructs an agent.
    """

    claim: str
    weight: Weight
    reason: str = ""
    prefer: str = ""
    over: str = ""
    decides: bool = False
    fact: bool = False
    plain: bool = False
    recorded: bool = False
    noted: bool = False
    instructs: bool = False


@lru_cache(maxsize=64)
def directive(text: str) -> Directive | None:
    """The rule a sentence states, or None where it states none in a form known to be safe."""
    claim, reason = split_reason(wording.clean(forms.ASKED_NOT.sub("do not ", text)))
    claim = wording.clean(claim)
    if ", not " in claim:
        claim = forms.PROJECT_USES.sub("we use ", claim)
    if match := forms.STANDING.match(claim):
        later = (
            forms.LATER_ON.search(split_reason(text)[0]) and not wording.task(match["rest"]) and " in case " not in text
        )
        if later or forms.FROM_NOW.search(text):
            return Directive(wording.capital(match["rest"]), "always", reason)
    if match := forms.REWRITTEN.match(claim):
        claim = match["rest"]
    if not 6 <= len(claim) <= 260:
        return None
    for pattern, build in _GRAMMAR:
        match = pattern.match(claim)
        if match:
            found = build(match)
            if found is not None:
                return replace(found, reason=reason or found.reason)
    if not reason and (told := forms.TOLD_AFTER.match(claim)):
        found = directive(told["head"])
        return replace(found, reason=told["why"]) if found is not None and not found.reason else found
    return None


def complaint(text: str) -> Directive | None:
    """The rule behind a complaint: `why are you using npm instead of pnpm?` is `Use pnpm, not npm`."""
    match = forms.COMPLAINT.match(wording.squeeze(text))
    if match is None:
        return None
    verb = next(
        verb for verb in ("Use", "Import", "Call", "Install", "Run") if verb[:1].lower() == match["verb"][:1].lower()
    )
    wanted, wrong = wording.clean(match["a"]), wording.clean(match["b"])
    if not (artifacts.artifacts(wanted) or artifacts.is_tool(wanted)) or not wrong:
        return None
    return Directive(f"{verb} {wanted}, not {wrong}", "contrast", prefer=wanted, over=wrong)


def _contrast(match: re.Match[str]) -> Directive | None:
    verb = wording.imperative(wording.squeeze(match["verb"])) if "verb" in match.re.groupindex else "use"
    a, b = wording.clean(match["a"]), wording.clean(match["b"])
    if not a or not b or a.lower() == b.lower() or ": " in a or forms.DEED.match(b):
        return None
    verb = "use" if verb.lower().startswith(("using", "switch to", "go with", "pick", "choose")) else verb.lower()
    verb, _, tail = verb.partition(" ")
    place = forms.PLACE.match(b)
    b = place["head"].rstrip(",") if place else b
    tool = forms.SUBCOMMAND.match(a)
    if tool and artifacts.is_workflow(a) and artifacts.is_workflow(b) and " " not in b:
        a = tool["tool"]  # `use uv add, we don't use pip`: it is the tool that is chosen
    claim = f"{verb.capitalize()} {tail + ' ' if tail else ''}{a}, not {b}{', ' + place['place'] if place else ''}"
    decides = bool(re.match(r"(?:let'?s|lets|let us|we)\b", match.group(), re.IGNORECASE))
    told = bool(forms.DESCRIBES.match(match.group()))  # "we use a instead of b" may just as well be a complaint
    return Directive(
        claim,
        "ours" if told else "contrast",
        prefer=a,
        over=b,
        decides=decides,
        plain=match.re in (forms.NOT_USE, forms.USE_OURS),
    )


def _noted(match: re.Match[str]) -> Directive | None:
    """What the person wants kept in writing; a plain statement is the rule itself."""
    rest = wording.clean(match["rest"])
    found = directive(rest)
    if found is None and not forms.STATED.search(rest):
        return None
    return replace(
        found or Directive(wording.capital(rest), "always", decides=True), weight="always", recorded=True, noted=True
    )


def _instructed(match: re.Match[str]) -> Directive | None:
    how = "Always" if match["how"].lower() == "always" else "Never" if match["how"].lower() == "never" else "Do not"
    return Directive(f"{how} {match['rest']}", "always", decides=True, recorded=True, instructs=True)


def _adopted(match: re.Match[str]) -> Directive | None:
    return Directive(f"{wording.capital(match['verb'].lower())} {match['rest']}", "rule", decides=True)


def _contract(match: re.Match[str]) -> Directive | None:
    return (
        None
        if forms.INFERRED.search(match["rest"])
        else Directive(wording.capital(match["rest"]), "rule", decides=True)
    )


def _condition(match: re.Match[str]) -> Directive | None:
    return Directive(f"{wording.capital(match['when'])}, {match['rest'][:1].lower()}{match['rest'][1:]}", "always")


def _recorded(match: re.Match[str]) -> Directive | None:
    """A rule the person has written down; what it says is looked at by itself."""
    rest = wording.clean(match["rest"])
    if forms.OTHER_RULES.search(match.group()):
        return None
    if recipe := forms.RECIPE.match(rest):
        return Directive(wording.capital(f"{recipe['when']}, {recipe['do']}"), "always", recorded=True)
    found = directive(rest)
    if found is not None:
        return replace(found, weight="always", recorded=True)
    if (standing := forms.STANDING.match(rest)) and not re.match(
        r"(?!always|tests|commits)[a-z]+s\b", rest, re.IGNORECASE
    ):
        return Directive(wording.capital(standing["rest"]), "always", recorded=True)
    return None


def _needless(match: re.Match[str]) -> Directive | None:
    return Directive(f"Do without {match['x']}{match['y'] or ''}", "rule", decides=True)


def _one_only(match: re.Match[str]) -> Directive | None:
    return Directive(f"Keep a single{match['x']}{match['y']}", "rule", decides=True)


def _named_tool(match: re.Match[str]) -> Directive | None:
    name = match["a"]
    named = (artifacts.is_tool(name) and name.lower() not in AD_HOC) or name.startswith("`") or "@" in name
    if not named or (artifacts.paths(name) and not match["place"]):
        return None
    return Directive(f"Use {name}{match['place'] or ''}", "wish")


def _no_such(match: re.Match[str]) -> Directive | None:
    return Directive(f"No {match['x']}", "wish", decides=True)


def _two_sided(match: re.Match[str]) -> Directive | None:
    what, do = wording.clean(match["b"]), wording.clean(match["a"])
    return Directive(f"Do not {what}; {match['verb'].lower()} {do}", "contrast", over=what, prefer=do, plain=True)


def _being(match: re.Match[str]) -> Directive | None:
    return Directive(f"The project is on {match['rest']}", "ours", decides=True)


def _statement(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(match["rest"]), "wish", fact=True)


def _rather_have(match: re.Match[str]) -> Directive | None:
    return Directive(f"Have {match['a']} rather than {match['b']}", "contrast", prefer=match["a"], over=match["b"])


def _rather(match: re.Match[str]) -> Directive | None:
    verb = match["verb"].lower()
    if verb == "use":
        return _contrast(match)
    if " " in verb:
        return _preferred(match)
    a, b = wording.clean(match["a"]), wording.clean(match["b"])
    return Directive(f"{verb.capitalize()} {a} rather than {b}", "contrast", prefer=a, over=b)


def _must_not(match: re.Match[str]) -> Directive | None:
    weight: Weight = "rule" if forms.PLURAL.match(match["s"]) else "wish"
    return Directive(wording.capital(match["rest"]), weight, decides=True)


def _preferred(match: re.Match[str]) -> Directive | None:
    a, b = re.sub(r",(?=[A-Za-z])", ", ", wording.clean(match["a"])), wording.clean(match["b"])
    return Directive(f"Prefer {a} over {b}", "contrast", prefer=a, over=b, plain=True) if a and b else None


def _always(match: re.Match[str]) -> Directive | None:
    when = "Always" if match["when"].lower() == "always" else "Never"
    return Directive(f"{when} {match['rest']}", "always")


def _standard(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(wording.clean(match["rest"])), "rule", decides=True)


def _ours(match: re.Match[str]) -> Directive | None:
    verb = re.sub(r"(?<=ish|ash)es$|(?<=[^s])s$", "", match["verb"].lower())
    if match["neg"]:
        if verb not in forms.NEVER_DONE or match["rest"].startswith(("the ", "its ", "their ")):
            return None  # more likely told of how things are than of how they shall be
        return Directive(f"Do not {verb} {match['rest']}", "ours", decides=True)
    only = "only " if (match["adv"] or "").strip().lower() == "only" or " only " in match.group()[:40] else ""
    return Directive(f"{verb.capitalize()} {only}{match['rest']}", "ours", decides=True)


def _unwanted(match: re.Match[str]) -> Directive | None:
    if re.match(r"(?:each|every|the|this|that|it|my|your)\b", match["rest"], re.IGNORECASE):
        return None
    if not match["verb"] and (more := re.sub(r"^(?:another|a second) ", "further ", match["rest"])) != match["rest"]:
        return Directive(f"No {more}", "rule", decides=True)
    return Directive(
        f"Do not {match['verb']} {match['rest']}" if match["verb"] else f"No {match['rest']}", "rule", decides=True
    )


def _truth(match: re.Match[str]) -> Directive | None:
    if wording.loose(match["a"]) or wording.personal(match["a"]):
        return None
    told = match["b"] or artifacts.paths(match["a"]) or "`" in match["a"]
    if not told and not re.search(r"(?:should|must) be (?:the |our )?(?:single )?source", match.group(), re.IGNORECASE):
        return None  # of what, and is it said or wanted?
    subject = wording.capital(match["a"])
    verb = "are" if re.search(r" are | should be .*s$", match.group()) and subject.endswith("s") else "is"
    return Directive(
        f"{subject} {verb} the source of truth{' ' + match['b'] if match['b'] else ''}", "rule", decides=True
    )


def _ensured(match: re.Match[str]) -> Directive | None:
    if not forms.STRICT.search(match["a"]):
        return None  # "make sure it is there" is the task at hand
    return Directive(wording.capital(match["a"]), "rule", decides=True)


def _every(match: re.Match[str]) -> Directive | None:
    weight: Weight = "rule" if forms.PARTS.match(match["rest"]) else "wish"
    return Directive(wording.capital(wording.clean(match["rest"])), weight, decides=True)


def _dont(match: re.Match[str]) -> Directive | None:
    word = match["rest"].split(" ", 1)
    noun = not word[0].endswith("ing")
    if noun and re.match(r"(?:stop|avoid) ", match.group(), re.IGNORECASE):
        return Directive(f"Avoid {match['rest']}", "wish") if match.group()[:1] in "aA" and len(word) > 1 else None
    rest = f"{_stem(word[0])} {word[1]}" if len(word) > 1 and word[0].endswith("ing") else match["rest"]
    strong = match.group().lower().startswith(("you must not", "we must not"))
    return Directive(f"Do not {rest}", "always" if strong else "wish")


def _must(match: re.Match[str]) -> Directive | None:
    subject = forms.MUST_BE.match(match["rest"])
    plural = subject is not None and forms.PLURAL.match(subject["s"]) is not None
    plural = plural or ", not " in match["rest"]
    if forms.INFERRED.search(match["rest"]) and not plural:
        return None
    weight: Weight = "rule" if plural else "wish"
    return Directive(wording.capital(match["rest"]), weight, decides=True)


def _habit(match: re.Match[str]) -> Directive | None:
    return Directive(wording.capital(match["rest"]), "always")


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


_GRAMMAR: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Directive | None]], ...] = (
    (forms.RECORDED, _recorded),
    (forms.NOTED, _noted),
    (forms.INSTRUCTED, _instructed),
    (forms.CONDITION, _condition),
    (forms.NEEDLESS, _needless),
    (forms.ONE_ONLY, _one_only),
    (forms.NOT_USE, _contrast),
    (forms.TWO_SIDED, _two_sided),
    (forms.USE_OURS, _contrast),
    (forms.RATHER_HAVE, _rather_have),
    (forms.RATHER, _rather),
    (forms.PREFER, _preferred),
    (forms.CONTRAST, _contrast),
    (forms.INSTEAD, _contrast),
    (forms.PAIR, _contrast),
    (forms.ALWAYS, _always),
    (forms.HABIT, _habit),
    (forms.STANDARD, _standard),
    (forms.TRUTH, _truth),
    (forms.EVERY, _every),
    (forms.UNWANTED, _unwanted),
    (forms.OURS, _ours),
    (forms.ENSURE, _ensured),
    (forms.CONTRACT, _contract),
    (forms.ADOPTED, _adopted),
    (forms.PROCESS, _contract),
    (forms.MUST_NOT, _must_not),
    (forms.DONT, _dont),
    (forms.MUST, _must),
    (forms.BEING, _being),
    (forms.NAMED_TOOL, _named_tool),
    (forms.NO_SUCH, _no_such),
    (forms.STATEMENT, _statement),
)
