"""Removes secrets from text, before a memory, a candidate, a log or a model receives it. The only place that does."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from operator import attrgetter

from lerim.redaction.hidden import HIDDEN_CHARACTERS, show_hidden
from lerim.redaction.places import calls, given, idioms, lines, positional, spoken, told
from lerim.redaction.values import (
    DISCORD,
    DISCORD_HEAD,
    SHAM,
    MiddleRule,
    NameFinder,
    Span,
    TokenRule,
    encoded,
    find_places,
    is_public,
    is_scrambled,
    looks_random,
    private_keys,
    token_forms,
)

__all__ = [
    "RedactedText",
    "Span",
    "clean_text",
    "collect_redactions",
    "find_redaction_marks",
    "redact_secrets",
    "remove_private_blocks",
]

_DONE = re.compile(r"\[redacted:[a-z-]{1,30}\]")
_UNSEEN = re.compile(rf"\x1b\[[0-9;]{{0,20}}[A-Za-z]|{HIDDEN_CHARACTERS.pattern}")
_WORDY = re.compile(r"[A-Za-z0-9_-]")
_GLUE = re.compile(r"[A-Za-z0-9]")
_ESCAPE = re.compile(r"\\[nrtbf]\Z|%[0-9A-F]{2}\Z")
_TAG = r"/?(?:b|i|em|strong|wbr|span|code|br ?/?)>"
_JOINT = re.compile(
    r"[\\%&<*\"'`](?<=[A-Za-z0-9_-].)(?:"
    r"(?P<underscore>(?<=\\)(?:_|\\?u005[fF])|(?<=%)5[fF]|(?<=&)#(?:95|x5[fF]);)|"
    rf"(?:(?<=<){_TAG}|(?<=\*)\*)(?:<{_TAG}|\*\*){{0,3}}|"
    r"(?<=[\"'`])\s{0,4}[+.&]?\s{0,20}[\"'`])(?=[A-Za-z0-9_-])"
)
"""Markup, escapes and joins of literals that can interrupt a token. The token itself has nothing or an underscore
there."""
_WIDE = re.compile("[\uff10-\uff5a]")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SHORTEST = 8
_SHORT, _REMEMBERED = 300, 20_000
_CLEAN: set[str] = set()
"""Short texts already found to contain no secret. Tool names, paths and lines repeat often."""
_DIGIT = re.compile(r"[0-9]")
_RUN = re.compile(r"[A-Za-z0-9_+/=.~:$?%@|-]{12,}")
"""A run of characters that can contain a token."""
_NAMES = NameFinder(
    (
        *positional.LOOKED_FOR,
        *idioms.LOOKED_FOR,
        *calls.LOOKED_FOR,
        *given.LOOKED_FOR,
        *lines.LOOKED_FOR,
        *spoken.LOOKED_FOR,
        *told.LOOKED_FOR,
    )
)
_START = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{2,4}")
_UNDERSCORE = re.compile(r"(?=([A-Za-z0-9_-]{2}_))")
_RUNNING = re.compile(r"[A-Za-z0-9_+/=.-]{1,4000}")
_LINES = 60
"""The most lines one token may be split over."""
_WRAPPED = re.compile(r"[\"']?[ \t]{0,4}\\{0,2}\r?\n[ \t>|#*+]{0,20}[\"']?([A-Za-z0-9_+/=.-]{4,200})(?=[\s\"',;)`]|\Z)")
_JOINED = re.compile(r"[\"']\s{0,8}[+.&]?\s{0,20}[fbr]?[\"']([A-Za-z0-9_+/=.-]{8,200})(?=[\"'])")
"""The second literal of a value that is split into two literals."""
_TORN = re.compile(r"([A-Za-z0-9_-]{8,200})(?:…|\.\.\.|\[…)")
"""The beginning of a token that was already shortened in the text."""
_PRIVATE = re.compile(r"<(/?)private>", re.IGNORECASE)
_OPENS = re.compile(r"<private>", re.IGNORECASE)
_MET: ContextVar[set[int] | None] = ContextVar("secrets", default=None)


@dataclass(frozen=True, slots=True)
class RedactedText:
    """The clean text, the number of secrets removed, and their positions in the original."""

    text: str
    count: int
    spans: tuple[Span, ...]


def redact_secrets(text: str) -> RedactedText:
    """Replaces every secret with `[redacted:<kind>]`, including secrets that invisible characters split. Text
    without secrets is returned unchanged; a second pass changes nothing."""
    size = len(text)
    if size < _SHORTEST or text in _CLEAN:
        return RedactedText(text, 0, ())
    spans = find_secrets(text)
    if not spans:
        if size <= _SHORT:
            _remember(text)
        return RedactedText(text, 0, ())
    cut = replace_spans(text, spans)
    for _ in range(5):  # rarely, a replacement brings a literal and its value together; another pass finds them
        again = find_secrets(cut)
        if not again:
            break
        cut = replace_spans(cut, again)
    return RedactedText(cut, len(spans), _noted(text, tuple(spans)))


def _remember(text: str) -> None:
    if len(_CLEAN) >= _REMEMBERED:
        _CLEAN.clear()
    _CLEAN.add(text)


@contextmanager
def collect_redactions() -> Iterator[set[int]]:
    """Collects the secrets removed within the block, each once, as hashes that are meaningless outside this process."""
    met: set[int] = set()
    before = _MET.set(met)
    try:
        yield met
    finally:
        _MET.reset(before)


def _noted(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Returns the spans, and records them if `collect_redactions` is active."""
    met = _MET.get()
    if met is not None:
        met.update(hash(text[span.start : span.end]) for span in spans)
    return spans


