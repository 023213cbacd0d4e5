from lerim.extraction.facts.typed_sentences import split_spoken


def said(text: str) -> list[str]:
    return [item.text for item in split_spoken(text)]


def test_code_logs_diffs_and_quotes_are_not_what_a_person_said() -> None:
    text = "use uv here\n```\nnever do this\n```\n> always that\n+  const a = 1;\n2026-01-01T10:00 INFO up\nthanks"
    assert said(text) == ["use uv here", "thanks"]


def test_a_review_handed_over_is_not_the_person_speaking() -> None:
    assert said("pr feedback:\n\n1. Always use `const` instead of `let`") == []
    assert said("User: use npm\nAgent: ok\nUser: never use yarn") == []


def test_a_template_with_headings_is_not_typed() -> None:
    assert said("# Rules\nAlways answer in French.\n# More\nNever use tabs.") == []


def test_wrapped_prose_is_one_sentence_and_abbreviations_do_not_end_it() -> None:
    text = "when a folder does not exist the command fails, as the parent of\nthe file is never created, e.g. on fish."
    assert said(text) == [text]


def test_questions_are_known_with_and_without_their_mark() -> None:
    assert [item.question for item in split_spoken("can you use uv. why? Use uv.")] == [True, True, False]


def test_other_scripts_are_split_and_never_fail() -> None:
    assert said("总是使用 uv。不要使用 pip。") == ["总是使用 uv。", "不要使用 pip。"]
    assert said("\x00\ud800 \u202e") != [""]
