"""Picks the few words of a longer text that say what it is about, verbatim except for markup, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lerim.code_fences import remove_fenced_code
from lerim.extraction.facts import (
    capitalize_first,
    find_sentences,
    select_own_words,
    shorten,
    split_spoken,
    squeeze_spaces,
)
from lerim.patterns import compile_later
from lerim.redaction import clean_text, remove_private_blocks, strip_markup

MAX_READ_CHARS = 6_000
"""Maximum number of characters read of a text, after redaction."""
_LINK = compile_later(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,400}\)")
_SCHEME = compile_later(r"\b(?:https?|file|ftp|command|vscode):(?://|/(?!/))(?=[^\s,.;:!?)\]}'\"`“”])", re.IGNORECASE)
_MARKS = compile_later(r"^[ \t>]{0,12}(?:#{1,6}[ \t]+|[-*•][ \t]+|\d{1,2}[.)][ \t]+)?")
_STRONG = compile_later(r"\*\*|__(?=\w)|(?<=\w)__|~~")
_TABLE = compile_later(r"^\s{0,4}[|+][-|+ :=]{0,3}|^\s{0,4}[-=_*]{3,}\s*$")
_FIELD = compile_later(r"\[\[ ## \w{1,40} ## \]\]")
_BREAK = compile_later(r"(?<=[.!?])[\"')*”]{0,2}\s{1,4}(?=[\"'(“`A-Z0-9À-￿])|(?<=[。！？])")
_PLAN = compile_later(
    r"^(?:please )?implement (?:the following|this|the) plan\W{0,4}\s(?:plan\W{1,3}\s{0,3})?", re.IGNORECASE
)
_POLITE_REQUEST = compile_later(
    r"^(?:(?:please|pls|ok|now|hey|hi|let['’]?s|(?:can|could|would|will) (?:you|we)|i want you to)[ ,]{1,2})+",
    re.IGNORECASE,
)
_SAYS = compile_later(r"(?![^\n]{0,400}(?:[;{}=<>]|\w\())[^\W\d_]{2,30}[ :-]")
"""Matches a line that begins with a word and is not code: `Fix #1234 (v2.3.1)`."""
_FIRST = 3
_SETS_OUT = compile_later(
    r"^(?:let me|let'?s|i['’]?ll|i will|i am going|i['’]m going|i need|i should|i can see|i see\b|i have (?:a|the) |"
    r"now\b|next\b|first\b|here(?:['’]s| is| are)|wait|actually|hmm|would you|do you|shall i|should i|want me|"
    r"perfect[.!]?$|great[.!]?$|excellent|good (?:question|catch|point)|you['’]re (?:absolutely )?right|got it|sure|"
    r"of course|certainly|done[.!]?$|looking at|based on|to summari[sz]e|in summary|summary\b)",
    re.IGNORECASE,
)
_RESULT = compile_later(
    r"\b(?:i['’]ve|i have|fixed|added|updated|removed|moved|changed|created|implemented|committed|pushed|merged|"
    r"renamed|replaced|refactored|found|pass(?:es|ed|ing)?|works?|works now|completed?|finished|resolved|"
    r"the (?:issue|problem|bug|cause|root cause|fix|reason) (?:is|was)|because|failed|fails|cannot|can['’]t)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)  # a session's messages are needed for its title, its sections and its end
def summarize_request(text: str, most: int) -> str:
    """Returns what a person's message asks for, in at most `most` characters: its first sentences, or the title of a
    plan that they handed over; "" if nothing in it may be quoted."""
    own = clean_text(remove_private_blocks(text))
    lines = list(_prose_lines(_clip_head(own)))
    whole = squeeze_spaces(" ".join(lines[:1] if own.lstrip().startswith("#") else lines[:_FIRST]))
    if match := _PLAN.match(squeeze_spaces(" ".join(lines[:2]))):
        plan = squeeze_spaces(" ".join(lines[:2]))[match.end() :]
        return shorten(f"Implement the plan: {plan}", most) if plan else ""
    sentences = [squeeze_spaces(one) for one in _list_spoken(own[:MAX_READ_CHARS])]
    said = " ".join(_strip_markdown(" ".join(sentences)).split()) if sentences else whole
    return shorten(said, most)


@lru_cache(maxsize=256)
def find_report_sentence(text: str, most: int) -> str:
    """Returns the sentence of an agent's message that best states the result of its work. It has at most `most`
    characters and is not a question; prose takes precedence over list items. Returns "" if there is none."""
    found: list[tuple[bool, str]] = []
    shown = clean_text(remove_private_blocks(text))[:MAX_READ_CHARS]
    for sentence in find_sentences(shown):
        one = squeeze_spaces(_strip_markdown(shown[sentence.start : sentence.end])).strip("*_")
        says = len(one.split()) >= 4 and len(one) <= most and not one.endswith((":", "?"))
        if sentence.kind != "heading" and says and not _SETS_OUT.match(one):
            found.append((sentence.kind in ("bullet", "number"), one))
    told = sorted(found, key=lambda pair: (pair[0], not _RESULT.search(pair[1])))
    return told[0][1] if told else ""


def make_request_title(text: str, most: int) -> str:
    """Returns a message as a title: its first sentence without polite phrases. A question keeps its question mark,
    unless such a phrase made it one."""
    first = _BREAK.split(text, maxsplit=1)[0]
    request = _POLITE_REQUEST.sub("", first) or first
    return one_line(capitalize_first(request), most).rstrip(".:,; " if request == first else ".:,;? ")


def one_line(text: str, most: int) -> str:
    """Returns a short text of a session or a model, such as a title, on one line: without secrets, hidden characters,
    markup and links, as a summary shows it."""
    shown = clean_text(remove_private_blocks(text))[:MAX_READ_CHARS].lstrip(" \t\n>#*-")
    return shorten(squeeze_spaces(_strip_markdown(shown)), most)


def _list_spoken(text: str) -> list[str]:
    """Returns the sentences that a person said, preceded by the first line if it says something in few letters."""
    sentences = split_spoken(text)
    first = select_own_words(text).strip().partition("\n")[0]
    is_missing = bool(_SAYS.match(first)) and not (sentences and sentences[0][:20] in first)
    return [first, *sentences] if is_missing else sentences


def _clip_head(text: str) -> str:
    head = text[:MAX_READ_CHARS]
    return remove_fenced_code(head) if "```" in head else head


def _prose_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if _TABLE.match(line) or line.startswith(("    ", "\t")):
            continue
        if told := squeeze_spaces(_strip_markdown(_MARKS.sub("", line))):
            yield told


def _strip_markdown(text: str) -> str:
    return strip_markup(_SCHEME.sub("", _LINK.sub(r"\1", _FIELD.sub(" ", _STRONG.sub("", text)))))
