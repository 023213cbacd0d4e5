"""Checks whether a claim may say something different from the quote it rests on, although they share words.

"Disable gRPC for the queue" contains the words of "Enable gRPC for the queue". Code understands neither, but it can see
what reverses a meaning: a negation, a number, a condition, "before" and "after". If a sentence of the person's contains
half of the title's telling words, and one of these occurs in only one of the two, the candidate is flagged for the
person to check. It is never dropped, because many flagged claims say the same in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lerim.extraction.attribution import telling_stems
from lerim.extraction.candidate import Candidate
from lerim.extraction.utterances import Utterance

MAY_CONTRADICT = "may-say-otherwise"
"""Flag: a word that reverses the meaning is in the claim or in the quote, but not in both."""

_NEGATIVE = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|stop|stops|stopped|avoid|avoids|disable[sd]?|disabling|remove[sd]?|"
    r"drop(?:s|ped)?|forbid(?:s|den)?|ban(?:s|ned)?|disallow(?:s|ed)?|den(?:y|ies|ied)|reject(?:s|ed)?|hate[sd]?|"
    r"dislikes?|refuse[sd]?|off|\w{1,8}n['’]t|dont|doesnt|cant|wont|nicht|kein(?:e|en|er|es)?|nie|niemals|ohne|ne|"
    r"pas|jamais|sans|nunca|sin|não|sem|non|mai|senza|niet|nooit|geen|zonder|не|нет|никогда|без)\b|[不别勿没無]|禁止|ない"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|maybe|perhaps|might|could|possibly|probably|whether|until|except|wenn|falls|vielleicht|außer|"
    r"si|peut-être|quizás|talvez|если|может)\b|[?？]|如果|もし"
)
_RELATION = re.compile(
    r"\b(?:before|after|over|under|above|below|least|most|more|less|minimum|maximum|first|last|from|vor|nach|avant|"
    r"après|antes|después)\b"
)
_NUMBER = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)*)\s?(ms|s|sec|min|m|h|d|kb|mb|gb|tb|%|seconds?|minutes?|hours?|days?|weeks?|months?|years?)?"
    r"(?![\w])"
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?=\S)[^.!?。！？\n]*)*[.!?。！？]?")
_CLAUSE = re.compile(r"[,;:–—]\s|\s[-–—]\s|\bbut\b|\baber\b|\bmais\b|\bpero\b")
_ORDER_WORDS = re.compile(
    r"\b(?:always|never|must|every|immer|toujours|siempre|disable|upload|send|run|execute)\b"
    r"|^\W*only\s(?!(?:the|an?|its|this|these|those|one|once|if|when|where|after|\d+)\b)"
)
"""Words that give an order. "Only the sync path flushes it" and "is read only once" are descriptions."""


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
    """Returns each number with the first letter of its unit ("30 days": 30, d)."""
    return {(number, unit[:1] if unit != "ms" else unit) for number, unit in _NUMBER.findall(text)}


def _word_order(text: str, other: str) -> list[str]:
    """Returns the telling words that both texts contain, in the order of the first text."""
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
