"""The words of a claim, for a rough estimate of how much two claims have in common.

Words are lower-cased and stripped of filler words and English endings; negation and word order are lost. They never
decide whether two texts say the same: `claim_text` does.

The sentences that Lerim adds to a body, to say where a statement was made and how it came about, are the same in every
memory of a kind and say nothing about the rule itself. Their words do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from lerim.memory.similarity import EMPHASIS, normalize_claim
from lerim.patterns import compile_later
from lerim.words import STOP_WORDS, is_unspaced, letter_pairs, split_words, stem

_T = TypeVar("_T")
_CODE = r"`[^`\n]{1,400}`"
_SENTENCES = (
    r"This holds for all further work\.",
    r"This corrects what the agent had done before\.",
    rf"This was said on (?:refusing to let {_CODE} run|rejecting the agent's plan|refusing an edit)\.",
    r"The person approved this plan\.",
    r"The person accepted the change\.",
    r"The person remarked on it, and the agent changed the code accordingly\.",
    r"The person went on without objecting\.",
    r"The person rejected the agent's plan\.",
    rf"The person refused to let {_CODE} run\.",
    r"The agent found this to be the cause of a failure\.",
    r"The agent wrote it down in the project's own notes\.",
    r"The agent wrote it down after the person had said so\.",
    r"It passed without it\.",
    r"It is part of a plan that was carried out\.",
    r"The agent chose so, and the person agreed\.",
    r"The person chose it when the agent asked\.",
    r"The session ended before anybody answered\.",
    r"The person put the decision off\.",
    r"The person said that it is not decided yet\.",
    r"The person doubted it, and the session ended there\.",
    r"The person picked this from the options the agent laid out\.",
    r"It passed when run in the root of the repository\.",
    rf"It concerns {_CODE}(?:(?:,| and) {_CODE}){{0,40}}\.",
    rf"The agent changed {_CODE}(?:(?:,| and) {_CODE}){{0,40}}(?:; {_CODE} then passed)?\.",
)
_BOILERPLATE = re.compile(rf"(?<!\S)(?:{'|'.join(_SENTENCES)})(?!\S)")


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The words of a title, and of title and body together."""

    title: frozenset[str]
    words: frozenset[str]


def claim_words(title: str, body: str) -> ClaimWords:
    """Returns the words of a memory or candidate, without the sentences Lerim adds (`strip_boilerplate`)."""
    head = word_stems(title)
    return ClaimWords(head, head | word_stems(strip_boilerplate(body)))


def claim_text(title: str, body: str) -> str:
    """Returns a memory's or candidate's text without differences in form and without the sentences Lerim adds. Two with
    equal results say the same."""
    return normalize_claim(title, strip_boilerplate(body))


def word_stems(text: str) -> frozenset[str]:
    """Returns the word stems of any text; for scripts without spaces, pairs of adjacent letters."""
    found: set[str] = set()
    for word, parts in split_words(text):
        if is_unspaced(word):
            found.update(parts or letter_pairs(word))
        elif word not in STOP_WORDS:
            found.add(stem(word))
    return frozenset(found)


def dice_overlap(one: AbstractSet[_T], other: AbstractSet[_T]) -> float:
    """Returns Dice's coefficient: 2·|common| / (|one| + |other|), 1.0 for two empty sets."""
    if not one and not other:
        return 1.0
    return 2 * len(one & other) / (len(one) + len(other))


def mean_overlap(one: ClaimWords, other: ClaimWords) -> float:
    """Returns the mean of the overlap of the titles and that of the whole texts, from 0 to 1."""
    return (dice_overlap(one.title, other.title) + dice_overlap(one.words, other.words)) / 2


IN_REPLY_TO, SAID_AFTER = "In reply to: “", "Said after: “"
"""Stand in a body before the words that its sentence refers back to: those of another, or of the same speaker."""
_CONTEXT_MARK = re.compile(f"{IN_REPLY_TO}|{SAID_AFTER}")
_REPLIED_TO = re.compile(rf"\s*(?:{_CONTEXT_MARK.pattern})([^“”\n]*(?:“[^“”\n]*”[^“”\n]*)*)”(?!\S)")


