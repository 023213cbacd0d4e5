"""Answers a question about a project from its memories and sessions. With a model, the answer consists of sentences
that cite their sources and are emitted one by one; without a model, it consists of the passages themselves.

Nothing is written, except that a cited memory counts as used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lerim.assistant.answers import Answer, AnswerState, Passage, Question, Sentence, SentenceEvent
from lerim.config import load
from lerim.errors import LerimError, Problem, StoppedError
from lerim.memory import GLOBAL_KEY, ReportProgress, SentenceModel, Uses
from lerim.models import DayBudget, EditorBridge, Model, choose_allowed
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.assistant.answer_parser import AnswerParser
    from lerim.assistant.passages import PassageResults
    from lerim.models import Engine

MAX_ANSWER_TOKENS = 8_000
"""Maximum number of tokens of an answer, including reasoning."""
OVERHEAD_TOKENS = 1_500
"""Number of tokens reserved for everything that is sent besides the passages."""
TIMEOUT_SECONDS = 180.0
"""Maximum number of seconds that a model may take, because a person is waiting for the answer."""
NOTHING_FOUND = (
    "Nothing was found: no active memory and no session of this project contains enough of the question's words."
)
PASSAGES_ONLY = "These passages were found, best first."
ONLY_NEAR = (
    "Nothing contains enough of the question's words. These memories may mean something similar, the nearest first."
)

EmitSentence = Callable[[SentenceEvent], None]


def answer_question(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    question: Question,
    emit: EmitSentence,
    cancelled: Callable[[], bool],
    clock: Callable[[], datetime],
    bridge: EditorBridge | None = None,
    sentence_model: SentenceModel | None = None,
    report: ReportProgress = lambda done, total: None,
) -> Answer:
    """Answers a question. `emit` is called with each sentence as soon as it is complete. The answer contains the
    passages even if the model fails. With a `sentence_model`, memories that mean something similar are among them;
    `report` is called while it reads new ones and may raise StoppedError. Raises CatalogError, SettingsError.
    """
    from lerim.assistant.passages import PassageResults, find_passages

    began = time.monotonic()
    problems: list[Problem] = []
    try:
        search = find_passages(project, home, question, problems, sentence_model, report)
    except StoppedError:
        search = PassageResults([])
    passages = [*search.passages, *search.near]
    answer = Answer(question.text, [], passages, bool(search.passages), problems=problems)
    if cancelled():
        answer = msgspec.structs.replace(answer, state="cancelled", message="Cancelled.")
    elif not passages:
        answer = msgspec.structs.replace(answer, message=NOTHING_FOUND)
    else:
        model, why = _choose_model(project, home, environ, question, passages, problems)
        if model is None:
            state: AnswerState = "partial" if problems else "done"
            found = PASSAGES_ONLY if search.passages else ONLY_NEAR
            answer = msgspec.structs.replace(answer, message=f"{why} {found}", state=state)
        else:
            answer = _answer_with_model(answer, model, project, home, environ, emit, cancelled, clock, bridge)
    message = " ".join(filter(None, (answer.message, *_left_out_messages(search))))
    return msgspec.structs.replace(answer, message=message, seconds=round(time.monotonic() - began, 3))


def _left_out_messages(search: PassageResults) -> Iterator[str]:
    """Yields messages about relevant memories that were left out, or that were never compared with the code here."""
    if search.withheld:
        which = "One memory about it is" if search.withheld == 1 else f"{search.withheld} memories about it are"
        yield f"{which} archived, or its code has changed."
        yield "You can ask again and include such memories."
    if search.uncompared:
        which = "One memory about it was" if search.uncompared == 1 else f"{search.uncompared} memories about it were"
        yield f"{which} not compared with the code here yet; maintain the memories (`lerim maintain`) to compare them."


def _choose_model(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    question: Question,
    passages: Sequence[Passage],
    problems: list[Problem],
) -> tuple[Model | None, str]:
    """Returns the model to ask and "", or None and the reason why no model is asked."""
    from lerim.assistant.answer_parser import passages_for_model

    if question.model == "none":
        return None, "No model was used."
    if not passages_for_model(passages):
        return None, "No model was used, because all that was found reads like a command to one."
    settings, _ = load.load_settings(environ, home, project.root)
    choice = choose_allowed("lead", settings, home, environ)
    problems += choice.problems
    model = choice.model
    if model is None:
        return None, choice.problems[0].message if choice.problems else "No model is chosen."
    if choice.why:
        return None, f"{model.label} costs money, and you have not approved it (`lerim model allow`)."
    return replace(model, timeout=min(model.timeout, TIMEOUT_SECONDS)), ""


def _answer_with_model(
    answer: Answer,
    model: Model,
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    emit: EmitSentence,
    cancelled: Callable[[], bool],
    clock: Callable[[], datetime],
    bridge: EditorBridge | None,
) -> Answer:
    """Returns the answer with the model's sentences; if the model fails, with those that it completed."""
    from lerim.assistant.answer_parser import AnswerParser, passages_for_model
    from lerim.models import Engine

    settings, _ = load.load_settings(environ, home, project.root)
    budget = DayBudget(home, settings.daily_budget_usd, lambda: clock().astimezone())
    engine = Engine(
        model, cancelled, home=home, environ=environ, budget=budget, bridge=bridge, max_output_tokens=MAX_ANSWER_TOKENS
    )
    shown = passages_for_model(answer.passages)
    parser = AnswerParser(shown, lambda sentence: emit(SentenceEvent(sentence)))
    state: AnswerState = "done"
    message = ""
    try:
        _send_question(engine, model, answer.question, shown, parser)
    except LerimError as error:
        state = "cancelled" if cancelled() else "partial"
        message = "Cancelled." if cancelled() else error.explanation
        if state == "partial" and error.code != "budget":  # a used-up budget is not a problem
            answer.problems.append(error.problem(model.label))
    answer.problems.extend(budget.problems)
    sentences = parser.sentences
    _record_citations(project, home, answer.passages, sentences, clock())
    return msgspec.structs.replace(
        answer,
        sentences=sentences,
        known=bool(sentences) or (state != "done" and bool(answer.passages)),
        model=engine.role_usage[-1].model if engine.role_usage else "none",
        left_out=parser.unsupported_count,
        spent=engine.role_usage,
        steps=engine.steps,
        state=state,
        message=message or _empty_answer_message(sentences, parser.unsupported_count),
    )


