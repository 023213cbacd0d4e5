"""The texts of memory files as accepting a proposal leaves them; every function gives text, none writes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lerim.files import hash_text
from lerim.memory import (
    Evidence,
    HeaderValue,
    MemoryRecord,
    Quotes,
    Store,
    merge_bodies,
    merge_evidence,
    parse_record,
    record,
    split_header,
    strip_quotes,
    update_file_sentence,
)
from lerim.redaction import redact_secrets

ACCEPTED_CONFIDENCE = 0.9
"""The least confidence of a memory that a person accepted. The figure of a candidate says how likely it is worth
keeping; the person has decided that. It stays below `candidates.PERSON_CONFIDENCE`, since the words are not theirs."""


def accepted_record(memory: MemoryRecord) -> MemoryRecord:
    """The memory as a person's accept keeps it: its confidence is at least `ACCEPTED_CONFIDENCE`."""
    return replace(memory, confidence=max(memory.confidence, ACCEPTED_CONFIDENCE))


def updated_text(
    new: MemoryRecord,
    before: str,
    path: Path,
    store: Store,
    ended: Sequence[MemoryRecord] = (),
    *,
    overwrite_body: bool = False,
) -> str:
    """A memory's text after an update: the new words, and what both know of tags, places and evidence.

    Sentences of the memory that the new record does not say again stay, its title as one of them
    (`memory/claims/merge_text.py`); none if the new text is the `whole` text. `ended` are memories that end with it: it
    names them. Raises MemoryError_.
    """
    old = parse_record(before, path)
    ours = store.ours(old.id, hash_text(before))
    changes: dict[str, HeaderValue] = {
        "title": new.title,
        "updated": max(new.updated, old.updated),
        "source": new.source if new.updated >= old.updated else old.source,
        "confidence": max(new.confidence, old.confidence),
        "tags": _all(old.tags, new.tags),
        "kind": new.kind or old.kind,
        "references": _all(old.references, new.references),
        "evidence": evidence_entries(_both(new.evidence, old, store.quotes)),
        **_named(old, ended),
    }
    body = merge_bodies(f"{old.title}\n\n{old.body}", new.title, new.body, ours) if not overwrite_body else new.body
    return record.update_record_text(before, {key: value for key, value in changes.items() if value}, body, str(path))


def naming_text(before: str, path: Path, ended: Iterable[MemoryRecord]) -> str:
    """A memory's text once it names what it ended, nothing else changed. Raises MemoryError_."""
    return record.update_record_text(before, _named(parse_record(before, path), ended), where=str(path))


def ended_text(before: str, path: Path, old: MemoryRecord, by: str, heir: MemoryRecord) -> str:
    """A memory's text once the memory `by`, of the form of `heir`, ended it. Raises MemoryError_."""
    return record.update_record_text(
        before, {"resolved_by" if is_answered(old, heir) else "superseded_by": by}, where=str(path)
    )


def referring_text(before: str, path: Path, references: Sequence[str]) -> str:
    """A memory's text with other references; what Lerim itself wrote of the files it concerns names the new ones, and
    nothing else changes. Raises MemoryError_."""
    old = parse_record(before, path)
    after = record.update_record_text(before, {"references": tuple(references) or None}, where=str(path))
    parts = split_header(after)
    if parts is None or old.source == "manual":
        return after
    return after[: parts.body] + update_file_sentence(after[parts.body :], _moves(old.references, references))


def _moves(old: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """Where each file that is named no more is now: those that are named instead, in order; the one file that is left
    where there are none."""
    gone = [one.partition("#")[0] for one in old if one not in new]
    come = [one.partition("#")[0] for one in new if one not in old]
    if not come and len(new) == 1:
        come = [new[0].partition("#")[0]] * len(gone)
    return {was: now for was, now in zip(gone, come, strict=True) if was != now} if len(gone) == len(come) else {}


def name_ended(new: MemoryRecord, ended: Iterable[MemoryRecord]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a memory supersedes and resolves once it ends these, besides what it did before."""
    ended = tuple(ended)
    supersedes = _all(new.supersedes, (one.id for one in ended if not is_answered(one, new)))
    return supersedes, _all(new.resolves, (one.id for one in ended if is_answered(one, new)))


def is_answered(old: MemoryRecord, by: MemoryRecord) -> bool:
    """Whether a memory that ends does so as a question that was answered, not as a claim that was replaced."""
    return old.primitive == "question" and by.primitive != "question"


def evidence_entries(evidence: Sequence[Evidence]) -> tuple[dict[str, str], ...]:
    """Evidence as a header holds it."""
    return tuple({"quote": item.quote, "turn": item.turn, "who": item.who} for item in evidence)


def redacted_diff(before: str, after: str, name: str) -> str:
    """The change of a file as a unified diff, to be looked at: without secrets."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return redact_secrets("\n".join(lines)).text


def _named(old: MemoryRecord, ended: Iterable[MemoryRecord]) -> dict[str, HeaderValue]:
    supersedes, resolves = name_ended(old, ended)
    return {key: value for key, value in (("supersedes", supersedes), ("resolves", resolves)) if value}


def _both(new: tuple[Evidence, ...], old: MemoryRecord, quotes: Quotes) -> tuple[Evidence, ...]:
    """The evidence of both as the file shows it; what is the same is seen by its words, wherever they lie."""
    known = quotes.join_quotes(old)[0].evidence[: len(old.evidence)]
    written = dict(zip(known, old.evidence, strict=True))
    if quotes.read_choice() == "local":
        written = {**dict(zip(new, strip_quotes(new), strict=True)), **written}
    else:
        written |= dict(zip(new, new, strict=True))
    return tuple(written[item] for item in merge_evidence(new, known))


def _all(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))
