"""Decisions in plans: one the person approved when the agent asked to leave planning, or one they handed over to "
"build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.facts import nouns, wording
from lerim.facts.artifacts import artifacts, paths
from lerim.facts.directives import Directive, directive
from lerim.facts.draft import Draft, Found, Quote, Scene, Unclear
from lerim.facts.outcome import kept, verdict
from lerim.facts.reasons import because
from lerim.facts.where import MOST, named, where
from lerim.memory.record import Speaker
from lerim.sessions.model import ToolCall, Turn

_HANDED = re.compile(
    r"^\s{0,4}(?:implement|execute|build|follow) (?:the |this )?(?:following )?plan\b[^\n]{0,40}\n", re.IGNORECASE
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s{1,4}(?P<text>.{3,160}?)\s*#*$")
_BULLET = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,2}[.)])\s{1,4}(?P<text>\S.{8,400}?)\s*$")
_CHOICES = re.compile(
    r"\b(?:approach|decision|design|strategy|solution|architecture|rationale|principle|constraint|key point|choice|"
    r"convention|overview|proposal)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:verif|test|files?|context|background|steps?|out of scope|future|question|risk|reference|summary|critical "
    r"files|not in)",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"^(?:(?:implementation |refactoring |design |project )?plan(?: for)?|proposal|design|rfc|feature|"
    r"task)\s{0,2}[:—–-]\s{0,2}|^plan for |\s[-—–]\s(?:implementation )?plan$",
    re.IGNORECASE,
)
_CONTEXT = re.compile(r"^(?:context|background|problem|motivation|why|rationale)\b", re.IGNORECASE)
_APPROVED = re.compile(
    r"\bapproved (?:your|the|this|a) plan|\bapproved exiting plan mode|\bplan (?:was |is |has been )?(?:now )?approved|"
    r"## Approved Plan|\byou can now (?:start|proceed|begin)|\bstart coding\b|\bproceed with implementing the plan\b",
    re.IGNORECASE,
)
_STEPS = re.compile(r"^\[[ x~-]\] ", re.MULTILINE)
"""A list of things to do that the agent ticks off, which nobody is asked about."""
_PROPOSED = re.compile(r"<proposed_plan>\s{0,3}(?P<plan>.{20,8000}?)\s{0,3}</proposed_plan>", re.DOTALL)
_AGREED = re.compile(r"^\s{0,4}(?:yes, )?implement (?:the|this) plan[.!]?\s{0,4}$", re.IGNORECASE)
_ADDED = re.compile(
    r"\b(?:user|they)(?: has| have)?(?: also)? (?:said|added|provided|gave|"
    r"left)[^:\n]{0,60}:\s{0,3}(?P<said>[^\n]{4,600})",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"^(?:add|implement|introduce|build|create|set up|support) (?P<x>[^,;:]{3,40}?) (?:using|with|via|through|backed "
    r"by|on top "
    r"of) (?P<y>[^,;:]{3,50})$",
    re.IGNORECASE,
)
VERB = re.compile(
    r"^(?:use|cache|store|keep|add|move|replace|split|merge|remove|drop|make|make sure|introduce|switch|migrate|"
    r"extract|inline|support|expose|"
    r"persist|compute|read|write|load|render|generate|validate|enforce|allow|reject|limit|fetch|serve|send|log|track|"
    r"share|reuse|unify|separate|"
    r"wrap|convert|normali[sz]e|encrypt|sign|hash|queue|batch|stream|poll|retry|auto-\w+|turn|let|run|require|"
    r"restrict|deprecate|pin|adopt|"
    r"group|show|hide|redesign|rewrite|centrali[sz]e|consolidate|isolate|throttle|debounce|lazy-\w+|version|index|"
    r"return|resolve|route)\b",
    re.IGNORECASE,
)  # fmt: skip
_DESIGN = re.compile(
    r"^(?:use|cache|store|keep|move|replace|split|merge|drop|switch|migrate|extract|persist|validate|enforce|allow|"
    r"reject|limit|fetch|serve|share|"
    r"reuse|unify|separate|encrypt|sign|hash|queue|batch|stream|poll|retry|require|restrict|deprecate|pin|adopt|"
    r"centrali[sz]e|consolidate|isolate)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"^(?:use|cache|store|keep|persist|switch|migrate|adopt|replace)\b", re.IGNORECASE)
_REASONED = re.compile(r"\b(?:because|since|so that|instead of|rather than|no longer|to avoid)\b", re.IGNORECASE)
_WHY = re.compile(
    r"\b(?:because|since|so that|instead of|rather than|not|never|only|must|at most|at least|no longer|avoid\w*)\b",
    re.IGNORECASE,
)


def approved(call: ToolCall) -> bool:
    """Whether the person approved the plan of this call: in any wording the agents record, or by a plain success."""
    text = call.output[:1_000]
    if call.kind != "plan" or call.status != "ok" or not call.plan or _STEPS.search(call.plan):
        return False
    return not text or bool(_APPROVED.search(text))


def remark(call: ToolCall) -> str:
    """What the person said on approving a plan; "" where nothing."""
    if not approved(call):
        return ""
    match = _ADDED.search(call.output.partition("## Approved Plan")[0])
    return call.feedback or (match["said"].strip() if match else "")


def plans(scene: Scene) -> Iterator[Found]:
    """What the plans of this exchange decide."""
    for turn in scene.now.replies:
        if turn.sidechain:
            continue
        for call in turn.tool_calls:
            if approved(call):
                yield from _approved(scene, turn, call.plan)
    prompt = scene.now.said
    if prompt is not None and _AGREED.match(prompt.text) and (last := scene.before.replies[-1:]):
        if match := _PROPOSED.search(last[0].text):
            yield from _approved(scene, last[0], match["plan"])
    elif prompt is not None:
        head = _HANDED.match(prompt.text)
        if head and kept(scene.now) and verdict(scene.after) == "accepted":
            yield from _statements(scene, prompt, prompt.text[head.end() :], "user")


def _approved(scene: Scene, turn: Turn, plan: str) -> Iterator[Found]:
    heading, chosen, background = _read(plan)
    heading = _stated(heading, scene)
    deciding = any(_REASONED.search(point) for point in chosen)
    concrete = deciding or bool(artifacts(heading, scene.known))
    if heading and not chosen and _CHOSEN.match(heading) and artifacts(heading, scene.known):
        chosen = [named for named in _lines(plan) if heading.lower() in named.lower()][:1]  # the heading itself decides
    if heading and chosen and concrete and (_DESIGN.match(heading) or (VERB.match(heading) and deciding)):
        fault = wording.title_fault(heading)
        if fault:
            yield Unclear("plan", heading, turn, fault)
        else:
            yield _whole(scene, turn, plan, heading, chosen, background)
            return
    yield from _statements(scene, turn, plan, "assistant")


def _lines(plan: str) -> list[str]:
    return [match["text"] for line in plan[:2_000].split("\n") if (match := _HEADING.match(line))]


def _head(plan: str) -> str:
    """The plan's first heading as it stands there."""
    return next(iter(_lines(plan)), "")


