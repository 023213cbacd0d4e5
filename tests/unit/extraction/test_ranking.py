"""What ranks is proposed word for word, and as much of it as the session is worth."""

import json
import math
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lerim.errors import RankerError
from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal
from lerim.extraction.facts.title import MAX_TITLE_CHARS
from lerim.extraction.pipeline import MAX_REPORTED_BELOW_CUT
from lerim.extraction.ranking import ranker
from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.sessions.model import Turn
from scripted import agent, candidates, edited, extraction, numbered, outcome, passes, you

Result = Candidate | DroppedSignal | Withdrawal
RULES = [
    f"Always keep the {name} module free of network calls"
    for name in ("billing", "parser", "login", "export", "search", "cache", "report", "upload", "theme", "mail")
]
BEFORE = "The retry limit of the upload queue lives in the settings."
WORDS = st.sampled_from(
    [
        *("always", "never", "use", "`src/a.py`", "uv", "instead of", "pip,", "the", "**cache**", "was", "when"),
        *("it", "This", "because", "not", "3", "don't.", "No, ", "e.g.", "by default.", "über", "总是", "likely"),
        *("please", "- ", "1. ", "__init__", "snake_case", "! ", "## Rules\n", "; ", " — ", "(", ")", "“", "”"),
        *("\n- ", "\n\n", "? ", "```"),
    ]
)
TALK = st.lists(WORDS, max_size=30).map(" ".join)


def proposed(found: Iterable[Result]) -> list[str]:
    return [item.title for item in found if isinstance(item, Candidate)]


def below(found: Iterable[Result]) -> list[DroppedSignal]:
    return [item for item in found if isinstance(item, DroppedSignal) and item.reason == "below-the-cut"]


# --- word for word -----------------------------------------------------------------------------------------------


def bare(text: str) -> str:
    """A text on one line, without the marks of emphasis, in lower case."""
    return " ".join(text.replace("**", "").replace("__", "").split()).lower()


@given(st.lists(st.tuples(TALK, TALK), min_size=1, max_size=4))
@example([("always", "always " * 18)])  # the title is cut
@example([("Always use **uv** instead of pip when `TZ` was likely unset.", "ok")])
def test_quotes_stand_in_their_turn_and_titles_in_what_was_said(talk: list[tuple[str, str]]) -> None:
    turns = numbered(turn for said, told in talk for turn in (you(said), agent(told)))
    texts = {turn.id: turn.text for turn in turns}
    roles = {turn.id: turn.role for turn in turns}
    for item in outcome(*turns):
        found = item.candidate if isinstance(item, DroppedSignal) else item
        if not isinstance(found, Candidate) or (isinstance(item, DroppedSignal) and item.reason != "below-the-cut"):
            continue
        assert found.evidence and len(found.title) <= MAX_TITLE_CHARS
        for quote in found.evidence:
            assert quote.quote in texts[quote.turn]
            assert (quote.who == "user") == (roles[quote.turn] == "user")
        assert bare(found.title).strip(" .,;:!?…") in bare(texts[found.turn])


@pytest.mark.parametrize(
    ("said", "title"),
    [
        *(
            (one, one)
            for one in (
                "The API was never cached by default",
                "When the token is stale, always log in again",
                "Always use `**` rather than `pow` in src/a.py",
                "Never put `__init__` files under tests by default",
                "Always write 2 ** 3 or 2**3, never pow",
            )
        ),
        (
            "**Always** use uv to install packages, __but never__ pip",
            "Always use uv to install packages, but never pip",
        ),
    ],
)
def test_tense_condition_hedge_and_names_stay_as_they_were_said_and_emphasis_stays_in_the_quote(
    said: str, title: str
) -> None:
    [found] = [item for item in candidates(you(said), agent("Ok.")) if item.signal == "prompt"]
    assert (found.evidence[0].quote, found.title) == (said, title)
    assert title in found.body


