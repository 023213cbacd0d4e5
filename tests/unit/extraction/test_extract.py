import pytest

from lerim.extraction.facts.extract import (
    extract_from_response,
    extract_from_tool_result,
    extract_with_llm,
    qualifies_for_llm_extraction,
)
from lerim.extraction.facts.fact import RELATIONS, Fact


def test_a_failing_tool_produced_its_error_line() -> None:
    facts = extract_from_tool_result(
        "Bash", "Exit code 1\nImportError: no module\nModuleNotFoundError: No module named 'x'", 4
    )
    assert facts[0].relation == "produced_error"
    assert "Error: " in facts[0].value
    assert facts[0].source_turn == 4


def test_an_output_that_counts_zero_errors_succeeded() -> None:
    facts = extract_from_tool_result("Bash", "12 passed, 0 errors in 0.2s", 1)
    assert facts[0] == Fact("Bash", "succeeded", "12 passed, 0 errors in 0.2s", 0.8, 1)


def test_a_written_file_is_named() -> None:
    facts = extract_from_tool_result("Write", "File created successfully at: src/app/main.py", 2)
    assert ("wrote", "src/app/main.py") in [(fact.relation, fact.value) for fact in facts]


def test_a_response_gives_decisions_paths_and_errors() -> None:
    facts = extract_from_response("We decided to use SQLite. See src/store.py. It raised ValueError: bad id", 7)
    found = {(fact.relation, fact.value) for fact in facts}
    assert ("decided", "We decided to use SQLite.") in found
    assert ("mentions", "src/store.py") in found
    assert ("produced_error", "ValueError: bad id") in found
    assert {fact.source_turn for fact in facts} == {7}


def test_plain_talk_gives_no_facts() -> None:
    assert extract_from_response("Hello! How can I help?", 0) == []


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
    assert qualifies_for_llm_extraction(tools, text, 3) is wanted


def test_nothing_is_asked_without_a_model() -> None:
    assert extract_with_llm("We decided to use SQLite.", ["Bash: ok"], 1) == []


def test_a_models_list_is_read_leniently_and_bad_items_are_skipped() -> None:
    answer = """Sure:
```json
[{"entity": "cache", "relation": "decided", "value": "SQLite", "confidence": 3, "supersedes": ["Redis"]},
 {"entity": "x", "relation": "invented", "value": "y"}, 7, {"entity": "", "relation": "decided", "value": "z"},
 {"entity": "a", "relation": "mentions", "value": "b", "confidence": "high"}]
```"""
    facts = extract_with_llm("text", [], 9, llm_chat=lambda prompt: answer)
    assert facts == [Fact("cache", "decided", "SQLite", 0.8, 9, ("Redis",)), Fact("a", "mentions", "b", 0.5, 9)]


def test_a_list_that_is_cut_off_keeps_its_whole_items() -> None:
    answer = '[{"entity": "a", "relation": "decided", "value": "b"}, {"entity": "c", "rel'
    assert [fact.entity for fact in extract_with_llm("t", [], 1, llm_chat=lambda prompt: answer)] == ["a"]
    assert extract_with_llm("t", [], 1, llm_chat=lambda prompt: "no idea") == []


def test_the_vocabulary_is_closed() -> None:
    assert {"mentions", "produced_error", "succeeded", "decided", "wrote"} <= RELATIONS
