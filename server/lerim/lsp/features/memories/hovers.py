"""Renders hovers: what a memory says, its age, and who said it.

The text is short, and its only active parts are our own links, whose arguments are opaque handles.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from lerim.lsp.boundary import escape_block, escape_line, shorten_text
from lerim.lsp.protocol import (
    ARCHIVE_MEMORY,
    EDIT_MEMORY,
    MEMORY_OUTDATED,
    OPEN_MEMORY,
    OPEN_TURN,
    SHOW_FILE_MEMORIES,
    VERIFY_MEMORY,
    redact_text,
)
from lerim.memory import (
    MEMORY_SPEAKER_NAMES,
    SPEAKER_NAMES,
    MemoryRecord,
    body_without_title,
    find_context_mark,
    is_quoted,
    redact_record,
    strip_boilerplate,
)
from lerim.times import format_date

if TYPE_CHECKING:
    from lerim.memory import Drift, Evidence

MAX_TITLE = 160
MAX_BODY = 280
MAX_BODY_LINES = 6
MAX_QUOTE = 200

FROM_REPOSITORY = "*From the repository, which you have not marked as trusted*"
DRIFT_LABELS = {"drifted": "Drifted", "gone": "Not found"}
ACTION_COMMANDS = (
    ("Still true", VERIFY_MEMORY, "Record the code that it refers to as it is now"),
    ("Outdated", MEMORY_OUTDATED, "Mark it as outdated: Lerim proposes later to archive it"),
    ("Edit", EDIT_MEMORY, ""),
    ("Archive", ARCHIVE_MEMORY, ""),
)
"""Links offered for every memory of a folder that the person trusts, with tooltips for what their names do not say."""
_WORD = re.compile(r"\w{3,}")
AGE_UNITS = (("year", 365), ("month", 30), ("week", 7), ("day", 1))


@dataclass(frozen=True, slots=True)
class HoverMemory:
    """A memory to show, with the handle for its links. `turn`: it names a turn of a transcript that can be opened.
    `drift`: its drift, None if it is fresh. `called`: "wrong" or "outdated" if the person has called it so. `is_own`:
    it was made on this machine, so the person who reads it is the one who said its quotes. `missing`: references to
    other places that are not found, if the one that the hover is about is."""

    record: MemoryRecord
    handle: str
    turn: bool = False
    drift: Drift | None = None
    called: str = ""
    is_own: bool = False
    missing: tuple[str, ...] = ()


def render_hover(shown: HoverMemory, now: datetime, *, trusted: bool, more: str = "", with_links: bool = True) -> str:
    """Renders a memory as markdown. `more` is the link to the other memories about the same, from `link_more`.
    `with_links`: the editor can run the commands in links.

    The links stand above what may be long, because an editor shows only the first lines of a hover until one scrolls.
    """
    record = redact_record(shown.record)
    head, text = redact_text(_render_head(record, now, trusted=trusted)), redact_text(_render_text(record, shown))
    if with_links:
        head += "  \n" + " · ".join([*_links(shown, trusted=trusted), *filter(None, (more,))])
    return "\n\n".join(filter(None, (head, text)))


def link_more(count: int, uri: str, line: int, character: int) -> str:
    """Returns the link that lists all memories about a place, `2 more about this`; "" if there are no others.

    `uri` is the one that the editor sent, and becomes part of the link as percent-encoded JSON.
    """
    if not count:
        return ""
    arguments = quote(json.dumps([uri, line, character]), safe="")
    return f"[{count} more about this](command:{SHOW_FILE_MEMORIES}?{arguments})"


def describe_age(then: datetime, now: datetime) -> str:
    """`today`, `yesterday`, `3 weeks ago`, by the local calendar. A time without a zone is UTC; one in the future is
    today."""
    aware = then if then.tzinfo else then.replace(tzinfo=UTC)
    days = (now.astimezone().date() - aware.astimezone().date()).days
    if days < 2:
        return "yesterday" if days == 1 else "today"
    name, length = next(unit for unit in AGE_UNITS if days >= unit[1])
    return f"{days // length} {name}{'s' if days >= 2 * length else ''} ago"


def _render_head(record: MemoryRecord, now: datetime, *, trusted: bool) -> str:
    facts = f"Lerim · {record.kind or record.primitive} · {describe_age(record.created, now)}"
    head = f"**{escape_line(shorten_text(record.title, MAX_TITLE)) or 'Untitled'}**  \n{facts}"
    return head if trusted else f"{FROM_REPOSITORY}\n\n{head}"


def _render_text(record: MemoryRecord, shown: HoverMemory) -> str:
    parts: list[str] = []
    if shown.called:
        parts.append(f"**You marked this as {shown.called}**")
    if shown.drift is not None and (drift_note := describe_drift(shown.drift, is_own=shown.is_own)):
        parts.append(f"**{drift_note}**" if shown.drift.state in DRIFT_LABELS else f"*{drift_note}*")
    if shown.missing:
        count, names = len(shown.missing), escape_line(shorten_text(", ".join(shown.missing), MAX_TITLE))
        verb = "was" if count == 1 else "were"
        parts.append(f"*{count} of {len(record.references)} references {verb} not found: {names}*")
    text = _find_more_than_title(record)
    evidence = _choose_quote(record)
    if evidence is not None:
        text = _leave_out_quoted(text, evidence.quote)
    body = shorten_text("\n".join(text.split("\n")[:MAX_BODY_LINES]), MAX_BODY)
    if body:
        parts.append(escape_block(body))
    if evidence is not None:
        who = (SPEAKER_NAMES if shown.is_own else MEMORY_SPEAKER_NAMES)[evidence.who]
        said = escape_line(shorten_text(evidence.quote, MAX_QUOTE))
        is_title = is_quoted(record.title, evidence.quote) and is_quoted(evidence.quote, record.title)
        parts.append(f"*Said by {who}*" if is_title else f"> “{said}” ({who})")
    return "\n\n".join(parts)


def _choose_quote(record: MemoryRecord) -> Evidence | None:
    """Returns the quote that says most: the person's before all others, then the one that shares most words with the
    title, then the longest; None if there is none."""
    title = set(_WORD.findall(record.title.casefold()))

    def merit(one: Evidence) -> tuple[bool, int, int]:
        shared = title.intersection(_WORD.findall(one.quote.casefold()))
        return one.who == "user", len(shared), len(one.quote)

    return max((one for one in record.evidence if one.quote.strip()), key=merit, default=None)


def _find_more_than_title(record: MemoryRecord) -> str:
    """Returns the body without a first sentence that is the title, but whole if the title is only the beginning of that
    sentence; "" if it only adds where the code is."""
    rest = body_without_title(record.title, record.body).strip()
    if not strip_boilerplate(rest).strip():
        return ""
    return record.body.strip() if rest.startswith("…") else rest


def _leave_out_quoted(text: str, quote: str) -> str:
    """Returns the text without what the quote below it says, too: nothing, or only the words that it replies to."""
    if not text or len(quote) > MAX_QUOTE:
        return text
    mark = find_context_mark(text)
    said, rest = (text[:mark], text[mark:]) if mark >= 0 else (text, "")
    return rest if is_quoted(said, quote) else text


def describe_drift(drift: Drift, *, is_own: bool = False) -> str:
    """`Drifted since 21 Nov 2026: load changed`, as markdown; "" for a memory that is fresh and did not move. `is_own`:
    the person accepted it."""
    from lerim.redaction import redact_secrets  # imported late: compiling its patterns would slow down the start

    detail = escape_line(shorten_text(redact_secrets(drift.detail).text, MAX_TITLE))
    if drift.state == "gone" and not drift.since:
        then = "you accepted it" if is_own else "this memory was first checked"
        return f"{DRIFT_LABELS['gone']}: {detail} was not there when {then}"
    if drift.state in DRIFT_LABELS:
        since = f" since {format_date(date.fromisoformat(drift.since))}" if drift.since else ""
        return f"{DRIFT_LABELS[drift.state]}{since}: {detail}"
    return detail if drift.moved_to else ""


def _links(shown: HoverMemory, *, trusted: bool) -> list[str]:
    links = [_link("Open memory", OPEN_MEMORY, shown.handle)]
    if shown.turn and trusted:
        links.append(_link("Open transcript", OPEN_TURN, shown.handle))
    if trusted:
        links += [
            _link(name, command, shown.handle, tooltip)
            for name, command, tooltip in ACTION_COMMANDS
            if name.lower() != shown.called
        ]
    return links


def _link(name: str, command: str, handle: str, tooltip: str = "") -> str:
    title = f' "{tooltip}"' if tooltip else ""
    return f"[{name}](command:{command}?%5B%22{handle}%22%5D{title})"
