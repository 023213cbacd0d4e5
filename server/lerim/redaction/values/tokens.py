"""Finds tokens by the forms that their vendors publish, and values that continue on the next lines or in another
string literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter

from lerim.patterns import compile_later
from lerim.redaction.values import token_forms
from lerim.redaction.values.appearance import is_scrambled, looks_random
from lerim.redaction.values.placeholders import is_sample
from lerim.redaction.values.rule_types import DISCORD_HEAD, DISCORD_TAIL, MiddleRule, Span, TokenRule

TOKEN_RUN = compile_later(r"[A-Za-z0-9_+/=.~:$?%@|-]{12,}")
"""A run of characters that can contain a token."""
_DIGIT = compile_later(r"[0-9]")
_WORD_CHARACTER = compile_later(r"[A-Za-z0-9_-]")
_LETTER_OR_DIGIT = compile_later(r"[A-Za-z0-9]")
_ESCAPE = compile_later(r"\\[nrtbf]\Z|%[0-9A-F]{2}\Z")
_WORD_START = compile_later(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{2,4}")
_UNDERSCORE = compile_later(r"_(?<=([A-Za-z0-9_-]{2})_)")
_REST_OF_RUN = compile_later(r"[A-Za-z0-9_+/=.-]{1,4000}")
_SHORTENED = compile_later(r"([A-Za-z0-9_-]{8,200})(?:…|\.\.\.|\[…)")
"""The beginning of a token that was already shortened in the text."""
_MOST_LINES = 60
"""The maximum number of lines that one token may be split over."""
_NEXT_LINE = compile_later(
    r"[\"']?[ \t]{0,4}\\{0,2}\r?\n[ \t>|#*+]{0,20}[\"']?([A-Za-z0-9_+/=.-]{4,200})(?=[\s\"',;)`]|\Z)"
)
_NEXT_LITERAL = compile_later(r"[\"']\s{0,8}[+.&]?\s{0,20}[fbr]?[\"']([A-Za-z0-9_+/=.-]{8,200})(?=[\"'])")
"""The second literal of a value that is split into two literals."""


def find_tokens(text: str, runs: list[str]) -> list[Span]:
    """Finds tokens of the vendors' forms. `runs` are the matches of `TOKEN_RUN` in the text; a rule is applied only
    if its literal occurs in a run that can be a token."""
    if not runs:
        return []
    candidates = "\n".join(
        [run for run in dict.fromkeys(runs) if _DIGIT.search(run) or (len(run) >= 20 and "/" not in run)]
    )
    if not candidates:
        return []
    spans: list[Span] = []
    for rule in _select_rules(candidates):
        if rule.literal in candidates:
            spans += _apply_rule(text, rule)
    for middle_rule in token_forms.MIDDLES:
        if middle_rule.literal in candidates:
            spans += _apply_middle_rule(text, middle_rule)
    spans += _find_discord_tokens(text, candidates)
    return sorted(spans, key=attrgetter("kind")) if len(spans) > 1 else spans


def _select_rules(candidates: str) -> Iterator[TokenRule]:
    """Yields the rules whose literal may occur in these runs, looked up by the beginnings of words and by
    underscores."""
    words = set(_WORD_START.findall(candidates))
    starts = {word[:2] for word in words}
    starts |= {word[1:3] for word in words}
    starts |= {word[2:4] for word in words}
    for start in starts & token_forms.BY_START.keys():
        yield from token_forms.BY_START[start]
    if "_" in candidates:
        for end in {f"{end}_" for end in set(_UNDERSCORE.findall(candidates))} & token_forms.BY_UNDERSCORE.keys():
            yield from token_forms.BY_UNDERSCORE[end]
    yield from token_forms.ANYWHERE


def _apply_rule(text: str, rule: TokenRule) -> Iterator[Span]:
    # `sk-` also ends words, and `live_` also ends the prefix of publishable keys; `ghp_` and the like begin a token
    # anywhere, even directly after other text
    is_distinctive = len(rule.literal) >= 4 and rule.literal.endswith("_") and not rule.random
    must_begin_word = rule.literal[0].isalnum() and not is_distinctive
    word_character = _LETTER_OR_DIGIT if rule.kind == "aws-access-key" else _WORD_CHARACTER
    at = text.find(rule.literal)
    while at >= 0:
        end = at + len(rule.literal)
        is_inside_word = must_begin_word and at and word_character.match(text[at - 1])
        if not is_inside_word or _ESCAPE.search(text, max(0, at - 3), at):
            token_end = _find_token_end(text, at, end, rule)
            if token_end:
                yield Span(at, token_end, rule.kind)
                end = token_end
        at = text.find(rule.literal, end)


def _find_token_end(text: str, start: int, literal_end: int, rule: TokenRule) -> int:
    """Returns the end of the token that begins at `start`, or 0 if there is none. Follows a token across line
    breaks."""
    match = rule.pattern.match(text, start)
    if match and match[0].endswith("."):  # the end of a sentence; what is cut by "..." within a token is a sample
        match = rule.pattern.match(text, start, start + len(match[0].rstrip(".")))
    token_end = match.end() if match else 0
    run = _REST_OF_RUN.match(text, literal_end)
    lines = match_next_lines(text, run.end()) if run and run.end() > literal_end + 3 else []
    if run and lines:
        unwrapped = text[start : run.end()] + "".join(line[1] for line in lines)
        longer = rule.pattern.match(unwrapped)
        if longer and longer.end() > run.end() - start and (not token_end or token_end == run.end()):
            rest, excess = unwrapped[literal_end - start : longer.end()], len(unwrapped) - longer.end()
            while excess >= len(lines[-1][1]):
                excess -= len(lines.pop()[1])
            is_token = not _is_sample(rest) and (not rule.random or looks_random(rest))
            return lines[-1].end() - excess if is_token else 0
    if match is None:
        shortened = _SHORTENED.match(text, literal_end)
        if shortened is None or len(rule.literal) <= 3 or _is_sample(shortened[1]):
            return 0
        return shortened.end(1) if looks_random(shortened[1]) else 0
    rest = text[literal_end:token_end]
    return 0 if _is_sample(rest) or (rule.random and not looks_random(rest)) else token_end


def _is_sample(rest: str) -> bool:
    """Returns whether the text after a token's literal is made up, as in documentation."""
    return is_sample(rest[:400]) or len(set(rest)) < 2


