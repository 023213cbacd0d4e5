"""Turns a ranked passage into a draft: the words as they were said, with what they refer to and what was done because
of them.

Nothing is reworded. The title is the sentence or its first clauses. The body contains the whole sentence, the one
before it if the sentence refers back to that, and what the agent did about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from lerim.extraction.facts import (
    MAX_TITLE_CHARS,
    capitalize_first,
    code_span,
    command_outcome,
    find_artifacts,
    find_sentences,
    full_sentence,
    join_names,
    make_title,
    parse_command,
    squeeze_spaces,
)
from lerim.extraction.ranking.explicit_statements import (
    explicit_type,
    find_retractions,
    is_called_off,
    is_explicit_statement,
    is_retracted,
)
from lerim.extraction.ranking.features import TurnSurroundings, describe_surroundings, passage_features
from lerim.extraction.ranking.passages import TurnPassage, split_passages
from lerim.extraction.ranking.personal import (
    MAX_SHIFT,
    NO_ADJUSTMENT,
    PersonalAdjustment,
    named_features,
    passage_aspects,
    personal_score,
)
from lerim.extraction.ranking.ranker import PassageType, load_ranker, predict_type, score_passage, score_to_chance
from lerim.extraction.signals import (
    Draft,
    Exchange,
    Quote,
    Scene,
    find_changed_files,
    find_named_places,
    is_retraction,
    judge_next_words,
    narrow_to_symbols,
)
from lerim.memory import IN_REPLY_TO, SAID_AFTER, LearningKind, Primitive, Speaker
from lerim.patterns import compile_later
from lerim.sessions import Turn
from lerim.words import STOP_WORDS

BELOW_CUT_MARGIN = 1.0
"""How far below `further` the score of a passage may be for the passage to be kept in case the cut changes."""
MAX_DRAFTS_PER_EXCHANGE = 12
MAX_CONTEXT_CHARS = 200
"""Maximum characters of the preceding sentence that is quoted for a passage that refers back to it."""
_REFERS_BACK = compile_later(
    r"\W{0,4}(?:this|that|these|those|it|its|they|them|he|she|here|there|so|and|but|also|both|such|which|same|the "
    r"(?:same|latter|former|above)|das|dies\w{0,2}|es|eso|esto|cela|ça|no|yes|nope)\b(?![-'])",
    re.IGNORECASE,
)
_UNRESOLVED = compile_later(r"\W{0,4}(?:this|that|these|those|it|its|they|them|he|she)\b(?![-'])", re.IGNORECASE)
_PRONOUN = compile_later(r"\b(?:this|that|these|those|it|they|them|there|one|ones)\b(?![-'])", re.IGNORECASE)
_ERROR_REPORT = compile_later(
    r"\W{0,4}(?:(?P<told>(?:i|we)(?:['’](?:m|re))?|still|keep)\s{1,3})?"
    r"(?:(?:just|still|now|again|also|keep)\s{1,3}){0,3}"
    r"(?:got|gets|getting|hit|hits|hitting|get(?(told)|(?=\s{1,3}(?:this|these)\b)))(?!\s{1,3}rid\b)\s{1,3}"
    r"(?:[a-z]{1,12}\s{1,3}){0,3}(?:errors?|exceptions?|issues?|problems?|warnings?)\b",
    re.IGNORECASE,
)
"""Matches a person's report that something failed. The lesson is in the words that follow it."""
_NAME_FORM = compile_later(r"`|[\w-]/[\w.-]|\w\.\w|\w_\w|[a-z][A-Z]|\b[A-Z]{2,}\b|(?:^|\s)--?[a-z]")
"""Matches code, a path, an identifier or a flag. Most sentences that contain one of these say what they are about."""
_EMPTY_WORD_LIST = """
    agreed ahead bug cause change changed changes check clear clearly continue done error everything exactly first fix
    fixed found go good got great issue issues know let look looking looks make makes next noted now okay perfect
    problem problems proceed question ready really reason right see seen sense set sorry start sure thank thanks think
    understand understood wait want work working works
"""
_EMPTY_WORDS = STOP_WORDS.union(_EMPTY_WORD_LIST.split())
"""Words that do not name a subject; a sentence made only of them says nothing about what it means."""
_MARKUP = compile_later(
    r"(?P<code>`[^`]{1,400}`)|(?<![A-Za-z0-9)\]])\*\*(?=\S)(?P<strong>[^*]{1,600}?)(?<=\S)\*\*(?![A-Za-z0-9(\[])"
    r"|(?<!\w)__(?=\S)(?P<several>[^_\s]{1,40}\s[^_]{1,400}?)(?<=\S)__(?!\w)"
    r"|!?\[(?P<link>[^\[\]\n]{1,200})\]\([^()\s]{1,400}(?:\)|\Z)"
)
"""Matches bold text and links; also code spans, so that nothing inside them is treated as either. A single word in
`__` is not treated as bold, because it may be a name such as `__init__`. The end of a link may be missing because
the text was cut."""
_MEMORY_TYPES: dict[PassageType, tuple[Primitive, LearningKind | None]] = {
    "decision": ("decision", None),
    "rule": ("learning", "preference"),
    "pitfall": ("learning", "pitfall"),
    "fact": ("learning", "insight"),
    "procedure": ("learning", "procedure"),
    "question": ("question", None),
}


