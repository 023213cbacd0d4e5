"""Causes the agent named and what happened then bore out: an edit that touches what they name, and a command that
passed, a commit, or the person's agreement. What failed again before another cause was named is no finding.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lerim.facts import commands, wording
from lerim.facts.causes import FIX, MOST, Finding, causes, unlined
from lerim.facts.draft import Draft, Found, Quote, Scene
from lerim.facts.lasting import calm, past, rule
from lerim.facts.outcome import verdict, went_through
from lerim.facts.prose import full, readable, share
from lerim.facts.retold import head
from lerim.facts.where import edited, named, where
from lerim.sessions.model import ToolCall

_AGAIN = re.compile(
    r"^\W{0,4}(?:still (?:failing|broken|not|the same)|wait\b|hmm+\b|that(?:'s| is| was)(?: also)? (?:not|wrong)|same "
    r"(?:error|failure|problem)|(?:that|this|it) (?:did not|didn'?t) (?:help|work|fix))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Event:
    """What a call showed: it touched something (`text`), or a command passed or failed."""

    at: int
    kind: str
    text: str = ""
    files: tuple[str, ...] = ()
    command: str = ""


_FORMATS = re.compile(r"\b(?:fmt|format|prettier|gofmt)\b|^git\b")
"""What passes whatever the code does."""

_TROUBLE = re.compile(
    r"\?|\b(?:still|errors?|fail\w*|broken?|wrong|bugs?|issues?|problems?|why|not|cannot|can't|doesn't|don't|isn't|didn't|"
    r"again|revert|undo|wait|hmm+|but|same|weird|instead|crash\w*|stop)\b|Traceback|^\s{0,4}at ",
    re.IGNORECASE | re.MULTILINE,
)
"""Words of a person that may speak of what was done before: they have not simply gone on."""
_LOOKS = frozenset(("read", "search", "shell", "web", "agent"))
_CORRECTS = re.compile(r"\b(?:thought|assumed|believed|expected|supposed)\b.{3,200}\bbut\b", re.IGNORECASE)
"""A belief put right."""
LOOKED = 2  # calls of a search from which what it found cost something
_CHANGES = re.compile(
    r"\bsed\s(?:-E\s)?-i|^(?:cat|tee|echo|printf)\b[^\n|]{0,200}>|\bgit\s(?:rm|mv|config)\b|\b(?:mv|rm|cp|ln)\s|"
    r"\bconfig\s(?:set|unset)\b|\b(?:install|uninstall|add|remove|link)\s",
    re.MULTILINE,
)
"""Changes something without an editing tool."""


def diagnoses(scene: Scene) -> Iterator[Found]:
    """The causes named in this exchange, or at the end of the one before, that this exchange bore out."""
    if any(turn.sidechain for turn in scene.now.replies):
        return
    events = list(_events(scene))
    if not any(event.kind == "edit" for event in events):
        return
    found: list[Finding] = []
    early = scene.before.replies[-2:]
    if early and not any(call.kind in ("edit", "write") for turn in early for call in turn.tool_calls):
        found += [item for turn in early for item in causes(turn, -1, scene.known)]
    for at, turn in enumerate(scene.now.replies):
        found += causes(turn, at, scene.known)
    kept = [(item, proof) for item in found if (proof := _borne_out(scene, item, found, events))]
    for item, proof in [one for one in _met(kept) if _costly(scene, one[0], events)][:MOST]:
        yield _draft(scene, item, proof)


def _events(scene: Scene) -> Iterator[_Event]:
    for at, turn in enumerate(scene.now.replies):
        for call in turn.tool_calls:
            if call.kind in ("edit", "write") and call.status == "ok":
                text = " ".join([*call.paths, *(f"{edit.old} {edit.new}" for edit in call.edits)]).lower()
                yield _Event(at, "edit", text, edited(scene, call, turn.cwd))
            elif call.kind == "shell" and call.command:
                if call.status == "ok" and _CHANGES.search(call.command):
                    yield _Event(at, "edit", call.command.lower())
                yield from _ran(at, call)


def _ran(at: int, call: ToolCall) -> Iterator[_Event]:
    command = commands.parse(call.command)
    if went_through(call):
        yield _Event(at, "edit", call.command.lower())  # its message tells what was changed
        yield _Event(at, "commit", command=command.text)
    if not command.runner:
        return
    result = commands.outcome(call, command)
    if result != "unknown" and not _FORMATS.search(command.text):
        yield _Event(at, result, command=command.text)


def _borne_out(scene: Scene, item: Finding, found: list[Finding], events: list[_Event]) -> str:
    """What bore the finding out, as a sentence; "" where nothing did: the last command between the edit and the next
    cause that was named has to pass."""
    names = [low for name in item.names if len(low := _bare(name)) > 2]
    touched = [event.at for event in events if event.kind == "edit" and any(name in event.text for name in names)]
    if not touched:
        return ""
    since = next((at for at in touched if at >= item.at), -1)
    if since >= 0:
        until = min((other.at for other in found if other.at > since), default=len(scene.now.replies))
        if until < len(scene.now.replies) and any(
            _AGAIN.match(turn.text) for turn in scene.now.replies[since + 1 : until + 1]
        ):
            return ""
        seen = [event for event in events if since <= event.at <= until]
    else:
        seen = [event for event in events if event.at <= item.at]
    ran = [event for event in seen if event.kind != "edit"]
    if ran and ran[-1].kind == "failed":
        return ""
    passed = [event.command for event in ran if event.kind == "passed"]
    if passed:
        return f"`{wording.shorten(passed[-1], 60)}` passed afterwards."
    if ran:
        return "The change was committed."
    if verdict(scene.after) == "accepted":
        return "The person accepted the change."
    went_on = scene.after is not None and verdict(scene.after) == "open" and not _TROUBLE.search(scene.after.text[:600])
    return "The person went on without objecting." if went_on and since >= 0 else ""


def _costly(scene: Scene, item: Finding, events: list[_Event]) -> bool:
    """Whether finding it took something: a search, failures, a wrong belief; or whether it was worth saying again. A
    slip seen and mended at once is told by the code."""
    turns = scene.now.replies[: item.at + 1] if item.at >= 0 else scene.before.replies
    looked = sum(call.kind in _LOOKS for turn in turns for call in turn.tool_calls)
    failed = sum(event.kind == "failed" and event.at <= max(item.at, 0) for event in events)
    corrects = any(_CORRECTS.search(one.plain) for one in item.said)
    return looked >= LOOKED or failed > 1 or bool(item.more) or corrects


def _bare(name: str) -> str:
    return posixpath.basename(name.strip("`").rstrip("/")).removesuffix("()").lower()


def _met(kept: list[tuple[Finding, str]]) -> list[tuple[Finding, str]]:
    """Findings of one exchange that name the same things, met in the first of them."""
    out: list[tuple[Finding, str]] = []
    for item, proof in kept:
        for old, _ in out:
            told = " ".join([old.title, *(one.plain for one in old.said), old.around])
            if (old.turn is item.turn and "" not in (old.noun, item.noun) and old.noun != item.noun) or share(
                item.title, told
            ) >= 0.6:
                old.more.append((item.turn, item.said[0]))
                old.fix = old.fix or item.fix
                if len(item.names) > len(old.names) and old.turn is item.turn:
                    old.title, old.names, old.said = item.title, item.names, [*item.said, *old.said]
                break
        else:
            out.append((item, proof))
    return out


def _failed_after(item: Finding, events: list[_Event]) -> bool:
    """Whether a command failed once more after the first edit: then the fix as it was told is not what worked."""
    edits = [event.at for event in events if event.kind == "edit" and event.at >= item.at]
    return bool(edits) and any(event.kind == "failed" and event.at > edits[0] for event in events)


def _draft(scene: Scene, item: Finding, proof: str) -> Draft:
    text = " ".join(one.plain for one in item.said)
    events = list(_events(scene))
    edits = [event for event in events if event.kind == "edit" and event.at >= item.at]
    names = [low for name in item.names if len(low := _bare(name)) > 2]
    of_it = [path for event in edits if any(name in event.text for name in names) for path in event.files]
    refs = named(scene, text)
    for files in (of_it, [path for event in edits for path in event.files]):
        paths = tuple(dict.fromkeys(files))
        refs = refs or (paths if len(paths) <= 3 else ())
    source = max(item.said, key=lambda one: share(item.title, one.plain))
    told = [told for one in item.said if not FIX.match(one.plain) and (told := readable(unlined(one.plain)))]
    whole = any(share(item.title, one) >= 0.8 for one in told)
    body = [*([] if whole else [wording.sentence(item.title)]), *map(full, told)]
    if (fix := readable(unlined(item.fix))) and not _failed_after(item, events):
        body.append(full(f"The fix: {fix}"))
    body += ["The agent found this to be the cause of a failure.", proof, where(refs)]
    remains = rule(calm(item.title))
    end = head(item.title, source.raw)
    quotes = [
        Quote(source.raw[:end] if end > 0 and end < len(source.raw) - 2 else source.raw, item.turn.id, "assistant")
    ]
    quotes += [Quote(piece.raw, turn.id, "assistant") for turn, piece in item.more[:1]]
    return Draft(
        signal="diagnosis",
        basis="mended" if not remains and not item.fix and past(item.title) else "found",
        primitive="learning",
        kind="pitfall",
        title=remains if remains and not wording.title_fault(remains) else item.title,
        body=" ".join(part for part in body if part),
        turn=item.turn,
        quotes=tuple(quotes),
        artifacts=item.names,
        references=refs,
    )


def joined(found: list[Found]) -> list[Found]:
    """A command that passed again and the cause the agent named for it are one finding: the one that says what is
    needed, else the cause with what was printed."""
    out = list(found)
    for item in found:
        if not isinstance(item, Draft) or item.basis != "fixed":
            continue
        named_in = {quote.turn for quote in item.quotes if quote.who == "assistant"}
        cause = next(
            (
                one
                for one in out
                if isinstance(one, Draft) and one.basis in ("found", "mended") and one.turn.id in named_in
            ),
            None,
        )
        if cause is None:
            continue
        out.remove(cause if " needs " in item.title else item)
        if cause in out:
            printed = tuple(quote for quote in item.quotes if quote.who == "tool")
            body = f"{cause.body} {item.body.partition('. ')[0]}."
            out[out.index(cause)] = replace(cause, quotes=(cause.quotes[0], *printed), body=body)
    return out