@pytest.mark.parametrize(
    ("said", "is_decision"),
    [
        ("We decided to use Decimal for money.", True),
        ("I've chosen SQLite, never a server.", True),
        ("We’ve settled on `uv`.", True),
        ("Let's go with Postgres because we need row locks", True),
        ("use Decimal for money", True),
        ("We're going with one table", True),
        ("maybe use Kafka for the queue", False),
        ("We could go with Postgres, not sure yet", False),
    ],
)
def test_what_a_person_says_they_decided_is_proposed_as_a_decision_and_a_guess_is_not(
    said: str, is_decision: bool
) -> None:
    found = candidates(you(said), agent("Done."), you("Now the next file"))
    assert [(one.primitive, one.kind) for one in found] == [("decision", None)] * is_decision


def test_the_cause_that_an_agent_states_is_proposed_as_a_pitfall_and_a_guess_is_not() -> None:
    def told(reply: str) -> list[Candidate]:
        return candidates(you("Why is the login slow?"), agent(reply), you("Thanks, now the next file"))

    [found] = told("The root cause was a missing index on orders.user_id; every login scanned the table.")
    assert (found.primitive, found.kind, found.evidence[0].who) == ("learning", "pitfall", "assistant")
    assert told("The root cause is probably the index.") == []


@pytest.mark.parametrize("report", ["got this error", "I'm still getting the same exception", "We now hit an issue"])
def test_a_person_who_reports_an_error_decides_nothing(report: str) -> None:
    talk = [you("enable the swagger ui first"), agent("Done.", edited("src/app.py"))]
    talk += [agent("Shall we proceed to the final feature, the **Booking Flow** transaction workflow?")]
    trace = (
        "org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'entityManagerFactory' "
        "defined in class path resource [HibernateJpaConfiguration.class]: Unable to determine Dialect without JDBC "
        "metadata (please set 'hibernate.dialect' when a custom Dialect implementation must be provided)"
    )
    for said in ("springboot project", f"springboot project {trace}"):
        talk += [you(f"{report} when running the {said}")]
        talk += [agent("I will check the properties.", edited("src/main/resources/application.properties"))]
        talk += [agent("The credentials in `application.properties` do not match.")]
    titles = [one.title for one in candidates(*talk, you("move to perfecting the search"))]
    assert not [title for title in titles if title.lower().startswith(report.lower())]


@pytest.mark.parametrize(
    "said",
    [
        "Get rid of the exception wrappers in services instead of adding more of them",
        "Get the error message from the response body instead of the status text",
        "Now get warnings from ruff instead of flake8 in this repository",
    ],
)
def test_an_order_about_errors_is_no_report_of_one(said: str) -> None:
    assert proposed(candidates(you(f"{said}."), agent("Ok."))) == [said]


def test_the_body_has_the_whole_of_a_sentence_that_is_too_long_for_a_title_and_of_a_link_its_text() -> None:
    said = (
        "Always run the whole migration on a copy of the production database before it is merged, because the empty "
        "database of the tests never showed what the triggers do to old rows."
    )
    [found] = candidates(you(said), agent("Ok."))
    assert len(found.title) <= MAX_TITLE_CHARS
    assert found.title.removesuffix("…") in said
    assert said in found.body
    linked = "Always keep the fixtures in [tests/data](/home/kim/shop/tests/data#L3), never in src."
    [found] = candidates(you(linked), agent("Ok."))
    assert found.title == "Always keep the fixtures in tests/data, never in src"
    assert "/home/kim" not in found.body


@pytest.mark.parametrize("word", ["This", "It", "They"])
def test_what_points_back_brings_the_sentence_before_it_or_is_not_proposed(word: str) -> None:
    said = f"{word} must never be changed by hand."
    [found] = [one for one in candidates(you(f"{BEFORE} {said}"), agent("Ok.")) if one.title.startswith(word)]
    assert f"Said after: “{BEFORE}”" in found.body
    assert [quote.quote for quote in found.evidence] == [said, BEFORE]
    alone = outcome(you(said), agent("Ok."))
    assert proposed(alone) == []
    assert [item.title for item in below(alone)] == [said.rstrip(".")]