def find_redaction_marks(text: str) -> tuple[Span, ...]:
    """Finds the marks of secrets that were removed from a text earlier."""
    return tuple(Span(*match.span(), "redacted") for match in _DONE.finditer(text)) if "[redacted:" in text else ()


def clean_text(text: str) -> str:
    """Returns the text as it may be shown: without secrets, and with every invisible character written out."""
    return show_hidden(redact_secrets(text).text)


def replace_spans(text: str, spans: list[Span]) -> str:
    """Replaces each span with its mark; the spans must be in order and not overlap."""
    out: list[str] = []
    last = 0
    for span in spans:
        out += (text[last : span.start], f"[redacted:{span.kind}]")
        last = span.end
    out.append(text[last:])
    return "".join(out)


def find_secrets(text: str) -> list[Span]:
    """Finds the secrets of a text, in order, with and without its invisible characters."""
    spans = _look(text)
    if spans:
        spans += _repeated(text, spans)
    if HIDDEN_CHARACTERS.search(text):
        plain, starts, moved = _shown(text)
        for span in _look(plain):
            first, last = bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1) - 1
            spans.append(Span(span.start + moved[first], span.end + moved[last], span.kind))
    spans += _joined(text)
    if spans and "[redacted:" in text:
        done = [match.span() for match in _DONE.finditer(text)]
        spans = [span for span in spans if not any(span.start < end and start < span.end for start, end in done)]
    return _merged(spans)


def _joined(text: str) -> list[Span]:
    """Finds tokens that markup, an escape or a join of two literals interrupts, and tokens in full-width letters."""
    spans: list[Span] = []
    if not text.isascii() and _WIDE.search(text):
        narrow = text.translate(_NARROW)
        spans += _tokens(narrow, _RUN.findall(narrow))
    joints = list(_JOINT.finditer(text))
    if not joints:
        return spans
    parts: list[str] = []
    starts, moved = [0], [0]
    last = size = 0
    for joint in joints:
        here = "_" if joint.lastgroup == "underscore" else ""
        parts += (text[last : joint.start()], here)
        size += joint.start() - last + len(here)
        last = joint.end()
        starts.append(size)
        moved.append(last - size)
    plain = "".join((*parts, text[last:]))
    for span in _tokens(plain, _RUN.findall(plain)):
        first, end = bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1) - 1
        if first != end:
            spans.append(Span(span.start + moved[first], span.end + moved[end], span.kind))
    return spans


