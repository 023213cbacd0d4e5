"""Judges whether letters follow each other as in words and names, or at random, as in a key without digits."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from string import ascii_lowercase

_FOLLOWED_BY = (
    "26772461604867161878553452 62325220540622520542500030 72547327506633830647511030 63458432721543640554522130 "
    "74786663513778565988365741 52335510700522620534501030 52327134502435420653511010 61226201502332620435300030 "
    "65766561203769851577350405 30004000000000300030200000 31226221400322320242212100 73458331702733740366531050 "
    "74337221602442660253510120 73777573614445641478552030 55663451524768560866756311 72447325502632650756521040 "
    "00000000000300000110500000 83659452705565741667542050 53648436704544663378633150 84659537802544751766634261 "
    "55446340500667260766000100 61217110600122320122000010 51224104501214410441001000 30415101400230150126000020 "
    "32334221300444360344012001 30005000200000200000000000 "
)
"""For each letter, how often each other letter follows it, from 0 (never) to 9: counted in the words of programs and
their documentation, mostly English. Random letters score 3 on average, hardly any word less than 5."""
_LEAST_WORD_SCORE, _LEAST_NAME_SCORE = 4.9, 5.5
_FEWEST_LETTERS = 10
_WORD_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
"""The words that make up a name; in real names they average at least about three letters."""


@cache
def _load_pair_scores() -> dict[tuple[str, str], int]:
    rows = zip(ascii_lowercase, _FOLLOWED_BY.split(), strict=True)
    return {
        (first, second): int(score) for first, row in rows for second, score in zip(ascii_lowercase, row, strict=True)
    }


def is_unlike_words(value: str) -> bool:
    """Returns whether the letters of a value, at least ten, form no words: `vgiqcgsobhmkizxf`, not
    `getUserFromRequest`."""
    letters = [letter for letter in value.lower()[:200] if "a" <= letter <= "z"]
    if len(letters) < _FEWEST_LETTERS:
        return False
    is_mixed_case = not (value.islower() or value.isupper())
    letters_per_piece = len(letters) / max(1, len(_WORD_PIECES.findall(value))) if is_mixed_case else 9
    if letters_per_piece < 2.5 and len(letters) >= len(value) - 2:
        return True
    pair_scores = _load_pair_scores()
    least_score = _LEAST_NAME_SCORE if letters_per_piece < 3.1 else _LEAST_WORD_SCORE
    return sum(map(pair_scores.__getitem__, pairwise(letters))) < least_score * (len(letters) - 1)
