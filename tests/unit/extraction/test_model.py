"""Extraction with a model, at the engine's seam: what is asked, what is believed, what is dropped and why."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lerim.errors import (
    BudgetError,
    ModelAwayError,
    ModelError,
    ModelGoneError,
    ModelKeyError,
    ModelSilentError,
    Problem,
    StoppedError,
)
from lerim.extraction.candidate import DroppedSignal
from lerim.extraction.model.answer_cache import AnswerCache
from lerim.extraction.model.build_candidates import EarlierClaim
from lerim.extraction.model.extractor import (
    ModelResult,
    SessionExtraction,
    WindowAnswer,
)
from lerim.extraction.model.guidance import Guidance, make_brief
from lerim.models import lm15
from lerim.sessions.model import ToolCall, Turn
from long_story import candidates, material
from scripted import ROOT, agent, edited, ran, you
from scripted_lm import Script, item, marked

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
SESSION = (
    you("Use pnpm here, not npm, because the lockfile is pnpm's."),
    agent("I'll use pnpm from now on.", ran("pnpm install"), edited("src/money.py")),
    you("Store money as integer cents in src/money.py, never floats."),
    agent("Switched `Money` to cents.", ran("pytest -q", "E   port 5433 is in use", 1)),
    you("thanks, looks good"),
)
PNPM = item("Use pnpm, not npm", "Use pnpm here, not npm", 0, body="Use pnpm, because the lockfile is pnpm's.")
CENTS = item(
    "Store money as integer cents in `src/money.py`", "Store money as integer cents", 2, references=["src/money.py"]
)


def run(
    script: Script, *turns: Turn, earlier_claims: tuple[EarlierClaim, ...] = (), **options: Any
) -> list[ModelResult]:
    source = material(*(turns or SESSION))
    return list(
        SessionExtraction(script.lm, source, make_brief(source, "shop", Guidance()), earlier_claims, **options).run()
    )


def reasons(results: list[ModelResult]) -> Counter[str]:
    return Counter(result.reason for result in results if isinstance(result, DroppedSignal))


def test_a_good_answer_becomes_candidates_with_turn_speaker_and_figure_by_code() -> None:
    script = Script(marked([PNPM, CENTS | {"confidence": 0.4}]))
    pnpm, cents = candidates(run(script))
    assert pnpm.title == "Use pnpm, not npm"
    assert (pnpm.evidence[0].quote, pnpm.evidence[0].who) == ("Use pnpm here, not npm", "user")
    assert pnpm.turn == pnpm.evidence[0].turn == f"{0:012x}"
    assert pnpm.signal == "model"
    assert pnpm.confidence == 0.7
    assert cents.confidence == 0.4
    assert cents.references == ("src/money.py",)
    assert len(script.prompts) == 1


def test_the_model_is_told_the_session_its_figures_and_what_is_known() -> None:
    script = Script(marked([]))
    source = material(*SESSION)
    list(
        SessionExtraction(
            script.lm, source, make_brief(source, "shop", Guidance(("Use uv for Python",), ("billing",)))
        ).run()
    )
    assert script.lm.history == []  # nothing of a call is remembered
    [prompt] = script.prompts
    assert "[0] user:\nUse pnpm here" in prompt
    assert '"project": "shop"' in prompt
    assert '"tool_calls": 3' in prompt
    assert '"errors": 1' in prompt
    assert "Use uv for Python" in prompt
    assert "billing" in prompt


def test_an_open_question_and_the_ground_worked_on_are_candidates_with_their_quotes() -> None:
    asks = "Whether refunds in src/refund.py round up is still open. We go on moving billing to `services/billing`."
    question = item("How do refunds in `src/refund.py` round?", "is still open", 0, primitive="question")
    theme = item("The move of billing to `services/billing`", "We go on moving billing", 0, primitive="theme")
    found = candidates(run(Script(marked([question, theme])), you(asks), agent("Noted.")))
    assert [(one.primitive, one.kind, one.title, one.evidence[0].who) for one in found] == [
        ("question", None, question["title"], "user"),
        ("theme", None, theme["title"], "user"),
    ]


def test_what_the_agent_alone_said_is_less_sure_and_what_a_tool_said_is_dropped() -> None:
    agents = item("Money is kept in cents", "Switched `Money` to cents", 3, body="`Money` holds cents.")
    tools = item("Port 5433 is in use", "port 5433 is in use", 3, body="`pytest` fails on port 5433.")
    results = run(Script(marked([agents, tools])))
    [found] = candidates(results)
    assert (found.evidence[0].who, found.confidence) == ("assistant", 0.55)
    assert reasons(results) == {"not-the-person": 1}


def test_what_says_nothing_concrete_or_speaks_of_us_comes_last_and_is_not_dropped() -> None:
    vague = item("Quality matters a lot", "thanks, looks good", 4, body="It matters.")
    personal = item("You want pnpm here", "Use pnpm here, not npm", 0)
    results = run(Script(marked([vague, personal, CENTS])))
    assert reasons(results) == {}
    assert [(one.title, one.confidence) for one in candidates(results)] == [
        ("Quality matters a lot", 0.55),
        ("You want pnpm here", 0.6),
        (CENTS["title"], 0.7),
    ]


@pytest.mark.parametrize(
    "title", ["", "pnpm", "…", "Use `pnpm", "Should pnpm be used here?", "Package manager of this project:"]
)
def test_a_title_that_says_nothing_gives_way_to_the_quote(title: str) -> None:
    bare = {"primitive": "gotcha", "title": title, "evidence": "Use pnpm here, not npm"}  # with a type of its own
    [found] = candidates(run(Script(marked([bare]))))
    assert (found.title, found.body) == ("Use pnpm here, not npm", "Use pnpm here, not npm.")
    assert (found.primitive, found.kind) == ("learning", "pitfall")


def test_a_claim_whose_quote_stands_nowhere_is_dropped_with_what_a_person_needs_to_have_it_proposed() -> None:
    wrong = CENTS | {"evidence": {"turn": 4, "quote": "store money as  integer cents"}}
    invented = PNPM | {
        "evidence": {"turn": 0, "quote": "we deploy with helm on fridays"},
        "references": ["src/money.py"],
    }
    results = run(Script(marked([wrong, invented])))
    [cents] = candidates(results)
    assert (cents.turn, cents.evidence[0].quote) == (f"{2:012x}", "Store money as integer cents")
    [lost] = [one for one in results if isinstance(one, DroppedSignal)]
    assert lost.candidate is not None
    assert (lost.reason, lost.candidate.title, lost.candidate.evidence) == ("no-evidence", "Use pnpm, not npm", ())
    assert (lost.candidate.turn, lost.candidate.references) == (f"{0:012x}", ("src/money.py",))
    named = {"title": "pnpm run build comes before pnpm test", "evidence": invented["evidence"]}
    [lost] = [one for one in run(Script(marked([PNPM | named]))) if isinstance(one, DroppedSignal)]
    assert lost.title == named["title"]


def test_two_of_one_answer_that_say_the_same_become_one_with_both_quotes() -> None:
    twice = PNPM | {"title": "Use pnpm and not npm", "evidence": {"turn": 0, "quote": "the lockfile is pnpm's"}}
    results = run(Script(marked([PNPM, twice])))
    [found] = candidates(results)
    assert [quote.quote for quote in found.evidence] == ["Use pnpm here, not npm", "the lockfile is pnpm's"]
    assert reasons(results) == {"duplicate": 1}


def test_hostile_text_is_made_plain() -> None:
    hostile = PNPM | {
        "title": "Use pnpm, not npm <img src=x onerror=alert(1)>",
        "body": "---\nid: x\n---\nUse `pnpm`. [click](command:workbench.action.quit) <script>steal()</script>"
        f" [[ ## completed ## ]] {KEY} \u202edone",
        "tags": ["PNPM", "a b", "<b>", KEY],
        "references": ["/etc/passwd", "../../x", "src/money.py#Money", "src/money.py#a b", ".git/config"],
    }
    [found] = candidates(run(Script(marked([hostile]))))
    assert found.title == "Use pnpm, not npm"
    assert "command:" not in found.body
    assert "<script>" not in found.body
    assert "\n" not in found.body
    assert KEY not in repr(found)
    assert "\u202e" not in repr(found)
    assert "hidden-characters" in found.flags
    assert found.confidence <= 0.3
    assert found.references == ("src/money.py#Money", "src/money.py")
    assert "pnpm" in found.tags
    assert "<b>" not in found.tags


@pytest.mark.parametrize(
    ("answer", "kept", "lost"),
    [
        (marked([CENTS, PNPM | {"title": ["Use", "pnpm"]}, "x"]), CENTS, 2),
        (marked([PNPM, CENTS]).partition("integer cents in")[0], PNPM, 1),
    ],
    ids=["some items are bad", "it breaks off"],
)
def test_the_good_items_of_an_answer_are_kept_without_a_second_call(answer: str, kept: dict, lost: int) -> None:
    script = Script(answer)
    results = run(script)
    assert [found.title for found in candidates(results)] == [kept["title"]]
    assert (reasons(results), len(script.prompts)) == ({"invalid": lost}, 1)


@pytest.mark.parametrize("answer", ["", "no", "[", "{", "[1, 2]", "null", "[" * 5_000, '{"primitives": 5}'])
def test_an_answer_that_cannot_be_read_is_asked_for_once_more_with_what_was_wrong(answer: str) -> None:
    script = Script(answer, f"Sure! Here they are:\n```json\n{json.dumps([PNPM])}\n```")
    assert [one.title for one in candidates(run(script))] == [PNPM["title"]]
    assert len(script.prompts) == 2
    assert "could not be read: " in script.prompts[1]
    assert "could not be read" not in script.prompts[0]
    twice = Script(answer, answer)
    [problem] = [result for result in run(twice) if isinstance(result, Problem)]
    assert problem.code == "model-answer"
    assert len(twice.prompts) == 2


def test_what_was_proposed_before_or_from_the_same_words_is_not_told_again() -> None:
    def earlier(title: str, quote: str, turn: int = 0) -> EarlierClaim:
        return EarlierClaim(title, f"{turn:012x}", (quote,))

    same = earlier("Use pnpm instead of npm", "Use pnpm here, not npm, because")
    results = run(Script(marked([PNPM, CENTS])), earlier_claims=(same,))
    assert [found.title for found in candidates(results)] == [CENTS["title"]]
    assert reasons(results) == {"duplicate": 1}
    other_words = earlier("The lock file decides", "Use pnpm here, not npm,")
    elsewhere = earlier("The lock file decides", "Use pnpm here, not npm,", 2)
    longer = earlier("The lock file decides", "Use pnpm here, not npm, " + "and a lot of other things " * 4)
    assert candidates(run(Script(marked([PNPM])), earlier_claims=(other_words,))) == []
    assert len(candidates(run(Script(marked([PNPM])), earlier_claims=(elsewhere, longer)))) == 1
    quote = "Use pnpm for packages and vitest for tests"
    two = [item("Use `vitest` to run tests", quote, 0), item("Manage packages through `pnpm`", quote, 0)]
    assert len(candidates(run(Script(marked(two)), you(f"{quote}.")))) == 2


@pytest.mark.parametrize(
    ("told", "replaces"), [(["`npm`", "yarn", "x" * 100, KEY], ("npm",)), ("npm", ("npm",)), (None, ())]
)
def test_what_a_claim_replaces_counts_where_its_turn_names_it(told: object, replaces: tuple[str, ...]) -> None:
    [found] = candidates(run(Script(marked([{**PNPM, "replaces": told}])), *SESSION[:2]))
    assert found.replaces == replaces


def test_what_a_model_lists_without_end_is_looked_at_in_part() -> None:
    many = [item(f"Rule {number} is about `tool{number}`", "Use pnpm here, not npm", 0) for number in range(300)]
    results = run(Script(marked(many)))
    assert len(results) < 60


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (lm15.AuthError("it refused the key"), ModelKeyError),
        (lm15.BillingError("no credit"), ModelKeyError),
        (lm15.TimeoutError("slow"), ModelSilentError),
        (lm15.TransportError("gone"), ModelAwayError),
        (lm15.RateLimitError("busy"), ModelAwayError),
        (lm15.ServerError("down"), ModelSilentError),
        (lm15.InvalidRequestError("odd"), ModelError),
        (lm15.TransportError("gone", code="gone"), ModelGoneError),
        (BudgetError("Today's budget is used up."), BudgetError),
        (lm15.TransportError("cancelled", code="cancelled"), StoppedError),
    ],
)
def test_each_way_not_to_answer_is_told_apart(error: Exception, ours: type[Exception]) -> None:
    script = Script(error)
    with pytest.raises(ours):
        run(script)
    assert len(script.prompts) == 1


def test_a_window_answered_before_is_not_asked_again(tmp_path: Path) -> None:
    script = Script(marked([PNPM, CENTS]))
    kept = AnswerCache(tmp_path / "windows", "m", WindowAnswer)
    first = candidates(run(script, answer_cache=kept))
    again = candidates(run(script, answer_cache=kept))
    assert first == again
    assert len(script.prompts) == 1
    assert len(candidates(run(script, answer_cache=AnswerCache(tmp_path / "windows", "other", WindowAnswer)))) == 2
    assert len(script.prompts) == 2
    for file in (tmp_path / "windows").iterdir():
        file.write_text("{")  # a damaged answer is asked for again
    assert len(candidates(run(script, answer_cache=kept))) == 2
    assert len(script.prompts) == 3


def test_what_stands_in_a_boot_file_is_not_proposed() -> None:
    read = ToolCall(
        "1", "Read", "read", "ok", paths=(f"{ROOT}/CLAUDE.md",), output="- Use pnpm here, not npm, because…"
    )
    results = run(Script(marked([PNPM])), agent("", read), *SESSION)
    assert reasons(results) == {"already-known": 1}
