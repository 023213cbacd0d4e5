"""The one place where secrets are cut out of text, before a memory, a candidate, a log or a model sees it."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

from lerim.extraction import secret_rules as rules

_DONE = re.compile(r"\[redacted:[a-z-]{1,30}\]")
_PRIVATE = re.compile(r"<private>", re.IGNORECASE)
_HEX = re.compile(r"^[0-9a-f]{7,64}$")
_UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_UNUSUAL = re.compile(r"[0-9!@#$%^&*?]")  # what a password has and an ordinary word has not
_WORDY = re.compile(r"[A-Za-z0-9]")
_VALUES = ("double", "single", "tick", "bare")


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` of the original was a secret of this kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """The clean text, how many secrets were cut out, and where they stood in the original."""

    text: str
    count: int
    spans: tuple[Span, ...]


def redact(text: str) -> Redacted:
    """Replaces every secret by `[redacted:<kind>]`. Clean text comes back unchanged; a second pass changes "
    "nothing."""
    spans = _merged(_found(text))
    if not spans:
        return Redacted(text, 0, ())
    out: list[str] = []
    last = 0
    for span in spans:
        out += (text[last : span.start], f"[redacted:{span.kind}]")
        last = span.end
    out.append(text[last:])
    clean = "".join(out)
    for _ in range(3):  # a cut can bring a literal and its value together; rare, and settled in one more look
        again = _merged(_found(clean))
        if not again:
            break
        for span in reversed(again):
            clean = f"{clean[: span.start]}[redacted:{span.kind}]{clean[span.end :]}"
    return Redacted(clean, len(spans), tuple(spans))


def _found(text: str) -> list[Span]:
    low = text.lower()
    if len(low) != len(text):  # a few letters change length in lower case; positions must agree
        low = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    spans = _tokens(text)
    if "-----BEGIN " in text:
        spans += _keys(text)
    if "<private>" in low:
        spans += _private(text, low)
    if "://" in text:
        spans += [
            Span(match.start("value"), match.end("value"), "url-password")
            for match in _at(text, "://", rules.CREDENTIALS)
            if not rules.PLACEHOLDER.search(match["value"])
        ]
    if "authorization" in low or "bearer" in low:
        spans += _headers(text, low)
    spans += _assigned(text, low)
    if spans and "[redacted:" in text:
        done = [match.span() for match in _DONE.finditer(text)]
        spans = [span for span in spans if not any(span.start < end and start < span.end for start, end in done)]
    return spans


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
        for match in _at(text, rule.literal, rule.pattern):
            start = match.start()
            before = text[start - 1] if start else ""
            if before and (_WORDY.match(before) or before in "_-") and rule.literal[0].isalnum():
                continue
            if rule.random and not _random(match.group()[len(rule.literal) :]):
                continue
            out.append(Span(start, match.end(), rule.kind))
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


def _private(text: str, low: str) -> list[Span]:
    out = []
    at = low.find("<private>")
    while at >= 0:
        end = low.find("</private>", at)
        stop = len(text) if end < 0 else end + 10
        out.append(Span(at, stop, "private"))
        at = low.find("<private>", stop)
    return out


def _headers(text: str, low: str) -> list[Span]:
    out = []
    for word in ("bearer ", "basic "):
        at = low.find(word)
        while at >= 0:
            match = rules.BEARER.match(text, at)
            named = word == "bearer " or "authorization" in low[max(0, at - 24) : at]
            if (
                match
                and named
                and not rules.PLACEHOLDER.search(match["value"])
                and (_random(match["value"]) or word == "basic ")
            ):
                out.append(Span(match.start("value"), match.end("value"), "authorization"))
            at = low.find(word, at + len(word))
    return out


def _assigned(text: str, low: str) -> list[Span]:
    out = []
    for word, kind, random in rules.WORDS:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            match = rules.ASSIGNED.match(text, end)
            if match is None and not random:
                match = rules.SPOKEN.match(text, end)
            if match is None and low.startswith("--", max(0, at - 2)):
                match = rules.OPTION.match(text, end)
            if match:
                group = next((name for name in _VALUES if name in match.re.groupindex and match[name]), "")
                if group and _secret_value(match[group], random, group != "bare"):
                    out.append(Span(match.start(group), match.end(group), kind))
            at = low.find(word, end)
    return out


def _secret_value(value: str, random: bool, quoted: bool) -> bool:
    value = value.strip()
    if len(value) < (12 if random else 4) or value.isdigit() or not _UNUSUAL.search(value):
        return False
    if " " in value or rules.NAME.match(value) or _UUID.match(value) or rules.PLACEHOLDER.search(value[:80]):
        return False
    if random:
        return _random(value)
    return quoted or not ("(" in value or "/" in value[:2])


def _random(value: str) -> bool:
    """Whether a string looks made by chance: letters and digits mixed, and no words joined by hyphens."""
    if len(value) < 8 or rules.PLACEHOLDER.search(value[:80]):
        return False
    digits = sum(ch.isdigit() for ch in value)
    letters = sum(ch.isalpha() for ch in value)
    if not digits or letters < 3:
        mixed = any(ch.islower() for ch in value) and any(ch.isupper() for ch in value)
        return mixed and len(value) >= 24 and _entropy(value) > 4.0
    parts = re.split(r"[-_.]", value)
    if len(parts) > 2 and all(len(part) < 12 for part in parts):
        return False
    return _entropy(value) > (2.5 if _HEX.match(value) else 2.9)


def _entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if out and span.start < out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end), out[-1].kind)
        else:
            out.append(span)
    return out
