"""Makes candidates for the review from what a person wrote between Lerim's markers: a changed line is a change of its
memory, an added line is a new claim.

Lerim rewrites the lines only afterwards, so that no text is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from lerim.export.managed_block import BLOCK_HEAD
from lerim.export.plan import HandEditedFile
from lerim.export.rule_lines import find_new_words, make_mark, parse_line, render_lines
from lerim.memory import Evidence, MemoryRecord, StoredMemory, body_with_title
from lerim.review import FileClaim

MAX_QUOTE_CHARS = 200


@dataclass(frozen=True, slots=True)
class EditedLine:
    """A line that a person changed or added. `memory` is the memory that the line was made from, None for an added
    line. `title` is the line's current title, and `reason` the new reason, "" if the line still has the memory's."""

    path: str
    number: int
    title: str
    memory: StoredMemory | None = None
    reason: str = ""


def find_edited_lines(file: HandEditedFile, memories: Iterable[StoredMemory]) -> list[EditedLine]:
    """Returns the lines of a hand-edited file whose content is not already in a memory."""
    by_mark: dict[str, StoredMemory] = {}
    for stored in memories:
        by_mark.setdefault(make_mark(stored.record.id), stored)
    own = {line for stored in by_mark.values() for line in render_lines(stored.record)} | set(BLOCK_HEAD)
    found: list[EditedLine] = []
    for number, line in enumerate(file.lines, file.first_line):
        text = line.strip()
        if not text or text in own or text.startswith(("#", "---", "<!--")):
            continue
        parsed = parse_line(text)
        memory = by_mark.get(parsed.mark) if parsed is not None else None
        if memory is not None and memory.status == "active":
            words = find_new_words(memory.record, text)
            if words is not None:
                found.append(EditedLine(file.path, number, words[0], memory, words[1]))
        else:
            title = parsed.title if parsed is not None else text.lstrip("-*+ ")
            found += [EditedLine(file.path, number, title)] if title else []
    return found


def make_claim(line: EditedLine, now: datetime) -> FileClaim:
    """Returns an edited line as a claim for the review."""
    place = f"{line.path}#L{line.number}"
    evidence = (Evidence(line.title[:MAX_QUOTE_CHARS], place, "user"),)
    new = MemoryRecord(
        *("", "learning", line.title, now, now, f"file:{place}", 0.7, (), line.title), kind="insight", evidence=evidence
    )
    if line.memory is None:
        return FileClaim(new)
    old = line.memory.record
    changed = replace(
        old,
        title=line.title,
        body=line.reason or body_with_title(old.title, line.title, old.body),
        created=now,
        updated=now,
        source=f"file:{place}",
        evidence=evidence,
        verified="",
    )
    return FileClaim(changed, line.memory)