def _stated(heading: str, scene: Scene) -> str:
    """`Add a cache with Redis` names a task; what it decides is `Use Redis for the cache`."""
    match = _MADE.match(heading)
    if match is None or not artifacts(match["y"], scene.known):
        return heading
    what = re.sub(r"^(?:an?|the|some|new) ", "", match["x"], flags=re.IGNORECASE)
    return f"Use {nouns.article(match['y'])} for {nouns.article(what, known=True)}"


def _read(plan: str) -> tuple[str, list[str], str]:
    """The plan's heading, the points of its approach that decide something, and why there is a plan."""
    heading, section, background = "", "", ""
    points: list[str] = []
    for line in plan[:8_000].split("\n"):
        if match := _HEADING.match(line):
            section = match["text"]
            heading = heading or wording.clean(_PREFIX.sub("", section))
            continue
        bullet = _BULLET.match(line)
        text = bullet["text"] if bullet else line.strip()
        if not background and _CONTEXT.match(section) and 12 < len(text) <= 300:
            background = re.split(r"(?<=[.!])\s", text)[0]
        deciding = _CHOICES.search(section) and not _ASIDE.search(section)
        if deciding and 12 < len(text) <= 300 and not text.endswith(":"):
            points.append(text)
    concrete = [text for text in points if artifacts(text) or _WHY.search(text)]
    return wording.capital(heading), concrete[:4], background


def _whole(scene: Scene, turn: Turn, plan: str, heading: str, chosen: list[str], background: str) -> Draft:
    text = f"{heading} {' '.join(chosen)}"
    refs = _anchors(scene, text, plan)
    points = " ".join(wording.sentence(_flat(point)) for point in chosen[:3])
    why = because(re.sub(r"^(?:The|An?|This|It|There|We) ", lambda start: start.group().lower(), _flat(background)))
    if why and not any(_REASONED.search(point) for point in chosen):
        points = f"{points} {why}"
    return Draft(
        signal="plan",
        basis="planned",
        primitive="decision",
        kind=None,
        title=heading,
        body=f"{points} The person approved this plan. {where(refs)}".strip(),
        turn=turn,
        quotes=(Quote(_head(plan) or chosen[0], turn.id, "assistant"),),
        artifacts=artifacts(text, scene.known),
        references=refs,
    )


def _statements(scene: Scene, turn: Turn, plan: str, who: Speaker) -> Iterator[Found]:
    """Single points that set one thing against another, with a name on one side: at most two of a plan."""
    count = 0
    fenced = False
    for line in plan[:8_000].split("\n"):
        fenced ^= line.lstrip().startswith("```")
        match = _BULLET.match(line)
        if fenced or match is None or count == 2:
            continue
        rule = directive(_flat(match["text"]))
        if rule is None or rule.weight != "contrast" or wording.title_fault(rule.claim) or wording.hedged(rule.claim):
            continue
        if artifacts(rule.prefer, scene.known) or artifacts(rule.over, scene.known):
            count += 1
            yield _point(scene, turn, match["text"], rule, who)


def _point(scene: Scene, turn: Turn, text: str, rule: Directive, who: Speaker) -> Draft:
    refs = named(scene, text)
    reason = because(rule.reason)
    body = " ".join(
        part
        for part in (wording.sentence(rule.claim), reason, "It is part of a plan that was carried out.", where(refs))
        if part
    )
    return Draft(
        signal="plan",
        basis="planned",
        primitive="decision",
        kind=None,
        title=rule.claim,
        body=body,
        turn=turn,
        quotes=(Quote(text, turn.id, who),),
        artifacts=artifacts(text, scene.known),
        references=refs,
        prefer=rule.prefer,
        over=rule.over,
    )


def _anchors(scene: Scene, text: str, plan: str) -> tuple[str, ...]:
    """The files the decision names, then those of the plan, in its order."""
    first = named(scene, text)
    rest = named(scene, "\n".join(paths(plan[:8_000])))
    code = [path for path in rest if not re.search(r"(?:^|/)tests?/|test_|\.test\.|_test\.|\.spec\.", path)]
    return tuple(dict.fromkeys((*first, *code)))[:MOST]


def _flat(text: str) -> str:
    return wording.squeeze(re.sub(r"\*\*|__", "", text)).rstrip(" .;:")
