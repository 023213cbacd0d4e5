"""The filters and the query of a search; the query in the forms that the index and the ranking use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Platform
from lerim.sessions.tables import replace_surrogates, space_ideographs, split_name
from lerim.words import STOP_WORDS, split_unspaced, stem

MOST_TERMS = 24
"""How many words of a query are used."""
_SURROUNDING_SIGNS = "?!,:;'’`*()[]{}…"
"""Signs that surround words without being part of them."""
_WORD = re.compile(r"[^\W_]+")
_ASCII_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
"""Maps each byte of ASCII to lower case, or to a space if it is not part of a word: much faster than the pattern."""
_TIME_QUESTION = re.compile(
    r"(?:when|since when|how long|what (?:day|date|month|year|time)|which (?:day|month|year))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SessionFilters:
    """All filters that are set must match. `projects`: keys, None for the whole machine. `file`: a path, the end of one
    (`src/app.py`) or a name (`app.py`) that a tool call of the turn read or changed. `branch` is an exact name, `model`
    a name or its beginning (`claude-opus`). `failed`: only turns in which a command failed. `since` and `until` limit
    when a turn was said (for a session: any of its turns), inclusive.
    """

    projects: tuple[str, ...] | None = None
    agent: Platform | None = None
    branch: str = ""
    model: str = ""
    file: str = ""
    since: datetime | None = None
    until: datetime | None = None
    failed: bool = False


NO_FILTERS = SessionFilters()


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query. `fts_expression`: the expression that the index is queried with. `stems`: the stems of
    its parts, which must be adjacent if there are several (`max_attempts`). `unsplit_stems`: the stems without
    splitting `camelCase` names (`getUserName.ts`: getusernam, ts). `joined`: the word without separators.
    `with_signs`: the word in lower case if it begins or ends with signs (`c++`, `.net`, `--force`), which the index
    does not know; else ''."""

    fts_expression: str
    stems: tuple[str, ...]
    unsplit_stems: tuple[str, ...]
    joined: str
    with_signs: str = ""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The words of a query that count, in order, and whether it asks for a time."""

    terms: tuple[QueryTerm, ...]
    asks_for_time: bool

    @property
    def fts_expression(self) -> str:
        """The FTS5 expression for turns with any of the words."""
        return " OR ".join(term.fts_expression for term in self.terms)


def parse_query(text: str) -> SearchQuery:
    """Parses any text; a query without letters or digits has no terms. Stop words such as `the` count only if fewer
    than two other words remain."""
    plain = replace_surrogates(text).replace("\0", " ").replace('"', " ").replace("\x1a", " ")
    words = [piece for word in plain.split() for piece in split_unspaced(word) or (word,)]
    found = {term.fts_expression: term for word in words if (term := _make_term(word))}
    meaningful = [term for term in found.values() if term.joined not in STOP_WORDS]
    terms = meaningful if len(meaningful) > 1 else list(found.values())
    return SearchQuery(tuple(terms[:MOST_TERMS]), bool(_TIME_QUESTION.match(text.strip())))


def tokenize_text(text: str) -> list[str]:
    """Returns the words of a text in lower case, as the ranking sees them."""
    return text.encode().translate(_ASCII_WORDS).decode().split() if text.isascii() else _WORD.findall(text.lower())


def _make_term(word: str) -> QueryTerm | None:
    spaced = space_ideographs(word.removesuffix("'s").removesuffix("’s"))
    names = _WORD.findall(spaced)
    if not names:
        return None
    pieces = [piece for name in names for piece in split_name(name)]
    is_camel_case = len(pieces) > len(names)
    match = f'"{spaced}"' if not is_camel_case else f'("{spaced}" OR "{" ".join(pieces)}")'
    bare = word.lower().lstrip(_SURROUNDING_SIGNS).rstrip(_SURROUNDING_SIGNS + ".")
    with_signs = bare if bare and not (bare[0].isalnum() and bare[-1].isalnum()) else ""
    stems, unsplit_stems = (tuple(stem(one.lower()) for one in ones) for ones in (pieces, names))
    return QueryTerm(match, stems, unsplit_stems, "".join(names).lower(), with_signs)
