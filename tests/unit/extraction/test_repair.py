"""A claim whose quote stands nowhere: the model is asked once for the words, and code looks them up again."""

import json
from pathlib import Path

import pytest

from lerim.errors import BudgetError, ModelAwayError, StoppedError
from lerim.extraction.model.answer_cache import AnswerCache
from lerim.extraction.model.extractor import ModelResult, WindowAnswer
from lerim.models import lm15
from lerim.models.money.usage import ModelStep
from long_story import asked, candidates, dropped
from scripted import agent, ran, you
from scripted_lm import Script, item, marked

SESSION = (
    you("Use pnpm here, not npm."),
    agent("Fine."),
    you("Money is in integer cents, never floats."),
    agent("Ok."),
)
PNPM = item("Use `pnpm`, not npm", "Use pnpm here, not npm", 0)
CENTS = item("Store money as integer cents", "money shall be integers in cents", 2, body="Use `int` cents.")
HELM = item("Deploy with `helm`", "we deploy with helm", -1)


def quotes(*found: tuple[int, int, str]) -> str:
    listed = [{"claim": claim, "turn": turn, "quote": quote} for claim, turn, quote in found]
    return f"[[ ## quotes ## ]]\n{json.dumps(listed)}\n\n[[ ## completed ## ]]\n"


def answers(first: list[dict], again: str | Exception) -> Script:
    def answer(prompt: str) -> str:
        if "Find for each claim" not in prompt:
            return marked(first)
        if isinstance(again, Exception):
            raise again
        return again

    return Script(answer)


def repairs(results: list[ModelResult]) -> list[str]:
    return [result.why for result in results if isinstance(result, ModelStep) and result.kind == "repaired"]


def test_a_quote_that_is_found_on_asking_saves_the_claim() -> None:
    script = answers([PNPM, CENTS, HELM], quotes((0, 2, "Money is in integer cents, never floats")))
    results = asked(script, *SESSION)
    assert {one.title for one in candidates(results)} == {PNPM["title"], CENTS["title"]}
    [cents] = [one for one in candidates(results) if one.title == CENTS["title"]]
    assert (cents.evidence[0].quote, cents.evidence[0].who) == ("Money is in integer cents, never floats", "user")
    assert [one.reason for one in dropped(results)] == ["no-evidence"]
    assert repairs(results) == ["1 of 2 quotes were found"]
    assert len(script.prompts) == 2
    assert "[2] user:" in script.prompts[1]
    whole = answers([PNPM], quotes())  # where every quote stands nothing is asked again
    assert repairs(asked(whole, *SESSION)) == []
    assert len(whole.prompts) == 1


@pytest.mark.parametrize(
    "again",
    [
        quotes((0, 2, "still not what was said")),
        quotes((7, 2, "Money is in integer cents"), (-1, 2, "Money is in integer cents")),
        quotes(),
        "no",
        lm15.InvalidRequestError("no", status=400),
    ],
)
def test_what_is_not_found_stays_dropped_and_is_asked_once(again: str | Exception) -> None:
    script = answers([CENTS, PNPM], again)
    results = asked(script, *SESSION)
    assert [one.title for one in candidates(results)] == [PNPM["title"]]
    assert [one.reason for one in dropped(results)] == ["no-evidence"]
    assert len(repairs(results)) == 1
    assert len(script.prompts) == 2


class KillError(BaseException):
    """The process ends here."""


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (lm15.TransportError("cancelled", code="cancelled"), StoppedError),
        (BudgetError("used up"), BudgetError),
        (lm15.RateLimitError("busy"), ModelAwayError),
        (KillError(), KillError),
    ],
)
def test_whatever_ends_a_repair_the_next_sync_asks_for_the_quotes_and_for_nothing_else(
    tmp_path: Path, end: BaseException, told: type[BaseException]
) -> None:
    def answer(prompt: str) -> str:
        if "Find for each claim" in prompt:
            raise end
        return marked([CENTS])

    kept = AnswerCache(tmp_path / "windows", "m", WindowAnswer)
    with pytest.raises(told):
        asked(Script(answer), *SESSION, answer_cache=kept)
    again = answers([], quotes((0, 2, "Money is in integer cents")))
    for _ in range(2):
        assert [one.title for one in candidates(asked(again, *SESSION, answer_cache=kept))] == [CENTS["title"]]
    [asked_for] = again.prompts
    assert "Find for each claim" in asked_for
    assert len(list((tmp_path / "windows").iterdir())) == 1


def test_only_turns_where_the_words_may_stand_are_sent_again() -> None:
    far = tuple(turn for _ in range(20) for turn in (you("talk of the harbour"), agent("And of boats.")))
    script = answers([CENTS], quotes((0, 2, "Money is in integer cents")))
    assert len(candidates(asked(script, *SESSION, *far, small=50_000))) == 1
    assert "boats" not in script.prompts[1]


@pytest.mark.parametrize("is_said", [True, False])
def test_a_claim_that_only_a_tool_prints_is_asked_for_once_more_in_the_agents_words(is_said: bool) -> None:
    said = "The importer needs Node 20, or the module is not found."
    printed = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module importer"
    claim = item("The importer needs Node 20", printed, 1)
    session = (you("Run the import"), agent(said, ran("node import.js", printed, 1)))
    script = answers([claim], quotes((0, 1, said if is_said else printed)))
    results = asked(script, *session)
    assert [(one.title, one.evidence[0].quote, one.evidence[0].who) for one in candidates(results)] == (
        [(claim["title"], said, "assistant")] if is_said else []
    )
    assert [one.reason for one in dropped(results)] == ([] if is_said else ["not-the-person"])
    assert len(script.prompts) == 2
