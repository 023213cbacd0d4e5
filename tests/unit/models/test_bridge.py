"""The editor's own models, asked over the bridge: each thread gets its own answer, or is told why there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from engines import EDITOR, REQUEST, never
from lerim.models import lm15
from lerim.models.editor import (
    EditorAnswer,
    EditorAnswerPart,
    EditorBridge,
    EditorCancellation,
    EditorQuestion,
    EditorRefusal,
)
from lerim.models.engine import Engine

pytestmark = pytest.mark.usefixtures("short_waits")

Answer = EditorAnswer | EditorRefusal | EditorAnswerPart
Script = Callable[[EditorQuestion], Answer | None]


class Editor:
    """The other end of a bridge: answers each question by a script, the last answer for ever."""

    def __init__(self, *answers: Script) -> None:
        self.answers = list(answers)
        self.asked: list[EditorQuestion] = []
        self.taken_back: list[int] = []
        self.bridge = EditorBridge(self.hear)

    def hear(self, line: EditorQuestion | EditorCancellation) -> None:
        if isinstance(line, EditorCancellation):
            self.taken_back.append(line.id)
            return
        self.asked.append(line)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if (told := answer(line)) is not None:
            self.bridge.deliver(told)

    def engine(self, cancelled: Callable[[], bool] = never, **changes: object) -> Engine:
        return Engine(replace(EDITOR, **changes), cancelled, bridge=self.bridge)  # type: ignore[arg-type]


def refuses(why: str, message: str = "") -> Script:
    return lambda ask: EditorRefusal(ask.id, why, message)  # type: ignore[arg-type]


def says(text: str) -> Script:
    return lambda ask: EditorAnswer(ask.id, text)


def is_silent(_ask: EditorQuestion) -> None:
    pass


def test_answers_in_any_order_reach_the_threads_that_asked() -> None:
    editor, everyone = Editor(is_silent), threading.Barrier(5, timeout=30)

    def ask(prompt: str) -> str:
        def look() -> bool:
            if not everyone.broken and prompt not in looked:
                looked.add(prompt)
                everyone.wait()
            return False

        return editor.bridge.ask("m", "", prompt, max_tokens=1, seconds=30, cancelled=look)

    looked: set[str] = set()
    with ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(ask, str(number)) for number in range(4)]
        everyone.wait()
        for asked in reversed(editor.asked):
            editor.bridge.deliver(EditorAnswer(asked.id, asked.prompt * 2))
        assert [answer.result(30) for answer in answers] == ["00", "11", "22", "33"]


@pytest.mark.parametrize(
    ("why", "error", "code"),
    [
        ("no-permission", lm15.InvalidRequestError, "gone"),
        ("quota", lm15.BillingError, None),
        ("not-found", lm15.UnsupportedModelError, "gone"),
        ("gone", lm15.UnsupportedModelError, "gone"),
        ("cancelled", lm15.TransportError, "cancelled"),
    ],
)
def test_why_the_editor_refuses_is_told_apart(why: str, error: type[lm15.LM15Error], code: str | None) -> None:
    editor = Editor(refuses(why, "no\nmore"))
    with pytest.raises(error) as caught:
        editor.engine().complete(REQUEST)
    assert code in (None, caught.value.code)
    assert ("no more" in str(caught.value)) == (why != "cancelled")
    assert len(editor.asked) == 1


@pytest.mark.parametrize("refusal", [refuses("failed"), refuses("blocked", "try again in 5ms")])
def test_what_passes_in_the_editor_is_tried_again(refusal: Script) -> None:
    engine = Editor(refusal, says("ok")).engine()
    assert engine.complete(REQUEST).text == "ok"
    assert [step.kind for step in engine.steps] == ["retried"]


def test_an_editor_that_names_a_long_time_is_not_asked_again() -> None:
    editor = Editor(refuses("blocked", "rate limited, try again in 2h"))
    with pytest.raises(lm15.RateLimitError):
        editor.engine().complete(REQUEST)
    assert len(editor.asked) == 1


def test_an_editor_that_hangs_is_told_to_stop_at_the_deadline_and_at_a_cancel_and_may_answer_too_late() -> None:
    editor = Editor(is_silent)
    with pytest.raises(lm15.TimeoutError):
        editor.engine(timeout=0).complete(REQUEST)
    with pytest.raises(lm15.TransportError) as caught:
        editor.engine(lambda: len(editor.asked) > 1).complete(REQUEST)
    assert caught.value.code == "cancelled"
    assert editor.taken_back == [1, 2]
    for line in (EditorAnswer(1, "too late"), EditorAnswerPart(2, "too late"), EditorRefusal(99, "failed")):
        editor.bridge.deliver(line)


def test_without_an_editor_its_model_is_gone() -> None:
    with pytest.raises(lm15.LM15Error) as caught:
        Engine(EDITOR, never).complete(REQUEST)
    assert caught.value.code == "gone"


def in_parts(last: Answer) -> tuple[list[str], Callable[[], str]]:
    """Asks for an answer whose parts "one " and "two" come before `last`, each once the one before was heard."""
    editor, heard = Editor(lambda ask: EditorAnswerPart(ask.id, "one ")), list[str]()

    def hear(text: str) -> None:
        heard.append(text)
        if len(heard) < 3:
            editor.bridge.deliver(EditorAnswerPart(1, "two") if len(heard) == 1 else last)

    return heard, lambda: editor.bridge.ask(
        "m", "s", "p", max_tokens=1, seconds=30, cancelled=lambda: False, on_text=hear
    )


def test_words_are_heard_as_they_come_and_the_answer_is_whole() -> None:
    heard, ask = in_parts(EditorAnswer(1, "one two three"))
    assert ask() == "one two three"
    assert heard == ["one ", "two", " three"]
