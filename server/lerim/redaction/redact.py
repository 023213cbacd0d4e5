"""The one place where secrets are cut out of text, before a memory, a candidate, a log or a model sees it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lerim.redaction import positional, rules
from lerim.redaction.entropy import random
from lerim.redaction.hidden import HIDDEN, visible
from lerim.redaction.rules import Span

__all__ = ["Redacted", "Span", "clean", "counting", "redact", "redacted_spans", "without_private"]

_DONE = re.compile(r"\[redacted:[a-z-]{1,30}\]")
_UNSEEN = re.compile(rf"\x1b\[[0-9;]{{0,20}}[A-Za-z]|{HIDDEN.pattern}")
_WORDY = re.compile(r"[A-Za-z0-9_-]")
_PRIVATE = re.compile(r"<(/?)private>", re.IGNORECASE)
_OPENS = re.compile(r"<private>", re.IGNORECASE)
_MET: ContextVar[set[int] | None] = ContextVar("secrets", default=None)


@dataclass(frozen=True, slots=True)
class Redacted:
    """The clean text, how many secrets were cut out, and where they stood in the original."""

    text: str
    count: int
    spans: tuple[Span, ...]


def redact(text: str) -> Redacted:
    """Replaces every secret by `[redacted:<kind>]`, also one that characters which do not show cut into pieces. Clean
    text comes back unchanged; a second pass changes nothing."""
    spans = _found(text)
    if not spans:
        return Redacted(text, 0, ())
    cut = _cut(text, spans)
    for _ in range(5):  # a cut can bring a literal and its value together; rare, and settled in one more look
        again = _found(cut)
        if not again:
            break
        cut = _cut(cut, again)
    return Redacted(cut, len(spans), _noted(text, tuple(spans)))


@contextmanager
def counting() -> Iterator[set[int]]:
    """Gathers the secrets cut out within the block, each once, as hashes that mean nothing outside this process."""
    met: set[int] = set()
    before = _MET.set(met)
    try:
        yield met
    finally:
        _MET.reset(before)


def _noted(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The spans, counted where somebody counts."""
    met = _MET.get()
    if met is not None:
        met.update(hash(text[span.start : span.end]) for span in spans)
    return spans


def redacted_spans(text: str) -> tuple[Span, ...]:
    """Where secrets were cut out of a text before: the places of their marks."""
    return tuple(Span(*match.span(), "redacted") for match in _DONE.finditer(text)) if "[redacted:" in text else ()


def clean(text: str) -> str:
    """The text as it may be shown: without secrets, and with every character that does not show written out."""
    return visible(redact(text).text)


def _cut(text: str, spans: list[Span]) -> str:
    out: list[str] = []
    last = 0
    for span in spans:
        out += (text[last : span.start], f"[redacted:{span.kind}]")
        last = span.end
    out.append(text[last:])
    return "".join(out)


def _found(text: str) -> list[Span]:
    """The secrets of a text in order, looked for with and without the characters that do not show."""
    spans = _look(text)
    if HIDDEN.search(text):
        plain, starts, moved = _shown(text)
        for span in _look(plain):
            first, last = bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1) - 1
            spans.append(Span(span.start + moved[first], span.end + moved[last], span.kind))
    if spans and "[redacted:" in text:
        done = [match.span() for match in _DONE.finditer(text)]
        spans = [span for span in spans if not any(span.start < end and start < span.end for start, end in done)]
    return _merged(spans)


def _shown(text: str) -> tuple[str, list[int], list[int]]:
    """The characters that show; where each run of them starts in it, and how far back it was moved."""
    parts: list[str] = []
    starts, moved = [0], [0]
    last = size = 0
    for match in _UNSEEN.finditer(text):
        parts.append(text[last : match.start()])
        size += match.start() - last
        last = match.end()
        starts.append(size)
        moved.append(last - size)
    parts.append(text[last:])
    return "".join(parts), starts, moved


def _look(text: str) -> list[Span]:
    low = text.lower()
    if len(low) != len(text):  # a few letters change length in lower case; positions must agree
        low = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    spans = _tokens(text)
    if "-----BEGIN " in text:
        spans += _keys(text)
    if "<private>" in low:
        spans += _private(text, low)
    return spans + positional.spans(text, low)


def _at(text: str, literal: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """The matches of a pattern at every place of its literal."""
    out = []
    at = text.find(literal)
    while at >= 0:
        match = pattern.match(text, at)
        if match:
            out.append(match)
        at = text.find(literal, match.end() if match and match.end() > at else at + len(literal))
    return out


def _tokens(text: str) -> list[Span]:
    out: list[Span] = []
    for rule in rules.RULES:
        if rule.literal not in text:
            continue
        # `sk-` also ends words; `ghp_` and its like are a token wherever they stand, glued to other text too
        whole = rule.literal[0].isalnum() and not (len(rule.literal) >= 4 and rule.literal.endswith("_"))
        at = text.find(rule.literal)
        while at >= 0:
            end = at + len(rule.literal)
            before = text[at - 1] if at and whole else " "
            match = None if _WORDY.match(before) else rule.pattern.match(text, at)
            if match and not (rule.random and not random(text[end : match.end()])):
                out.append(Span(at, match.end(), rule.kind))
            at = text.find(rule.literal, match.end() if match else end)
    for pattern, head, kind in (
        (rules.TELEGRAM, rules.TELEGRAM_HEAD, "telegram-token"),
        (rules.DISCORD, rules.DISCORD_HEAD, "discord-token"),
    ):
        for match in pattern.finditer(text):
            first = head.search(text[max(0, match.start() - 32) : match.start()])
            if first and random(match.group()[1:]):
                out.append(Span(match.start() - len(first.group()), match.end(), kind))
    return out


def _keys(text: str) -> list[Span]:
    """Private key blocks; one that is cut off ends where its characters end."""
    out = []
    for match in _at(text, "-----BEGIN ", rules.PEM_HEAD):
        body = rules.PEM_BODY.match(text, match.end())
        end = body.end() if body else match.end()
        tail = text.find("-----END ", match.end(), match.end() + 20_000)
        if tail >= 0 and tail <= end + 9:
            stop = text.find("-----", tail + 9, tail + 80)
            end = stop + 5 if stop >= 0 else max(end, tail)
        out.append(Span(match.start(), end, "private-key"))
    return out


def without_private(text: str) -> str:
    """The text without its `<private>` blocks: nothing is learned from them, not even that they were there."""
    if not _OPENS.search(text):
        return text
    parts, last = [], 0
    for span in _private(text, text):
        parts.append(text[last : span.start])
        last = span.end
    return "\n\n".join([*parts, text[last:]])


def _private(text: str, low: str) -> list[Span]:
    """Blocks in any case, with blocks inside them; one that is not closed goes to the end."""
    out: list[Span] = []
    depth = start = 0
    for match in _PRIVATE.finditer(low):
        if not match[1]:
            start = start if depth else match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                out.append(Span(start, match.end(), "private"))
    return [*out, Span(start, len(text), "private")] if depth else out


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if out and span.start < out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end), out[-1].kind)
        else:
            out.append(span)
    return out
