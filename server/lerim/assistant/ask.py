"""A question about a project, answered from its memories and sessions: with a model in sentences that name their
sources, as each is complete; without one, by the passages themselves.

Nothing is written but what citing a memory counts as: use of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec

from lerim.assistant.cited import Answer, AnswerState, Passage, Question, Sentence, SentenceEvent
from lerim.config import load
from lerim.errors import LerimError, Problem
from lerim.memory import GLOBAL_KEY, Uses
from lerim.models import DayBudget, EditorBridge, Model, choose_allowed
from lerim.paths import Home
from lerim.project import Project

MOST = 8_000
"""Tokens of an answer, thoughts included."""
SECONDS = 180.0
"""A person waits for the answer."""
NOTHING_FOUND = "Nothing was found: no active memory and no session of this project is about this."
ALONE = "These passages were found, best first."

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
) -> Answer:
    """The answer; `emit` hears each sentence as soon as it is complete. Whatever becomes of the model, the passages are
    there. Raises CatalogError, SettingsError.
    """
    from lerim.assistant.passages import find_passages

    began = time.monotonic()
    problems: list[Problem] = []
    looked = find_passages(project, home, question, problems)
    found = looked.passages
    answer = Answer(question.text, [], found, bool(found), problems=problems)
    if cancelled():
        answer = msgspec.structs.replace(answer, state="cancelled", message="Cancelled.")
    elif not found:
        answer = msgspec.structs.replace(answer, message=NOTHING_FOUND)
    else:
        model, why = _model(project, home, environ, question, problems)
        if model is None:
            answer = msgspec.structs.replace(answer, message=f"{why} {ALONE}", state="partial" if problems else "done")
        else:
            answer = _asked(answer, model, project, home, environ, emit, cancelled, clock, bridge)
    parts = (answer.message, _withheld(looked.withheld), _uncompared(looked.uncompared))
    message = " ".join(filter(None, parts))
    return msgspec.structs.replace(answer, message=message, seconds=round(time.monotonic() - began, 3))


def _withheld(count: int) -> str:
    """What is said of memories that are no answer now."""
    if not count:
        return ""
    which = "One memory about it is" if count == 1 else f"{count} memories about it are"
    return f"{which} archived, or its code has changed. Include archived and drifted memories to see more."


def _uncompared(count: int) -> str:
    """What is said of memories of which nobody knows whether the code here is still as it was."""
    if not count:
        return ""
    which = "One memory about it was" if count == 1 else f"{count} memories about it were"
    return f"{which} not compared with the code here yet; run `lerim maintain`."


def _model(
    project: Project, home: Home, environ: Mapping[str, str], question: Question, problems: list[Problem]
) -> tuple[Model | None, str]:
    """The model that may be asked; None, and why, where there is none."""
    if question.model == "none":
        return None, "No model was used."
    settings, _ = load.load_settings(environ, home, project.root)
    choice = choose_allowed("lead", settings, home, environ)
    problems += choice.problems
    model = choice.model
    if model is None:
        return None, choice.problems[0].message if choice.problems else "No model is chosen."
    if choice.why:
        return None, f"{model.label} costs money, and you have not agreed to pay for it (`lerim model allow`)."
    return replace(model, timeout=min(model.timeout, SECONDS)), ""


def _asked(
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
    """The answer with what the model says, as far as it got."""
    from lerim.assistant.answer import AnswerParser, passages_for_model
    from lerim.assistant.model_call import put_question
    from lerim.models import Engine

    settings, _ = load.load_settings(environ, home, project.root)
    budget = DayBudget(home, settings.daily_budget_usd, lambda: clock().astimezone())
    engine = Engine(model, cancelled, home=home, environ=environ, budget=budget, bridge=bridge, max_output_tokens=MOST)
    shown = passages_for_model(answer.passages)
    heard = AnswerParser(shown, lambda sentence: emit(SentenceEvent(sentence)))
    state: AnswerState = "done"
    message = ""
    try:
        put_question(engine, model, answer.question, shown, heard)
    except LerimError as error:
        state = "cancelled" if cancelled() else "partial"
        message = "Cancelled." if cancelled() else error.explanation
        if state == "partial" and error.code != "budget":  # a used-up budget is no fault
            answer.problems.append(error.problem(model.label))
    answer.problems.extend(budget.problems)
    sentences = heard.sentences
    _used(project, home, answer.passages, sentences, clock())
    return msgspec.structs.replace(
        answer,
        sentences=sentences,
        known=bool(sentences) or (state != "done" and bool(answer.passages)),
        model=engine.role_usage[-1].model if engine.role_usage else "none",
        left_out=heard.left_out,
        spent=engine.role_usage,
        steps=engine.steps,
        state=state,
        message=message or _ended(sentences, shown, heard.left_out),
    )


def _used(
    project: Project, home: Home, passages: Sequence[Passage], sentences: Sequence[Sentence], now: datetime
) -> None:
    """Citing a memory counts as use of it, in the project's own count or the person's."""
    cited = {one.number for sentence in sentences for one in sentence.citations}
    for key in {project.key, GLOBAL_KEY}:
        ids = [
            one.citation.ref.removeprefix("m:")
            for one in passages
            if one.path and one.citation.number in cited and (key == GLOBAL_KEY) == _personal(home, one)
        ]
        Uses(home.project(key)).record_use(ids, "cited", now)


def _personal(home: Home, passage: Passage) -> bool:
    return Path(passage.path).is_relative_to(home.memory)


def _ended(sentences: Sequence[Sentence], shown: Sequence[Passage], left_out: int) -> str:
    """What the person is told of an answer that came to its end."""
    if sentences:
        return ""
    if left_out:
        return f"The model's answer was not supported by its sources. {ALONE}"
    return f"The model found no answer in what was found. {ALONE}" if shown else NOTHING_FOUND
