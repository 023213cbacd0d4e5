"""Memories as text for coding agents: facts within bounds, which can neither end their fence nor pass for a command.

Every agent treats the text it is given differently, some as part of the system prompt, so the text of a memory is made
harmless before it leaves: one line an item, no markup, no links, no invisible characters. The readers of sessions cut
the fence out again (`sessions/readers/engine/typed_text.py`), so that nothing is learned from a memory twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lerim.memory.claims import (
    IN_REPLY_TO,
    body_without_title,
    find_replied_to,
    strip_boilerplate,
    without_replied_to,
)
from lerim.memory.record import MemoryRecord, Speaker
from lerim.memory.reference import DriftState
from lerim.memory.views import redact_record
from lerim.times import format_utc

FENCE_TAG = "lerim-memories"
MAX_TITLE_CHARS, MAX_REASON_CHARS, MAX_QUOTE_CHARS, MAX_PLACES = 160, 400, 200, 5
MAX_LINE_CHARS, MAX_LINE_ID_CHARS, MAX_LINE_PLACE_CHARS, MIN_LINE_REASON_CHARS = 300, 80, 60, 40
_SPEAKERS: dict[Speaker, str] = {
    "user": "the developer",
    "assistant": "an agent",
    "tool": "a tool's output",
    "web": "a web page",
}
_STATE_LABELS: dict[DriftState, str] = {
    "fresh": "",
    "unknown": "not compared with the code here yet",
    "drifted": "DRIFTED: the code has changed since",
    "gone": "NOT FOUND: the code it is about is not in this checkout",
}
_MARKDOWN_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")
_ADDRESS = re.compile(
    r"\b(?:https?|ftps?|file|data|javascript|vscode(?:-insiders)?|cursor|command|mailto):(?:\([^\s()`'\"]{0,2000}\)|[^\s`'\")]|(?<=:)\))+",
    re.IGNORECASE,
)
_FENCES = re.compile(r"`{3,}|~{3,}")
_MENTION = re.compile(r"(?<![\w@`/])@(?=[\w./~-])")
_COMMAND_MARK = re.compile(r"^[\s>#*+!/-]+")
_SPACES = re.compile(r"\s+")
_TO_RUN = re.compile(
    r"(?:^|[.!?:;]\s+|\bplease\s+|\byou (?:must|should|need to|have to)\s+|\balways\s+|\bnow\s+)"
    r"(?:run|execute|exec|eval|invoke|launch|start|download|install|curl|wget|sudo|delete|remove|rm|chmod|bash|sh|paste)"
    r"\b|\b(?:curl|wget|iwr)\b[^\n]{0,200}\||\brm\s+-[a-z]*[rf]|\bsudo\s",
    re.IGNORECASE,
)


def fence_items(items: Iterable[str]) -> str:
    """Returns items between our marks, which no item can contain; "" if there are none."""
    lines = [item for item in items if item]
    return "\n".join((f"<{FENCE_TAG}>", *lines, f"</{FENCE_TAG}>")) if lines else ""


def neutral_line(text: str, limit: int) -> str:
    """Returns untrusted text as one line of at most `limit` characters that is plain text wherever it is put:
    without markup, links, mentions of files, invisible characters, and marks at its beginning that an agent reads as
    a command."""
    from lerim.redaction import HIDDEN_CHARACTERS, redact_secrets  # imported late: not needed at the start

    line = _SPACES.sub(" ", HIDDEN_CHARACTERS.sub("", text)).strip()
    line = redact_secrets(line).text
    line = _ADDRESS.sub("(address)", _MARKDOWN_LINK.sub(r"\1", line))
    line = _FENCES.sub("`", line).replace("<", "‹").replace(">", "›")
    line = _COMMAND_MARK.sub("", _MENTION.sub("(at)", line)).replace("](", "] (").strip()
    if len(line) <= limit:
        return line
    head = line[: limit - 2]
    space = head.rfind(" ")
    return f"{head[: space if space > limit // 2 else None].rstrip()} …"


def tells_to_act(record: MemoryRecord) -> bool:
    """Returns whether a memory's text reads like an order to run something or a command to an agent. Such a text is
    given to agents only if a person wrote or accepted exactly this text."""
    from lerim.redaction import find_flags

    texts = (record.title, record.body, *(item.quote for item in record.evidence))
    return bool(find_flags(*texts)) or any(_TO_RUN.search(line) for text in texts for line in text.splitlines())


def render_memory(record: MemoryRecord, state: DriftState = "fresh", detail: str = "", number: int = 0) -> str:
    """Returns a memory as a few lines: kind, title and id; why; the words it rests on with speaker, day and turn; the
    places it is about. `detail` says what changed there."""
    record = redact_record(record)
    head = f"{record.kind or record.primitive}: {neutral_line(record.title, MAX_TITLE_CHARS)}"
    lines = [f"{f'[{number}] ' if number else '- '}{head} (id {neutral_line(record.id, 120)})", *_details(record)]
    if label := _STATE_LABELS[state]:
        lines.append(f"  {label}{f' ({neutral_line(detail, MAX_TITLE_CHARS)})' if detail else ''}")
    return "\n".join(lines)


def render_memory_line(record: MemoryRecord, detail: str = "") -> str:
    """Returns a memory as one line of at most MAX_LINE_CHARS, for agents that did not ask: kind, title, why if there is
    room (or `detail`, what changed in its code), day, the first place it is about, and id."""
    record = redact_record(record)
    tail = [format_utc(record.created)[:10]]
    if record.references:
        tail.append(neutral_line(record.references[0], MAX_LINE_PLACE_CHARS))
    end = f" ({'; '.join(filter(None, (*tail, f'id {neutral_line(record.id, MAX_LINE_ID_CHARS)}')))})"
    kind = record.kind or record.primitive
    room = MAX_LINE_CHARS - len(end) - len(f"- {kind}: ")
    title = neutral_line(record.title, min(MAX_TITLE_CHARS, room))
    room -= len(title) + len(" — ")
    reason = neutral_line(detail or find_reason(record), room) if room >= MIN_LINE_REASON_CHARS else ""
    return f"- {kind}: {title}{f' — {reason}' if reason else ''}{end}"


def _details(record: MemoryRecord) -> Iterator[str]:
    reason = neutral_line(find_reason(record), MAX_REASON_CHARS)
    if reason:
        yield f"  why: {reason}"
    if replied_to := neutral_line(find_replied_to(record.body), MAX_QUOTE_CHARS):
        yield f"  {'in reply to' if IN_REPLY_TO in record.body else 'after'}: “{replied_to}”"
    day = format_utc(record.created)[:10]
    quote = next((item for item in record.evidence if item.quote.strip()), None)
    if quote is not None:
        said = neutral_line(quote.quote, MAX_QUOTE_CHARS)
        yield f"  {_SPEAKERS[quote.who]} on {day}: “{said}” (turn {neutral_line(quote.turn, 80)})"
    else:
        yield f"  {'written by hand' if record.source == 'manual' else 'recorded'} on {day}"
    places = [neutral_line(reference, 200) for reference in record.references[:MAX_PLACES]]
    if places:
        more = len(record.references) - len(places)
        yield f"  about: {', '.join(places)}{f' and {more} more' if more else ''}"


def find_reason(record: MemoryRecord) -> str:
    """Returns the body without the title that it repeats and without the words that it replies to; "" if it only names
    files."""
    body = without_replied_to(record.body).strip()
    if not strip_boilerplate(body).strip():
        return ""
    return body_without_title(record.title, body)
