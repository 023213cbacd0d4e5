"""What the editor tells a job in its environment."""

from __future__ import annotations

import json

import pytest

from lerim.config.editor import EDITOR_VARIABLE, EditorModel, EditorState, read_editor_state


def test_without_an_editor_nothing_is_told() -> None:
    assert read_editor_state({}) == (None, [])
    assert read_editor_state({EDITOR_VARIABLE: ""}) == (None, [])


def test_settings_and_models_are_told() -> None:
    models = [
        {"id": "copilot/gpt-4o", "vendor": "copilot", "family": "gpt-4o", "version": "1", "name": "GPT-4o"}
        | {"max_input_tokens": 64_000, "allowed": True, "later": "fields are ignored"},
        {"id": "x/y"},
    ]
    editor, problems = read_editor_state(
        {EDITOR_VARIABLE: json.dumps({"settings": {"extract.gate": "all"}, "models": models})}
    )
    assert problems == []
    assert editor == EditorState(
        {"extract.gate": "all"},
        (EditorModel("copilot/gpt-4o", "copilot", "gpt-4o", "1", "GPT-4o", 64_000, True), EditorModel("x/y")),
    )


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "5",
        '{"models": [{"vendor": "x"}]}',
        '{"models": [{"id": 5}]}',
        '{"settings": []}',
        '{"settings": {"a": ' + "[" * 100_000,
        "\udc80",
    ],
)
def test_what_makes_no_sense_is_a_problem_that_repeats_nothing_of_it(text: str) -> None:
    editor, [problem] = read_editor_state({EDITOR_VARIABLE: text})
    assert editor is None
    assert (problem.code, problem.path) == ("settings", EDITOR_VARIABLE)
    assert "Reload the window" in problem.message