REPLY = "I moved the retry limit of the upload queue into the settings."


@pytest.mark.parametrize(
    ("before", "said", "brought"),
    [
        (BEFORE, "Never change that by hand.", BEFORE),
        (BEFORE, "Never change that by hand in `settings.py`.", ""),
        (agent("I see the problem."), "Never change that by hand.", ""),
        (agent(REPLY), "That must never be changed by hand.", REPLY),
    ],
    ids=["it names nothing", "it names something", "what stands before names nothing", "the agent said it"],
)
def test_a_sentence_that_points_and_names_nothing_brings_the_one_before_it(
    before: str | Turn, said: str, brought: str
) -> None:
    turns = [you(f"{before} {said}")] if isinstance(before, str) else [you("go"), before, you(said)]
    [one] = [item for item in candidates(*turns, agent("Ok.")) if item.title.startswith(said[:12])]
    assert [quote.quote for quote in one.evidence] == [said, *([brought] if brought else [])]
    assert one.evidence[-1].who == ("assistant" if brought == REPLY else "user")
    assert ("Said after: “" in one.body) == (brought == BEFORE)


@pytest.mark.parametrize("pasted", ["<file>x</file>", "\n```\nx\n```\n", "\n> x\n"])
def test_no_sentence_is_made_of_what_stands_before_and_after_a_paste(pasted: str) -> None:
    before, after = "Always use the shared cache client of the project in this", "and never the raw client of redis"
    found = outcome(you(f"{before} {pasted} {after}"), agent("Ok."))
    assert sorted(one.lower() for one in proposed(found)) == sorted((before.lower(), after.removeprefix("and ")))


def test_no_sentence_is_made_of_the_head_and_the_tail_of_a_long_text() -> None:
    filler = "Look at the request once more and tell what it holds in the end, with all its parts. " * 60
    told = " ".join(
        f"The contract is that part {number} of the reader never writes by default." for number in range(90)
    )
    turns = numbered([you(f"{RULES[0]}. {filler}"), agent(told), you("ok"), agent(filler)])
    texts = {turn.id: turn.text for turn in turns}
    for item in outcome(*turns):
        found = item.candidate if isinstance(item, DroppedSignal) else item
        assert isinstance(found, Candidate)
        for quote in found.evidence:
            assert quote.quote in texts[quote.turn]
            assert quote.quote.endswith(".")


# --- how many ----------------------------------------------------------------------------------------------------


def talked(rules: Iterable[str]) -> list[Turn]:
    return [turn for rule in rules for turn in (you(f"{rule}."), agent("Ok."))]


def test_a_longer_session_gives_more_and_never_more_than_most() -> None:
    for prompts in range(1, 11):
        assert proposed(outcome(*talked(RULES[:prompts]))) == RULES[: min(prompts, ranker.max_proposals(prompts))]
    found = outcome(you("\n".join(f"- {rule}" for rule in RULES)), agent("Ok."))
    assert len(proposed(found)) == ranker.max_proposals(1)
    assert len(below(found)) == MAX_REPORTED_BELOW_CUT
    dull = [you("show me the files here please"), agent("Here they are."), you("thanks, and the log?"), agent("Ok.")]
    assert all(item.score < ranker.load_ranker().first for item in below(outcome(*dull)) if item.score is not None)
    assert proposed(outcome(*dull)) == []


@given(st.lists(st.floats(-5, 5), max_size=40), st.integers(0, 60))
def test_the_cut_takes_the_best_and_nothing_where_the_best_is_not_worth_it(scores: list[float], prompts: int) -> None:
    first, further = ranker.load_ranker().first, ranker.load_ranker().further
    above = ranker.select_above_cut(scores, prompts, first, further)
    assert len(above) <= ranker.max_proposals(prompts)
    if not scores or max(scores) < first:
        assert not above
    else:
        assert scores.index(max(scores)) in above
        assert all(scores[place] >= further for place in above)
        left = [score for place, score in enumerate(scores) if place not in above]
        assert len(above) == ranker.max_proposals(prompts) or all(score < further for score in left)
        assert max(left, default=-math.inf) <= min(scores[place] for place in above) or max(left) < further


