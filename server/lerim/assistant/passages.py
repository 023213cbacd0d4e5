"""What is known of a question: memories and turns of this project's sessions that speak of it, best first, clean.

Memories and turns are ranked apart, each by its own search, and then together: what is high in either list is high. A
passage must hold a good part of what tells in the question's words, so that a chance word is no knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.assistant.cited import Citation, Passage, PassageKind, Question
from lerim.assistant.telling_words import WordWeights, drop_filler_words, find_held_words, weigh_words
from lerim.errors import LerimError, Problem
from lerim.extraction import shorten
from lerim.memory import (
    EVERY_STATUS,
    DriftChecker,
    Hit,
    MemorySearch,
    file_handle,
    format_time,
    redact_record,
    source_parts,
)
from lerim.paths import Home
from lerim.project import Project
from lerim.redaction import clean_text, find_flags
from lerim.sessions import Catalog, SearchQuery, SessionFilters, TurnRow, browsing, parse_query, tokenize_text
from lerim.words import is_unspaced, stem

MOST_QUESTION = 2_000
LOOKED_AT = 60
"""Memories that are looked at, with those that are over."""
MEMORIES, TURNS = 12, 40
"""How many memories are shown at most, and turns looked at."""
SHOWN = 16
"""Passages of an answer."""
OF_SESSION = 4
"""Turns of one session among them."""
EXCERPT = 1_200
"""Characters of a passage."""
READ = 200_000
"""Characters of a turn that are looked at; all before an excerpt, since a secret may begin anywhere."""
TITLE = 80
RANK, WEIGHT = 10, 1.5
"""A memory in place n counts WEIGHT / (RANK + n), a turn 1 / (RANK + n): what was reviewed goes first."""

_USUAL = ("project", "active", "fresh", "unknown")
_SPACES = re.compile(r"[ \t]+")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage yet without its number; `words` of it as they are compared."""

    kind: PassageKind
    ref: str
    title: str
    detail: str
    time: str
    text: str
    path: str = ""
    handle: str = ""
    session: str = ""
    turn: str = ""


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The passages that speak of a question, best first, numbered from 1, and how many memories were withheld that do:
    they are over, or what they speak of changed; and of how many nobody knows yet whether that is so here."""

    passages: list[Passage]
    withheld: int = 0
    uncompared: int = 0


def find_passages(project: Project, home: Home, question: Question, problems: list[Problem]) -> FoundPassages:
    """What speaks of a question. What could not be read is added to `problems`. Raises CatalogError."""
    text = question.text[:MOST_QUESTION]
    query = drop_filler_words(parse_query(text))
    if not query.terms:
        return FoundPassages([])
    hits = _hits(project, home, text, question.everything, problems)
    over = frozenset() if question.everything else _over(hits)
    asked = _asked(project, home, query, hits)
    ranked = [
        *_ranked(_memories(hits, asked, question.everything), WEIGHT),
        *_ranked((one for one in _turns(project, home, text, asked) if one.turn not in over), 1.0),
    ]
    ranked.sort(key=lambda one: -one[0])
    kept = [_numbered(number, found) for number, found in enumerate(_distinct(found for _, found in ranked), 1)]
    withheld = 0 if question.everything else sum(not _current(hit) and _says(hit, asked) for hit in hits)
    unknown = sum(hit.stored.status == "active" and hit.drift == "unknown" and _says(hit, asked) for hit in hits)
    return FoundPassages(kept, withheld, unknown)


def _ranked(found: Iterable[_Found], weight: float) -> list[tuple[float, _Found]]:
    return [(weight / (RANK + place), one) for place, one in enumerate(found)]


def _distinct(found: Iterable[_Found]) -> list[_Found]:
    """Each text once, each session a few times, and no more than are shown."""
    kept: list[_Found] = []
    seen: set[str] = set()
    sessions: dict[str, int] = {}
    for one in found:
        same = " ".join(tokenize_text(one.text))
        if same in seen or len(kept) == SHOWN:
            continue
        if one.kind == "turn":
            if sessions.get(one.session, 0) == OF_SESSION:
                continue
            sessions[one.session] = sessions.get(one.session, 0) + 1
        seen.add(same)
        kept.append(one)
    return kept


def _numbered(number: int, one: _Found) -> Passage:
    citation = Citation(number, one.ref, one.kind, one.title, one.handle, one.session, one.turn)
    return Passage(citation, one.detail, one.time, one.text, one.path, find_flags(one.title, one.text))


def _hits(project: Project, home: Home, text: str, everything: bool, problems: list[Problem]) -> list[Hit]:
    """The memories that share words with the question, also those that are over: their turns are not current either."""
    if not everything:
        try:
            DriftChecker(project, home).check()
        except LerimError as error:  # how they stood when somebody last looked counts then
            problems.append(error.problem())
    with MemorySearch(None if project.is_personal else project, home) as memories:
        hits = memories.search(f"{text}?", LOOKED_AT, EVERY_STATUS)  # some words are enough
        problems += memories.problems
    return hits


def _current(hit: Hit) -> bool:
    return hit.stored.status == "active" and hit.drift not in ("drifted", "gone")


def _over(hits: Iterable[Hit]) -> frozenset[str]:
    """The turns that said what is over, has drifted or lost its ground, and nothing that still holds."""
    turns: dict[bool, set[str]] = {True: set(), False: set()}
    for hit in hits:
        said = turns[_current(hit)]
        said.update(item.turn for item in hit.record.evidence)
        said.add(source_parts(hit.record.source)[2])
    return frozenset(turns[False] - turns[True] - {""})


def _asked(project: Project, home: Home, query: SearchQuery, hits: Sequence[Hit]) -> WordWeights:
    """The question's words, weighed by how many of the memories found and of the project's turns hold each."""
    in_turns, turns = [0] * len(query.terms), 0
    if home.catalog.exists():
        with Catalog.open(home) as catalog:
            in_turns, turns = catalog.count_matching_turns(query, SessionFilters(projects=(project.key,)))
    in_memories = [find_held_words(query, _words(hit)) for hit in hits]
    both = [many + sum(found[at] for found in in_memories) for at, many in enumerate(in_turns)]
    return weigh_words(query, turns + len(hits), both)


def _words(hit: Hit) -> str:
    record = redact_record(hit.record)
    return f"{record.title} {record.body} {' '.join(record.tags)}"


def _says(hit: Hit, asked: WordWeights) -> bool:
    return asked.speaks(_words(hit))


def _memories(hits: Iterable[Hit], asked: WordWeights, everything: bool) -> Iterator[_Found]:
    known: set[str] = set()
    for hit in hits:
        record = redact_record(hit.record)
        if len(known) == MEMORIES or not (everything or _current(hit)):
            continue
        if record.id in known or not _says(hit, asked):
            continue
        known.add(record.id)
        yield _Found(
            "memory",
            f"m:{record.id}",
            clean_text(record.title),
            _said_of(hit),
            format_time(record.updated),
            clean_text("\n".join(filter(None, (record.title, record.body.strip(), *_grounds(hit))))),
            path=str(hit.stored.path),
            handle=file_handle(hit.stored.path),
        )


def _said_of(hit: Hit) -> str:
    record, stored = hit.record, hit.stored
    parts = (record.kind or record.primitive, hit.scope, stored.status, hit.drift)
    return ", ".join(part for part in parts if part not in _USUAL)


def _grounds(hit: Hit) -> Iterator[str]:
    record = redact_record(hit.record)
    if record.references:
        yield f"Files: {', '.join(record.references)}"
    for item in record.evidence:
        if item.quote:
            yield f"{item.who}: “{item.quote}”"


def _turns(project: Project, home: Home, text: str, asked: WordWeights) -> Iterator[_Found]:
    if not home.catalog.exists():
        return
    with Catalog.open(home) as catalog:
        for row in catalog.search_turns(text, limit=TURNS, filters=SessionFilters(projects=(project.key,))):
            said = _excerpt(row, asked)
            if said:
                title = _session_title(catalog, row)
                yield _Found(
                    "turn",
                    f"t:{row.session}#{row.id}",
                    title,
                    f"{row.role}, {row.platform}",
                    _when(row.time),
                    said,
                    session=row.session,
                    turn=row.id,
                )


def _excerpt(row: TurnRow, asked: WordWeights) -> str:
    """What a turn says of the question: its words, or else what its tools were asked; "" where too little stands
    together."""
    for text in (row.text, row.tools):
        said = cut_excerpt(clean_text(text)[:READ], asked.query)
        if asked.speaks(said):
            return said
    return ""


def cut_excerpt(text: str, query: SearchQuery) -> str:
    """The part of a clean text in which most of a query's words stand, at most EXCERPT characters of whole lines where
    there are any."""
    text = _SPACES.sub(" ", text).strip()
    if len(text) <= EXCERPT:
        return text
    unspaced = {term.joined for term in query.terms if is_unspaced(term.joined)}
    wanted = _stems(query)
    lowered = text.lower()
    places = [(match.start(), one) for match in _WORD.finditer(lowered) if (one := stem(match[0])) in wanted]
    places += [(match.start(), one) for one in unspaced for match in re.finditer(re.escape(one), lowered)]
    places.sort()
    best, start, first = 0, 0, 0
    for last, (at, _) in enumerate(places):
        while at - places[first][0] > EXCERPT - 200:
            first += 1
        held = len({one for _, one in places[first : last + 1]})
        if held > best:
            best, start = held, places[first][0]
    start = max(0, start - 150)
    start = 0 if start == 0 else max(start, text.find("\n", start, start + 150) + 1) or start
    end = min(len(text), start + EXCERPT)
    cut = text.rfind("\n", start + EXCERPT // 2, end) if end < len(text) else end
    end = cut if cut > start else end
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"


def _stems(query: SearchQuery) -> frozenset[str]:
    return frozenset(one for term in query.terms for one in (*term.stems, *term.unsplit_stems))


def _session_title(catalog: Catalog, row: TurnRow) -> str:
    place = browsing.locate_turn(catalog.db, row.id)
    session = browsing.find_list_item(catalog.db, place[0]) if place else None
    said = session.title or session.opening if session else ""
    return shorten(" ".join(clean_text(said).split()), TITLE) or f"Session {row.session[:8]}"


def _when(time: datetime | None) -> str:
    return format_time(time) if time else ""
