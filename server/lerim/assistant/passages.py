"""Finds the passages for a question: the relevant memories and turns of the project's sessions, best first, without
secrets.

Memories and turns are ranked separately, each by its own search, and the two rankings are then fused, so that a
passage that ranks high in either list ranks high overall. A passage must contain a good share of the question's
informative words, so that a chance match does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from msgspec.structs import replace

from lerim.assistant.answers import Citation, Passage, Question
from lerim.assistant.word_weights import WordWeights, drop_stop_words, find_contained_words, weigh_words
from lerim.errors import LerimError, Problem
from lerim.extraction import is_refusal, shorten
from lerim.memory import (
    EVERY_STATUS,
    MEMORY_SPEAKER_NAMES,
    WRONG_STATES,
    DriftChecker,
    Hit,
    MemoryFilters,
    MemorySearch,
    Reading,
    ReportProgress,
    SentenceModel,
    file_handle,
    make_drift_subject,
    redact_record,
    source_parts,
    without_replied_to,
)
from lerim.paths import Home
from lerim.project import Project
from lerim.redaction import clean_text, find_flags
from lerim.sessions import (
    PLATFORM_NAMES,
    Catalog,
    SearchQuery,
    SessionFilters,
    TurnRow,
    browsing,
    parse_query,
    tokenize_text,
)
from lerim.times import format_utc
from lerim.words import is_unspaced, stem

MAX_QUESTION_CHARS = 2_000
MAX_MEMORY_HITS = 60
"""Maximum number of memories that a search returns, including those that have ended."""
MAX_MEMORIES, MAX_TURN_HITS = 12, 40
"""Maximum numbers of memories that become passages, and of turns that a search returns."""
MAX_PASSAGES = 16
"""Maximum number of passages of an answer."""
MAX_NEAR_MEMORIES = 5
"""Maximum number of passages that have too few of the question's words."""
MAX_TURNS_PER_SESSION = 4
"""Maximum number of passages that come from one session."""
MAX_EXCERPT_CHARS = 1_200
"""Maximum number of characters of a turn's passage."""
CONTEXT_CHARS = 150
"""Maximum number of characters by which an excerpt begins before the first word that was found."""
MAX_TURN_CHARS = 200_000
"""Number of characters of a turn that are searched for an excerpt. Secrets are removed from the whole turn first,
since a secret may begin anywhere."""
MAX_REFUSAL_CHARS = 200
"""Maximum number of characters of a prompt that refuses what the agent said."""
MAX_TITLE_CHARS = 80
RANK_OFFSET, MEMORY_WEIGHT = 10, 1.5
"""Reciprocal rank fusion: the memory at rank n (from 0) scores MEMORY_WEIGHT / (RANK_OFFSET + n), a turn
1 / (RANK_OFFSET + n). Memories weigh more because a person reviewed them."""

_DEFAULT_VALUES = ("project", "active", "fresh", "unknown")
_SPACES = re.compile(r"[ \t]+")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?][\"')”’]{0,3}\s|[。！？][”」』）]{0,3}")


@dataclass(frozen=True, slots=True)
class PassageResults:
    """The passages for a question, best first and numbered from 1. The numbers continue in `near`: memories that have
    too few of the question's words but may mean something similar: those that a model found by meaning or, if there
    are no other passages, those with one of its less common words.

    `withheld`: how many relevant memories are left out because they ended or because their place in the code
    changed. `uncompared`: how many relevant memories were never compared with the code here.
    """

    passages: list[Passage]
    withheld: int = 0
    uncompared: int = 0
    near: Sequence[Passage] = ()


