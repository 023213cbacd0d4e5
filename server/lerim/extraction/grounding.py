"""From what a model said to candidates that hold: every claim is given the turn, the speaker and the figure by code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lerim.extraction.bearing import Heard, attributed
from lerim.extraction.candidate import Candidate, Dropped, drop
from lerim.extraction.gate import EPOCH, REPLACED, Source, gate, harmless, merged
from lerim.extraction.material import Material
from lerim.extraction.opposite import doubted
from lerim.extraction.quotes import Nowhere, Stands, locate, overlap
from lerim.extraction.said import content
from lerim.extraction.signatures import MemoryCandidate
from lerim.extraction.title import LONGEST, title_of
from lerim.extraction.transcript import THOUGHT, Shown
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Quote
from lerim.facts.wording import sentence, shorten, squeeze
from lerim.memory.record import LearningKind
from lerim.redaction import clean, flags, plain, redacted_spans
from lerim.sessions.model import Turn

BODY = 1_200
TAGS = 4
REFERENCES = 5
REPLACES = 3
AGENT_AT_MOST = 0.55
"""The confidence of a claim that rests on the agent's words alone."""
UNSHOWN = 0.2
"""The confidence of a claim without a quote, which only a person can have proposed."""
SHORTEST_TITLE = 8
SAME = 0.72  # word overlap of two titles from which they say the same
SAME_TURN = 0.5  # the same, where both rest on one turn
MOSTLY = 0.5  # of the longer quote: from there two quotes are the same words
SAME_QUOTE = 0.2  # the same, where both rest on one quote: one sentence can decide two things

_PLAIN_TAG = re.compile(r"^[\w.+#-]{2,24}$")
_SYMBOL = re.compile(r"^[\w.$:<>-]{1,120}$")


@dataclass(frozen=True, slots=True)
class Said:
    """What was proposed from this session before: by the rules, or in an earlier pass."""

    title: str
    turn: str
    quotes: tuple[str, ...] = ()


def said(candidate: Candidate) -> Said:
    """A candidate as what later ones are compared with."""
    return Said(candidate.title, candidate.turn, tuple(item.quote for item in candidate.evidence))


def grounded(
    items: Sequence[MemoryCandidate], turns: Sequence[Shown], material: Material, before: Iterable[Said]
) -> list[Candidate | Dropped]:
    """Judges what a model said of these turns. What says the same as something in `before` is dropped; two of one
    answer that say the same become one with the quotes of both."""
    words = {turn.id: turn for turn in turns}
    source = Source(
        material.platform,
        material.session,
        lambda turn, who: words[turn].words(who) if turn in words else "",
        material.boot,
    )
    spoken = ((turn, piece) for turn in turns for piece in turn.pieces if piece.head != THOUGHT)
    heard = [Heard(piece.who, turn.id, piece.text) for turn, piece in spoken]
    known = [*before]
    kept: dict[Said, Candidate] = {}
    out: list[Dropped] = []
    for item in items:
        result = _judged(item, turns, material, source)
        if isinstance(result, Candidate):
            result = doubted(attributed(result, heard), heard)
        if isinstance(result, Dropped):
            out.append(result)
        elif (same := repeats(said(result), known) or _retold(said(result), known)) is not None:
            out.append(_duplicate(result, same))
        elif (same := repeats(said(result), kept)) is not None:
            kept[same] = merged(kept[same], result)
            out.append(_duplicate(result, same))
        else:
            kept[said(result)] = result
    return [*kept.values(), *out]


def _duplicate(candidate: Candidate, same: Said) -> Dropped:
    return drop(candidate, "duplicate", clean(f"already proposed: {same.title}"))


def repeats(one: Said, others: Iterable[Said]) -> Said | None:
    """The first of the others that says the same."""
    words = set(content(one.title))
    for other in others:
        theirs = set(content(other.title))
        shared = len(words & theirs) / max(1, len(words | theirs))
        same_turn = one.turn == other.turn
        if shared >= (SAME_TURN if same_turn else SAME):
            return other
        quoted = any(overlap(mine, his) for mine in one.quotes for his in other.quotes)
        if same_turn and quoted and shared >= SAME_QUOTE:
            return other
    return None


def _retold(one: Said, before: Iterable[Said]) -> Said | None:
    """What was proposed before from the same words: the person has it already, in whatever words it is told now."""
    for other in before:
        pairs = ((mine, his) for mine in one.quotes for his in other.quotes) if one.turn == other.turn else ()
        if any(
            overlap(mine, his) and min(map(len, (mine, his))) >= MOSTLY * max(map(len, (mine, his)))
            for mine, his in pairs
        ):
            return other
    return None


