"""Compares claims: whether two say the same or make opposite choices, and whether a claim may say something different
from the quote it rests on, although they share words.

"Disable gRPC for the queue" contains the words of "Enable gRPC for the queue". Code understands neither, but it can see
what reverses a meaning: a negation, a number, a condition, "before" and "after". If a sentence of the person's contains
half of the title's telling words, and one of these occurs in only one of the two, the candidate is flagged for the
person to check. It is never dropped, because many flagged claims say the same in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from lerim.extraction.attribution import telling_stems
from lerim.extraction.candidate import Candidate
from lerim.extraction.state import ProposedClaim
from lerim.extraction.utterances import Utterance
from lerim.patterns import compile_later

MAY_CONTRADICT = "may-say-otherwise"
"""Flag: a word that reverses the meaning is in the claim or in the quote, but not in both."""

_NEGATIVE = compile_later(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|stop|stops|stopped|avoid|avoids|disable[sd]?|disabling|remove[sd]?|"
    r"drop(?:s|ped)?|forbid(?:s|den)?|ban(?:s|ned)?|disallow(?:s|ed)?|den(?:y|ies|ied)|reject(?:s|ed)?|hate[sd]?|"
    r"dislikes?|refuse[sd]?|off|\w{1,8}n['’]t|dont|doesnt|cant|wont|nicht|kein(?:e|en|er|es)?|nie|niemals|ohne|ne|"
    r"pas|jamais|sans|nunca|sin|não|sem|non|mai|senza|niet|nooit|geen|zonder|не|нет|никогда|без)\b|[不别勿没無]|禁止|ない"
)
_CONDITION = compile_later(
    r"\b(?:if|unless|maybe|perhaps|might|could|possibly|probably|whether|until|except|wenn|falls|vielleicht|außer|"
    r"si|peut-être|quizás|talvez|если|может)\b|[?？]|如果|もし"
)
_RELATION = compile_later(
    r"\b(?:before|after|over|under|above|below|least|most|more|less|minimum|maximum|first|last|from|vor|nach|avant|"
    r"après|antes|después)\b"
)
_NUMBER = compile_later(
    r"(?<![\w.])(\d+(?:[.,]\d+)*)\s?(ms|s|sec|min|m|h|d|kb|mb|gb|tb|%|seconds?|minutes?|hours?|days?|weeks?|months?|years?)?"
    r"(?![\w])"
)
_SENTENCE = compile_later(r"[^.!?。！？\n]+(?:[.!?](?=\S)[^.!?。！？\n]*)*[.!?。！？]?")
_CLAUSE = compile_later(r"[,;:–—]\s|\s[-–—]\s|\bbut\b|\baber\b|\bmais\b|\bpero\b")
_ORDER_WORDS = compile_later(
    r"\b(?:always|never|must|every|immer|toujours|siempre|disable|upload|send|run|execute)\b"
    r"|^\W*only\s(?!(?:the|an?|its|this|these|those|one|once|if|when|where|after|\d+)\b)"
)
"""Matches words that give an order. "Only the sync path flushes it" and "is read only once" are descriptions, not
orders."""
_MIN_TITLE_OVERLAP = 0.72  # word overlap from which two titles make the same claim
MIN_COVERED_SHARE = 0.7
"""Minimum share of a claim's words that another text contains for the claim to count as a repetition of it."""
_MIN_REPEATED_WORDS = 4
"""Minimum number of words in a title for it to count as a repetition: a shorter title may say more than it seems to."""
_DETAIL = compile_later(r"`[^`\n]+`|\b\w*(?:\d|_|[a-z][A-Z]|\w\.\w|/)[\w./-]*")
"""Matches what makes a claim specific: code, names, paths and numbers."""
_REJECTING = compile_later(r"\b(?:instead of|rather than|over|not|never)\b", re.IGNORECASE)
"""Matches phrases whose following words are rejected in favor of the words before them."""

_FILLER_LIST = """
    a an the in of to for on and or not is are be with as by it use do no over from at
"""
_FILLER_WORDS = frozenset(_FILLER_LIST.split())


def flag_contradiction(candidate: Candidate, utterances: Sequence[Utterance]) -> Candidate:
    """Returns the candidate, flagged if its title or body may say something different from the quoted sentences."""
    sentences = [
        _surrounding_sentences(one.quote, one.turn, utterances) for one in candidate.evidence if one.who == "user"
    ]
    if candidate.primitive == "question" or not sentences:
        return candidate
    wanted = telling_stems(candidate.title)
    near = [sentence for sentence in sentences if len(telling_stems(sentence) & wanted) * 2 >= len(wanted)]
    if (near and all(is_sense_turned(candidate.title, sentence) for sentence in near)) or _adds_statement(
        candidate.body, sentences
    ):
        return replace(candidate, flags=tuple(dict.fromkeys((*candidate.flags, MAY_CONTRADICT))))
    return candidate


def _surrounding_sentences(quote: str, turn: str, utterances: Sequence[Utterance]) -> str:
    """Returns the sentences of the turn that overlap the quote, or the quote itself if it is not found verbatim."""
    for utterance in utterances:
        at = utterance.text.find(quote) if utterance.turn == turn else -1
        if at >= 0:
            end = at + len(quote)
            return " ".join(
                found.group()
                for found in _SENTENCE.finditer(utterance.text)
                if found.start() < end and at < found.end()
            )
    return quote


