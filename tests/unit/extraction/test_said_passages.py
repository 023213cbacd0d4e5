"""What a person or an agent said, sentence by sentence: verbatim, without code, and with what stands around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lerim.extraction.facts.own_words import is_question, split_spoken
from lerim.extraction.facts.sentences import find_sentences
from lerim.extraction.ranking.features import FEATURE_NAMES, describe_surroundings, passage_features
from lerim.extraction.ranking.passages import TurnPassage, split_passages
from lerim.extraction.signals.draft import Exchange
from lerim.sessions.model import Role, ToolCall, Turn, TurnKind


def turn(text: str, role: Role = "user", *calls: ToolCall, unattended: bool = False) -> Turn:
    kind: TurnKind = "prompt" if role == "user" else "reply"
    ordinal = 3 if role == "user" else 4
    return Turn("0123456789ab", ordinal, role, kind, text, None, "/r", tool_calls=calls, unattended=unattended)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "We deploy to us-east-1 only. Others, e.g. eu-west-1, have no quota! Is that clear to you?",
            ["We deploy to us-east-1 only.", "Others, e.g. eu-west-1, have no quota!", "Is that clear to you?"],
        ),
        (
            "Deploy to one of the regions that still have a quota, e.g.\neu-west-1. Never deploy to any other.\n"
            "The others are us-east-1, us-east-2, ap-south-1, etc.\nAsk before you do it again.",
            [
                "Deploy to one of the regions that still have a quota, e.g.\neu-west-1.",
                "Never deploy to any other.",
                "The others are us-east-1, us-east-2, ap-south-1, etc.",
                "Ask before you do it again.",
            ],
        ),
        (
            "用 uv 安装所有的依赖（因为它更快。）不要再用 pip 安装。",
            ["用 uv 安装所有的依赖（因为它更快。）", "不要再用 pip 安装。"],
        ),
        (
            "Run the tests first (see the guide. it is short.) before you push. They are fast (a. b.). Run them again.",
            [
                "Run the tests first (see the guide. it is short.) before you push.",
                "They are fast (a. b.).",
                "Run them again.",
            ],
        ),
        (
            "It fails again :( Nobody knows why that is. Run it with `-x` (see the guide).",
            ["It fails again :( Nobody knows why that is.", "Run it with `-x` (see the guide)."],
        ),
        (
            "The cache must be cleared after each migration because the keys\nhold the version of the schema.",
            ["The cache must be cleared after each migration because the keys\nhold the version of the schema."],
        ),
        (
            "It fails like this here:\n```py\nraise ValueError('wrong again')\n```\n| a b c | d e f |\nconst x = 1;",
            ["It fails like this here:"],
        ),
        (
            "q1) why are we porting the templates twice, yes it is a seam\nq2) templates are always hosted\n"
            "3a. rename it to use-form.ts please\nb) keep it as it is, that is fine with me",
            [
                "why are we porting the templates twice, yes it is a seam",
                "templates are always hosted",
                "rename it to use-form.ts please",
                "keep it as it is, that is fine with me",
            ],
        ),
        (
            "テストはmake testで実行してください。本番には触らないで。",
            ["テストはmake testで実行してください。", "本番には触らないで。"],
        ),
    ],
)
def test_a_message_becomes_its_sentences_without_code(text: str, sentences: list[str]) -> None:
    assert [text[one.start : one.end] for one in find_sentences(text)] == sentences


def test_a_long_sentence_is_not_split_within_code_and_a_lone_backtick_opens_none() -> None:
    text = "It has to " + "print the range of the day as " * 20 + "`$66.9k — $68.9k` - and the other ones alike."
    assert [text[one.start : one.end].count("`") for one in find_sentences(text)] == [2, 0]
    text = "Press the ` key; " + "; ".join(["always run make lint before each commit to this project"] * 20)
    assert max(one.end - one.start for one in find_sentences(text)) <= 600


WRAPPED = "when a folder does not exist the command fails, as the parent of\nthe file is never made, e.g. on fish."


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("use uv\n```\nnever do this\n```\n> that one\n2026-01-01T10:00 INFO it is up\nthanks", ["use uv", "thanks"]),
        ("Fewer rules. Delete this old one:\nAlways answer in French.", ["Fewer rules.", "Delete this old one:"]),
        (WRAPPED, [WRAPPED]),
        ("fix login\n\nIt fails with a 500. Drop Redis.", ["fix login", "It fails with a 500.", "Drop Redis."]),
        ("可以总是使用这个工具。不要使用那个工具。", ["可以总是使用这个工具。", "不要使用那个工具。"]),
        ("pr feedback:\n\n1. Always use `const` instead of `let`", []),
        ("User: use npm\nAgent: ok\nUser: never use yarn", []),
    ],
)
def test_what_a_person_says_themselves_is_told_from_what_they_hand_over(text: str, spoken: list[str]) -> None:
    assert split_spoken(text) == spoken


def test_questions_are_known_with_and_without_their_mark() -> None:
    sentences = split_spoken("can you use uv for it. why do we need that? Use uv for it.")
    assert [is_question(one) for one in sentences] == [True, True, False]


def test_points_of_a_list_keep_their_heading_and_lose_their_marks() -> None:
    text = "## Rules for tests\n- Never mock the database.\n- [ ] Use a real one\n1. Run them with make test"
    found = list(find_sentences(text))
    assert [(text[one.start : one.end], one.kind, one.heading) for one in found] == [
        ("Rules for tests", "heading", ""),
        ("Never mock the database.", "bullet", "Rules for tests"),
        ("Use a real one", "bullet", "Rules for tests"),
        ("Run them with make test", "number", "Rules for tests"),
    ]


@given(st.text(alphabet=st.sampled_from("ab .!?\n-*#`>|;—。1é "), max_size=400))
def test_every_sentence_stands_in_its_message_and_none_overlap(text: str) -> None:
    end = 0
    for one in find_sentences(text):
        assert end <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == text[one.start : one.end].strip()
        end = one.end


def test_only_a_persons_own_words_are_theirs() -> None:
    pasted = "Keep the old API for one release.\n> You must remove the old API at once.\n"
    assert [one.text for one in split_passages(turn(pasted))] == ["Keep the old API for one release."]
    assert list(split_passages(turn("Keep the old API for one release.", unattended=True))) == []
    called = replace(turn("/review Keep the old API for one release."), kind="command")
    assert [one.text for one in split_passages(called)] == ["Keep the old API for one release."]


def row(passage: TurnPassage, of: Turn, now: Exchange, after: Turn | None = None) -> dict[str, float]:
    around = describe_surroundings(of, Exchange(), now, after, 0)
    return dict(zip(FEATURE_NAMES, passage_features(passage, around), strict=True))


def test_features_tell_who_said_it_and_what_happened_after() -> None:
    asked = turn("No, never push to main without a review.")
    failed = ToolCall("1", "Bash", "shell", "error", command="git push", exit_code=1)
    answer = turn("You're right, I will open a pull request.", "assistant", failed)
    now = Exchange(prompt=asked, replies=(answer,))
    (passage,) = split_passages(asked)
    found = row(passage, asked, now, turn("perfect, thanks"))
    assert found["source prompt"] == 1 and found["source reply"] == 0
    assert found["cue generalizes"] == found["cue forbids"] == found["objects"] == found["agreed with"] == 1
    assert found["errors after"] > 0 and found["accepted"] == 1 and found["refuted"] == 0
