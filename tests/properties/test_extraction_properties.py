from hypothesis import given
from hypothesis import strategies as st

from lerim.extraction.candidate import Candidate
from lerim.extraction.facts.title import MAX_TITLE_CHARS
from scripted import agent, asked, denied, edited, outcome, passes, planned, ran, you

WORDS = st.sampled_from(
    ["use ", "uv", " not ", "pip", "always ", "never ", "don't ", "because ", "instead of ", "`src/a.py`", "no, ", ". ",
     "?", "\n", "总是",
     "\u202e", "ghp_" + "a1" * 18, "revert that", "perfect", "(", ")", "- ", "```",
     "password = hunter2 ", "the config ", "must "]
)  # fmt: skip
TEXT = st.lists(st.one_of(WORDS, st.text(max_size=15)), max_size=14).map("".join)
TURN = st.one_of(
    TEXT.map(you),
    TEXT.map(agent),
    TEXT.map(lambda text: agent("", denied("pip install x", text))),
    TEXT.map(lambda text: agent(text, edited("src/a.py", "", text))),
    st.tuples(TEXT, TEXT).map(lambda pair: agent("", asked(pair[0], ("a", "b"), pair[1]))),
    TEXT.map(lambda text: agent("", planned(text))),
    TEXT.map(lambda text: agent("", planned(f"# Store {text} in SQLite\n\n## Approach\n- {text}, because {text}\n"))),
    TEXT.map(lambda text: agent(f"Which option?\n1. **{text}** - a\n2. {text} b\nWhich do you prefer?")),
    st.sampled_from(["option 1", "2 please", "the first one"]).map(you),
    TEXT.map(lambda text: agent("", ran(f"npm install {text}"))),
    st.tuples(st.sampled_from(["pytest -q", "uv run pytest -q", "npm test"]), TEXT, st.sampled_from([None, 0, 1])).map(
        lambda item: agent("", ran(*item))
    ),
)
TURNS = st.lists(TURN, max_size=10)


@given(TURNS)
def test_whatever_is_said_every_candidate_keeps_the_promises(turns: list) -> None:
    for item in outcome(*turns):
        if isinstance(item, Candidate):
            assert item.evidence
            assert len(item.title) <= MAX_TITLE_CHARS
            assert "hunter2" not in repr(item)
            assert "ghp_" not in repr(item)
            assert all(not path.startswith(("/", "..")) for path in item.references)
            assert all(len(quote.quote) <= 220 for quote in item.evidence)


@given(TURNS, st.integers(0, 10))
def test_cutting_a_session_into_passes_loses_nothing_when_exchanges_are_whole(turns: list, at: int) -> None:
    whole = outcome(*turns)
    early, late = passes(turns[:at], turns[at:], settled=False)
    wanted = {item.turn for item in whole if isinstance(item, Candidate)}
    assert wanted <= {getattr(item, "turn", "") for item in (*early, *late)}