def is_sense_turned(title: str, sentence: str) -> bool:
    """Returns whether something that reverses the meaning (a negation, a condition, a number, "before") occurs only in
    the title, or only in the clauses of the sentence about the same thing."""
    claim, clause = title.lower(), _matching_clause(title, sentence).lower()
    if bool(_NEGATIVE.search(claim)) != bool(_NEGATIVE.search(clause)):
        return True
    if _CONDITION.search(clause) and not _CONDITION.search(claim):
        return True
    if not _find_numbers(claim) <= _find_numbers(sentence.lower()):
        return True
    relations = _RELATION.findall(claim)
    return bool(relations) and (
        not set(relations) <= set(_RELATION.findall(clause)) or _word_order(claim, clause) != _word_order(clause, claim)
    )


def contradicts(sentence: str, sources: Iterable[str]) -> bool:
    """Returns whether a sentence composed from `sources` contradicts the source sentence closest to it, as defined by
    `is_sense_turned`. The closest sentence shares the most telling words with it: at least two, or half of them. If
    several are equally close, all must be contradicted."""
    wanted = telling_stems(sentence)
    near: list[tuple[int, str]] = []
    for found in (found.group() for text in sources for found in _SENTENCE.finditer(text)):
        shared = len(telling_stems(found) & wanted)
        if shared and (shared >= 2 or 2 * shared >= len(wanted)):
            near.append((shared, found))
    most = max((shared for shared, _ in near), default=0)
    nearest = [found for shared, found in near if shared == most]
    return bool(nearest) and all(is_sense_turned(sentence, found) for found in nearest)


def _matching_clause(title: str, sentence: str) -> str:
    """Returns the clauses of a sentence that share a telling word with the title, or the whole sentence if none
    does."""
    wanted = telling_stems(title)
    clauses = [clause for clause in _CLAUSE.split(sentence) if telling_stems(clause) & wanted]
    return " ".join(clauses) or sentence


def _find_numbers(text: str) -> set[tuple[str, str]]:
    """Returns each number with the first letter of its unit ("30 days": 30, d), or with two where one is not enough:
    minutes, months, milliseconds and megabytes."""
    pairs = _NUMBER.findall(text)
    return {(number, unit[:2] if unit[:2] in ("ms", "mo", "mb") else unit[:1]) for number, unit in pairs}


def _word_order(text: str, other: str) -> list[str]:
    both = telling_stems(text) & telling_stems(other)
    order = [key for word in re.findall(r"\w+", text) for key in telling_stems(word) if key in both]
    return list(dict.fromkeys(order))


def _adds_statement(body: str, sentences: Sequence[str]) -> bool:
    """Returns whether the body gives an order about something that none of the quoted sentences mentions."""
    known_stems = telling_stems(" ".join(sentences))
    for found in _SENTENCE.finditer(body):
        for clause in _CLAUSE.split(found.group()):
            clause_stems = telling_stems(clause)
            if (
                _ORDER_WORDS.search(clause.lower())
                and len(clause_stems) > 2
                and len(clause_stems & known_stems) * 3 < len(clause_stems)
            ):
                return True
    return False


def content_words(title: str) -> tuple[str, ...]:
    """Returns the words that carry a title's meaning, sorted."""
    words = re.findall(r"[\w.@/+-]{1,60}", title.lower())
    return tuple(sorted({word.strip(".") for word in words} - _FILLER_WORDS))


def is_same_claim(first: ProposedClaim, second: ProposedClaim) -> bool:
    """Returns whether two claims say the same, that is, one adds hardly a word to the other. Claims with swapped
    sides, with another name or number, or with an added "not" are different."""
    a, b = set(first.words), set(second.words)
    same = bool(a) and (a <= b or b <= a) and len(a & b) >= _MIN_TITLE_OVERLAP * len(a | b)
    if not same or is_opposed_claim(first, second):
        return False
    return not is_sense_turned(first.title, second.title) and not is_sense_turned(second.title, first.title)


def is_repetition(claim: ProposedClaim, earlier: ProposedClaim) -> bool:
    """Returns whether a claim repeats an earlier one in other words: the earlier claim contains most of its words
    and every name, path and number in it, and nothing reverses the meaning."""
    wanted, said = telling_stems(claim.title), f"{earlier.title}\n{earlier.body}"
    return (
        claim.primitive == earlier.primitive
        and len(wanted) >= _MIN_REPEATED_WORDS
        and len(wanted & telling_stems(said)) >= MIN_COVERED_SHARE * len(wanted)
        and has_details_of(said, claim.title)
        and not is_opposed_claim(claim, earlier)
        and not is_sense_turned(claim.title, earlier.title)
    )


def has_details_of(text: str, title: str) -> bool:
    """Returns whether a text contains all names, paths, numbers and code of a title."""
    lowered = text.lower()
    return all(detail.strip("`.").lower() in lowered for detail in _DETAIL.findall(title))


def is_opposed_claim(first: ProposedClaim, second: ProposedClaim) -> bool:
    """Returns whether each of two claims proposes what the other replaces."""
    return (_replaces_claim(first, second) and _replaces_claim(second, first)) or _has_swapped_sides(
        first.title, second.title
    )


def _replaces_claim(claim: ProposedClaim, other: ProposedClaim) -> bool:
    title = claim.title.lower()
    return any(name in title and name not in claim.replaces for name in other.replaces)


def _has_swapped_sides(first: str, second: str) -> bool:
    """Returns whether two titles make opposite choices between the same two things: "redis instead of sqlite"."""
    (wanted, left), (other_wanted, other_left) = _split_sides(first), _split_sides(second)
    return bool((wanted - left) & (other_left - other_wanted) and (left - wanted) & (other_wanted - other_left))


@lru_cache(maxsize=1024)  # a claim is compared with all others of its session
def _split_sides(title: str) -> tuple[frozenset[str], frozenset[str]]:
    chosen, _, rest = _REJECTING.sub("\0", title, count=1).partition("\0")
    return frozenset(content_words(chosen)), frozenset(content_words(rest))