class RankedDraft(NamedTuple):
    """A draft and its learned score. `refuted` says why it was taken back; "" if it was not."""

    draft: Draft
    score: float
    refuted: str = ""


def rank_drafts(scene: Scene, number: int, adjustment: PersonalAdjustment = NO_ADJUSTMENT) -> list[RankedDraft]:
    """Returns the drafts of an exchange that score above the cut or slightly below it, the best first, at most
    `MAX_DRAFTS_PER_EXCHANGE`.

    `number` is the count of earlier prompts; `adjustment` adjusts the scores by the person's decisions. Raises
    RankerError if the ranker file is missing or was made for another version.
    """
    learned = load_ranker()
    min_score = learned.further - BELOW_CUT_MARGIN
    scored_passages: list[tuple[float, int, float]] = []
    passages = list(measure_passages(scene.before, scene.now, scene.after, number))
    prompt = scene.now.prompt.text if scene.now.prompt else ""
    for at, one in enumerate(passages):
        score = score_passage(one.features)
        if is_explicit_statement(one.passage, prompt):
            score = max(score, learned.first)
        personal = score
        if adjustment.weights and score >= min_score - MAX_SHIFT:
            aspects = passage_aspects(named_features(one.features), *_choose_type(one))
            personal = personal_score(adjustment, score, aspects)
        if max(score, personal) >= min_score:
            scored_passages.append((-personal, at, score))
    retractions = [
        (reply.ordinal, retraction) for reply in scene.now.replies for retraction in find_retractions(reply.text)
    ]
    out: list[RankedDraft] = []
    for minus, at, scored in sorted(scored_passages)[:MAX_DRAFTS_PER_EXCHANGE]:
        one, personal, score = passages[at], -minus, scored
        context = _find_context(one.passage, scene)
        unresolved = (context is None and one.passage.source != "answer" and _UNRESOLVED.match(one.passage.text)) or (
            one.passage.kind == "heading" and _PRONOUN.search(one.passage.text)
        )  # it points to what is below it
        unresolved = unresolved or (one.passage.source == "prompt" and _ERROR_REPORT.match(one.passage.text))
        if unresolved:
            score = min(score, learned.further - BELOW_CUT_MARGIN / 2)
            personal = min(personal, score)
        draft = _make_draft(one, scene, personal, context if context and _names_something(context.text) else None)
        if draft is None:
            continue
        # Without features the adjustment does not apply, so an unresolved passage stays below the cut.
        features = () if unresolved else tuple(round(value, 3) for value in one.features)
        following = [each.passage for each in passages[at + 1 :]]
        draft = replace(draft, score=round(score, 3), features=features)
        out.append(RankedDraft(draft, score, _find_refutation(one.passage, following, scene, retractions)))
    return out