def find_passages(
    project: Project,
    home: Home,
    question: Question,
    problems: list[Problem],
    sentence_model: SentenceModel | None = None,
    report: ReportProgress = lambda done, total: None,
) -> PassageResults:
    """Finds the passages for a question; unreadable memories are added to `problems`. With a `sentence_model`, also
    finds the memories that are nearest to the question in meaning; `report` is called while the model reads new
    ones. Raises CatalogError."""
    text = question.text[:MAX_QUESTION_CHARS]
    query = drop_stop_words(parse_query(text))
    if not query.terms:
        return PassageResults([])
    hits = _search_memories(project, home, text, question.everything, problems)
    ended_turns = frozenset() if question.everything else _find_ended_turns(hits)
    word_weights = _weigh_question(project, home, query, hits)
    turns = (turn for turn in _find_turns(project, home, text, word_weights) if turn.citation.turn not in ended_turns)
    ranked = [
        *_with_scores(_find_memories(hits, word_weights, question.everything), MEMORY_WEIGHT),
        *_with_scores(turns, 1.0),
    ]
    ranked.sort(key=lambda pair: -pair[0])
    selected = _select_distinct(passage for _, passage in ranked)
    near: list[Passage] = []
    if sentence_model is not None:
        known = {passage.citation.ref for passage in selected}
        most = len(known) + MAX_NEAR_MEMORIES
        near_hits = _search_by_meaning(project, home, text, most, sentence_model, report, problems)
        found = _find_memories(near_hits, word_weights, question.everything)
        near = [passage for passage in found if passage.citation.ref not in known][:MAX_NEAR_MEMORIES]
        selected = selected[: MAX_PASSAGES - len(near)]
    if not selected and not near:
        near = _find_near_memories(hits, word_weights)
    numbered = [
        replace(passage, citation=replace(passage.citation, number=number))
        for number, passage in enumerate((*selected, *near), 1)
    ]
    relevant = [hit for hit in hits if word_weights.is_relevant(_searchable_text(hit))]
    withheld = 0 if question.everything else sum(not _is_current(hit) for hit in relevant)
    uncompared = sum(hit.stored.status == "active" and hit.drift == "unknown" for hit in relevant)
    return PassageResults(numbered[: len(selected)], withheld, uncompared, numbered[len(selected) :])


def find_session_passages(
    project: Project, home: Home, text: str, raise_if_cancelled: Callable[[], None] = lambda: None
) -> Iterator[Passage]:
    """Yields the passages of the project's sessions about a text, best first and not numbered yet, at most
    MAX_TURNS_PER_SESSION from one session. `raise_if_cancelled` is called before each; an exception that it raises
    ends the search. Raises CatalogError."""
    query = drop_stop_words(parse_query(text[:MAX_QUESTION_CHARS]))
    if not query.terms:
        return
    turns_per_session: Counter[str] = Counter()
    raise_if_cancelled()
    for passage in _find_turns(project, home, text, _weigh_question(project, home, query, ())):
        raise_if_cancelled()
        turns_per_session[passage.citation.session] += 1
        if turns_per_session[passage.citation.session] <= MAX_TURNS_PER_SESSION:
            yield passage


def _with_scores(ranked: Iterable[Passage], weight: float) -> list[tuple[float, Passage]]:
    return [(weight / (RANK_OFFSET + rank), passage) for rank, passage in enumerate(ranked)]


def _select_distinct(ranked: Iterable[Passage]) -> list[Passage]:
    """Selects the best passages: each text once, and not too many turns of one session."""
    selected: list[Passage] = []
    seen_texts: set[str] = set()
    turns_per_session: Counter[str] = Counter()
    for passage in ranked:
        text_key = " ".join(tokenize_text(passage.text))
        if text_key in seen_texts or len(selected) == MAX_PASSAGES:
            continue
        if passage.citation.kind == "turn":
            session = passage.citation.session
            if turns_per_session[session] == MAX_TURNS_PER_SESSION:
                continue
            turns_per_session[session] += 1
        seen_texts.add(text_key)
        selected.append(passage)
    return selected


def _search_memories(project: Project, home: Home, text: str, everything: bool, problems: list[Problem]) -> list[Hit]:
    """Returns the memories that share words with the question. Memories that have ended are included, because the
    turns from which they were extracted are outdated too."""
    with MemorySearch(None if project.is_personal else project, home) as memories:
        search = partial(memories.search, f"{text}?", MAX_MEMORY_HITS, EVERY_STATUS)  # some words are enough
        hits = search() if everything else _search_with_drift(project, home, search, problems)
        problems += memories.problems
    return hits


def _search_with_drift(
    project: Project, home: Home, search: Callable[[], list[Hit]], problems: list[Problem]
) -> list[Hit]:
    """Returns the result of `search`, ranked after the memories that it found were compared with the current code.
    No other memories are compared, so that a question takes no longer in a project with many memories."""
    subjects = [
        make_drift_subject(hit.record) for hit in search() if hit.scope == "project" and hit.stored.status == "active"
    ]
    try:
        DriftChecker(project, home).check_memories([subject for subject in subjects if subject.references])
    except LerimError as error:  # then the result of the last check is used
        problems.append(error.problem())
    return search()