def _repeated(text: str, spans: list[Span]) -> list[Span]:
    """Finds other occurrences of the same secrets, in places that do not identify them."""
    values = {text[span.start : span.end]: span.kind for span in spans if 12 <= span.end - span.start <= 400}
    return [
        Span(at, at + len(value), kind) for value, kind in list(values.items())[:40] for at in find_places(text, value)
    ]


def _shown(text: str) -> tuple[str, list[int], list[int]]:
    """Returns the text without invisible characters, the start of each of its runs, and the offset of each run in
    the original."""
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


def _look(text: str, *, decode: bool = True) -> list[Span]:
    low = text.lower()
    if len(low) != len(text):  # a few letters change length in lower case; positions must agree
        low = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    runs = _RUN.findall(text)
    spans = _tokens(text, runs) + private_keys.find_private_keys(text)
    if "<private>" in low:
        spans += _private(text, low)
    found = _NAMES.found(low)
    placed = (
        positional.find_unnamed_values(text, low, found)
        + told.find_cookies_and_files(text, low, found)
        + positional.find_named_values(text, low, found)
    )
    for finder in (told, given, calls, lines, spoken, idioms):
        placed += finder.find_spans(text, low, found)
    spans += [span for span in placed if not is_public(text, span)]
    if decode and runs and len(max(runs, key=len)) >= encoded.SHORTEST_RUN:
        spans += encoded.find_encoded_secrets(text, lambda plain: _look(plain, decode=False))
    return [_continued(text, span) for span in spans]


def _continued(text: str, span: Span) -> Span:
    """Extends the span to the rest of its value, in a second literal or on the following lines."""
    if not 8 <= span.end - span.start <= 200 or span.kind == "url-password":
        return span
    end, first = span.end, True
    while end - span.start < 1000 and (rest := (_WRAPPED.match(text, end) or _JOINED.match(text, end))):
        if (
            not (first or text[rest.start()] in "\"'\\")
            or len(rest[1]) < 8
            or not is_scrambled(rest[1])
            or not is_scrambled(text[span.start : span.end])
        ):
            break
        end, first = rest.end(1), False
    return Span(span.start, end, span.kind) if end > span.end else span


def _tokens(text: str, found: list[str]) -> list[Span]:
    """Finds tokens of the vendors' forms. Rules are applied only if their literal occurs in a run that can be a
    token."""
    if not found:
        return []
    runs = "\n".join([run for run in dict.fromkeys(found) if _DIGIT.search(run) or (len(run) >= 20 and "/" not in run)])
    if not runs:
        return []
    out: list[Span] = []
    for rule in _rules_for(runs):
        if rule.literal in runs:
            out += _of_rule(text, rule)
    for middle in token_forms.MIDDLES:
        if middle.literal in runs:
            out += _of_middle(text, middle)
    out += _of_discord(text, runs)
    return sorted(out, key=attrgetter("kind")) if len(out) > 1 else out


def _rules_for(runs: str) -> Iterator[TokenRule]:
    """Yields the rules whose literal may occur in these runs, looked up by the beginnings of words and by
    underscores."""
    words = set(_START.findall(runs))
    starts = {word[:2] for word in words}
    starts |= {word[1:3] for word in words}
    starts |= {word[2:4] for word in words}
    for start in starts & token_forms.BY_START.keys():
        yield from token_forms.BY_START[start]
    if "_" in runs:
        for end in set(_UNDERSCORE.findall(runs)) & token_forms.BY_UNDERSCORE.keys():
            yield from token_forms.BY_UNDERSCORE[end]
    yield from token_forms.ANYWHERE