def find_context_mark(text: str) -> int:
    """Returns where the words begin that a body's sentence refers back to, with their mark; -1 if it names none."""
    found = _CONTEXT_MARK.search(text)
    return found.start() if found else -1


def find_replied_to(text: str) -> str:
    """Returns the words that a body's sentence refers back to; "" if it names none."""
    found = _REPLIED_TO.search(text) if find_context_mark(text) >= 0 else None
    return found[1] if found else ""


def without_replied_to(text: str) -> str:
    """Returns the body without the words that its sentence refers back to: they are what was said before it, often by
    another, and not what the memory says."""
    return _REPLIED_TO.sub("", text) if find_context_mark(text) >= 0 else text


_TOLD = r"“(?:[^“”\n]*(?:“[^“”\n]*”[^“”\n]*)*|[^\n]{1,600}?)”"  # else of a cut quote, whose marks are not in pairs
_TOLD_QUOTES = (
    (re.compile(rf"(` failed(?: \d+ times)?) with {_TOLD}(?=\.(?:\s|$)| after `)"), r"\1"),
    (re.compile(rf"\s*Said of the cause then: {_TOLD}(?=\s|$)"), ""),
    (re.compile(rf"(` met) {_TOLD}(?= in more than one session)"), r"\1 the same error"),
)
"""What a body tells of the error and the cause of a failed command (`extraction/signals/`, `extraction/friction.py`),
and what it tells without them."""


def without_quotes(text: str) -> str:
    """Returns the body without the quotes that it repeats besides the claim: the words that its sentence refers back
    to, and the error and cause of a failed command."""
    for pattern, rest in _TOLD_QUOTES:
        text = pattern.sub(rest, text)
    return without_replied_to(text)


_BEFORE_SENTENCE = re.compile(r"(?:\A|[.!?:;…][\s“\"])(?:[–—-]\s|[\s“\"(])*\Z")
_AFTER_SENTENCE = re.compile(r"[ ”\")]*(?:[.!…]+(?:[\s\"”)]|\Z)|\Z)")
_AFTER_REQUEST = re.compile(r"[ ”\")]*\?(?:[\s\"”)]|\Z)")


def is_quoted(text: str, quote: str) -> bool:
    """Returns whether a quote has all of a text to the letter, as whole sentences: a part of one may say the opposite.
    Only white space, emphasis, code marks, the mark at the end and the case of the first letter may differ."""
    said, quoted = (" ".join(EMPHASIS.sub(r"\2", one).replace("`", "").split()) for one in (text, quote))
    said = said.lstrip(" “”").rstrip(" .!…“”")
    if not said:
        return False
    first_letters = (said[0], said[0].upper(), said[0].lower())
    found = next((one for one in first_letters if f"{one}{said[1:]}" in quoted), None)
    if found is None:
        return False
    before, _, after = quoted.partition(f"{found}{said[1:]}")
    rest, is_request = skip_politeness(f"{before}x")
    begins = rest == "x" or _BEFORE_SENTENCE.search(before)
    ends = _AFTER_SENTENCE.match(after) or (is_request and _AFTER_REQUEST.match(after))
    return bool(begins and ends)


def text_beyond_quotes(title: str, body: str, quotes: Iterable[str]) -> str:
    """Returns a body without the statement, if the title or a quote shown beside it says it as a whole, and without
    the words that it replies to."""
    said = tuple(quotes)
    found = _REPLIED_TO.search(body) if find_context_mark(body) >= 0 else None
    if found is not None and any(is_quoted(found[1], quote) for quote in said):
        statement, rest = body[: found.start()], body[found.end() :]
    else:
        statement, rest = body, ""
    is_repeated = _is_title(statement, title) or any(is_quoted(statement, one) for one in said)
    return (rest if is_repeated else f"{statement}{rest}").strip()


def _is_title(statement: str, title: str) -> bool:
    """Returns whether a statement differs from the title in form only; not in a sign such as `-` or `!=`."""
    text, _ = skip_politeness(statement.strip())
    return not text or normalize_claim("", text) == normalize_claim("", title)