# --- what fell below ---------------------------------------------------------------------------------------------


def test_what_fell_below_is_told_once_with_its_score_and_what_it_would_have_been() -> None:
    early, late = passes([you("\n".join(f"- {rule}" for rule in RULES[:5])), agent("Ok.")], ())
    told = below(early)
    assert {item.title for item in told} == set(RULES[:5]) - set(proposed(early))
    for item in told:
        assert item.score is not None and item.score >= ranker.load_ranker().first - 0.001
        assert item.candidate is not None and item.candidate.title == item.title and item.candidate.evidence
    assert below(late) == [] and proposed(late) == []


def test_what_fell_below_is_proposed_once_the_session_has_room_for_it() -> None:
    first = [you("\n".join(f"- {rule}" for rule in RULES[:4])), agent("Ok.")]
    then = [turn for number in range(6) for turn in (you(f"and now step {number} please"), agent("Done."))]
    early, late = passes(first, then)
    assert len(proposed(early)) == ranker.max_proposals(1)
    assert set(proposed(early)) | set(proposed(late)) >= set(RULES[:4])
    assert not set(proposed(early)) & set(proposed(late))


@given(st.integers(1, 9), st.integers(0, 4), st.booleans())
def test_passes_give_together_what_one_pass_gives(prompts: int, at: int, odd: bool) -> None:
    turns = talked(RULES[:prompts])
    whole = proposed(outcome(*turns))
    early, late = passes(turns[: 2 * at + odd], turns[2 * at + odd :], settled=not odd)
    assert set(whole) <= {*proposed(early), *proposed(late)}
    assert len(proposed(early)) == len(set(proposed(early)) - set(proposed(late)))
    if ranker.max_proposals(prompts) >= prompts:
        assert sorted([*proposed(early), *proposed(late)]) == sorted(whole)


# --- the state and the ranker ------------------------------------------------------------------------------------


def test_the_package_s_model_is_made_for_these_features_and_its_trees_are_whole() -> None:
    learned = ranker.load_ranker()
    assert tuple(learned.names) == FEATURE_NAMES
    assert learned.further <= learned.first
    assert {len(weights) for weights in learned.types.values()} == {len(FEATURE_NAMES) + 1}
    for tree in learned.trees:
        assert len(tree.feature) == len(tree.at) == len(tree.yes) == len(tree.no)
        assert all(0 <= feature < len(FEATURE_NAMES) for feature in tree.feature)
        for place, node in enumerate((*tree.yes, *tree.no)):
            assert node > place % len(tree.yes) if node >= 0 else -node - 1 < len(tree.leaf)


@pytest.fixture
def other_model(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """`other_model(**changes)` puts a changed file in place of the package's."""
    learned = json.loads(ranker.RANKER_FILE.read_bytes())

    def put(**changes: object) -> None:
        path = tmp_path / "ranker.json"
        path.write_text(json.dumps({**learned, **changes}))
        monkeypatch.setattr(ranker, "RANKER_FILE", path)
        ranker.load_ranker.cache_clear()

    yield put
    ranker.load_ranker.cache_clear()


def test_a_model_made_for_other_features_is_refused_with_what_to_do(other_model) -> None:
    other_model(names=["length", "words"])
    reading = extraction()
    for turn in numbered(talked(RULES[:1])):
        reading.feed(turn)
    with pytest.raises(RankerError) as raised:
        reading.finish(True)
    problem = raised.value
    assert "another version of Lerim" in str(problem)
    assert problem.todo == "Install Lerim again."
    assert problem.where is not None and problem.where.endswith("ranker.json")