def _send_question(
    engine: Engine, model: Model, question: str, passages: Sequence[Passage], parser: AnswerParser
) -> None:
    """Asks a model the question with as many of the passages, best first, as fit into its window, but at least one.

    The answer is passed to `parser`. Raises ModelError if there is no answer, or if it is incomplete; what was
    parsed until then remains valid.
    """
    from lerim.assistant.answer_parser import INSTRUCTIONS, render_prompt
    from lerim.models import count_tokens, stream_answer

    def render(window: int) -> str:
        fitting: list[Passage] = []
        tokens_left = window - OVERHEAD_TOKENS - count_tokens(question)
        for passage in passages:
            tokens_left -= count_tokens(passage.text) + 30
            if fitting and tokens_left < 0:
                break
            fitting.append(passage)
        return render_prompt(question, fitting)

    is_complete = False
    try:
        stream_answer(engine, model, INSTRUCTIONS, render, parser.feed, "lead")
        is_complete = True
    finally:
        parser.end(is_complete=is_complete)


def _record_citations(
    project: Project, home: Home, passages: Sequence[Passage], sentences: Sequence[Sentence], now: datetime
) -> None:
    """Records each cited memory as used, in the counts of the project or, for a personal memory, of the person."""
    cited_numbers = {citation.number for sentence in sentences for citation in sentence.citations}
    cited_memories = [passage for passage in passages if passage.path and passage.citation.number in cited_numbers]
    for key in {project.key, GLOBAL_KEY}:
        ids = [
            passage.citation.ref.removeprefix("m:")
            for passage in cited_memories
            if (key == GLOBAL_KEY) == _is_personal(home, passage)
        ]
        Uses(home.project(key)).record_use(ids, "cited", now)


def _is_personal(home: Home, passage: Passage) -> bool:
    return Path(passage.path).is_relative_to(home.memory)


def _empty_answer_message(sentences: Sequence[Sentence], unsupported_count: int) -> str:
    """Returns the message for an answer that ended normally; "" if it has sentences."""
    if sentences:
        return ""
    if unsupported_count:
        return f"The model's answer was not supported by its sources. {PASSAGES_ONLY}"
    return f"The model could not answer from the passages below. {PASSAGES_ONLY}"
