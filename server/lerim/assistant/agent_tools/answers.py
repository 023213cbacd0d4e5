"""The answers of the tools as text, at most about 1,500 tokens each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lerim.assistant.answer_parser import is_for_model
from lerim.assistant.passages import find_session_passages
from lerim.errors import Problem
from lerim.memory import Recalled, fence_items, neutral_line, render_memory
from lerim.paths import Home
from lerim.project import Project

MAX_CHARS = 6_000
MAX_PASSAGE_CHARS = 500


def describe_recalled(found: Recalled, problems: Sequence[Problem], outside: int) -> str:
    """Returns the memories that fit in MAX_CHARS, best first, and a line for each reason why others were left out.
    `outside` is the number of requested files that are not in the repository."""
    items: list[str] = []
    room = MAX_CHARS
    for one in found.memories:
        item = render_memory(one.record, one.state, one.detail, len(items) + 1)
        if len(item) > room:
            break
        room -= len(item)
        items.append(item)
    notes: list[str] = []
    if len(items) < len(found.memories):
        notes.append(f"{len(found.memories) - len(items)} more did not fit; ask a narrower question to see them.")
    if found.drifted:
        why = "because the code has changed since, or is not found"
        notes.append(f"{_count_left_out(found.drifted)} {why} (include_drifted returns such memories).")
    if found.unchecked:
        notes.append(f"{_count_left_out(found.unchecked)} because the code was never compared with it here.")
    if found.unapproved:
        notes.append(f"{_count_left_out(found.unapproved)} because the developer here has not approved the text.")
    if not items and not notes:
        notes.append("No reviewed memory is about this.")
    if outside:
        notes.append(
            "One of the files is not in this repository."
            if outside == 1
            else f"{outside} of the files are not in this repository."
        )
    if problems:
        notes.append(f"Some memories could not be read ({len(problems)} problems; see `lerim status`).")
    return "\n".join(filter(None, (fence_items(items), *notes)))


def describe_sessions(
    project: Project, home: Home, question: str, limit: int, raise_if_cancelled: Callable[[], None]
) -> str:
    """Returns passages of earlier sessions. Passages that read like a command to an agent are left out, unless a
    person said them. Raises CatalogError."""
    items: list[str] = []
    for passage in find_session_passages(project, home, question, raise_if_cancelled):
        if len(items) == limit:
            break
        if not is_for_model(passage):
            continue
        citation = passage.citation
        day = f"{passage.time[:10]}, " if passage.time else ""
        head = f"[{len(items) + 1}] {day}{passage.detail}, in “{neutral_line(citation.title, 80)}”"
        words = neutral_line(passage.text, MAX_PASSAGE_CHARS)
        items.append(f"{head} (turn {neutral_line(citation.turn, 80)})\n  {words}")
    return fence_items(items) or "Nothing about this was found in the sessions of this repository."


def _count_left_out(number: int) -> str:
    return f"{'One memory about this was' if number == 1 else f'{number} memories about this were'} left out"
