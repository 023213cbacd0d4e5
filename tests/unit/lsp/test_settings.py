"""Settings from the editor: a wrong value is one message and the default."""

from __future__ import annotations

from lerim.lsp.window.settings import EditorOptions, EditorSettings, parse_options


def test_good_values_are_taken_and_nothing_given_is_every_default_and_no_trust() -> None:
    assert parse_options(None) == parse_options({}) == (EditorOptions(trusted=False, settings=EditorSettings()), ())
    raw = {"trusted": True, "settings": {"hover": False, "codeLens": "file", "idleSeconds": 0, "maxFileKb": 64}}
    settings = EditorSettings(hover=False, code_lens="file", idle_seconds=0.0, max_file_kb=64)
    assert parse_options(raw) == (EditorOptions(True, settings), ())


def test_what_the_person_set_about_models_is_kept_by_the_name_the_files_have_for_it() -> None:
    given = {
        "model.provider": "editor",
        "model.name": "copilot/gpt-4o",
        "model.baseUrl": "http://127.0.0.1:1234/v1",
        "extract.gate": "signal",
        "extract.guidance": "Only billing.",
        "budget.perDayUsd": 0,
        "agents.denyOnce": True,
    }
    options, problems = parse_options({"settings": given})
    assert options.settings.job_settings == {
        "roles.extract.provider": "editor",
        "roles.extract.model": "copilot/gpt-4o",
        "roles.extract.base_url": "http://127.0.0.1:1234/v1",
        "extract.gate": "signal",
        "extract.guidance": "Only billing.",
        "budget.per_day_usd": 0,
        "agents.deny_once": True,
    }
    assert problems == ()
    assert parse_options({"settings": {}}, options)[0].settings.job_settings == {}


def test_a_part_of_the_model_that_makes_no_sense_is_handed_on_as_that() -> None:
    for name, dotted in (("model.baseUrl", "roles.extract.base_url"), ("model.baseUr1", "roles.extract.baseUr1")):
        options, problems = parse_options({"settings": {name: 7}})
        assert options.settings.job_settings == {dotted: None}
        assert len(problems) == 1


BAD: tuple[tuple[str, object], ...] = (
    ("enabled", "yes"),
    ("codeLens", "everywhere"),
    ("codeLens", ["file"]),
    ("idleSeconds", -1),
    ("idleSeconds", True),
    ("idleSeconds", float("nan")),
    ("maxFileKb", None),
    ("unknown", 1),
    ("extract.gate", ["signal"]),
    ("budget.perDayUsd", "1"),
    ("agents.denyOnce", "yes"),
    ("agents.denyOnce", 1),
    ("budget.perDayUsd", float("inf")),
)


def test_a_bad_value_is_one_message_and_the_default_and_large_numbers_are_bounded() -> None:
    options, _ = parse_options({"settings": {"idleSeconds": 1e9, "maxFileKb": 10**9}})
    assert (options.settings.idle_seconds, options.settings.max_file_kb) == (86_400.0, 512)
    for name, value in BAD:
        options, problems = parse_options({"settings": {name: value}})
        assert options.settings == EditorSettings(), name
        assert [f"lerim.{name}" in problem for problem in problems] == [True]
    for raw in ("x", [1], 5):
        assert len(parse_options(raw)[1]) == 1


def test_trust_is_kept_when_a_change_does_not_name_it_and_is_never_guessed() -> None:
    trusted = EditorOptions(trusted=True)
    assert parse_options({"settings": {}}, trusted)[0].trusted
    assert not parse_options({"trusted": "true"}, trusted)[0].trusted
