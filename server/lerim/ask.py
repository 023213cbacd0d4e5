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

from lerim import config
from lerim.errors import LerimError, Problem
from lerim.lead.cited import Answer, AnswerState, Passage, Question, Said, Sentence
from lerim.memory.search import GLOBAL_KEY
from lerim.memory.uses import Uses
from lerim.models.editor import Bridge
from lerim.models.model import Model
from lerim.models.spending import Purse
from lerim.models.state import choose_allowed
from lerim.paths import Home
from lerim.project import Project

MOST = 8_000
"""Tokens of an answer, thoughts included."""
SECONDS = 180.0
"""A person waits for the answer."""
NOTHING_FOUND = "Nothing is known of this: no memory that holds and no session of this project speaks of it."
ALONE = "These are the passages that were found, best first."

Emit = Callable[[Said], None]


def run(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    question: Question,
    emit: Emit,
    cancelled: Callable[[], bool],
    clock: Callable[[], datetime],
    bridge: Bridge | None = None,
) -> Answer:
    """The answer; `emit` hears each sentence as soon as it is complete. Whatever becomes of the model, the passages are
    there. Raises CatalogError, SettingsError.
    """
    from lerim.lead.passages import sources

    began = time.monotonic()
    problems: list[Problem] = []
    looked = sources(project, home, question, problems)
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
    which = "One memory of it is" if count == 1 else f"{count} memories of it are"
    return f"{which} over, or changed in the code since: ask for those, too, to see."


def _uncompared(count: int) -> str:
    """What is said of memories of which nobody knows whether the code here is still as it was."""
    if not count:
        return ""
    which = "One memory of it was" if count == 1 else f"{count} memories of it were"
    return f"{which} not compared with the code here yet: `lerim maintain` does it."


def _model(
    project: Project, home: Home, environ: Mapping[str, str], question: Question, problems: list[Problem]
) -> tuple[Model | None, str]:
    """The model that may be asked; None, and why, where there is none."""
    if question.model == "none":
        return None, "No model was asked."
    settings, _ = config.load(environ, home, project.root)
    choice = choose_allowed("lead", settings, home, environ)
    problems += choice.problems
    model = choice.model
    if model is None:
        return None, choice.problems[0].message if choice.problems else "No model is chosen."
    if choice.why:
        return None, f"{model.label} is paid for, and you did not agree to it yet (`lerim model allow`)."
    return replace(model, timeout=min(model.timeout, SECONDS)), ""


def _asked(
    answer: Answer,
    model: Model,
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    emit: Emit,
    cancelled: Callable[[], bool],
    clock: Callable[[], datetime],
    bridge: Bridge | None,
) -> Answer:
    """The answer with what the model says, as far as it got."""
    from lerim.lead.answer import Sentences, for_a_model
    from lerim.lead.put import put
    from lerim.models.engine import Engine

    settings, _ = config.load(environ, home, project.root)
    purse = Purse(home, settings.budget, lambda: clock().astimezone())
    engine = Engine(model, cancelled, home=home, environ=environ, purse=purse, bridge=bridge, most=MOST)
    shown = for_a_model(answer.passages)
    heard = Sentences(shown, lambda sentence: emit(Said(sentence)))
    state: AnswerState = "done"
    message = ""
    try:
        put(engine, model, answer.question, shown, heard)
    except LerimError as error:
        state = "cancelled" if cancelled() else "partial"
        message = "Cancelled." if cancelled() else error.explanation
        if state == "partial" and error.code != "budget":  # a used-up budget is no fault
            answer.problems.append(error.problem(model.label))
    answer.problems.extend(purse.problems)
    sentences = heard.sentences
    _used(project, home, answer.passages, sentences, clock())
    return msgspec.structs.replace(
        answer,
        sentences=sentences,
        known=bool(sentences) or (state != "done" and bool(answer.passages)),
        model=engine.spent[-1].model if engine.spent else "none",
        left_out=heard.left_out,
        spent=engine.spent,
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
        Uses(home.project(key)).note(ids, "cited", now)


def _personal(home: Home, passage: Passage) -> bool:
    return Path(passage.path).is_relative_to(home.memory)


def _ended(sentences: Sequence[Sentence], shown: Sequence[Passage], left_out: int) -> str:
    """What the person is told of an answer that came to its end."""
    if sentences:
        return ""
    if left_out:
        return f"The model said nothing that its sources hold. {ALONE}"
    return f"Nothing that was found answers this. {ALONE}" if shown else NOTHING_FOUND
