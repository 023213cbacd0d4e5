"""What the person remarks or refuses with a word, and what the agent then says and does."""

import pytest

from lerim.sessions.model import Edit, ToolCall
from scripted import ROOT, agent, candidates, edited, you

WORK = (you("load the settings"), agent("Loading them in src/settings.py.", edited("src/settings.py")))


def refused(path: str, new: str, feedback: str) -> ToolCall:
    whole = f"{ROOT}/{path}"
    return ToolCall("no", "Edit", "edit", "denied", paths=(whole,), edits=(Edit(whole, "", new),), feedback=feedback)


def test_a_remark_the_agent_agrees_to_is_kept_in_the_agents_full_words() -> None:
    [found] = candidates(
        *WORK,
        you("isn't that doing the fallback twice now?"),
        agent(
            "You're absolutely right! The fallback should live only in `load_settings()`, and callers need none.",
            edited("src/settings.py", "a", "b"),
        ),
        you("ok"),
    )
    assert (found.title, found.signal) == (
        "The fallback should live only in `load_settings()`, and callers need none",
        "remark",
    )
    assert [quote.who for quote in found.evidence] == ["user", "assistant"]
    assert found.references == ("src/settings.py",)


def test_a_fact_the_person_put_right_is_a_learning() -> None:
    [found] = candidates(
        *WORK,
        you("isn't that await what we just removed?"),
        agent(
            "You're right! In orders 2.0, `orders.find()` is synchronous, not async.", edited("src/settings.py", "a")
        ),
        you("ok"),
    )
    assert (found.title, found.kind) == ("In orders 2.0, `orders.find()` is synchronous, not async", "insight")


def test_an_edit_refused_with_a_better_way_says_what_was_refused() -> None:
    no = refused(
        "src/settings.py", "KNOWN = 1\ndef known_keys(): ...\n", "really? can't the decoder be strict by itself?"
    )
    [found] = candidates(
        you("fail on unknown keys"),
        agent("", no),
        agent("You're right. I can use `Decoder.strict`. Let me do it.", edited("src/settings.py", "a", "b")),
        you("thanks"),
    )
    assert found.title == "Use `Decoder.strict`"
    assert "refused an edit of `settings.py` that added `known_keys`" in found.body
    assert found.confidence == 0.9


@pytest.mark.parametrize(
    "answer",
    [
        "You're right! Let me check src/settings.py first.",
        "You're right, I made a mistake in `load_settings()`.",
        "You're right about `load_settings()`.",
        "Good question! The fallback should live in `load_settings()`.",
        "You're right! It should only be done there.",
    ],
)
def test_an_agreement_that_says_nothing_lasting_gives_nothing(answer: str) -> None:
    turns = (you("isn't that wrong?"), agent(answer, edited("src/settings.py", "a", "b")), you("ok"))
    assert candidates(*WORK, *turns) == []


def test_an_agreement_nothing_came_of_gives_nothing() -> None:
    answer = agent("You're right! The fallback should live only in `load_settings()`.")
    assert candidates(*WORK, you("isn't that twice?"), answer, you("hm, what else?")) == []


def test_a_remark_that_is_taken_back_is_refuted() -> None:
    answer = agent(
        "You're right! The fallback should live only in `load_settings()`.", edited("src/settings.py", "a", "b")
    )
    assert candidates(*WORK, you("isn't that twice?"), answer, you("no, revert that")) == []