def _search_by_meaning(
    project: Project,
    home: Home,
    text: str,
    limit: int,
    model: SentenceModel,
    report: ReportProgress,
    problems: list[Problem],
) -> list[Hit]:
    with MemorySearch(None if project.is_personal else project, home) as memories:
        search = partial(memories.search_by_meaning, text, limit, MemoryFilters(), model, reading=Reading(report))
        hits = _search_with_drift(project, home, search, problems)
        problems += [problem for problem in memories.problems if problem not in problems]
    return hits


def _is_current(hit: Hit) -> bool:
    return hit.stored.status == "active" and hit.drift not in WRONG_STATES


def _find_ended_turns(hits: Iterable[Hit]) -> frozenset[str]:
    """Returns the turns that are evidence only for memories that have ended or drifted, or whose place is gone."""
    turns_by_currency: dict[bool, set[str]] = {True: set(), False: set()}
    for hit in hits:
        turns = turns_by_currency[_is_current(hit)]
        turns.update(item.turn for item in hit.record.evidence)
        turns.add(source_parts(hit.record.source)[2])
    return frozenset(turns_by_currency[False] - turns_by_currency[True] - {""})


def _weigh_question(project: Project, home: Home, query: SearchQuery, hits: Sequence[Hit]) -> WordWeights:
    """Weighs each word of the question by how many of the memories found and of the project's turns contain it."""
    turn_counts, turn_count = [0] * len(query.terms), 0
    if home.catalog.exists():
        with Catalog.open(home) as catalog:
            turn_counts, turn_count = catalog.count_matching_turns(query, SessionFilters(projects=(project.key,)))
    memory_matches = [find_contained_words(query, _searchable_text(hit)) for hit in hits]
    counts = [count + sum(contained[at] for contained in memory_matches) for at, count in enumerate(turn_counts)]
    return weigh_words(query, turn_count + len(hits), counts)


def _searchable_text(hit: Hit) -> str:
    record = redact_record(hit.record)
    return f"{record.title} {without_replied_to(record.body)} {' '.join(record.tags)}"


def _find_memories(hits: Iterable[Hit], word_weights: WordWeights, everything: bool) -> Iterator[Passage]:
    """Yields the passages of relevant memories, without their numbers yet."""
    yielded_ids: set[str] = set()
    for hit in hits:
        record = redact_record(hit.record)
        if len(yielded_ids) == MAX_MEMORIES or not (everything or _is_current(hit)):
            continue
        if record.id in yielded_ids or not (hit.by_meaning or word_weights.is_relevant(_searchable_text(hit))):
            continue
        yielded_ids.add(record.id)
        yield _make_passage(hit)


def _find_near_memories(hits: Iterable[Hit], word_weights: WordWeights) -> list[Passage]:
    """Returns the first current memories that contain a less common word of the question, without their numbers yet."""
    near = (hit for hit in hits if _is_current(hit) and word_weights.is_near(_searchable_text(hit)))
    return [_make_passage(hit, "nearest") for hit in islice(near, MAX_NEAR_MEMORIES)]


def _make_passage(hit: Hit, remark: str = "") -> Passage:
    record = redact_record(hit.record)
    title = clean_text(record.title)
    text = clean_text("\n".join(filter(None, (record.title, record.body.strip(), *_reference_lines(hit)))))
    citation = Citation(0, f"m:{record.id}", "memory", title, handle=file_handle(hit.stored.path))
    time, flags = format_utc(record.updated), find_flags(title, text)
    detail = ", ".join(filter(None, (_describe_hit(hit), remark)))
    return Passage(citation, detail, time, text, str(hit.stored.path), flags)


def _describe_hit(hit: Hit) -> str:
    """Returns the kind of a memory and everything that is unusual about it, such as `drifted`."""
    record, stored = hit.record, hit.stored
    parts = (record.kind or record.primitive, hit.scope, stored.status, hit.drift, hit.by_meaning and "by meaning")
    return ", ".join(part for part in parts if part and part not in _DEFAULT_VALUES)


def _reference_lines(hit: Hit) -> Iterator[str]:
    record = redact_record(hit.record)
    if record.references:
        yield f"Files: {', '.join(record.references)}"
    for item in record.evidence:
        if item.quote:
            yield f"{MEMORY_SPEAKER_NAMES[item.who]}: “{item.quote}”"