def _find_refutation(
    passage: TurnPassage, following: list[TurnPassage], scene: Scene, retractions: Sequence[tuple[int, str]]
) -> str:
    """Returns why a passage no longer applies at the end of its exchange, or "" if it does. `retractions` lists the
    agent's corrections with the ordinals of their turns."""
    if passage.is_persons:
        same = [one for one in following if (one.turn, one.source) == (passage.turn, passage.source)]
        if is_called_off(passage, same):
            return "you call it off right after it"
        back = scene.after is not None and is_retraction(scene.after)
        return "your next message takes it back" if back else ""
    if judge_next_words(scene.after) == "refuted":
        return "your next message takes it back"
    if is_retracted(passage.text, (retraction for ordinal, retraction in retractions if ordinal > passage.ordinal)):
        return "the agent found later that it was wrong"
    return ""


def _make_draft(measured: MeasuredPassage, scene: Scene, score: float, context: Quote | None) -> Draft | None:
    passage, turn = measured.passage, measured.turn
    primitive, learning = _choose_type(measured)
    if _is_question(passage) and scene.after is not None and passage.source != "feedback":
        return None  # the person has continued, so the question was answered or no longer matters
    text = _plain(passage.text)
    title, body = make_title(text), _make_body(passage, text, context, scene)
    if passage.source == "answer":
        both = f"{_plain(passage.heading).rstrip()} {capitalize_first(text)}"
        title = make_title(both if len(both) <= MAX_TITLE_CHARS else text)  # a cut would lose the answer
    who: Speaker = "user" if passage.is_persons else "assistant"
    quotes = [Quote(passage.text, turn.id, who)]
    if context is not None:
        quotes.append(context)
    return Draft(
        signal=passage.source,
        basis="ranked",
        primitive=primitive,
        kind=learning,
        title=title,
        body=body,
        turn=turn,
        quotes=tuple(quotes),
        artifacts=find_artifacts(text),
        references=_find_places(passage, scene, text),
        chance=score_to_chance(score),
    )


def _find_places(passage: TurnPassage, scene: Scene, text: str) -> tuple[str, ...]:
    """Returns the files and symbols that a passage names; for a person's words, also where the agent changed
    something because of them or, if there is no such place, the one file that their prompt names."""
    named = find_named_places(scene, text)
    if not passage.is_persons:
        return named
    places = named or find_changed_files(scene, scene.now) or _find_prompted_file(scene)
    return narrow_to_symbols(scene, scene.now, places)


def _find_prompted_file(scene: Scene) -> tuple[str, ...]:
    """Returns the file that this prompt names; nothing if it names several."""
    text = scene.now.prompt.text if scene.now.prompt is not None else ""
    files = tuple(dict.fromkeys(place.partition("#")[0] for place in find_named_places(scene, text)))
    return files if len(files) == 1 else ()


def _choose_type(measured: MeasuredPassage) -> tuple[Primitive, LearningKind | None]:
    if measured.passage.source == "answer":
        return "decision", None
    if _is_question(measured.passage):
        return _MEMORY_TYPES["question"]
    kind = explicit_type(measured.passage) or predict_type(measured.features)
    # A statement about an open question is kept as a fact. So is an agent's rule: a preference is the person's.
    is_fact = kind == "question" or (kind == "rule" and not measured.passage.is_persons)
    return _MEMORY_TYPES["fact" if is_fact else kind]


def _is_question(passage: TurnPassage) -> bool:
    return passage.text.rstrip(' *"`)').endswith(("?", "？"))


def _make_body(passage: TurnPassage, text: str, context: Quote | None, scene: Scene) -> str:
    whole = full_sentence(text) if not text.endswith(("。", "！", "？", ":")) else text
    if passage.source == "answer":
        why = f" {full_sentence(_plain(passage.before))}" if passage.before else ""
        whole = f"Asked: “{_plain(passage.heading)}” Answered: “{text}”.{why}"
    before = ""
    if context is not None:
        is_same_speaker = passage.is_persons == (context.who == "user")
        before = f"{SAID_AFTER if is_same_speaker else IN_REPLY_TO}{_plain(context.text)}”"
    return " ".join(part for part in (whole, before, _describe_outcome(passage, scene)) if part)