def _of_rule(text: str, rule: TokenRule) -> Iterator[Span]:
    # `sk-` also ends words, and `live_` also ends the prefix of publishable keys; `ghp_` and the like begin a token
    # anywhere, even directly after other text
    telling = len(rule.literal) >= 4 and rule.literal.endswith("_") and not rule.random
    whole = rule.literal[0].isalnum() and not telling
    glue = _GLUE if rule.kind == "aws-access-key" else _WORDY
    at = text.find(rule.literal)
    while at >= 0:
        end = at + len(rule.literal)
        if not (whole and at and glue.match(text[at - 1])) or _ESCAPE.search(text, max(0, at - 3), at):
            stop = _end_of_token(text, at, end, rule)
            if stop:
                yield Span(at, stop, rule.kind)
                end = stop
        at = text.find(rule.literal, end)


def _end_of_token(text: str, at: int, end: int, rule: TokenRule) -> int:
    """Returns the end of the token that begins at `at`, or 0 if there is none. Follows a token across line breaks."""
    match = rule.pattern.match(text, at)
    stop = match.end() if match else 0
    run = _RUNNING.match(text, end)
    lines = _further_lines(text, run.end()) if run and run.end() > end + 3 else []
    if run and lines:
        whole = text[at : run.end()] + "".join(line[1] for line in lines)
        longer = rule.pattern.match(whole)
        if longer and longer.end() > run.end() - at and (not stop or stop == run.end()):
            rest, left = whole[end - at : longer.end()], len(whole) - longer.end()
            while left >= len(lines[-1][1]):
                left -= len(lines.pop()[1])
            return lines[-1].end() - left if not _sham(rest) and (not rule.random or looks_random(rest)) else 0
    if match is None:
        torn = _TORN.match(text, end)
        return torn.end(1) if torn and len(rule.literal) > 3 and looks_random(torn[1]) and not _sham(torn[1]) else 0
    rest = text[end:stop]
    return 0 if _sham(rest) or (rule.random and not looks_random(rest)) else stop


def _further_lines(text: str, at: int) -> list[re.Match[str]]:
    """Returns the next lines of a token that a screen wrapped into lines of equal length, with a shorter last line."""
    out: list[re.Match[str]] = []
    while len(out) < _LINES and (line := _WRAPPED.match(text, at)) and _mixed(line[1]):
        out.append(line)
        at = line.end()
        if len(out) > 1 and len(line[1]) < len(out[-2][1]):
            break
    return out if len(out) < 2 or len(out[-1][1]) <= len(out[0][1]) == len(out[-2][1]) else out[:1]


def _mixed(text: str) -> bool:
    """Returns whether a run of characters contains letters and digits, as the second half of a token does."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _sham(rest: str) -> bool:
    """Returns whether the text after a token's literal is a placeholder, as used in documentation."""
    return bool(SHAM.search(rest[:400])) or len(set(rest)) < 2


def _of_middle(text: str, rule: MiddleRule) -> Iterator[Span]:
    before, after = rule.patterns
    at = text.find(rule.literal)
    while at >= 0:
        end = at + len(rule.literal)
        head = before.search(text, max(0, at - 130), at)
        tail = after.match(text, end) if head else None
        if head and tail and _mixed(text[head.start() : tail.end()]):
            yield Span(head.start(), tail.end(), rule.kind)
            end = tail.end()
        at = text.find(rule.literal, end)


def _of_discord(text: str, runs: str) -> Iterator[Span]:
    if not DISCORD.search(runs):
        return
    for match in DISCORD.finditer(text):
        first = DISCORD_HEAD.search(text, max(0, match.start() - 32), match.start())
        if first and looks_random(match.group()[1:]):
            yield Span(first.start(), match.end(), "discord-token")


def remove_private_blocks(text: str) -> str:
    """Removes `<private>` blocks: nothing is learned from them, not even that they existed."""
    if not _OPENS.search(text):
        return text
    parts, last = [], 0
    for span in _private(text, text):
        parts.append(text[last : span.start])
        last = span.end
    return "\n\n".join([*parts, text[last:]])


def _private(text: str, low: str) -> list[Span]:
    """Finds `<private>` blocks in upper or lower case, including nested ones; an unclosed block extends to the end."""
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
