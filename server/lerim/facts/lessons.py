"""What the agent wrote into a file of lessons: friction logs, gotchas, troubleshooting, known issues, post-mortems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.causes import AMISS
from lerim.facts.directives import directive
from lerim.facts.draft import Draft, Found, Quote, Scene
from lerim.facts.outcome import committed, verdict
from lerim.facts.prose import Piece, assertions, full, plain, prose, readable, share
from lerim.facts.sentences import spoken
from lerim.facts.where import named, where
from lerim.sessions.model import ToolCall, Turn

MOST = 3  # lessons of one exchange; a file that brings more at once is a document, not what was just learned
ADDED = 12  # entries from which it is one
NOTES = re.compile(
    r"(?:friction|lessons?|learnings?|learned|gotchas?|pitfalls?|troubleshooting|known[-_ ]issues|post-?mortems?|"
    r"incidents?|solutions/[\w./-]{1,80})[\w./-]{0,60}\.(?:md|mdx|txt|adoc|rst)$",
    re.IGNORECASE,
)
_INTO = re.compile(
    r"(?:>>|>|tee -a)\s{0,2}[\"']?(?P<path>[^\s\"'<>|;&]{3,200})[\"']?\s{0,2}<<-?\s?[\"']?(?P<tag>\w{2,20})"
    r"[\"']?\s{0,3}\n|<<-?\s?[\"']?(?P<tag2>\w{2,20})[\"']?\s{0,2}(?:>>|>)\s{0,2}[\"']?"
    r"(?P<path2>[^\s\"'<>|;&]{3,200})[\"']?\s{0,3}\n"
)
_LEAD = re.compile(
    r"^(?:\|[^|\n]{0,40})?\s{0,8}(?:[-*•]\s|\d{1,2}[.)]\s|\|\s)?\s{0,3}\*\*(?P<lead>[^*\n]{12,220})\*\*:?"
    r"(?P<rest>[^\n]{0,1200})",
    re.MULTILINE,
)
_RECORD = re.compile(
    r"(?:^|/)(?:solutions/(?:[\w.-]{1,60}/)?|lessons?/|learnings?/|(?P<decides>(?:adrs?|decisions?|decision-records)/))"
    r"(?P<name>[\w.-]{4,100})\.(?:md|mdx)$",
    re.IGNORECASE,
)
"""A file that is one lesson or one decision."""
_HEAD = re.compile(r"^#\s{1,3}(?P<head>[^\n]{8,160})$", re.MULTILINE)
_NUMBER = re.compile(r"^(?:(?:ADR|RFC|decision)\b[\s#-]{0,3})?\d{0,5}\s{0,2}[:.–—-]\s{0,2}", re.IGNORECASE)
_TOLD = re.compile(
    r"^##\s{1,3}(?:decision|guidance|rule|solution|lesson|fix)[^\n]{0,30}\n{1,3}(?P<told>[^\n#][^#]{20,1200})",
    re.IGNORECASE | re.MULTILINE,
)
_OPEN = re.compile(
    r"^(?:status:|\*\*status:?\*\*:?|##\s{1,3}status\s{1,4})\s{0,3}(?:proposed|draft|rejected|open)",
    re.IGNORECASE | re.MULTILINE,
)


def lessons(scene: Scene) -> Iterator[Found]:
    """The entries an exchange added, once they were committed or the person accepted what was done."""
    if not (committed(scene.now) or verdict(scene.after) == "accepted"):
        return
    entries = [
        (turn, path, lead, rest)
        for turn in scene.now.replies
        if not turn.sidechain
        for call in turn.tool_calls
        if call.status == "ok"
        for path, text in _written(call)
        for lead, rest in ((match["lead"], match["rest"]) for match in _LEAD.finditer(text))
    ]
    yield from _records(scene)
    if len(entries) > ADDED:
        return
    count = 0
    for turn, path, lead, rest in entries:
        title = next((claim for claim in assertions(lead, scene.known) if AMISS.search(claim)), "")
        if title and count < MOST:
            count += 1
            yield _draft(scene, turn, path, (lead, prose(rest.partition(" | ")[0])), title)


def _written(call: ToolCall) -> Iterator[tuple[str, str]]:
    """The files of lessons a call wrote into, and what it added there."""
    if call.kind in ("edit", "write"):
        for edit in call.edits:
            if NOTES.search(edit.path.replace("\\", "/")):
                had = set(edit.old.split("\n"))
                yield edit.path, "\n".join(line for line in edit.new.split("\n") if line not in had)
    elif call.kind == "shell":
        for match in _INTO.finditer(call.command) if "<<" in call.command else ():
            path, tag = match["path"] or match["path2"], match["tag"] or match["tag2"]
            if NOTES.search(path.replace("\\", "/")):
                yield path, call.command[match.end() :].partition(f"\n{tag}")[0]


def _records(scene: Scene) -> Iterator[Found]:
    """A file written anew that is one lesson or one decision; where several are, they are an archive."""
    made = [
        (turn, edit, match)
        for turn in scene.now.replies
        if not turn.sidechain
        for call in turn.tool_calls
        if call.status == "ok" and call.kind in ("edit", "write")
        for edit in call.edits
        if not edit.old and (match := _RECORD.search(edit.path.replace("\\", "/")))
    ]
    asked = scene.now.said
    if len(made) != 1 or (asked and any((rule := directive(one.text)) and rule.noted for one in spoken(asked.text))):
        return  # what the person said in so many words and had written down is told in their words
    [(turn, edit, match)] = made
    head = _HEAD.search(edit.new)
    title = wording.capital(wording.fit(_NUMBER.sub("", plain(head["head"])))) if head else ""
    if not title or wording.title_fault(title) or len(title.split()) < 4 or _OPEN.search(edit.new):
        return
    told = _TOLD.search(edit.new)
    found = _draft(scene, turn, edit.path, (head["head"] if head else "", prose(told["told"]) if told else []), title)
    yield replace(found, primitive="decision", kind=None) if match["decides"] else replace(found, kind="insight")


def _draft(scene: Scene, turn: Turn, path: str, entry: tuple[str, list[Piece]], title: str) -> Draft:
    lead, rest = entry
    told = [shown for piece in rest[:4] if piece.raw.rstrip()[-1:] != ":" and (shown := readable(piece.plain))]
    first = readable(lead)
    body = [full(first) if first and share(title, first) >= 0.8 else full(title), *map(full, told[:1])]
    refs = named(scene, title)
    body += ["The agent wrote it down in the project's own notes.", where(refs)]
    quotes = [Quote(lead, turn.id, "assistant")]
    return Draft(
        signal="lesson",
        basis="logged",
        primitive="learning",
        kind="pitfall",
        title=title,
        body=" ".join(part for part in body if part),
        turn=turn,
        quotes=tuple(quotes),
        artifacts=(*artifacts(" ".join([title, *told]), scene.known), path),
        references=refs,
    )
