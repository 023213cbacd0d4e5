"""The words of a sentence as their order is compared: what carries something, with the prepositions, `and` or comma
before it; and the same sentence put in the active voice, or with its compounds joined."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from lerim.memory.claim import stem
from lerim.memory.contrast import roots
from lerim.memory.framing import unframed
from lerim.memory.terms import STOP
from lerim.memory.wording import EMPTY, alike, phrased

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b\d\.)\s+|[。！？；]|\n|;\s")
_TOKEN = re.compile(r"`[^`\n]*`|,(?=\s)|[^\s,`]+(?:,(?=\S)[^\s,`]+)*")
_WRAPPED = "\"'“”‘’()[]{}:!?…*."
_PUT = (
    (re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE), "not"),
    (re.compile(r"\bnor\b", re.IGNORECASE), "or"),
    (re.compile(r"\bonly (for|in|on|at|by|with|from|to|when|if|after|before|under)\b", re.IGNORECASE), r"\1 only"),
    (re.compile(r"\b(?:have|has|had|ought|needs?) to\b", re.IGNORECASE), ""),
)
BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "get", "gets", "got"])
_DROPPED_WORDS = """
    a an the please kindly simply also just really very quite it its they them this these those there we you our
    your my their do does did has have had must should shall will would can may might always whatever itself use
    uses used using such here own
"""
_DROPPED = (
    frozenset(_DROPPED_WORDS.split())
    | BE
    | (EMPTY - {"below", "under", "inside", "within", "behind", "beneath", "across", "toward", "towards", "via"})
)
_NOT = frozenset(["no", "not", "never", "neither", "nor", "cannot", "don't", "doesn't", "without", "none", "nobody"])
_ALIKE = {
    **dict.fromkeys(_NOT, "not"),
    **dict.fromkeys(("upon", "inside", "within", "onto", "at"), "on"),
    **dict.fromkeys(("in",), "on"),
    **dict.fromkeys(("via", "through", "with"), "by"),
    **dict.fromkeys(("towards", "toward", "into"), "to"),
    **dict.fromkeys(("below", "beneath"), "under"),
    **dict.fromkeys(("till",), "until"),
    **dict.fromkeys(("&",), "and"),
    **dict.fromkeys(("who", "which"), "that"),
}
JOINS = frozenset(["and", "or", ","])
CLAUSES = frozenset(["when", "while", "if", "unless", "once", "because", "since", "that", "but", "until", "then"])
DIRECTED = frozenset(["to", "from", "before", "after", "than", "over", "until", "then", "once", "under", "behind"])
_LINKS = (
    frozenset(["of", "on", "for", "by", "as", "during", "between", "against", "per", "across", "so", "not"])
    | JOINS
    | CLAUSES
    | DIRECTED
)
_AGENTLESS = frozenset(
    ["default", "hand", "itself", "themselves", "name", "design", "mistake", "accident", "then", "now"]
)
_BORDERS = CLAUSES | {",", "before", "after"}
_IRREGULAR_WORDS = """
    set read sent written kept held made put built found drawn thrown known told caught brought won run done cut
    hit led met paid said shown taken given seen bound left lost sold split spent taught understood hidden
