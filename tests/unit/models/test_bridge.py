"""A job's questions to the editor's own model: each thread gets its own answer, or why there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from lerim.models.editor import (
    REFUSAL_MESSAGES,
    EditorAnswer,
    EditorAnswerPart,
    EditorBridge,
    EditorCancellation,
    EditorQuestion,
    EditorRefusal,
    EditorRefusedError,
)

Line = EditorQuestion | EditorCancellation


class Parent:
    """The other end of the lines: keeps them, and answers by a script."""

    def __init__(
        self, answer: Callable[[EditorQuestion], EditorAnswer | EditorRefusal | None] = lambda _ask: None
    ) -> None:
        self.lines: list[Line] = []
        self.came = threading.Event()
        self.bridge = EditorBridge(self._take)
        self._answer = answer

    def _take(self, line: Line) -> None:
        self.lines.append(line)
        if isinstance(line, EditorQuestion) and (answer := self._answer(line)):
            self.bridge.deliver(answer)
        self.came.set()

    def ask(self, prompt: str = "p", *, seconds: float = 30, cancelled: Callable[[], bool] = lambda: False) -> str:
        return self.bridge.ask("copilot/gpt-4o", "s", prompt, max_tokens=100, seconds=seconds, cancelled=cancelled)


def test_a_question_goes_up_and_its_answer_comes_back() -> None:
    parent = Parent(lambda ask: EditorAnswer(ask.id, f"about {ask.prompt}"))
    assert parent.ask("pnpm") == "about pnpm"
    assert parent.lines == [EditorQuestion(1, "copilot/gpt-4o", "s", "pnpm", 100)]


def test_answers_in_any_order_reach_the_threads_that_asked() -> None:
    held: list[EditorQuestion] = []
    everyone = threading.Event()

    def hold(ask: EditorQuestion) -> None:
        held.append(ask)
        if len(held) == 4:
            everyone.set()

    parent = Parent(hold)
    with ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(parent.ask, str(number)) for number in range(4)]
        assert everyone.wait(30)
        for ask in reversed(held):
            parent.bridge.deliver(EditorAnswer(ask.id, ask.prompt * 2))
        assert [answer.result(30) for answer in answers] == ["00", "11", "22", "33"]


@pytest.mark.parametrize("why", ["no-permission", "blocked", "quota", "not-found", "gone", "cancelled", "failed"])
def test_why_there_is_no_answer_is_an_error_in_our_words(why: str) -> None:
    parent = Parent(lambda ask: EditorRefusal(ask.id, why, "as the editor puts it"))
    with pytest.raises(EditorRefusedError) as caught:
        parent.ask()
    assert (caught.value.why, caught.value.message) == (why, "as the editor puts it")
    assert str(caught.value) == REFUSAL_MESSAGES[caught.value.why]


def test_an_answer_that_takes_too_long_is_taken_back() -> None:
    parent = Parent()
    with pytest.raises(EditorRefusedError) as caught:
        parent.ask(seconds=0)
    assert caught.value.why == "timeout"
    assert parent.lines[1:] == [EditorCancellation(1)]
    parent.bridge.deliver(EditorAnswer(1, "too late"))
    parent.bridge.deliver(EditorRefusal(99, "failed"))


def test_cancel_ends_a_question_and_takes_it_back() -> None:
    parent = Parent()
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(parent.ask, cancelled=cancel.is_set)
        assert parent.came.wait(30)
        cancel.set()
        with pytest.raises(EditorRefusedError) as caught:
            waiting.result(30)
    assert caught.value.why == "cancelled"
    assert parent.lines[1:] == [EditorCancellation(1)]


def test_a_parent_that_cannot_be_told_leaves_nothing_waiting() -> None:
    def broken(_line: Line) -> None:
        raise BrokenPipeError

    bridge = EditorBridge(broken)
    with pytest.raises(BrokenPipeError):
        bridge.ask("m", "", "p", max_tokens=None, seconds=1, cancelled=lambda: False)
    assert not bridge._pending


def test_words_are_heard_as_they_come_and_the_answer_is_whole() -> None:
    heard: list[str] = []
    first = threading.Event()

    def hear(text: str) -> None:
        heard.append(text)
        first.set()

    parent = Parent()
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(
            parent.bridge.ask, "m", "s", "p", max_tokens=1, seconds=30, cancelled=lambda: False, on_text=hear
        )
        assert parent.came.wait(30)
        parent.bridge.deliver(EditorAnswerPart(1, "one "))
        assert first.wait(30)
        assert heard == ["one "]
        parent.bridge.deliver(EditorAnswerPart(1, "two"))
        parent.bridge.deliver(EditorAnswer(1, "one two three"))
        assert answer.result(30) == "one two three"
    assert "".join(heard) == "one two three"
    assert parent.lines == [EditorQuestion(1, "m", "s", "p", 1, stream=True)]
    parent.bridge.deliver(EditorAnswerPart(1, "too late"))


def test_an_answer_that_is_refused_midway_keeps_what_was_heard() -> None:
    heard: list[str] = []
    parent = Parent()

    def hear(text: str) -> None:
        heard.append(text)
        parent.bridge.deliver(EditorRefusal(1, "gone"))

    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(
            parent.bridge.ask, "m", "s", "p", max_tokens=1, seconds=30, cancelled=lambda: False, on_text=hear
        )
        assert parent.came.wait(30)
        parent.bridge.deliver(EditorAnswerPart(1, "one "))
        with pytest.raises(EditorRefusedError):
            answer.result(30)
    assert heard == ["one "]
