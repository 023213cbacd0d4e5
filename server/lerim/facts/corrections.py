"""What the person corrected or insisted on, in their own prompts and in the words with which they denied a call."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from lerim.facts import commands, wording
from lerim.facts.artifacts import artifacts, is_tool, is_workflow, paths, subjects
from lerim.facts.directives import Directive, complaint, directive
from lerim.facts.draft import Basis, Draft, Exchange, Found, Quote, Scene, Unclear
from lerim.facts.given_up import given_up
from lerim.facts.lessons import NOTES
from lerim.facts.plans import remark
from lerim.facts.reasons import because, explains
from lerim.facts.sentences import Sentence, spoken
from lerim.facts.where import changed, concerned, references, where, written_down
from lerim.memory.record import LearningKind, Primitive, Speaker
from lerim.sessions.model import ToolCall, Turn

MOST = 3  # rules taken from one message: whoever states more writes a specification
_AGAINST = re.compile(
    r"^\W{0,3}(?:(?:ok|hmm+|oh|ah|wait|sorry|well)[,.\s]{1,3})?(?:no+\b|nope|nah|actually|wrong|stop\b|that(?:'s| "
    r"is) (?:wrong|not)|"
    r"i (?:already )?(?:said|told you|asked|meant)|not like that|again,|as i said|like i said|remember\b|please "
    r"remember)",
    re.IGNORECASE,
)
_REMEMBER = re.compile(r"^\W{0,3}(?:please )?remember\b", re.IGNORECASE)
_SAID = re.compile(
    r"\b(?:i (?:already )?(?:said|told you|asked you)|as i said|like i said|how (?:many|often)|again)\b", re.IGNORECASE
)
_STANDING = re.compile(
    r"\b(?:from now on|going forward|in (?:the )?future|(?:in|for|across) (?:this|our) (?:repo(?:sitory)?|project|"
    r"codebase)|"
    r"everywhere|every time|ever|always|never|remember|by default|in general|convention|standard)\b",
    re.IGNORECASE,
)
_NOT_IN_CODE = re.compile(
    r"^Do not (?:ever )?(?:use|import|call|mock|hard-?code|expose|swallow|subclass|depend on) [^,;]", re.IGNORECASE
)
_EVERY = re.compile(r"\b(?:every|any|all|ever|each)\b", re.IGNORECASE)
_TOOL = re.compile(
    r"^(?P<verb>use|run|try|go with|switch to)?\s?(?P<a>[\w@./+-]{2,30})(?: (?:add|install|run|test|build|i|ci|exec|"
    r"dlx|sync|for (?:this|that|"
    r"it)))?$",
    re.IGNORECASE,
)
_PACKAGE = re.compile(
    r"^(?:we (?:already )?(?:use|have)|use|go with|take) (?P<a>[\w@./+-]{2,30})(?: (?:here|already|for (?:this|"
    r"that|it)))?$",
    re.IGNORECASE,
)
"""What is used in place of the package that an installing call would have added."""
_MANNER = re.compile(
    r"\b(?:by hand|manually|directly|in place|without (?!me\b|asking\b)\w+|in (?:unit )?tests|in production)\b",
    re.IGNORECASE,
)
"""How a thing is done, not that it is done: `do not edit schema.sql by hand` is a rule, `do not edit it` is not."""
_TWO = re.compile(r"^(?:please )?(?:don'?t|do not|never|stop|avoid|no)\b[^.?!;\n]{2,60}[.!]?$", re.IGNORECASE)


def corrections(scene: Scene) -> Iterator[Found]:
    """Rules the person stated: in the prompt of the exchange, and in the feedback of calls they denied in it."""
    prompt = scene.now.said
    if prompt is not None:
        heard = (_judge(scene, prompt, said, None) for said in _paired(prompt.text))
        yield from islice((found for found in heard if found is not None), MOST)
    for turn in scene.now.replies:
        if turn.sidechain:
            continue
        for call in turn.tool_calls:
            if call.status == "denied" and (refusal := call.feedback or call.ascribed):
                denied = (_judge(scene, turn, said, call) for said in _paired(refusal))
                yield from islice((found for found in denied if found is not None), MOST)
            elif added := remark(call):
                heard = (_judge(scene, turn, said, None) for said in _paired(added))
                yield from islice((found for found in heard if found is not None), MOST)


def _paired(text: str) -> list[Sentence]:
    """What the person said, with statements over two sentences put together.

    "Don't use pip. Use uv." is one: a short don't with the short use that follows it; so is "That's wrong." with what
    is right.
    """
    out: list[Sentence] = []
    for item in spoken(text):
        if out and len(out[-1].text) <= 40 and _AGAINST.match(out[-1].text) and directive(out[-1].text) is None:
            both = f"{out[-1].text} {item.text}"
            if both in text and directive(both) is not None and not item.question:
                out[-1] = Sentence(both, False, out[-1].first)
                continue
        if (
            out
            and _TWO.match(out[-1].text)
            and re.match(r"(?:please )?(?:use|run|call|go with)\b.{2,60}$", item.text, re.IGNORECASE)
        ):
            out[-1] = Sentence(f"{out[-1].text.rstrip('.! ')}. {item.text}", False, out[-1].first)
        else:
            out.append(item)
    return out


def _judge(scene: Scene, turn: Turn, said: Sentence, denied: ToolCall | None) -> Found | None:
    rule = complaint(said.text)
    if said.question and (rule is None or not scene.before.replies):
        return None
    rule = rule or directive(said.text)
    if rule is not None and rule.claim.endswith(" the source of truth"):
        rule = _of_what(scene, rule)
    if denied is not None:
        rule = _against_call(said.text, denied, rule)
    if rule is None or not _lasting(scene, said, rule, denied is not None):
        return None
    title = wording.fit(rule.claim)
    fault = wording.title_fault(title)
    if fault:
        return Unclear("correction", rule.claim, turn, fault)
    return _draft(scene, turn, said, title, rule, denied)


def _of_what(scene: Scene, rule: Directive) -> Directive | None:
    """`X is the source of truth` said while a file is changed is said of that file."""
    if paths(rule.claim) or "`" in rule.claim:
        return rule
    files = changed(scene, scene.now) or changed(scene, scene.before)
    return replace(rule, claim=f"{rule.claim} for `{posixpath.basename(files[0])}`") if len(files) == 1 else None


def _against_call(text: str, call: ToolCall, rule: Directive | None) -> Directive | None:
    """`use uv` said while denying `pip install x` is `Use uv, not pip`."""
    if rule is not None and rule.prefer:
        return rule
    command, said = commands.parse(call.command), wording.clean(text)
    match, words = _TOOL.match(said), command.words
    program = words[0].rsplit("/", 1)[-1] if words else ""
    meant = match is not None and (is_tool(match["a"]) if match["verb"] else is_workflow(match["a"]))
    if match and meant and is_tool(program) and program != match["a"]:
        return Directive(f"Use {match['a']}, not {program}", "contrast", prefer=match["a"], over=program)
    packages, other = commands.installs(command.text), _PACKAGE.match(said)
    if packages and other and other["a"].lower() != packages[0].lower():
        return Directive(f"Use `{other['a']}`, not `{packages[0]}`", "contrast", prefer=other["a"], over=packages[0])
    return rule


def _lasting(scene: Scene, said: Sentence, rule: Directive, denied: bool) -> bool:
    """Whether the rule is meant to last beyond the work at hand, and is stated rather than considered."""
    claim = rule.claim
    if wording.hedged(claim if rule.noted else said.text) or (rule.instructs and not written_down(scene)):
        return False
    if rule.weight == "always":
        return not (wording.momentary(claim) and not _STANDING.search(said.text))
    if wording.momentary(claim) or (wording.momentary(said.text) and not _STANDING.search(said.text)):
        return False
    against = bool(_AGAINST.match(said.text)) or denied
    named = bool(artifacts(claim, scene.known) or concerned(scene, claim))
    if rule.weight == "contrast":
        sides = artifacts(rule.prefer, scene.known) or artifacts(rule.over, scene.known)
        return bool(sides) or rule.plain or (against and bool(_worked_on(scene)))
    if rule.weight == "rule":
        return True
    if rule.weight == "ours":
        lasts = against or bool(_STANDING.search(said.text))
        return lasts or (named and rule.claim.startswith(("Do not ", "The project is")))
    lasting = not wording.task(_bare(claim)) or bool(_MANNER.search(claim))
    if named and lasting and not rule.fact and because(rule.reason) and not wording.momentary(rule.reason):
        return True
    if named and _NOT_IN_CODE.match(claim):
        return True
    again = bool(_SAID.search(said.text)) or bool(_EVERY.search(claim))
    return (against or bool(_STANDING.search(said.text))) and named and (again or lasting)


_FIRM = re.compile(r"\b(?:always|never)\b", re.IGNORECASE)


def _bare(claim: str) -> str:
    return re.sub(r"^Do not ", "", claim)


def _worked_on(scene: Scene) -> tuple[str, ...]:
    return references(scene, "")


def _draft(scene: Scene, turn: Turn, said: Sentence, title: str, rule: Directive, denied: ToolCall | None) -> Draft:
    refs = concerned(scene, f"{rule.claim} {rule.reason}") or (written_down(scene) if rule.recorded else ())
    refs = refs or concerned(scene, title) or (changed(scene, scene.now, NOTES) if rule.noted else ())
    names = artifacts(f"{rule.claim} {rule.reason}", scene.known) or subjects(rule.claim, scene.known)
    habit = is_workflow(rule.prefer) or is_workflow(rule.over)
    planned = denied is not None and denied.kind == "plan"
    decides = rule.decides or planned or (rule.weight == "contrast" and not habit)
    primitive: Primitive = "decision" if decides else "learning"
    kind: LearningKind | None = None if decides else "insight" if rule.fact else "preference"
    against = complaint(said.text) or (_AGAINST.match(said.text) and not _REMEMBER.match(said.text))
    basis: Basis = "corrected" if against else "stated"
    if denied is not None:
        basis = "denied"
    elif rule.weight == "always" or _FIRM.search(said.text) or _SAID.search(said.text) or _REMEMBER.match(said.text):
        basis = "insisted"
    ascribed = denied is not None and not denied.feedback
    who: Speaker = "tool" if ascribed else "user"
    quotes = [Quote(said.text, turn.id, who)]
    more = _follows(turn, said, names, denied)
    if more:
        quotes.append(Quote(more, turn.id, who))
    why = because(rule.reason) or (wording.sentence(wording.clean(more)) if explains(more) else "")
    return Draft(
        signal="correction",
        basis=basis,
        primitive=primitive,
        kind=kind,
        title=title,
        body=_body(title, rule, why, refs, denied, scene.before, basis),
        turn=turn,
        quotes=tuple(quotes),
        artifacts=names,
        references=refs,
        prefer=rule.prefer,
        over=rule.over,
        ascribed=ascribed,
    )


def _follows(turn: Turn, said: Sentence, names: tuple[str, ...], denied: ToolCall | None) -> str:
    """The next sentence of the message, where it goes on about the same things, says why or what is given up."""
    items = [item.text for item in spoken((denied.feedback or denied.ascribed) if denied is not None else turn.text)]
    at = items.index(said.text) + 1 if said.text in items else len(items)
    after = items[at] if at < len(items) else ""
    words = after.lower()
    same = any(name.strip("`").lower() in words for name in names)
    return after if (same or explains(after) or given_up(after)) and directive(after) is None else ""


def _body(
    title: str,
    rule: Directive,
    why: str,
    refs: tuple[str, ...],
    denied: ToolCall | None,
    before: Exchange,
    basis: Basis,
) -> str:
    whole = not wording.personal(rule.claim) and not wording.loose(rule.claim)
    parts = [wording.sentence(rule.claim if whole else title), why]
    if denied is not None and denied.command:
        parts.append(f"This was said on refusing to let `{wording.shorten(wording.squeeze(denied.command), 80)}` run.")
    elif denied is not None and denied.kind == "plan":
        parts.append("This was said on rejecting the agent's plan.")
    elif denied is not None and denied.paths:
        parts.append("This was said on refusing an edit.")
    elif basis == "corrected" and before.replies:
        parts.append("This corrects what the agent had done before.")
    parts.append(where(refs))
    return " ".join(part for part in parts if part)
