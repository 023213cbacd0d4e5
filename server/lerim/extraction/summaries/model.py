"""Summarizes a session with a model: one call per new part, and one more to join the summaries of several parts.

Nothing that the model says is trusted: a statement must name turns that the model was shown, and each number, path
and name in it must occur there. Figures, files and dates come from code. What the model leaves out is filled in by
the rules.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lerim.errors import ModelGoneError, WindowTooLargeError
from lerim.extraction.facts import full_sentence
from lerim.extraction.model import (
    AnswerCache,
    CountTokens,
    Window,
    ask_signature,
    cut_windows,
    halve_window,
    has_exact_parts,
    is_worth_asking,
    take_overlap,
)
from lerim.extraction.summaries.excerpts import one_line
from lerim.extraction.summaries.parts import (
    SessionPart,
    SummaryMergeSignature,
    SummaryParts,
    SummaryPartSignature,
    Told,
    show_summary_turns,
)
from lerim.extraction.summaries.summary import (
    DESCRIPTION_WORDS,
    HAPPENED_WORDS,
    INTENT_WORDS,
    OUTCOME_WORDS,
    Statement,
    Summary,
    fit_statements,
)
from lerim.models import ModelStep, StepKind, dspy
from lerim.patterns import compile_later
from lerim.redaction import clean_text
from lerim.sessions import summary_turns

ROLE = "summarize"
MIN_WINDOW_TOKENS = 500
"""Windows of at most this many tokens are not cut any further."""
GUIDANCE = "Leave out what nobody will want to know next month."
MAX_TITLE_CHARS = 90
MAX_STATEMENT_CHARS = 400
MAX_STATEMENTS = 30  # statements read of one part
MAX_TAGS = 6
_TAG = compile_later(r"^[a-z][\w.+#-]{1,23}$")


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """One session to be summarized. `limit` returns how many tokens a window may have now; `before_call` may raise an
    error to end the summary, and `add_step` takes irregular events."""

    session: str
    turns: Sequence[summary_turns.SummaryTurn]
    rules: Summary
    metadata: str
    model: str
    answers: AnswerCache[SessionPart]
    limit: Callable[[], int]
    overlap_tokens: int
    count: CountTokens
    gate: bool
    before_call: Callable[[], None]
    add_step: Callable[[ModelStep], None]


def summarize_with_model(lm: dspy.LM, task: SummaryTask, parts: SummaryParts) -> Summary:
    """Asks about the turns after those in `parts`, adds each new part to it, and returns the summary. Raises
    ModelError, StoppedError, SettingsError, and whatever LerimError the engine raises."""
    turns = show_summary_turns(task.turns)
    seen = take_overlap([turn for turn in turns if turn.number <= parts.sent], task.overlap_tokens, task.count)
    fresh = [turn for turn in turns if turn.number > parts.sent]
    todo = deque(
        cut_windows([*seen, *fresh], task.limit(), task.overlap_tokens, parts.sent, task.count) if fresh else ()
    )
    most = sys.maxsize  # maximum tokens of a window, lowered once one was too large
    pending_parts: list[SessionPart] = []
    while todo:
        window = todo.popleft()
        try:
            if window.approx_tokens > most:
                raise WindowTooLargeError("nearly as large as one that was too large")
            pending_parts.append(_summarize_window(lm, task, window))
        except WindowTooLargeError as error:
            two = halve_window(window, task.count) if window.approx_tokens > MIN_WINDOW_TOKENS else ()
            if len(two) < 2:
                message = "The model's context is too small for what it must see of a session."
                raise ModelGoneError(message, todo="Choose another model, or give it more context.") from error
            most = min(most, max(MIN_WINDOW_TOKENS, window.approx_tokens * 3 // 4))
            _add_step(task, "halved", "the request exceeds the model's context window", window.approx_tokens)
            todo.extendleft(reversed(two))
            continue
        last = window.fresh_turns[-1]
        if not todo or todo[0].fresh_turns[0].number > last.number:  # a turn is done when all its parts are
            parts.parts += pending_parts
            parts.sent, parts.turn = last.number, last.id
            pending_parts = []
    return _make_summary(task, _join_parts(lm, task, parts.parts))


def _summarize_window(lm: dspy.LM, task: SummaryTask, window: Window) -> SessionPart:
    known = task.answers.find(SummaryPartSignature, window.text)
    if known is not None:
        _add_step(task, "resumed", "it was answered before", window.approx_tokens)
        return known
    if task.gate and not is_worth_asking(window.fresh_turns):
        _add_step(task, "skipped", "nothing in it is a signal", window.approx_tokens)
        return _summarize_window_by_rules(task, window)
    numbers = {turn.number for turn in window.turns}
    part = _ask(lm, task, SummaryPartSignature, {"transcript": window.text}, numbers)
    return part or _summarize_window_by_rules(task, window)


def _ask(
    lm: dspy.LM, task: SummaryTask, signature: type[dspy.Signature], shown: Mapping[str, str], numbers: set[int]
) -> SessionPart | None:
    """Asks about the text in `shown`, which contains the turns with these numbers, and stores the credible part of
    the answer; None if there is none."""
    task.before_call()
    inputs = {**shown, "metadata": task.metadata, "guidance": GUIDANCE}
    answer = ask_signature(lm, signature, inputs, SessionPart, think=False)
    [text] = shown.values()
    part = ground_part(answer.items[0], numbers, text) if answer.items else None
    if part is None or not part.statements:
        _add_step(task, "unread", answer.parse_error or "nothing in it was in what was shown")
        return None
    task.answers.store(signature, text, part)
    return part


def _join_parts(lm: dspy.LM, task: SummaryTask, parts: Sequence[SessionPart]) -> SessionPart:
    """Joins several parts into one, in groups if they do not all fit into one call."""
    left = list(parts)
    while len(left) > 1:
        group = _fit_parts(left, task)
        left = [_reduce_parts(lm, task, group), *left[len(group) :]]
    return left[0] if left else SessionPart()


def _fit_parts(parts: Sequence[SessionPart], task: SummaryTask) -> list[SessionPart]:
    group, most = list(parts[:2]), task.limit()
    size = sum(task.count(part.model_dump_json()) for part in group)
    for part in parts[2:]:
        size += task.count(part.model_dump_json())
        if size > most:
            break
        group.append(part)
    return group


def _reduce_parts(lm: dspy.LM, task: SummaryTask, group: Sequence[SessionPart]) -> SessionPart:
    text = json.dumps([part.model_dump() for part in group], ensure_ascii=False)
    known = task.answers.find(SummaryMergeSignature, text)
    if known is not None:
        return known
    numbers = {number for part in group for one in part.statements for number in one.turns}
    joined: SessionPart | None = None
    try:
        joined = _ask(lm, task, SummaryMergeSignature, {"parts": text}, numbers)
    except WindowTooLargeError:
        _add_step(task, "unread", "the parts together are more than the model takes")
    return joined or _merge_parts(group)


def _merge_parts(group: Sequence[SessionPart]) -> SessionPart:
    first = next((part for part in group if part.title), group[0])
    return SessionPart(
        title=first.title,
        description=first.description,
        tags=[tag for part in group for tag in part.tags],
        statements=[one for part in group for one in part.statements],
    )


def _summarize_window_by_rules(task: SummaryTask, window: Window) -> SessionPart:
    numbers = {turn.id: turn.number for turn in window.fresh_turns}
    both = (("intent", task.rules.intent), ("happened", task.rules.happened), ("outcome", task.rules.outcome))
    return SessionPart(
        statements=[
            Told.model_validate({"about": about, "text": one.text, "turns": [numbers[turn] for turn in one.turns]})
            for about, statements in both
            for one in statements
            if one.turns and all(turn in numbers for turn in one.turns)
        ]
    )


def ground_part(part: SessionPart, numbers: set[int], text: str) -> SessionPart:
    """Returns the credible part of an answer, cleaned: the statements about turns that were shown, if each number,
    path and name in them occurs in `text`, which is what the model was shown."""
    low = text.lower()
    kept: list[Told] = []
    for one in part.statements[:MAX_STATEMENTS]:
        said = full_sentence(one_line(one.text, MAX_STATEMENT_CHARS))
        turns = [number for number in dict.fromkeys(one.turns) if number in numbers]
        if said and turns and has_exact_parts(said, low):
            kept.append(Told(about=one.about, text=said, turns=turns))
    title, description = (
        one_line(part.title, MAX_TITLE_CHARS).rstrip(" .:"),
        one_line(part.description, MAX_STATEMENT_CHARS),
    )
    tags = [tag.strip().lower() for tag in part.tags[:MAX_TAGS]]
    return SessionPart(
        title=title if has_exact_parts(title, low) else "",
        description=full_sentence(description) if description and has_exact_parts(description, low) else "",
        tags=[tag for tag in tags if _TAG.match(tag) and clean_text(tag) == tag],
        statements=kept,
    )


def _make_summary(task: SummaryTask, whole: SessionPart) -> Summary:
    ids = {turn.number: turn.id for turn in task.turns}
    rules = task.rules

    def section(about: str, otherwise: tuple[Statement, ...], most: int) -> tuple[Statement, ...]:
        own = [
            Statement(one.text, tuple(ids[number] for number in one.turns if number in ids))
            for one in whole.statements
            if one.about == about
        ]
        return fit_statements([one for one in own if one.turns], most) or otherwise

    described = fit_statements([Statement(whole.description, ())], DESCRIPTION_WORDS) if whole.description else ()
    return replace(
        rules,
        title=whole.title or rules.title,
        description=" ".join((*(one.text for one in described), rules.description)),
        intent=section("intent", rules.intent, INTENT_WORDS),
        happened=section("happened", rules.happened, HAPPENED_WORDS),
        outcome=section("outcome", rules.outcome, OUTCOME_WORDS),
        tags=_select_tags([*whole.tags, *rules.tags]),
    )


def _select_tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags))[:MAX_TAGS]


def _add_step(task: SummaryTask, kind: StepKind, why: str, tokens: int = 0) -> None:
    task.add_step(ModelStep(kind, ROLE, task.model, clean_text(why), task.session, tokens=tokens))
