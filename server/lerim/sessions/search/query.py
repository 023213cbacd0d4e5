"""A search as typed, taken apart: what is asked of the index, and what second looks count."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lerim.sessions.tables import replace_surrogates, space_ideographs, split_name
from lerim.words import STOP_WORDS, split_unspaced, stem

MOST_TERMS = 24
"""Words of a query that are looked at."""
_AROUND = "?!,:;'’`*()[]{}…"
"""Signs that stand around words and are part of none."""
_WORD = re.compile(r"[^\W_]+")
_DATED = re.compile(
    r"(?:when|since when|how long|what (?:day|date|month|year|time)|which (?:day|month|year))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query. `match`: its FTS5 expression. `stems`: of its parts, which stand one behind the other where
    it has several (`max_attempts`); `names` those where no `camelCase` name is parted (`getUserName.ts`: getusernam,
    ts); `joined` is how it looks without what parts it; `signed` the word in lower case where it begins or ends with
    signs (`c++`, `.net`, `--force`), of which the index knows nothing, else ''."""

    match: str
    stems: tuple[str, ...]
    names: tuple[str, ...]
    joined: str
    signed: str = ""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The words that count, in order, and whether it asks for a time."""

    terms: tuple[QueryTerm, ...]
    dated: bool

    @property
    def match(self) -> str:
        """The FTS5 expression for turns with any of the words."""
        return " OR ".join(term.match for term in self.terms)


def parse_query(text: str) -> SearchQuery:
    """Takes any text apart; a query without a letter or digit has no terms. Words such as `the` count only where there
    are no two others."""
    plain = replace_surrogates(text).replace("\0", " ").replace('"', " ").replace("\x1a", " ")
    split = [piece for word in plain.split() for piece in split_unspaced(word) or (word,)]
    found = {term.match: (word, term) for word in split if (term := _term(word))}
    telling = {match: one for match, one in found.items() if one[1].joined not in STOP_WORDS}
    terms = tuple(term for _, term in (telling if len(telling) > 1 else found).values())
    return SearchQuery(terms[:MOST_TERMS], bool(_DATED.match(text.strip())))


def tokenize_text(text: str) -> list[str]:
    """The words of a text as second looks see them, in lower case."""
    return _WORD.findall(text.lower())


def _term(word: str) -> QueryTerm | None:
    whole = space_ideographs(word.removesuffix("'s").removesuffix("’s"))
    found = _WORD.findall(whole)
    if not found:
        return None
    pieces = [piece for name in found for piece in split_name(name)]
    humped = len(pieces) > len(found)
    match = f'"{whole}"' if not humped else f'("{whole}" OR "{" ".join(pieces)}")'
    bare = word.lower().lstrip(_AROUND).rstrip(_AROUND + ".")
    signed = bare if bare and not (bare[0].isalnum() and bare[-1].isalnum()) else ""
    stems, names = (tuple(stem(one.lower()) for one in ones) for ones in (pieces, found))
    return QueryTerm(match, stems, names, "".join(found).lower(), signed)
