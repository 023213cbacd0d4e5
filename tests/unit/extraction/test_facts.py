import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.extraction.facts import (
    extract_from_response,
    extract_from_tool_result,
    extract_from_turn,
    extract_with_llm,
    find_artifacts,
    qualifies_for_llm_extraction,
)
from lerim.extraction.facts.superseded_names import find_superseded_names, superseded_by_prompt, superseded_by_reply
from lerim.sessions import RELATIONS, Fact, ToolCall, encode_facts
from scripted import agent, asked, edited, ran, you


def told(call: ToolCall) -> list[tuple[str, str, str]]:
    return [(fact.entity, fact.relation, fact.value) for fact in extract_from_tool_result(call, 4)]


def test_a_command_says_in_its_own_words_how_it_ended_if_it_is_one_of_the_project() -> None:
    failed = ran("cd app && pytest -q", "collected 3\nModuleNotFoundError: No module named 'x'\nmore", 1)
    assert told(failed) == [("pytest -q", "produced_error", "ModuleNotFoundError: No module named 'x'")]
    assert told(ran("./deploy", "", 3)) == [("./deploy", "produced_error", "exit code 3")]
    passed = "12 passed, 0 errors in 0.2s"
    assert told(ran("pytest -q", f"....\n{passed}")) == [("pytest -q", "succeeded", passed)]
    for call in (ran("ls", "a b c"), ran("cat log.txt", "ERROR: it all failed long ago")):
        assert told(call) == []


UNREAD = "<tool_use_error>File has not been read yet</tool_use_error>"
"""As Claude Code writes the errors of its own tools."""


def test_files_and_answers_are_what_the_call_names_and_never_what_its_output_says() -> None:
    read = ToolCall("1", "Read", "read", "ok", paths=("src/app.py",), output="Error: see other/file.py")
    assert told(read) == [("Read", "read", "src/app.py")]
    assert told(edited("src/app.py"))[0][1:] == ("wrote", "/home/kim/shop/src/app.py")
    assert told(asked("Which store?", ("DuckDB", "SQLite"), "SQLite")) == [("user", "decided", "Which store? SQLite")]
    refused = ToolCall("1", "Edit", "edit", "error", paths=("src/app.py",), output=UNREAD)
    assert told(refused) == [("Edit", "produced_error", "File has not been read yet")]


def test_a_reply_gives_decisions_with_what_they_replace_and_the_files_it_names() -> None:
    facts = extract_from_response("We decided to use SQLite. We moved from Redis to it, going with `store.py`.", 7)
    assert [(one.relation, one.value, one.supersedes) for one in facts] == [
        ("decided", "We decided to use SQLite.", ()),
        ("decided", "We moved from Redis to it, going with `store.py`.", ("Redis",)),
        ("mentions", "store.py", ()),
    ]
    assert extract_from_response("Hello! How can I help? Should we decide to use it?", 0) == []
    hedged, sure = (extract_from_response(text, 0)[0].confidence for text in ("Maybe we'll use X.", "We'll use X."))
    assert hedged < sure


def test_a_persons_words_are_facts_only_where_they_give_something_up() -> None:
    [fact] = extract_from_turn(you("We don't use yarn any more. Please look at the tests."))
    assert (fact.entity, fact.supersedes) == ("user", ("yarn",))
    assert extract_from_turn(you("We don't use yarn any more.", unattended=True)) == []
    assert extract_from_turn(agent("See src/a.py. See src/a.py.", ran("ls"), ran("ls"))) == [
        Fact("assistant", "mentions", "src/a.py", 0.6, 0)
    ]


@pytest.mark.parametrize(
    ("tools", "text", "wanted"),
    [
        (["Read", "Read", "Bash"], "", True),
        (["Read", "Read"], "", False),
        ([], "We decided to drop Redis.", True),
        (["write_memory"], "", True),
        ([], "I saved that to memory.", True),
        (["Read"], "Here is the file.", False),
    ],
)
def test_a_turn_is_worth_a_model_for_three_calls_a_decision_or_a_memory(
    tools: list[str], text: str, wanted: bool
) -> None:
    assert qualifies_for_llm_extraction(tools, text) is wanted


