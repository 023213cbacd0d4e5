from lerim.extraction.facts.own_words import is_question, split_spoken


def test_code_logs_and_quotes_are_not_what_a_person_said() -> None:
    text = "use uv for this\n```\nnever do this\n```\n> always that one\n2026-01-01T10:00 INFO it is up\nthanks a lot"
    assert split_spoken(text) == ["use uv for this", "thanks a lot"]


def test_a_review_handed_over_is_not_the_person_speaking() -> None:
    assert split_spoken("pr feedback:\n\n1. Always use `const` instead of `let`") == []
    assert split_spoken("User: use npm\nAgent: ok\nUser: never use yarn") == []


def test_what_a_line_hands_over_is_not_the_person_speaking() -> None:
    text = "We need fewer of these rules. Delete this old one:\nAlways answer in French."
    assert split_spoken(text) == ["We need fewer of these rules.", "Delete this old one:"]


def test_wrapped_prose_is_one_sentence_and_abbreviations_do_not_end_it() -> None:
    text = "when a folder does not exist the command fails, as the parent of\nthe file is never created, e.g. on fish."
    assert split_spoken(text) == [text]


def test_questions_are_known_with_and_without_their_mark() -> None:
    sentences = split_spoken("can you use uv for it. why do we need that? Use uv for it.")
    assert [is_question(one) for one in sentences] == [True, True, False]


def test_short_sentences_are_said_too() -> None:
    text = "fix login\n\nIt fails with a 500. Drop Redis. Then run it again."
    assert split_spoken(text) == ["fix login", "It fails with a 500.", "Drop Redis.", "Then run it again."]


def test_other_scripts_are_split_and_never_fail() -> None:
    assert split_spoken("可以总是使用这个工具。不要使用那个工具。") == ["可以总是使用这个工具。", "不要使用那个工具。"]
    assert split_spoken("\x00\ud800 \u202e") != [""]
