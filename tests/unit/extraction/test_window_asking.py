"""Several windows of one session: asked at once, handed out in order, halved, skipped, resumed; each step is told."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hang import HANG
from lerim.errors import ModelAwayError, Problem, WindowTooLargeError
from lerim.extraction.model.answer_cache import AnswerCache
from lerim.extraction.model.extractor import (
    ExtractionCallStarted,
    ModelResult,
    SessionExtraction,
    TurnsSent,
    WindowAnswer,
)
from lerim.extraction.model.material import Material
from lerim.models import lm15, tokens
from lerim.models.money.usage import ModelStep
from lerim.sessions.model import Turn
from long_story import LONG, SMALL, STORY, asked, brief, by_turn, candidates, dropped, material
from scripted import ROOT, agent, numbered, you
from scripted_lm import Cut, Script, marked

TITLES = [f"Always use `tool{number}` for part {number}" for number in range(8)]
RULES_IN_ONE = you("\n".join(f"Rule {n}: always use `tool{n}` for part {n}. {LONG}" for n in range(8)))


def ask(script: Script, source: Material, **options: Any) -> Iterator[ModelResult]:
    """What asking about this material gives, one by one: what came before an error is there."""
    return SessionExtraction(script.lm, source, brief(source), **{"overlap_tokens": 0, **options}).run()


def later(source: Material, sent: int, overlap: int = 0) -> Material:
    """What the next pass knows of the session after so many turns were sent."""
    return Material(Path(ROOT), "session-1", "claude", source.state(sent, overlap))


def steps(results: list[ModelResult]) -> list[tuple[str, str]]:
    return [(result.kind, result.part) for result in results if isinstance(result, ModelStep)]


def test_candidates_come_in_the_order_of_the_windows_whichever_ends_first() -> None:
    last_ended = threading.Event()

    def answer(prompt: str) -> str:
        if "Rule 0: always" in prompt:
            assert last_ended.wait(HANG)
        if "Rule 7: always" in prompt:
            last_ended.set()
        return by_turn(prompt)

    results = asked(Script(answer))
    assert [one.title for one in candidates(results)] == TITLES
    told = [result.number for result in results if isinstance(result, TurnsSent)]
    assert (told, told[-1]) == (sorted(told), 15)
    for sent in told[:-1]:  # all that these turns gave is out by then
        before = results[: results.index(TurnsSent(sent))]
        assert [one.title for one in candidates(before)] == TITLES[: (sent + 2) // 2]
    assert [result.part for result in results if isinstance(result, ExtractionCallStarted) and not result.joining] == [
        "1 of 3",
        "2 of 3",
        "3 of 3",
    ]


def test_no_more_than_four_windows_are_asked_at_once() -> None:
    lock, four = threading.Lock(), threading.Barrier(4)
    now: list[int] = [0]
    most: list[int] = [0]

    def answer(prompt: str) -> str:
        if "Join candidates" in prompt:
            return marked([])
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        four.wait(HANG)  # passes only with four at once
        with lock:
            now[0] -= 1
        return by_turn(prompt)

    assert len(candidates(asked(Script(answer), small=350))) == 8
    assert most == [4]


def test_an_error_comes_after_what_the_windows_before_gave_and_answers_to_later_ones_are_kept(tmp_path: Path) -> None:
    others = threading.Semaphore(0)

    def answer(prompt: str) -> str:
        if "Rule 3: always" in prompt and broken:
            assert others.acquire(timeout=HANG)
            assert others.acquire(timeout=HANG)
            raise lm15.RateLimitError("busy")
        others.release()
        return by_turn(prompt)

    out: list[ModelResult] = []
    broken, script = True, Script(answer)
    kept, source = AnswerCache(tmp_path / "windows", "m", WindowAnswer), material(*STORY)
    with pytest.raises(ModelAwayError):
        out.extend(ask(script, source, max_tokens=SMALL, answer_cache=kept))
    first = len(candidates(out))
    assert [one.title for one in candidates(out)] == TITLES[:first]
    sent = max(result.number for result in out if isinstance(result, TurnsSent))
    assert sent == 2 * first - 1
    broken = False
    calls = len(script.prompts)
    results = list(ask(script, later(source, sent), max_tokens=SMALL, answer_cache=kept, model="m"))
    assert [one.title for one in candidates(results)] == TITLES[first:]
    assert [kind for kind, _ in steps(results) if kind == "resumed"] == ["resumed"]
    assert len([prompt for prompt in script.prompts[calls:] if "Join candidates" not in prompt]) == 1


def too_large_over(most: int) -> Callable[[str], str]:
    def answer(prompt: str) -> str:
        if "Join candidates" not in prompt and prompt.count("long story") > most:
            raise lm15.ContextLengthError("the window is too large")
        return by_turn(prompt)

    return answer


def test_a_window_that_is_too_large_is_halved_until_its_parts_fit() -> None:
    results = asked(Script(too_large_over(60)), small=50_000)
    assert [one.title for one in candidates(results)] == TITLES
    assert steps(results)[0] == ("halved", "")
    assert ("halved", "1.1") in steps(results)
    assert [result.number for result in results if isinstance(result, TurnsSent)][-1] == 15
    assert not [result for result in results if isinstance(result, Problem)]
    told = [result for result in results if isinstance(result, ModelStep)]
    assert {step.where for step in told} == {"claude:session-1"}
    assert "tool" not in repr(told)
    results = asked(Script(too_large_over(60)), RULES_IN_ONE, small=50_000)  # one turn is cut within
    assert (len(candidates(results)), steps(results)[0]) == (8, ("halved", ""))


def test_a_model_that_takes_less_than_is_needed_ends_the_session_and_nothing_unread_is_told_as_sent() -> None:
    def answer(prompt: str) -> str:
        if "Rule 3: always" in prompt:
            raise lm15.ContextLengthError("the window is too large")
        return by_turn(prompt)

    source, out = material(*STORY), list[ModelResult]()
    with pytest.raises(WindowTooLargeError) as caught:
        out.extend(ask(Script(answer), source, max_tokens=SMALL))
    assert "less than Lerim needs" in caught.value.message
    assert "Choose another model, or raise its context" in caught.value.todo
    assert [one.title for one in candidates(out)] == TITLES[: len(candidates(out))]
    assert all(result.number < 6 for result in out if isinstance(result, TurnsSent))


@pytest.mark.parametrize("left", [3, 75, 150])
def test_an_answer_that_breaks_off_is_cut_also_where_the_service_does_not_say_so(left: int) -> None:
    def answer(prompt: str) -> str:
        whole = by_turn(prompt)
        return whole[: whole.index("tool6") + left] if "tool6" in whole and "tool0" in whole else whole

    results = asked(Script(answer), small=50_000)
    assert [one.title for one in candidates(results)] == TITLES
    assert steps(results)[0] == ("halved", "")


def test_of_an_answer_cut_at_the_output_limit_whole_items_are_kept_its_halves_are_asked_and_it_is_paid_for_once(
    tmp_path: Path,
) -> None:
    def answer(prompt: str) -> str:
        whole = by_turn(prompt)
        return Cut(whole[: whole.index("tool2")]) if whole.count('"primitive"') == 8 else whole

    kept, script = AnswerCache(tmp_path / "windows", "m", WindowAnswer), Script(answer)
    first = asked(script, small=50_000, answer_cache=kept)
    assert [one.title for one in candidates(first)] == TITLES
    assert steps(first)[0] == ("halved", "")
    assert {one.reason for one in dropped(first)} == {"invalid", "duplicate"}
    calls = len(script.prompts)
    assert candidates(asked(script, small=50_000, answer_cache=kept)) == candidates(first)
    assert [prompt for prompt in script.prompts[calls:] if "Join candidates" not in prompt] == []
    script, kept = Script(Cut(""), by_turn), AnswerCache(tmp_path / "nothing", "m", WindowAnswer)
    for _ in range(2):  # cut before anything was said
        assert [one.title for one in candidates(asked(script, small=50_000, answer_cache=kept))] == TITLES
        assert len([prompt for prompt in script.prompts if "Join" not in prompt]) == 3


@pytest.mark.parametrize(
    ("turns", "small", "trouble"),
    [(STORY, 1_600, "Rule 4: always"), ((you("Hello."), RULES_IN_ONE, *STORY[:2]), 500, "Rule 6: always")],
    ids=["in a half", "in a part of a turn"],
)
def test_whatever_was_cut_a_later_pass_makes_the_same_windows_and_pays_for_nothing_again(
    tmp_path: Path, turns: tuple[Turn, ...], small: int, trouble: str
) -> None:
    failed: list[str] = []

    def answer(prompt: str) -> str:
        whole = by_turn(prompt)
        rules = whole.count('"primitive"')
        if trouble in prompt and 0 < rules < 5 and not failed:
            failed.append(shown(prompt))
            raise lm15.RateLimitError("busy")
        return Cut(whole[:-40]) if rules > 4 else whole

    def shown(prompt: str) -> str:
        return prompt.rsplit("[[ ## transcript ## ]]", maxsplit=1)[-1]

    kept, script = AnswerCache(tmp_path / "windows", "m", WindowAnswer), Script(answer)
    source, sent = material(*turns), -1
    with pytest.raises(ModelAwayError):
        for result in ask(script, source, max_tokens=small, answer_cache=kept):
            sent = result.number if isinstance(result, TurnsSent) else sent
    paid = {shown(prompt) for prompt in script.prompts} - set(failed)
    before = len(script.prompts)
    results = list(ask(script, later(source, sent), max_tokens=small, answer_cache=kept))
    asked_again = {shown(prompt) for prompt in script.prompts[before:] if "Join candidates" not in prompt}
    straight = Script(answer)  # it fails no more
    asked(straight, *turns, small=small)
    assert paid | asked_again == {shown(prompt) for prompt in straight.prompts if "Join candidates" not in prompt}
    assert not paid & asked_again
    assert "resumed" in [kind for kind, _ in steps(results)]


def test_windows_that_wait_are_cut_to_what_the_model_turned_out_to_take() -> None:
    most = [5_000]

    def answer(prompt: str) -> str:
        if "Join candidates" not in prompt:
            most[0] = 600
        return by_turn(prompt)

    script, source = Script(answer), material(*STORY * 6)
    results = list(ask(script, source, limit=lambda: most[0], model="m"))
    sizes = [tokens.count_tokens(prompt.split("[[ ## transcript ## ]]")[-1]) for prompt in script.prompts]
    assert sum(size > 2_500 for size in sizes) <= 4
    assert [result.number for result in results if isinstance(result, TurnsSent)][-1] == 95


def test_a_size_that_was_too_large_is_told_by_half(tmp_path: Path) -> None:
    lowered: list[int] = []
    source, script = material(*STORY), Script(too_large_over(60))
    results = list(ask(script, source, lower_limit=lowered.append))
    [first, *_] = lowered
    whole = sum(tokens.count_tokens(turn.header + turn.body()) for turn in source.window_turns(True))
    assert abs(first - whole // 2) < whole // 10
    assert len(candidates(results)) == 8


def test_a_window_without_a_signal_is_not_sent_and_what_that_saves_is_told() -> None:
    story = f"Once upon a time. {'Tra la la. ' * 70}"
    turns = (you(f"Always use `tool0` for part 0. {story}"), agent(story), you(story), agent(story))
    script = Script(marked([]))
    results = asked(script, *turns, small=800, gate=True)
    [skipped] = [result for result in results if isinstance(result, ModelStep)]
    assert (skipped.kind, skipped.part, skipped.role, skipped.model) == ("skipped", "2 of 2", "extract", "m")
    assert skipped.tokens == sum(
        tokens.count_tokens(turn.header + turn.body()) for turn in material(*turns).window_turns(True)[2:]
    )
    assert len(script.prompts) == 1
    assert [result.number for result in results if isinstance(result, TurnsSent)] == [1, 3]
    ungated = asked(Script(marked([])), *turns, small=800)
    assert len([one for one in ungated if isinstance(one, ExtractionCallStarted)]) == 2


def test_a_session_that_grew_sends_its_new_turns_and_one_overlap() -> None:
    source = material(*STORY[:12])
    script = Script(by_turn)
    list(ask(script, source, max_tokens=50_000, overlap_tokens=300))
    grown = later(source, 11, 300)
    for turn in numbered(STORY)[11:]:  # the last one is met again
        grown.add(turn)
    list(ask(script, grown, max_tokens=50_000, overlap_tokens=300))
    assert len(script.prompts) == 2
    assert "Rule 6" in script.prompts[1]
    assert "Rule 0" not in script.prompts[1]
    assert "[11] assistant" in script.prompts[1]
    goes_on, script = material(*STORY[:4]), Script(by_turn)
    list(ask(script, goes_on, settled=False))  # its last exchange waits
    assert "Rule 0" in script.prompts[0] and "Rule 1" not in script.prompts[0]
    list(ask(script, later(goes_on, 1, 300), settled=True))
    assert "Rule 1" in script.prompts[1]
    assert list(ask(script, later(grown, 15, 300))) == []