def test_a_models_list_is_read_leniently_and_bad_items_are_skipped() -> None:
    answer = """Sure:
```json
[{"entity": "cache", "relation": "decided", "value": "SQLite", "confidence": 3, "supersedes": ["Redis"]},
 {"entity": "x", "relation": "invented", "value": "y"}, 7, {"entity": "", "relation": "decided", "value": "z"},
 {"entity": "a", "relation": "mentions", "value": "b", "confidence": "high"}]
```"""
    facts = extract_with_llm("text", [], 9, lambda prompt: answer)
    assert facts == [Fact("cache", "decided", "SQLite", 0.8, 9, ("Redis",)), Fact("a", "mentions", "b", 0.5, 9)]
    cut = '[{"entity": "a", "relation": "decided", "value": "b"}, {"entity": "c", "rel'
    assert [fact.entity for fact in extract_with_llm("t", [], 1, lambda prompt: cut)] == ["a"]
    assert extract_with_llm("t", [], 1, lambda prompt: "no idea") == []


@given(st.text(max_size=400), st.text(max_size=400), st.sampled_from(("shell", "read", "edit", "other")))
def test_any_text_gives_short_facts_of_known_relations(text: str, output: str, kind: str) -> None:
    call = ToolCall("1", "Tool", kind, "error", command=text, paths=(text,), output=output)  # type: ignore[arg-type]
    facts = extract_from_turn(agent(text, call)) + extract_with_llm(text, [output], 0, lambda prompt: output)
    assert all(one.relation in RELATIONS and 0 <= one.confidence <= 1 for one in facts)
    assert all(len(one.value) <= 200 for one in facts if one.relation not in ("read", "wrote", "mentions"))
    encode_facts(facts)


def test_a_name_with_a_dot_is_a_symbol_in_a_text_without_capitals() -> None:
    assert find_artifacts("it uses os.path here") == ("os.path",)


# --- what is used no more: names that a new choice stands in place of


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("From now on use pnpm for installs, we don't use yarn any more.", ("yarn",)),
        ("We no longer use `os.path` here.", ("os.path",)),
        ("Use pnpm, no longer yarn.", ("yarn",)),
        ("yarn is no longer used.", ("yarn",)),
        ("It replaces yarn.", ("yarn",)),
        ("moment.js was replaced by date-fns.", ("moment.js",)),
        ("We are moving away from Redis.", ("Redis",)),
        ("We dropped yarn and moved from npm to pnpm.", ("npm", "yarn")),
        ("Do not drop yarn, use it for installs.", ()),
        ("Use pnpm instead of yarn.", ()),
        ("Drop the table before each test.", ()),
        ("Replace it with a loop.", ()),
        ("drop " * 5_000, ()),
        ("a.b" * 30_000 + " is", ()),
    ],
)
def test_names_that_are_given_up(sentence: str, names: tuple[str, ...]) -> None:
    assert tuple(sorted(find_superseded_names(sentence))) == names


def test_a_persons_statements_and_an_agents_decisions_give_names_up_and_questions_do_not() -> None:
    said = "Read src/a.py.\nFrom now on use pnpm for installs, we don't use yarn any more. Do we no longer use npm?"
    assert list(superseded_by_prompt(said)) == ["yarn"]
    told = "I'll use SQLite for the cache; it replaces Redis. The page replaces nginx. Shall we drop npm?"
    assert list(superseded_by_reply(told)) == ["Redis"]
    for apostrophe in "'’":
        assert list(superseded_by_reply(f"Let{apostrophe}s use pnpm, which replaces yarn.")) == ["yarn"]