def _needs_context(text: str) -> bool:
    """Returns whether a sentence needs what was said before it: it begins by referring back, or contains a pronoun and
    no name."""
    return bool(_REFERS_BACK.match(text)) or bool(_PRONOUN.search(text) and not _NAME_FORM.search(text))


def _names_something(text: str) -> bool:
    """Returns whether a sentence helps to understand the one after it; "I see the problem." does not."""
    words = set(re.findall(r"[^\W\d_]{2,40}", text.lower()))
    return bool(_NAME_FORM.search(text)) or not words <= _EMPTY_WORDS


def _find_context(passage: TurnPassage, scene: Scene) -> Quote | None:
    """Returns the sentence that a passage refers to: the one before it in its text, else the first sentence of the
    prompt (for an agent's passage) or the last sentence of the agent's previous reply (for a person's)."""
    if passage.source == "answer" or not _needs_context(passage.text):
        return None
    who: Speaker = "user" if passage.is_persons else "assistant"
    if passage.before:
        return Quote(_short(passage.before), passage.turn, who)
    if not passage.is_persons:
        prompt = scene.now.prompt
        sentence = next(_split_sentences(prompt.text), "") if prompt is not None and not prompt.unattended else ""
        return Quote(sentence, prompt.id, "user") if sentence and prompt is not None else None
    for reply in reversed(scene.before.replies):
        if reply.text:
            *_, sentence = ("", *_split_sentences(reply.text))
            return Quote(sentence, reply.id, "assistant") if sentence else None
    return None


def _split_sentences(text: str) -> Iterator[str]:
    return (_short(text[one.start : one.end]) for one in find_sentences(text))


def _describe_outcome(passage: TurnPassage, scene: Scene) -> str:
    """Returns what the agent did about a person's words: the files it changed, and the project's last command after
    that, if it passed."""
    files = find_changed_files(scene, scene.now) if passage.is_persons else ()
    if not files:
        return ""
    change = f"The agent changed {join_names([code_span(path) for path in files])}"
    calls = [call for reply in scene.now.replies for call in reply.tool_calls]
    edits = [at for at, call in enumerate(calls) if call.kind in ("edit", "write") and call.status == "ok"]
    ran = [(call, parse_command(call.command)) for call in calls[max(edits, default=-1) + 1 :] if call.kind == "shell"]
    call, command = next((one for one in reversed(ran) if one[1].is_project_command), (None, None))
    if call is None or command is None or len(command.text) > MAX_CONTEXT_CHARS:
        return f"{change}."
    passed = command_outcome(call, command) == "passed"
    return f"{change}; {code_span(command.text)} then passed." if passed else f"{change}."


def _plain(text: str) -> str:
    """Returns the text on one line, without bold and with links reduced to their text, because link targets are
    often paths of one machine."""
    return squeeze_spaces(_MARKUP.sub(lambda found: next(filter(None, found.groups())), text))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CONTEXT_CHARS else text[:MAX_CONTEXT_CHARS].rpartition(" ")[0]


class MeasuredPassage(NamedTuple):
    """A passage, its turn, and its features in the order of `features.FEATURE_NAMES`."""

    passage: TurnPassage
    turn: Turn
    features: list[float]


def measure_passages(before: Exchange, now: Exchange, after: Turn | None, number: int) -> Iterator[MeasuredPassage]:
    """Yields the passages of `now` with their features. `before` is the exchange before it, `after` the person's next
    words, `number` the count of earlier prompts."""
    for turn in (now.prompt, *now.replies):
        if turn is not None:
            around: TurnSurroundings | None = None
            for passage in split_passages(turn):
                around = around or describe_surroundings(turn, before, now, after, number)
                yield MeasuredPassage(passage, turn, passage_features(passage, around))
