"""Whether two sentences of the same words say another thing, for their words stand in another order.

In “A overrides B” and “B overrides A”, a bag of words sees no difference. Where the order of two sentences differs it
is taken to matter, unless it surely does not: a clause that was moved whole, the things of a list, a passive with its
`by`, “the X is Y”, or a sentence that was built otherwise altogether (it takes other prepositions) with no two parts
exchanged in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from lerim.memory.clauses import BE, CLAUSES, DIRECTED, JOINS, Word, active, compounds, sentences, telling_words

_ORDERED_WORDS = """
    sort order rank priority prioriti precedenc prefer preced sequenc try tri first second last next final previou
    respectiv pipelin step chain stage then turn fal fallback
"""
_ORDERED = frozenset(_ORDERED_WORDS.split())
_LOOSE = JOINS | {"of", "that", "not", "so"}
_JOINED = frozenset(["and", "or", "but"])
_FIXED = JOINS | {"of", "that", "then", "not", "so", "but"}
"""What such a word leads stays where it is."""
_DEFINITE = frozenset(["the", "only", "our", "its", "their", "this", "what", "where"])
_FREE = frozenset(["first", "lat", "again", "onc", "twic", "nightly", "daily", "weekly", "later", "always"])
_BOUND = frozenset(["only", "appl", "repl", "supp", "fami", "assemb", "rely", "comp", "multip"])
_OBLIQUE = frozenset(["by", "on", "for"])
_ASKING = frozenset(["why", "what", "how", "when", "where", "if"])
_BREAKS = frozenset([",", "but", "and"])
MOST = 60
"""Sentences with more words are not looked into: in another order they are taken for another."""
SPARED = 4
"""Of so many words of two sentences one may be another, and they are compared still."""


def reordered(earlier: tuple[str, str], later: tuple[str, str]) -> bool:
    """Whether a sentence of the later of two texts (title, body) has the words of a sentence of the earlier one in
    another order that may mean another thing."""
    known, said = sentences(*earlier), sentences(*later)
    for sentence in said:
        if sentence in known:
            continue
        if any(sentence[1:] == before[1:] and sentence[0].isdigit() and before[0].isdigit() for before in known):
            return True  # the steps of a list
        found = [_turned(before, sentence) for before in known if _same_words(before, sentence)]
        if found and all(found):
            return True
    return False


def _same_words(before: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether two sentences have the same words, but for one or two."""
    mine, theirs = (Counter(word.root for word in telling_words(one)) for one in (before, said))
    common = (mine & theirs).total()
    return common >= 2 and (mine - theirs).total() + (theirs - mine).total() <= 1 + common // SPARED


def _turned(before: tuple[str, ...], said: tuple[str, ...]) -> bool:
    if max(len(before), len(said)) > MOST:
        return True
    if _is_turned_round(before, said):
        return False
    if _denied(before) != _denied(said):
        return True
    for how, one in active(before):
        for now, other in active(said):
            if {how, now} != {"kept", "moved"} and any(
                _meant_alike(*_common(telling_words(one), telling_words(other), last)) for last in (False, True)
            ):
                return False
    mine, theirs = _common(telling_words(active(before)[0][1]), telling_words(active(said)[0][1]), False)
    if _caused(mine, theirs) or _caused(theirs, mine):
        return False
    if _links(mine) == _links(theirs):
        return _heads(mine) != _heads(theirs) or not _built_with_be(before, said) or not _turns(mine, theirs)
    return _led(mine, theirs) != _led(theirs, mine) or _exchanged(mine, theirs)


def _denied(tokens: tuple[str, ...]) -> frozenset[str]:
    """The words that a claim does not count among its own (`why`, `what`), where they are denied."""
    found: set[str] = set()
    denied = False
    for token in tokens:
        denied = token == "not" or (denied and token not in _BREAKS)
        if denied and token in _ASKING:
            found.add(token)
    return frozenset(found)


def _meant_alike(one: Sequence[Word], other: Sequence[Word]) -> bool:
    if not any(_FIXED & set(word.links) - {"of"} or "," in word.links for word in (*one, *other)):
        one, other = ([word for word in words if word.links or not _is_free(word)] for words in (one, other))
    for mine in compounds(one):
        for theirs in compounds(other):
            if _roots(mine) == _roots(theirs):
                return _links(mine) != _links(theirs) or _heads(mine) == _heads(theirs)
            if _moved_whole(mine, theirs) or _moved_whole(theirs, mine) or _listed(mine, theirs):
                return True
    return False


def _is_free(word: Word) -> bool:
    """Whether a word may stand anywhere in a sentence of one clause."""
    return word.root in _FREE or (word.written.endswith("ly") and word.root not in _BOUND)


def _roots(words: Sequence[Word]) -> list[str]:
    return [word.root for word in words]


def _links(words: Sequence[Word]) -> Counter[str]:
    """The links of a sentence that tell how its parts belong together."""
    return Counter(link for word in words for link in word.links if link not in _LOOSE)


def _heads(words: Sequence[Word]) -> list[tuple[str, str]]:
    """Each such link with its word."""
    return sorted((link, word.root) for word in words for link in word.links if link not in _LOOSE)


def _led(words: Sequence[Word], others: Sequence[Word]) -> list[tuple[str, str]]:
    """Each link that has a direction with its word; `to` only where the other sentence has one."""
    to = any("to" in word.links for word in others)
    return sorted(
        (link, word.root) for word in words for link in word.links if link in DIRECTED and (to or link != "to")
    )


