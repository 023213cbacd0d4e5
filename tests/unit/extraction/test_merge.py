"""Joining what several windows gave: what a model says is checked, and code stands in where it says nothing of use."""

from dataclasses import replace

import pytest

from lerim.errors import Problem, StoppedError
from lerim.extraction.model.extractor import ModelResult
from lerim.extraction.model.merge import JoinedCandidates, join_without_model
from lerim.models import lm15
from lerim.models.money.usage import ModelStep
from long_story import LONG, asked, by_turn, candidates
from scripted import agent, you
from scripted_lm import Script, item, marked

TURNS = (
    you(f"Use pnpm for packages. {LONG}"),
    agent(LONG),
    you(LONG),
    agent(LONG),
    you(f"only install with pnpm {LONG}"),
)
ONE, TWO = "Use `pnpm` for all packages", "Use only `pnpm` to install packages"


def two_windows(merging: str | Exception, sure: tuple[float, float] = (0.8, 0.8), second: str = TWO) -> Script:
    """The first window gives one candidate, the last another; then what a merge answers."""

    def answer(prompt: str) -> str:
        if "Join candidates" in prompt:
            if isinstance(merging, Exception):
                raise merging
            return merging
        if "Use pnpm for packages" in prompt:
            return marked([item(ONE, "Use pnpm for packages", 0, confidence=sure[0])])
        if "only install with pnpm" in prompt:
            return marked([item(second, "only install with pnpm", 4, confidence=sure[1])])
        return marked([])

    return Script(answer)


def joins(results: list[ModelResult]) -> list[tuple[str, str]]:
    return [(result.merged.title, result.withdrawn.title) for result in results if isinstance(result, JoinedCandidates)]


def told(results: list[ModelResult]) -> list[str]:
    return [result.why for result in results if isinstance(result, ModelStep)]


def test_a_merge_joins_what_says_the_same_and_keeps_both_quotes() -> None:
    results = asked(two_windows(marked([item(ONE, "x" * 9, 0)])), *TURNS, small=300)
    assert len(candidates(results)) == 2
    [joined] = [result for result in results if isinstance(result, JoinedCandidates)]
    assert (joined.merged.title, joined.withdrawn.title) == (ONE, TWO)
    assert [quote.quote for quote in joined.merged.evidence] == ["Use pnpm for packages", "only install with pnpm"]
    assert told(results) == []
    surer = two_windows(marked([item(ONE, "x" * 9, 0)]), sure=(0.4, 0.7))  # whatever the model left
    assert joins(asked(surer, *TURNS, small=300)) == [(TWO, ONE)]


@pytest.mark.parametrize("answer", [marked([]), "no", lm15.ServerError("down"), lm15.AuthError("no")])
def test_a_merge_that_fails_is_unread_or_loses_candidates_is_made_by_code_and_told(answer: str | Exception) -> None:
    results = asked(two_windows(answer), *TURNS, small=300)
    assert joins(results) == []
    assert [why for why in told(results) if why.startswith("the parts were joined by rules alone")]
    assert not [result for result in results if isinstance(result, Problem)]
    near = "Use `pnpm` packages for all, and only pnpm"
    assert joins(asked(two_windows(answer, (0.5, 0.7), near), *TURNS, small=300)) in ([(near, ONE)], [])


def test_a_merge_that_loses_one_of_many_joins_nothing_by_its_word() -> None:
    def answer(prompt: str) -> str:
        if "Join candidates" in prompt:
            return marked([item(f"Always use `tool{n}` for part {n}", "x" * 9, 0) for n in range(3)])
        return by_turn(prompt)

    results = asked(Script(answer))
    assert len(candidates(results)) == 8
    assert all("part" in kept for kept, _ in joins(results))
    lost = asked(two_windows(marked([item(ONE, "x" * 9, 0)]), second="Log `payments` as JSON"), *TURNS, small=300)
    assert joins(lost) == []
    assert told(lost)


def test_code_alone_joins_what_is_nearly_the_same_and_keeps_the_surer() -> None:
    script = two_windows("no", (0.4, 0.7))
    one, two = candidates(asked(script, *TURNS, small=300))
    assert list(join_without_model([one, two])) == []
    near = replace(two, title="Use `pnpm` for all the packages", body=one.body)
    [joined] = join_without_model([one, near])
    assert (joined.merged.title, joined.withdrawn) == (near.title, one)
    assert len(joined.merged.evidence) == 2
    chain = list(join_without_model([one, near, replace(near, title=f"{ONE} now")]))
    assert len(chain) == 2 and len({result.merged.title for result in chain}) == 1


def test_a_cancel_while_joining_is_a_cancel() -> None:
    script = two_windows(lm15.TransportError("cancelled", code="cancelled"))
    with pytest.raises(StoppedError):
        asked(script, *TURNS, small=300)
