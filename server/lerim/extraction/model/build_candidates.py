"""Turns the items of a model's answer into candidates. Code, not the model, determines the turn, the speaker and the
confidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lerim.extraction.attribution import attribute_claim
from lerim.extraction.candidate import Candidate, DroppedSignal, drop_candidate
from lerim.extraction.contradictions import content_words, flag_contradiction
from lerim.extraction.facts import MAX_TITLE_CHARS, find_artifacts, full_sentence, make_title, shorten, squeeze_spaces
from lerim.extraction.gate import EPOCH, MAX_REPLACES_CHARS, SessionSource, judge_draft, merge_candidates, strip_orders
from lerim.extraction.model.locate_quote import FoundQuote, MissingQuote, is_overlapping, locate_quote
from lerim.extraction.model.material import Material
from lerim.extraction.model.signatures import MemoryCandidate
from lerim.extraction.signals import Draft, Quote
from lerim.extraction.transcript import THOUGHT, ShownTurn
from lerim.extraction.utterances import Utterance
from lerim.memory import LearningKind
from lerim.patterns import compile_later
from lerim.redaction import clean_text, find_flags, find_redaction_marks, strip_markup
from lerim.sessions import Turn

MAX_BODY_CHARS = 1_200
MAX_TAGS = 4
MAX_REFERENCES = 5
MAX_REPLACED_NAMES = 3
MAX_AGENT_CONFIDENCE = 0.55
"""Maximum confidence of a claim that rests on the agent's words alone."""
UNQUOTED_CONFIDENCE = 0.2
"""Confidence of a claim without a quote, which is only proposed if a person asks for it."""
MIN_TITLE_CHARS = 8
MIN_TITLE_OVERLAP = 0.72  # word overlap of two titles from which they make the same claim
MIN_TITLE_OVERLAP_SAME_TURN = 0.5  # the same, if both rest on one turn
MIN_QUOTE_OVERLAP = 0.5  # share of the longer quote from which two overlapping quotes count as the same words
MIN_TITLE_OVERLAP_SAME_QUOTE = (
    0.2  # word overlap of titles if both rest on one quote; one sentence can decide two things
)

_PLAIN_TAG = compile_later(r"^[\w.+#-]{2,24}$")
_SYMBOL = compile_later(r"^[\w.$:<>-]{1,120}$")


@dataclass(frozen=True, slots=True)
class EarlierClaim:
    """A claim proposed from this session before, by the rules or in an earlier pass."""

    title: str
    turn: str
    quotes: tuple[str, ...] = ()


def make_earlier_claim(candidate: Candidate) -> EarlierClaim:
    """Returns a candidate in the form in which later candidates are compared with it."""
    return EarlierClaim(candidate.title, candidate.turn, tuple(item.quote for item in candidate.evidence))


def ground_candidates(
    items: Sequence[MemoryCandidate], turns: Sequence[ShownTurn], material: Material, before: Iterable[EarlierClaim]
) -> list[Candidate | DroppedSignal]:
    """Judges the items a model returned for these turns. Items that repeat a claim in `before` are dropped; two items
    of one answer that make the same claim are merged."""
    turns_by_id = {turn.id: turn for turn in turns}
    source = SessionSource(
        material.platform,
        material.session,
        lambda turn, who: turns_by_id[turn].words(who) if turn in turns_by_id else "",
        material.instruction_text,
    )
    spoken = ((turn, piece) for turn in turns for piece in turn.pieces if piece.head != THOUGHT)
    utterances = [Utterance(piece.who, turn.id, piece.text) for turn, piece in spoken]
    earlier_claims = [*before]
    accepted: dict[EarlierClaim, Candidate] = {}
    out: list[DroppedSignal] = []
    for item in items:
        result = _judge_item(item, turns, material, source)
        if isinstance(result, Candidate):
            result = flag_contradiction(attribute_claim(result, utterances), utterances)
        if isinstance(result, DroppedSignal):
            out.append(result)
        elif (
            same := find_repeated_claim(make_earlier_claim(result), earlier_claims)
            or _find_same_quote(make_earlier_claim(result), earlier_claims)
        ) is not None:
            out.append(_drop_duplicate(result, same))
        elif (same := find_repeated_claim(make_earlier_claim(result), accepted)) is not None:
            accepted[same] = merge_candidates(accepted[same], result)
            out.append(_drop_duplicate(result, same))
        else:
            accepted[make_earlier_claim(result)] = result
    return [*accepted.values(), *out]


def _drop_duplicate(candidate: Candidate, same: EarlierClaim) -> DroppedSignal:
    return drop_candidate(candidate, "duplicate", clean_text(f"already proposed: {same.title}"))


def find_repeated_claim(claim: EarlierClaim, others: Iterable[EarlierClaim]) -> EarlierClaim | None:
    """Returns the first of the other claims that says the same."""
    words = set(content_words(claim.title))
    for other in others:
        theirs = set(content_words(other.title))
        shared = len(words & theirs) / max(1, len(words | theirs))
        same_turn = claim.turn == other.turn
        if shared >= (MIN_TITLE_OVERLAP_SAME_TURN if same_turn else MIN_TITLE_OVERLAP):
            return other
        quoted = any(is_overlapping(mine, his) for mine in claim.quotes for his in other.quotes)
        if same_turn and quoted and shared >= MIN_TITLE_OVERLAP_SAME_QUOTE:
            return other
    return None


