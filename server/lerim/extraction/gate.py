"""The gate that turns drafts into candidates.

A draft is dropped if no quote supports it, if nobody who is entitled to make the claim made it, if it is a secret,
if it gives orders to an agent, or if it is already known. Poor wording, or not naming anything, only lowers its
rank. A dropped draft keeps the candidate it would have become, so that a person can still have it proposed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lerim.extraction.candidate import Candidate, DroppedSignal, DropReason, drop_candidate
from lerim.extraction.confidence import candidate_confidence, count_weaknesses
from lerim.extraction.facts import (
    MAX_TITLE_CHARS,
    TOOL_NAMES,
    full_sentence,
    make_title,
    squeeze_spaces,
    superseded_by_prompt,
    superseded_by_reply,
)
from lerim.extraction.quote_check import verify_quote
from lerim.extraction.signals import Draft
from lerim.memory import Evidence
from lerim.patterns import compile_later
from lerim.redaction import (
    clean_text,
    find_flags,
    find_redaction_marks,
    redact_secrets,
    remove_orders,
    show_hidden,
)
from lerim.sessions import Platform

MAX_QUOTES = 3
MAX_REPLACES_CHARS = 80  # maximum characters of a name or value that is replaced
_INSTEAD_OF = compile_later(
    r"\b(?:instead of|rather than) (?:using )?(?P<name>`[^`\n]{2,60}`|(?!(?:the|a|an|it|its|this|that|these|those|my"
    r"|our|your)\b)[\w@][\w@/+-]{1,40}(?:\.\w[\w@/+-]{0,30}){0,4})",
    re.IGNORECASE,
)
"""Matches the name that a person rejects in favor of another."""
_INNER_CAPITAL = compile_later(r"[a-z][A-Z]")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SessionSource:
    """The information about a session that the gate needs.

    `find_words` returns everything this speaker said in the turn with this id, joined; "" for an unknown turn.
    `instruction_text` is the text read from instruction files and from our own memories, on one line in lower case.
    `accepted` says whether the person's next words accepted what was done.
    """

    platform: Platform
    session: str
    find_words: Callable[[str, str], str]
    instruction_text: str = ""
    accepted: bool = False


def judge_draft(draft: Draft, source: SessionSource) -> Candidate | DroppedSignal:
    """Judges one draft. A returned candidate is fully redacted and has only quotes that are verbatim in their turn."""
    title, body = _make_title_and_body(draft)
    if not title or not draft.body.strip():
        return DroppedSignal("invalid", title, source.session, draft.turn.id, "a memory needs a title and a body")
    evidence = _collect_evidence(draft, source)
    marks = find_flags(draft.title, draft.body, *(quote.text for quote in draft.quotes))
    persons = sum(item.who == "user" for item in evidence)
    whole = squeeze_spaces(draft.title).rstrip(" .")
    weak = count_weaknesses(
        whole, names_something=bool(draft.artifacts or draft.references), asks=draft.primitive == "question"
    )
    candidate = Candidate(
        primitive=draft.primitive,
        kind=draft.kind,
        title=title,
        body=body,
        confidence=candidate_confidence(
            draft.basis,
            accepted=source.accepted,
            repeated=persons - 1,
            flagged=bool(marks),
            weaknesses=weak,
            chance=draft.chance,
        ),
        tags=_make_tags(draft),
        references=draft.references,
        evidence=evidence,
        platform=source.platform,
        session=source.session,
        turn=draft.turn.id,
        time=draft.turn.time or EPOCH,
        signal=draft.signal,
        flags=marks,
        replaces=_find_replaced_names(draft),
        score=draft.score,
        features=draft.features,
    )
    fault = _find_drop_reason(draft, source, candidate)
    if fault is not None:
        reason, detail = fault
        return drop_candidate(strip_orders(candidate), reason, detail)
    return candidate


def strip_orders(candidate: Candidate) -> Candidate:
    """Returns the candidate without any text that gives orders to an agent."""
    evidence = tuple(replace(item, quote=remove_orders(item.quote)) for item in candidate.evidence)
    title, body = remove_orders(candidate.title), remove_orders(candidate.body)
    return replace(candidate, title=title, body=body, evidence=evidence)


def _make_title_and_body(draft: Draft) -> tuple[str, str]:
    title, body = clean_text(squeeze_spaces(draft.title)), clean_text(draft.body.strip())
    if len(title) <= MAX_TITLE_CHARS:
        return title, body
    whole = full_sentence(title)
    asks = draft.primitive == "question"
    short = f"{make_title(title.rstrip(' ?'))}?" if asks else make_title(title)
    return short, body if whole.rstrip(".").lower() in body.lower() else f"{whole} {body}".strip()


def _find_replaced_names(draft: Draft) -> tuple[str, ...]:
    names = dict.fromkeys(_iterate_superseded_names(draft))
    return tuple(
        show_hidden(name)
        for name in names
        if len(name) <= MAX_REPLACES_CHARS and not find_redaction_marks(redact_secrets(name).text)
    )


def _iterate_superseded_names(draft: Draft) -> Iterator[str]:
    if draft.signal in ("fixed-command", "friction", "theme") or draft.primitive not in ("decision", "learning"):
        return
    for quote in draft.quotes:
        if quote.who == "assistant":
            yield from superseded_by_reply(quote.text)
        elif quote.who == "user":
            yield from superseded_by_prompt(quote.text)
            if not quote.text.rstrip().endswith("?"):
                yield from (found["name"].strip("`") for found in _INSTEAD_OF.finditer(quote.text))


def _find_drop_reason(draft: Draft, source: SessionSource, candidate: Candidate) -> tuple[DropReason, str] | None:
    evidence = candidate.evidence
    if find_redaction_marks(candidate.title):
        return "secret-only", "the claim itself holds a secret"
    may_order = "commands-an-agent" in candidate.flags and "commands-an-agent" in find_flags(draft.title, draft.body)
    if may_order and not any(item.who == "user" for item in evidence):
        return "injection", "it gives orders to an agent, and no quote of yours supports it"
    if not evidence:
        return "no-evidence", "none of its quotes is in its turn"
    headings = [quote.who != "tool" and quote.text.rstrip().endswith(":") for quote in draft.quotes]
    if draft.signal != "model" and all(headings):
        return "no-evidence", "only a heading is quoted; what it announces is elsewhere"
    if why := _find_missing_speaker(draft, evidence):
        return "not-the-person", why
    if any(_normalize_text(quote.text) in source.instruction_text for quote in draft.quotes if len(quote.text) > 20):
        return "already-known", "it repeats a rules file or a memory"
    return None


def _find_missing_speaker(draft: Draft, evidence: tuple[Evidence, ...]) -> str:
    """Returns the reason why nobody who is entitled to make the claim made it, or "" if somebody did."""
    speakers = {item.who for item in evidence}
    if draft.signal == "fixed-command":
        return ""
    if not speakers & {"user", "assistant"}:
        return "only a tool or a web page says so"
    if draft.signal in ("prompt", "answer", "feedback") and "user" not in speakers:
        return "you did not say so"
    return ""


def _collect_evidence(draft: Draft, source: SessionSource) -> tuple[Evidence, ...]:
    verified = ((verify_quote(quote, source.find_words(quote.turn, quote.who)), quote) for quote in draft.quotes)
    return tuple(dict.fromkeys(Evidence(text, quote.turn, quote.who) for text, quote in verified if text))[:MAX_QUOTES]


def _normalize_text(text: str) -> str:
    return squeeze_spaces(text).lower()


def _make_tags(draft: Draft) -> tuple[str, ...]:
    """Returns up to four plain lower-case words: the names that the title mentions. A name written `likeThis` is an
    identifier in the code rather than a subject, unless it is the name of a tool."""
    title = f" {draft.title.lower()} ".replace(",", " ").replace("`", " ")
    names = (name.strip("`") for name in draft.artifacts)
    words = [name.lower() for name in names if name.lower() in TOOL_NAMES or not _INNER_CAPITAL.search(name)]
    plain = [word for word in words if word.replace("-", "").isalnum() and 1 < len(word) <= 24 and f" {word} " in title]
    return tuple(dict.fromkeys(plain))[:4]


def merge_candidates(first: Candidate, second: Candidate) -> Candidate:
    """Merges two candidates of one session that make the same claim: returns the first one with the quotes of both."""
    evidence = tuple(dict.fromkeys((*first.evidence, *second.evidence)))
    said = sum(item.who == "user" for item in evidence)
    extra = 0.05 if said > sum(item.who == "user" for item in first.evidence) else 0.0
    ranked = max(first, second, key=lambda one: -math.inf if one.score is None else one.score)
    sure = first.confidence if first.flags else round(min(0.95, max(first.confidence, second.confidence) + extra), 2)
    return replace(
        first,
        evidence=evidence[:MAX_QUOTES],
        confidence=sure,
        references=tuple(dict.fromkeys((*first.references, *second.references)))[:3],
        replaces=tuple(dict.fromkeys((*first.replaces, *second.replaces)))[:3],
        flags=tuple(dict.fromkeys((*first.flags, *second.flags))),
        score=ranked.score,
        features=ranked.features,
    )