def _moved_whole(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether the second is the first with one clause put elsewhere, a comma beside it or none. What stands before
    `and` stays: there it is of one of two things."""
    for start, first in enumerate(one):
        if first.links == ("that",) and _even([*one[:start], one[-1], *one[start:-1]], other, set()):
            return True  # “fields that nobody reads there”, “fields there that nobody reads”
        if not (set(first.links) - _FIXED):
            continue
        for end in range(start + 1, len(one) + 1):
            if end < len(one) and _JOINED & set(one[end].links):
                continue
            block, rest = list(one[start:end]), [*one[:start], *one[end:]]
            for at in range(len(rest) if end == len(one) or one[end].links else 1):
                if at and _JOINED & set(rest[at].links):
                    continue
                if _even([*rest[:at], *block, *rest[at:]], other, {at, at + len(block), end}):
                    return True
    return False


def _even(one: Sequence[Word], other: Sequence[Word], loose: set[int]) -> bool:
    """Whether two sentences are the same word by word; at these places a comma more or less does not count."""
    return len(one) == len(other) and all(
        word.root == was.root and (word.links == was.links or (at in loose and _bare(word) == _bare(was)))
        for at, (word, was) in enumerate(zip(one, other, strict=True))
    )


def _bare(word: Word) -> tuple[str, ...]:
    return tuple(link for link in word.links if link != ",")


def _listed(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether the second is the first with the things of one list, joined by `and` or `or`, in another order."""
    if not _ORDERED.isdisjoint(_roots(one)) or not any(_JOINED & set(word.links) for word in one):
        return False
    before = next((at for at, (word, was) in enumerate(zip(one, other, strict=True)) if word.root != was.root), 0)
    for start in range(before + 1):
        for behind in range(len(one) - start):
            end = len(one) - behind
            if behind and not _even(one[end:], other[end:], set()):
                break
            mine, theirs = _items(one[start:end]), _items(other[start:end])
            if len(mine) > 1 and sorted(mine) == sorted(theirs) and _even(one[:start], other[:start], set()):
                return True
    return False


def _items(words: Sequence[Word]) -> list[list[tuple[str, tuple[str, ...]]]]:
    """The things of a list."""
    items: list[list[tuple[str, tuple[str, ...]]]] = []
    for word in words:
        if not items or JOINS & set(word.links):
            items.append([])
        items[-1].append((word.root, tuple(link for link in word.links if link not in JOINS)))
    return items


def _exchanged(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether two parts of the first stand in each other's place in the second, and all else where it stood. Not so of
    a whole sentence in which what did it stands behind `by`, `on` or `for` then (“X breaks Y”, “Y breaks on X”)."""
    mine, theirs = _roots(one), _roots(other)
    size = len(mine)
    first = next(at for at in range(size) if mine[at] != theirs[at])
    last = next(at for at in range(size, 0, -1) if mine[at - 1] != theirs[at - 1])
    whole = first == 0 and last == size
    mine, theirs = mine[first:last], theirs[first:last]
    size = last - first
    for front in range(1, size):
        for back in range(1, size - front):  # something stands between them
            if theirs == mine[size - back :] + mine[front : size - back] + mine[:front]:
                behind, was = other[-front].links, one[-back].links
                return not whole or bool(behind) == bool(was) or not _OBLIQUE & {*behind, *was}
    return False


def _caused(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether “X makes Y fail” is said as “Y fails on X”."""
    mine, theirs = _roots(one), _roots(other)
    for size in range(max(1, len(mine) - 3), len(mine) - 1):
        if mine[:size] != theirs[-size:] or mine[-1] != theirs[-size - 1] or one[0].links:
            continue
        if _OBLIQUE & set(other[-size].links) and sorted(mine[size:-1]) == sorted(theirs[: -size - 1]):
            return True
    return False


def _built_with_be(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether only one of two sentences says that something is something, and none that something is doing."""
    return BE.isdisjoint(one) != BE.isdisjoint(other) and not any(
        word in BE and after.endswith("ing") for words in (one, other) for word, after in pairwise(words)
    )


def _turns(one: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether the second is the first with its end put before its beginning."""
    mine, theirs = _roots(one), _roots(other)
    return any(mine[at:] + mine[:at] == theirs for at in range(1, len(mine)))


def _is_turned_round(before: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether “the X is Y” is said as “Y is the X”."""
    at, now = (next((i for i, word in enumerate(words) if word in ("is", "are")), 0) for words in (before, said))
    one, other = before[:at], before[at + 1 :]
    if not (one and other and now) or BE & {*one, *other} or not CLAUSES.isdisjoint(before):
        return False
    if not any(part[0] in _DEFINITE or part[0].startswith("`") for part in (one, other[other[0] == "not" :] or other)):
        return False
    pairs = ((one, said[now + 1 :]), (other, said[:now]))
    kept = [_common(telling_words(part), telling_words(was), False) for part, was in pairs]
    shared = _common(telling_words(before), telling_words(said), False)[0]
    return all(_roots(part) == _roots(was) for part, was in kept) and sum(len(part) for part, _ in kept) == len(shared)


def _common(one: Sequence[Word], other: Sequence[Word], last: bool) -> tuple[list[Word], list[Word]]:
    """What both sentences say, in the order of each; of a word that one says more often the first, or the `last`."""
    both = Counter(_roots(one)) & Counter(_roots(other))
    if last:
        return _kept(one[::-1], both)[::-1], _kept(other[::-1], both)[::-1]
    return _kept(one, both), _kept(other, both)


def _kept(words: Sequence[Word], both: Counter[str]) -> list[Word]:
    left, kept = both.copy(), []
    for word in words:
        if left[word.root]:
            left[word.root] -= 1
            kept.append(word)
    return kept
