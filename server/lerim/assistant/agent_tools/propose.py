"""The tool `propose`: a claim that an agent submits becomes a candidate that waits for the developer."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lerim.errors import UsageError
from lerim.memory import KINDS, Evidence, LearningKind, MemoryRecord, Primitive, parse_reference, reference_text
from lerim.paths import Home
from lerim.project import Project
from lerim.redaction import clean_text
from lerim.review import AGENT_PREFIX, AlreadyKnown, ClaimBlocked, ReviewPaths, propose_from_agent

MAX_TITLE_CHARS, MAX_REASON_CHARS, MAX_REFERENCES = 160, 1_000, 5
CONFIDENCE = 0.4
"""The confidence of an agent's own claim, which is a little less likely to be worth keeping than what the ranker
finds in the person's words."""
_NAME = re.compile(r"[^a-z0-9._-]+")


def propose_memory(
    project: Project,
    home: Home,
    agent: str,
    kind: str,
    title: str,
    reason: str,
    places: list[str],
) -> str:
    """Submits a claim for review and returns the outcome. Raises UsageError, BusyError, MemoryError_."""
    primitive, learning_kind = _parse_kind(kind)
    now = datetime.now(UTC).replace(microsecond=0)
    words, details = " ".join(clean_text(title).split()), clean_text(reason).strip()
    if not any(map(str.isalnum, title)):
        raise UsageError("`title` is missing.", todo="Call the tool again with it.")
    record = MemoryRecord(
        id="proposed",
        primitive=primitive,
        title=words,
        created=now,
        updated=now,
        source=f"{AGENT_PREFIX}{_NAME.sub('-', agent.lower()).strip('-')[:60] or 'unknown'}",
        confidence=CONFIDENCE,
        tags=(),
        body=details or words,
        kind=learning_kind,
        references=tuple(dict.fromkeys(reference_text(one) for place in places if (one := parse_reference(place)))),
        evidence=(Evidence((details or words)[:200], "", "assistant"),),
    )
    outcome = propose_from_agent(ReviewPaths(project, home), record, now)
    if isinstance(outcome, ClaimBlocked):
        return "The developer has rejected this before, so it was not proposed again."
    if isinstance(outcome, AlreadyKnown):
        return f"Nothing was proposed. {clean_text(outcome.reason)}"
    return "Proposed. It waits for the developer's review; until then it is not a memory."


def _parse_kind(kind: str) -> tuple[Primitive, LearningKind | None]:
    if kind == "decision":
        return "decision", None
    if kind == "question":
        return "question", None
    for one in KINDS:
        if one == kind:
            return "learning", one
    raise UsageError(f"`kind` must be decision, question, {', '.join(KINDS)}.", todo="Call the tool again.")