def strip_boilerplate(text: str) -> str:
    """Returns the body without the sentences Lerim added."""
    return _BOILERPLATE.sub("", text)


_TITLE_WORD = re.compile(r"[^\W_](?:[\w./@+-]*[^\W_])?")
_TITLE_END = re.compile(r"(?:[`()\"”*]{0,4}(?P<stop>[.!?])(?=\s|$)|[`()\"”*]{0,4}[,;:]|[`()\"”*]{0,4}(?=\s|$))\s*")


def body_without_title(title: str, body: str) -> str:
    """Removes the title from the beginning of the body if the body repeats it."""
    if (tail := _find_title_end(title, body)) is None:
        return body
    rest = body[tail.end() :]
    return rest if tail["stop"] or not rest else f"… {rest}"


def body_with_title(title: str, new_title: str, body: str) -> str:
    """Replaces the old title at the beginning of the body, if the body repeats it, with a new one."""
    tail = _find_title_end(title, body)
    return body if tail is None else f"{new_title.rstrip('.!?…')}{body[tail.start() :]}"


def _find_title_end(title: str, body: str) -> re.Match[str] | None:
    """Returns the end of the title in a body that begins with it, also after polite words; None in any other."""
    start = len(body) - len(skip_politeness(body)[0])
    return _match_title(title, body, 0) or (_match_title(title, body, start) if start else None)


def _match_title(title: str, body: str, start: int) -> re.Match[str] | None:
    end = start
    for word in _TITLE_WORD.findall(title):
        found = _TITLE_WORD.search(body, end)
        if found is None or found.group().lower() != word.lower():
            return None
        end = found.end()
    return _TITLE_END.match(body, end) if end > start else None


_MARK = compile_later(
    "(?:[-*•>#]{1,6}|\\d{1,3}[.)]|(?![☒⛔✕-✘❌❎👎🚫🛑])[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?)\\s"
)
"""Matches what stands before an item of a list: a bullet, a number, a check mark or another symbol. A cross is not
matched, because without it the item would say the opposite."""
_REQUEST = compile_later(r"(?:can|could|would|will) you\s(?:please\s|kindly\s)?(?!mind\b)", re.IGNORECASE)
_POLITE = compile_later(
    r"(?:please|pls|plz|kindly)(?:\s?[,:]\s?|\s)"
    r"|(?:ok(?:ay)?|alright|all right)(?:\s?[,.!:;]\s?|\s)(?:so|then|now)(?:\s?,\s?|\s)(?!that\b|far\b)"
    r"|(?:ok(?:ay)?|alright|all right|thanks|thank you|thx|hi|hello|hey|great|perfect|nice|cool)\s?[,.!:;]{1,3}\s"
    r"|you['’]?re (?:absolutely |completely |totally |quite )?right\s?[-,.!:;—–]{1,3}\s"
    r"|(?:no|nope|nah|nein|non|não|yes|yeah|yep|so|well|oh|hm+|wait)(?:\s?,|\s?[-—–]{1,2})\s"
    r"|(?:nope|nah|nein)\s"
    r"|no\s(?=(?:don['’]?t|do not|never|always)\s"  # else the word may belong to the claim: "no mocks"
    r"|(?:add|avoid|keep|leave|make|prefer|put|remove|take|use)\s(?:(?:the|an?|it|them|my|our|your)\b|[`/~]))"
    r"|(?:but|and)\s",
    re.IGNORECASE,
)


def skip_politeness(text: str) -> tuple[str, bool]:
    """Returns a text without what may precede the claim in its sentence (a list mark, a greeting, "please" or "can
    you"), and whether "can you" was removed, after which a question mark no longer marks a question. Titles are made
    without it, and a body is compared with its title without it."""
    is_request = False
    for _ in range(4):
        polite = _MARK.match(text) or _POLITE.match(text)
        request = None if polite else _REQUEST.match(text)
        prefix = polite or request
        if prefix is None or prefix.end() == len(text):
            break
        is_request = is_request or request is not None
        text = text[prefix.end() :]
    return text, is_request