"""
_IRREGULAR = frozenset(_IRREGULAR_WORDS.split())
_FRONTED = frozenset(["later", "first", "last", "next", "finally", "second"])
_COMES = frozenset(["come", "comes", "go", "goes", "follow", "follows"])
_NOISY = frozenset(["and", "or", "not", "then", "but", "that", "so"])
"""A comma before one of these says nothing more."""
_UNTOLD = frozenset(map(stem, STOP))


class Word(NamedTuple):
    """A word that carries something, and the links (prepositions, `and`, a comma) right before it."""

    root: str
    links: tuple[str, ...]
    written: str


@lru_cache(maxsize=4096)
def sentences(title: str, body: str) -> tuple[tuple[str, ...], ...]:
    """The words of each sentence, links put alike."""
    found: list[tuple[str, ...]] = []
    for text in (title, unframed(body)):
        plain = unicodedata.normalize("NFKC", text).replace("’", "'")
        for pattern, put in _PUT:
            plain = pattern.sub(put, plain)
        found += [words for part in _SENTENCE.split(phrased(plain)) if (words := tuple(_tokens(part)))]
    return tuple(found)


def _tokens(text: str) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        if token.startswith("`") or token == ",":
            yield token
        elif word := token.strip(_WRAPPED).lower():
            yield _ALIKE.get(word, word)


@lru_cache(maxsize=8192)
def telling_words(tokens: tuple[str, ...]) -> tuple[Word, ...]:
    """The words of a sentence (`sentences`) that carry something."""
    found: list[Word] = []
    links: list[str] = []
    for at, token in enumerate(tokens):
        bare = token in CLAUSES and (at + 1 == len(tokens) or tokens[at + 1] in JOINS)
        if token in _LINKS and not bare:
            links.append(token)
        elif token not in _DROPPED:
            if len(links) > 1 and not set(links).isdisjoint(_NOISY):
                links = [link for link in links if link != ","]
            found.append(Word(token if token.startswith("`") else _root(token), tuple(links), token))
            links = []
    denied = [at for at, word in enumerate(found) if "not" in word.links]
    if len(denied) == 1 and found[denied[0]].root not in _UNTOLD:  # `claim` says what is denied
        word = found[denied[0]]
        found[denied[0]] = word._replace(links=tuple(link for link in word.links if link != "not"))
    return tuple(found)


def _root(token: str) -> str:
    (root,) = roots(frozenset([stem(alike(token))]))
    return root


def active(words: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """A sentence in the ways it may be put, each with what was done: one that says “B is done by A” as “A does B”, with
    A and B as short and as long as they may be; one that says “B is done” or “B is so” as it is and as “do B”, “so B”.
    """
    if words[1:2] and words[0] in _FRONTED and words[1] in _COMES:
        words = (*words[2:], words[1], words[0])
    for at, word in enumerate(words):
        done = next((i for i in range(at + 1, min(at + 4, len(words))) if _is_participle(words[i])), 0)
        if (
            word not in BE
            or at + 1 == len(words)
            or not (done or words[at + 2 : at + 3] == () or words[at + 2] in _LINKS)
        ):
            continue
        border = max((i + 1 for i in range(at) if words[i] in _BORDERS), default=0)
        done = done or at + 1
        by = next((i for i in range(done + 1, len(words) - 1) if words[i] == "by"), 0)
        subject, verb = words[border:at], words[at + 1 : done + 1]
        if not by or words[by + 1] in _AGENTLESS:
            rest = words[done + 1 :]
            moved = [(*words[:border], *verb, *subject, *rest), (*verb, *words[:at], *rest)]
            return [("kept", words), *(("moved", one) for one in moved)]
        ends = [i for i in range(by + 2, len(words)) if words[i] in _LINKS]
        return [
            ("", (*words[:start], *words[by + 1 : end], *verb, *words[start:at], *words[done + 1 : by], *words[end:]))
            for start in {border, 0}
            for end in (*ends[:3], len(words))
        ]
    return [("", words)]


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (len(word) > 3 and word.endswith(("ed", "en")) and not word.startswith("`"))


def compounds(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """A sentence as it is, and with “checks of a pull request” as “pull request checks”."""
    yield words
    for at, word in enumerate(words):
        if at and word.links == ("of",):
            for start in range(max(0, at - 2), at):
                first, *head = words[start:at]
                for end in range(at + 1, min(at + 4, len(words) + 1)):
                    named = [words[at]._replace(links=first.links), *words[at + 1 : end]]
                    yield [*words[:start], *named, first._replace(links=()), *head, *words[end:]]
            return