def _find_same_quote(claim: EarlierClaim, before: Iterable[EarlierClaim]) -> EarlierClaim | None:
    """Returns the earlier claim that rests on the same words. The person has already seen it, however it is worded
    now."""
    for other in before:
        pairs = ((mine, his) for mine in claim.quotes for his in other.quotes) if claim.turn == other.turn else ()
        if any(
            is_overlapping(mine, his) and min(map(len, (mine, his))) >= MIN_QUOTE_OVERLAP * max(map(len, (mine, his)))
            for mine, his in pairs
        ):
            return other
    return None


def _judge_item(
    item: MemoryCandidate, turns: Sequence[ShownTurn], material: Material, source: SessionSource
) -> Candidate | DroppedSignal:
    place = locate_quote(item.evidence.quote, item.evidence.turn, turns)
    if isinstance(place, MissingQuote):
        return _drop_unquoted(item, place, turns, material)
    judged = judge_draft(_make_draft(item, place, material), source)
    if isinstance(judged, DroppedSignal):
        return replace(judged, title=clean_text(judged.title), detail=clean_text(judged.detail))
    from_person = any(quote.who == "user" for quote in judged.evidence)
    max_confidence = min(item.confidence, 1.0 if from_person else MAX_AGENT_CONFIDENCE)
    turn_text = squeeze_spaces(" ".join(source.find_words(judged.turn, who) for who in ("user", "assistant"))).lower()
    return replace(
        judged,
        confidence=round(min(judged.confidence, max_confidence), 2),
        tags=_merge_tags(judged.tags, item.tags),
        replaces=tuple(dict.fromkeys((*_find_replaced_names(item.replaces, turn_text), *judged.replaces)))[
            :MAX_REPLACED_NAMES
        ],
    )


def _find_replaced_names(given: Sequence[str], turn_text: str) -> tuple[str, ...]:
    plain_ones = [squeeze_spaces(strip_markup(one)).strip("`\"' ") for one in given[:20]]
    names = [
        one
        for one in plain_ones
        if 1 < len(one) <= MAX_REPLACES_CHARS and one.lower() in turn_text and clean_text(one) == one
    ]
    return tuple(dict.fromkeys(names))[:MAX_REPLACED_NAMES]


def _drop_unquoted(
    item: MemoryCandidate, why: MissingQuote, turns: Sequence[ShownTurn], material: Material
) -> DroppedSignal:
    """Drops a claim whose quote was not found. The result keeps the candidate it would be without a quote, in the
    turn that the claim names."""
    turn = next((turn for turn in turns if turn.number == item.evidence.turn), turns[0])
    title, body = map(clean_text, _make_title_and_body(item, ""))
    if len(title) > MAX_TITLE_CHARS:
        title, body = make_title(title), f"{full_sentence(title)} {body}"
    candidate = Candidate(
        primitive=item.primitive,
        kind=_get_kind(item),
        title=title,
        body=body,
        confidence=UNQUOTED_CONFIDENCE,
        tags=_merge_tags((), item.tags),
        references=_locate_references(item.references, turn.cwd, material),
        evidence=(),
        platform=material.platform,
        session=material.session,
        turn=turn.id,
        time=turn.time or EPOCH,
        signal="model",
        flags=find_flags(title, body),
    )
    if find_redaction_marks(title):
        return drop_candidate(candidate, "secret-only", "the claim itself holds a secret")
    return drop_candidate(strip_orders(candidate), "no-evidence", why.why)


def _make_title_and_body(item: MemoryCandidate, quote: str) -> tuple[str, str]:
    """Returns the title and body of an item. The quote replaces a title that says nothing; the quote or the title
    replaces an empty body."""
    title, body = strip_markup(item.title).strip(" .\"'"), strip_markup(item.body).strip()
    question = item.primitive == "question"
    if quote and (
        not _is_meaningful_title(title) or (title.endswith("?") and not question and not quote.endswith("?"))
    ):
        title = make_title(quote)
    if question:
        title = f"{title.rstrip(' ?')}?"
    return title, full_sentence(shorten(body or strip_markup(quote) or title, MAX_BODY_CHARS))


def _is_meaningful_title(title: str) -> bool:
    cut = title.count("`") % 2 == 1 or title.count("(") != title.count(")") or title.endswith(":")
    return len(title.split()) > 1 and len(title) >= MIN_TITLE_CHARS and any(map(str.isalpha, title)) and not cut


def _get_kind(item: MemoryCandidate) -> LearningKind | None:
    return (item.kind or "insight") if item.primitive == "learning" else None


def _make_draft(item: MemoryCandidate, place: FoundQuote, material: Material) -> Draft:
    title, body = _make_title_and_body(item, squeeze_spaces(place.text))
    turn = place.turn
    return Draft(
        signal="model",
        basis="model",
        primitive=item.primitive,
        kind=_get_kind(item),
        title=title,
        body=body,
        turn=Turn(turn.id, turn.number, turn.role, "prompt", "", turn.time, turn.cwd),
        quotes=(Quote(place.text, turn.id, place.who),),
        artifacts=find_artifacts(f"{title} {body}"),
        references=_locate_references(item.references, turn.cwd, material),
    )


def _locate_references(written: Sequence[str], cwd: str, material: Material) -> tuple[str, ...]:
    out: list[str] = []
    for reference in written[:20]:
        path, _, symbol = reference.strip().strip("`").partition("#")
        found = material.locate(path, cwd)
        if found:
            out.append(f"{found}#{symbol}" if _SYMBOL.match(symbol) else found)
    return tuple(dict.fromkeys(out))[:MAX_REFERENCES]


def _merge_tags(found: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    plain_ones = [tag.strip().lower() for tag in given if _PLAIN_TAG.match(tag.strip())]
    return tuple(dict.fromkeys((*found, *(tag for tag in plain_ones if clean_text(tag) == tag))))[:MAX_TAGS]
