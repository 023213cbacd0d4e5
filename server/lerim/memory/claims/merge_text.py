"""Merges two texts of one memory, an old and a new one or those of two branches or folders: keeps every sentence that
the later text does not repeat."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from lerim.code_fences import next_fence
from lerim.errors import MemoryError_
from lerim.memory.claims.claim_words import dice_overlap, strip_boilerplate, word_stems
from lerim.memory.header import load_header, split_header
from lerim.memory.header_lines import HeaderValue
from lerim.memory.local_quotes import merge_evidence
from lerim.memory.record import HEADER_KEYS, MemoryRecord, evidence_values, parse_record, update_record_text
from lerim.memory.similarity import normalize_claim

MIN_REPLACED_OVERLAP = 0.5
"""The overlap of words (Dice's coefficient) from which a new sentence replaces one that Lerim wrote."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[^\Wa-z_]|[`“\"(\[])|(?<=[。！？])")
_GAPS = re.compile(r"\n(?:[ \t]*\n){2,}")

IsWrittenByLerim = Callable[[str], bool]
"""Returns whether Lerim, and not a person, wrote a sentence."""
_KEY = re.compile(r"([^\s#:\-][^:]*):(?:\s|\Z)")


def never_written_by_lerim(_: str) -> bool:
    """Returns False: a text of unknown origin counts as written by a person."""
    return False


def merge_bodies(old: str, title: str, body: str, by_lerim: IsWrittenByLerim = never_written_by_lerim) -> str:
    """Returns the new body, followed by what only the old one says. Code blocks and lines without words are kept whole
    unless the new body contains them.

    A sentence is dropped if the new title or body has it, ignoring case, punctuation and markdown. A sentence that is
    `by_lerim` is also dropped if its overlap with a new one reaches MIN_REPLACED_OVERLAP; a sentence that a
    person wrote stays.
    """
    new = body.replace("\r\n", "\n")
    lines = [line.strip() for line in new.split("\n")]
    new_sentences = [title, *split_sentences(new)]
    normalised = {_normalize_sentence(sentence) for sentence in new_sentences}
    new_stems = [stems for sentence in new_sentences if (stems := word_stems(sentence))]

    def is_repeated(sentence: str) -> bool:
        if _normalize_sentence(sentence) in normalised:
            return True
        stems = word_stems(sentence)
        return by_lerim(sentence.strip()) and any(
            dice_overlap(stems, other) >= MIN_REPLACED_OVERLAP for other in new_stems
        )

    kept_lines: list[str] = []
    block: list[str] = []
    fence = ""
    for line in old.replace("\r\n", "\n").split("\n"):
        was, fence = fence, next_fence(line, fence)
        if was or fence:
            block.append(line)
            if not fence:
                kept_lines += [] if "\n".join(block) in new else block
                block = []
        elif not line.strip() or line.strip() not in lines:
            unrepeated = _remove_repeats(line, is_repeated)
            if unrepeated or not line.strip():
                kept_lines.append(unrepeated)
    rest = _GAPS.sub("\n\n", "\n".join([*kept_lines, *block])).strip("\n")
    if not rest or rest in body:
        return body
    return f"{body}\n\n{rest}" if body.strip() else rest


def split_sentences(text: str) -> list[str]:
    """Returns the sentences of a text, without boilerplate and code blocks."""
    sentences: list[str] = []
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        was, fence = fence, next_fence(line, fence)
        if not was and not fence:
            sentences += [part.strip() for part in _SENTENCE_END.split(strip_boilerplate(line)) if part.strip()]
    return sentences


def _remove_repeats(line: str, is_repeated: Callable[[str], bool]) -> str:
    sentences = [sentence for sentence in _SENTENCE_END.split(strip_boilerplate(line)) if sentence.strip()]
    unrepeated = [sentence for sentence in sentences if not is_repeated(sentence)]
    return line if unrepeated == sentences and strip_boilerplate(line) == line else " ".join(unrepeated).rstrip()


def _normalize_sentence(sentence: str) -> str:
    return normalize_claim("", sentence.strip().rstrip(".!?。！？"))


def is_older(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Returns whether `one` was changed before `other`, so that `other` wins where they contradict each other."""
    return (other.updated, other.created) > (one.updated, one.created)


def merge_file_texts(one: str, other: str, path: Path) -> str:
    """Returns one memory file merged from two: the later body followed by the sentences only the earlier one has, and
    the tags, references, evidence, links and custom header keys of both. Header lines of the later file stay unless
    they must change.

    Raises MemoryError_ if a text is not a memory, or if its header cannot be changed line by line.
    """
    first, second = parse_record(one, path), parse_record(other, path)
    if is_older(first, second):
        one, other, first, second = other, one, second, first
    body = second.body if first.title == second.title else f"{second.title}\n\n{second.body}"
    changes: dict[str, HeaderValue] = {
        "created": min(first.created, second.created),
        "evidence": evidence_values(merge_evidence(first.evidence, second.evidence)),
    }
    for key in ("tags", "references", "supersedes", "resolves", "related"):
        changes[key] = tuple(dict.fromkeys((*getattr(first, key), *getattr(second, key))))
    for key in ("kind", "verified", "superseded_by", "resolved_by"):
        changes[key] = getattr(first, key) or getattr(second, key)
    text = merge_bodies(body, first.title, first.body) if body != first.body else None
    wanted: dict[str, HeaderValue] = {key: value for key, value in changes.items() if value}
    if first.primitive != "learning":  # the file stays in its folder, and only learnings have a kind
        wanted["kind"] = None
    return _add_custom_keys(update_record_text(one, wanted, text, str(path)), other, path)


def _add_custom_keys(text: str, other: str, path: Path) -> str:
    parts, others = split_header(text), split_header(other)
    assert parts is not None and others is not None
    head = text[parts.start : parts.end]
    known = load_header(head, str(path))
    found = load_header(other[others.start : others.end], str(path))
    lines: list[str] = []
    key = ""
    for line in other[others.start : others.end].splitlines():
        begun = _KEY.match(line)
        key = begun[1].strip().strip("\"'") if begun else key
        if key in found and key not in known and key not in HEADER_KEYS:
            lines.append(line + parts.newline)
    if head and not head.endswith("\n"):
        head += parts.newline
    wanted = {**found, **known}
    merged = head + "".join(lines)
    if load_header(merged, str(path)) != {key: wanted[key] for key in wanted if key in known or key not in HEADER_KEYS}:
        todo = "Resolve the conflict by hand."
        raise MemoryError_("The keys of both sides cannot be merged.", where=str(path), todo=todo)
    return text[: parts.start] + merged + text[parts.end :]