def _judged(item: MemoryCandidate, turns: Sequence[Shown], material: Material, source: Source) -> Candidate | Dropped:
    place = locate(item.evidence.quote, item.evidence.turn, turns)
    if isinstance(place, Nowhere):
        return _unshown(item, place, turns, material)
    judged = gate(_draft(item, place, material), source)
    if isinstance(judged, Dropped):
        return replace(judged, title=clean(judged.title), detail=clean(judged.detail))
    own = any(quote.who == "user" for quote in judged.evidence)
    most = min(item.confidence, 1.0 if own else AGENT_AT_MOST)
    said = squeeze(" ".join(source.words(judged.turn, who) for who in ("user", "assistant"))).lower()
    return replace(
        judged,
        confidence=round(min(judged.confidence, most), 2),
        tags=_tags(judged.tags, item.tags),
        replaces=tuple(dict.fromkeys((*_replaces(item.replaces, said), *judged.replaces)))[:REPLACES],
    )


def _replaces(given: Sequence[str], said: str) -> tuple[str, ...]:
    """Of what a model says is replaced, that which the claim's turn names."""
    plain_ones = [squeeze(plain(one)).strip("`\"' ") for one in given[:20]]
    named = [one for one in plain_ones if 1 < len(one) <= REPLACED and one.lower() in said and clean(one) == one]
    return tuple(dict.fromkeys(named))[:REPLACES]


def _unshown(item: MemoryCandidate, why: Nowhere, turns: Sequence[Shown], material: Material) -> Dropped:
    """A claim whose quote stands nowhere: what it would be without one, of the turn it names."""
    turn = next((turn for turn in turns if turn.number == item.evidence.turn), turns[0])
    title, body = map(clean, _words(item, ""))
    if len(title) > LONGEST:
        title, body = title_of(title), f"{sentence(title)} {body}"
    candidate = Candidate(
        primitive=item.primitive,
        kind=_kind(item),
        title=title,
        body=body,
        confidence=UNSHOWN,
        tags=_tags((), item.tags),
        references=_references(item.references, turn.cwd, material),
        evidence=(),
        platform=material.platform,
        session=material.session,
        turn=turn.id,
        time=turn.time or EPOCH,
        signal="model",
        flags=flags(title, body),
    )
    if redacted_spans(title):
        return drop(candidate, "secret-only", "the claim itself holds a secret")
    return drop(harmless(candidate), "no-evidence", why.why)


def _words(item: MemoryCandidate, quote: str) -> tuple[str, str]:
    """Title and body of an item. The quote stands in for a title that says nothing, and either for a body."""
    title, body = plain(item.title).strip(" .\"'"), plain(item.body).strip()
    question = item.primitive == "question"
    if quote and (not _says_something(title) or (title.endswith("?") and not question and not quote.endswith("?"))):
        title = title_of(quote)
    if question:
        title = f"{title.rstrip(' ?')}?"
    return title, sentence(shorten(body or plain(quote) or title, BODY))


def _says_something(title: str) -> bool:
    """Whether a title is more than a word, and whole."""
    cut = title.count("`") % 2 == 1 or title.count("(") != title.count(")")
    return len(title.split()) > 1 and len(title) >= SHORTEST_TITLE and any(map(str.isalpha, title)) and not cut


def _kind(item: MemoryCandidate) -> LearningKind | None:
    return (item.kind or "insight") if item.primitive == "learning" else None


def _draft(item: MemoryCandidate, place: Stands, material: Material) -> Draft:
    title, body = _words(item, squeeze(place.text))
    turn = place.turn
    return Draft(
        signal="model",
        basis="model",
        primitive=item.primitive,
        kind=_kind(item),
        title=title,
        body=body,
        turn=Turn(turn.id, turn.number, turn.role, "prompt", "", turn.time, turn.cwd),
        quotes=(Quote(place.text, turn.id, place.who),),
        artifacts=artifacts(f"{title} {body}", material.known),
        references=_references(item.references, turn.cwd, material),
    )


def _references(written: Sequence[str], cwd: str, material: Material) -> tuple[str, ...]:
    """Those that are files of the repository, as paths from its root."""
    out: list[str] = []
    for reference in written[:20]:
        path, _, symbol = reference.strip().strip("`").partition("#")
        found = material.locate(path, cwd)
        if found:
            out.append(f"{found}#{symbol}" if _SYMBOL.match(symbol) else found)
    return tuple(dict.fromkeys(out))[:REFERENCES]


def _tags(found: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    plain_ones = [tag.strip().lower() for tag in given if _PLAIN_TAG.match(tag.strip())]
    return tuple(dict.fromkeys((*found, *(tag for tag in plain_ones if clean(tag) == tag))))[:TAGS]