def _find_turns(project: Project, home: Home, text: str, word_weights: WordWeights) -> Iterator[Passage]:
    if not home.catalog.exists():
        return
    with Catalog.open(home) as catalog:
        for row in catalog.search_turns(text, limit=MAX_TURN_HITS, filters=SessionFilters(projects=(project.key,))):
            excerpt = _excerpt(row, word_weights)
            if excerpt:
                excerpt += _refusal(catalog, row)
                title = _session_title(catalog, row)
                citation = Citation(0, f"t:{row.session}#{row.id}", "turn", title, session=row.session, turn=row.id)
                time, flags = format_utc(row.time), find_flags(title, excerpt)
                yield Passage(citation, PLATFORM_NAMES[row.platform], time, excerpt, flags=flags, role=row.role)


def _excerpt(row: TurnRow, word_weights: WordWeights) -> str:
    """Returns the part of a turn about the question, from its text or else its tool calls; "" if no part is
    relevant."""
    for text in (row.text, row.tools):
        excerpt = cut_excerpt(clean_text(text)[:MAX_TURN_CHARS], word_weights.query)
        if word_weights.is_relevant(excerpt):
            return excerpt
    return ""


def _refusal(catalog: Catalog, row: TurnRow) -> str:
    """Returns a line with the next prompt if it refuses what the agent says in this turn, so that the passage does not
    look like something agreed; "" otherwise."""
    answer = browsing.find_next_prompt(catalog.db, row.id) if row.role == "assistant" else ""
    if not answer or not is_refusal(answer):
        return ""
    return f"\n\nThe next prompt was: “{shorten(' '.join(clean_text(answer).split()), MAX_REFUSAL_CHARS)}”"


def cut_excerpt(text: str, query: SearchQuery) -> str:
    """Returns the part of a clean text that has the most different words of a query, with at most MAX_EXCERPT_CHARS
    characters. It begins and ends at a line boundary, or else at a sentence boundary, where possible."""
    text = _SPACES.sub(" ", text).strip()
    if len(text) <= MAX_EXCERPT_CHARS:
        return text
    unspaced = {term.joined for term in query.terms if is_unspaced(term.joined)}
    query_stems = {one for term in query.terms for one in (*term.stems, *term.unsplit_stems)}
    lowered = text.lower()
    matches = [(match.start(), one) for match in _WORD.finditer(lowered) if (one := stem(match[0])) in query_stems]
    matches += [(match.start(), one) for one in unspaced for match in re.finditer(re.escape(one), lowered)]
    matches.sort()
    most_words, start, first = 0, 0, 0
    for last, (at, _) in enumerate(matches):
        while at - matches[first][0] > MAX_EXCERPT_CHARS - 200:
            first += 1
        held = len({one for _, one in matches[first : last + 1]})
        if held > most_words:
            most_words, start = held, matches[first][0]
    start = _find_beginning(text, start)
    end = _find_end(text, start)
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"


def _find_beginning(text: str, at: int) -> int:
    """Returns where the excerpt begins: at the first line, or else the first sentence, that begins shortly before
    `at`."""
    start = max(0, at - CONTEXT_CHARS)
    if start == 0:
        return 0
    sentence = _SENTENCE_END.search(text, start, at)
    return text.find("\n", start, at) + 1 or (sentence.end() if sentence else start)


def _find_end(text: str, start: int) -> int:
    """Returns where the excerpt from `start` ends: after the last line, or else the last sentence, that fits into
    it, unless that would leave out half of the excerpt."""
    most = start + MAX_EXCERPT_CHARS
    if most >= len(text):
        return len(text)
    least = start + MAX_EXCERPT_CHARS // 2
    sentences = [match.end() for match in _SENTENCE_END.finditer(text, least, most)]
    ends = (text.rfind("\n", least, most), sentences[-1] if sentences else -1, text.rfind(" ", least, most), most)
    return next(end for end in ends if end >= 0)


def _session_title(catalog: Catalog, row: TurnRow) -> str:
    location = browsing.locate_turn(catalog.db, row.id)
    session = browsing.find_list_item(catalog.db, location[0]) if location else None
    title = session.title or session.opening if session else ""
    return shorten(" ".join(clean_text(title).split()), MAX_TITLE_CHARS) or f"Session {row.session[:8]}"