def _apply_middle_rule(text: str, rule: MiddleRule) -> Iterator[Span]:
    before, after = rule.patterns
    at = text.find(rule.literal)
    while at >= 0:
        end = at + len(rule.literal)
        head = before.search(text, max(0, at - 130), at)
        tail = after.match(text, end) if head else None
        if head and tail and has_letters_and_digits(text[head.start() : tail.end()]):
            yield Span(head.start(), tail.end(), rule.kind)
            end = tail.end()
        at = text.find(rule.literal, end)


def _find_discord_tokens(text: str, candidates: str) -> Iterator[Span]:
    if not DISCORD_TAIL.search(candidates):
        return
    for tail in DISCORD_TAIL.finditer(text):
        head = DISCORD_HEAD.search(text, max(0, tail.start() - 32), tail.start())
        if head and looks_random(tail.group()[1:]):
            yield Span(head.start(), tail.end(), "discord-token")


def extend_span(text: str, span: Span) -> Span:
    """Extends the span to the rest of its value, in a second literal or on the following lines."""
    if not 8 <= span.end - span.start <= 200 or span.kind == "url-password":
        return span
    end, is_first = span.end, True
    while end - span.start < 1000 and (rest := (_NEXT_LINE.match(text, end) or _NEXT_LITERAL.match(text, end))):
        if (
            not (is_first or text[rest.start()] in "\"'\\")
            or len(rest[1]) < 8
            or not is_scrambled(rest[1])
            or not is_scrambled(text[span.start : span.end])
        ):
            break
        end, is_first = rest.end(1), False
    return Span(span.start, end, span.kind) if end > span.end else span


def match_next_lines(text: str, at: int) -> list[re.Match[str]]:
    """Matches the next lines of a token that a screen wrapped into lines of equal length, with a shorter last line.
    Group 1 of each match is that line's part of the token."""
    lines: list[re.Match[str]] = []
    while len(lines) < _MOST_LINES and (line := _NEXT_LINE.match(text, at)) and has_letters_and_digits(line[1]):
        lines.append(line)
        at = line.end()
        if len(lines) > 1 and len(line[1]) < len(lines[-2][1]):
            break
    is_wrapped = len(lines) < 2 or len(lines[-1][1]) <= len(lines[0][1]) == len(lines[-2][1])
    return lines if is_wrapped else lines[:1]


def has_letters_and_digits(text: str) -> bool:
    """Returns whether a run of characters contains letters and digits, as the second half of a token does."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))
