"""From what a model said to candidates that hold: every claim is given the turn, the speaker and the figure by code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lerim.extraction.bearing import Heard, attributed
from lerim.extraction.candidate import Candidate, Dropped
from lerim.extraction.gate import REPLACED, Source, gate, merged
from lerim.extraction.material import Material
from lerim.extraction.opposite import doubted
from lerim.extraction.quotes import Nowhere, Stands, locate, overlap
from lerim.extraction.said import content
from lerim.extraction.signatures import MemoryCandidate
from lerim.extraction.transcript import THOUGHT, Shown
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Quote
from lerim.facts.wording import fit, sentence, shorten, squeeze
from lerim.redaction import clean, plain
from lerim.sessions.model import Turn

BODY = 1_200
TAGS = 4
REFERENCES = 5
REPLACES = 3
AGENT_AT_MOST = 0.55
"""The confidence of a claim that rests on the agent's words alone."""
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
    dropped: list[Dropped] = []
    for item in items:
        result = _judged(item, turns, material, source)
        if isinstance(result, Candidate):
            result = doubted(attributed(result, heard), heard)
        if isinstance(result, Dropped):
            dropped.append(result)
        elif (same := repeats(said(result), known) or _retold(said(result), known)) is not None:
            dropped.append(_duplicate(result, same))
        elif (same := repeats(said(result), kept)) is not None:
            kept[same] = merged(kept[same], result)
            dropped.append(_duplicate(result, same))
        else:
            kept[said(result)] = result
    return [*kept.values(), *dropped]


def _duplicate(candidate: Candidate, same: Said) -> Dropped:
    detail = clean(f"already proposed: {same.title}")
    return Dropped("duplicate", candidate.title, candidate.session, candidate.turn, detail)


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
    title = _titled(item)
    place = locate(item.evidence.quote, item.evidence.turn, turns)
    if isinstance(place, Nowhere):
        turn = next((turn.id for turn in turns if turn.number == item.evidence.turn), "")
        return Dropped("no-evidence", shorten(clean(title), 120), material.session, turn, place.why)
    judged = gate(_draft(item, title, place, material), source)
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


def _titled(item: MemoryCandidate) -> str:
    title = plain(item.title).strip(" .\"'")
    return f"{fit(title.rstrip(' ?'))}?" if item.primitive == "question" else fit(title)


def _draft(item: MemoryCandidate, title: str, place: Stands, material: Material) -> Draft:
    body = sentence(shorten(plain(item.body), BODY))
    turn = place.turn
    return Draft(
        signal="model",
        basis="model",
        primitive=item.primitive,
        kind=(item.kind or "insight") if item.primitive == "learning" else None,
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
